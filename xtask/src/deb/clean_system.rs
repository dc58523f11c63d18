//! The packages in a new Debian 12 in a folder: another user than root loads a dump, and a server starts with the provider.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use super::{output, succeed};

const SUITE: &str = "bookworm";
/// What runs in the new system, as root: first what an administrator does, then what a user does.
const TRIAL: &str = include_str!("trial.sh");

/// Makes the system, installs the packages, and runs the trial.
pub(super) fn check(packages: &[PathBuf]) -> anyhow::Result<()> {
    let folder = tempfile::Builder::new().prefix("hortator-deb").tempdir().context("cannot create a folder")?;
    let root = folder.path().join("root");
    let mirror = mirror()?;
    let mut debootstrap = Command::new("debootstrap");
    debootstrap.args(["--variant=minbase", SUITE]).arg(&root).arg(&mirror);
    succeed(&mut debootstrap).context("a new system needs root and the package debootstrap")?;
    let inside = root.join("packages");
    fs::create_dir(&inside).with_context(|| format!("creating {}", inside.display()))?;
    for package in packages {
        let name = package.file_name().context("a package without a name")?;
        fs::copy(package, inside.join(name)).with_context(|| format!("copying {}", package.display()))?;
    }
    copy_apt_settings(&root)?;
    fs::write(root.join("trial.sh"), TRIAL).context("writing the trial")?;
    let mounted = Mounted::new(&root)?;
    // Processes of their own: the trial sees none of this system, and whatever it leaves running ends with it.
    let mut trial = Command::new("unshare");
    trial.args(["--mount", "--pid", "--fork", "--kill-child", "chroot"]).arg(&root).args(["/bin/sh", "/trial.sh"]);
    let trial = succeed(&mut trial);
    drop(mounted);
    trial
}

/// As this system asks for packages, so does the new one.
pub(crate) fn copy_apt_settings(root: &Path) -> anyhow::Result<()> {
    ["etc/apt/apt.conf.d", "usr/local/share/ca-certificates", "etc/ssl/certs"]
        .into_iter()
        .try_for_each(|settings| copy_files(&Path::new("/").join(settings), &root.join(settings)))
}

/// The mirror that this system uses for Debian itself.
pub(crate) fn mirror() -> anyhow::Result<String> {
    let arguments = ["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"];
    let sites = String::from_utf8(output(Command::new("apt-get").args(arguments))?).context("apt-get's output")?;
    match sites.lines().find(|site| site.trim_end_matches('/').ends_with("/debian")) {
        Some(site) => Ok(site.to_owned()),
        None => bail!("this system has no mirror of Debian's {SUITE} among its sources of packages"),
    }
}

/// Copies plain files of a folder, if there is one.
fn copy_files(from: &Path, to: &Path) -> anyhow::Result<()> {
    let Ok(entries) = fs::read_dir(from) else { return Ok(()) };
    fs::create_dir_all(to).with_context(|| format!("creating {}", to.display()))?;
    for entry in entries {
        let path = entry.with_context(|| format!("reading {}", from.display()))?.path();
        if let Some(name) = path.file_name().filter(|_| path.is_file()) {
            fs::copy(&path, to.join(name)).with_context(|| format!("copying {}", path.display()))?;
        }
    }
    Ok(())
}

/// Devices and terminals of a system in a folder, for as long as it is used.
struct Mounted(Vec<PathBuf>);

impl Mounted {
    fn new(root: &Path) -> anyhow::Result<Self> {
        let mut mounted = Self(Vec::new());
        for (kind, place) in [("devtmpfs", "dev"), ("devpts", "dev/pts")] {
            let place = root.join(place);
            succeed(Command::new("mount").args(["-t", kind, kind]).arg(&place))?;
            mounted.0.push(place);
        }
        Ok(mounted)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        for place in self.0.iter().rev() {
            if let Err(error) = succeed(Command::new("umount").arg("--lazy").arg(place)) {
                eprintln!("deb: {error:#}");
            }
        }
    }
}
