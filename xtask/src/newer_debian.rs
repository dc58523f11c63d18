//! `cargo xtask debian`: the tests on the Debian release after ours, whose servers are newer: MariaDB 11.8 on Debian 13.
//!
//! The system is made once, in a folder of target/, and kept. There the tests find its servers, clients and scripts where
//! they find this system's otherwise; the repository and cargo are at the same paths.

use std::env::{self, Args};
use std::fs;
use std::iter::Skip;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::deb::{copy_apt_settings, mirror, succeed};

const SUITE: &str = "trixie";

/// Debian's packages that the tests use, without mydumper, which the release does not have.
const PACKAGES: &str = "mariadb-server mariadb-client mariadb-backup galera-4 rsync socat openssl sysbench gcc libc6-dev \
                        make pkg-config zstd gzip bzip2 xz-utils lz4 procps iproute2 iptables psmisc lsof percona-toolkit \
                        gawk git ca-certificates";

/// Tests that need mydumper.
const LEFT_OUT: &str = "layouts::mydumper";

/// Runs in a mount namespace of its own: what it mounts ends with it. Arguments: the system's folder, the folders that are
/// to be there too up to `--`, and the command.
const ENTER: &str = r#"
set -eu
root=$1; shift
while [ "$1" != -- ]; do
    mkdir -p "$root$1"
    mount --rbind "$1" "$root$1"
    shift
done
shift
exec chroot "$root" "$@"
"#;

/// Makes the system where it is not there, and runs `cargo test` in it; arguments are those of `cargo test`.
pub(crate) fn run(repository: &Path, arguments: Skip<Args>) -> anyhow::Result<()> {
    let root = repository.join("target").join(SUITE);
    let is_ready = root.join(".ready");
    if !is_ready.exists() {
        make(&root)?;
        fs::write(&is_ready, "").with_context(|| format!("writing {}", is_ready.display()))?;
    }
    let mut given: Vec<String> = arguments.collect();
    if given.is_empty() {
        given.push("--workspace".to_owned());
    }
    let (of_cargo, of_tests) = match given.iter().position(|argument| argument == "--") {
        Some(at) => given.split_at(at),
        None => (&given[..], &[][..]),
    };
    // Built there, in a folder of its own: what is linked with newer libraries does not run here.
    let build = repository.join("target").join(format!("{SUITE}-build"));
    succeed(Command::new(env!("CARGO")).current_dir(repository).args(["fetch", "--locked"]))?;
    let mut tests = enter(&root, &shared_folders(repository)?);
    tests
        .args(["env", "-C"])
        .arg(repository)
        .arg(format!("CARGO_TARGET_DIR={}", build.display()))
        .arg(env!("CARGO"))
        .args(["test", "--locked", "--offline"])
        .args(of_cargo);
    tests.args(["--", "--skip", LEFT_OUT]).args(of_tests.iter().skip(1));
    succeed(&mut tests).context("not all tests pass there")
}

/// Makes the system with its packages.
fn make(root: &Path) -> anyhow::Result<()> {
    if root.exists() {
        // What an interrupted run has left.
        fs::remove_dir_all(root).with_context(|| format!("removing {}", root.display()))?;
    }
    fs::create_dir_all(root).with_context(|| format!("creating {}", root.display()))?;
    let mut debootstrap = Command::new("debootstrap");
    succeed(debootstrap.args(["--variant=minbase", SUITE]).arg(root).arg(mirror()?))
        .context("a new system needs root and the package debootstrap")?;
    copy_apt_settings(root)?;
    // No package may start a server.
    let policy = root.join("usr/sbin/policy-rc.d");
    fs::write(&policy, "#!/bin/sh\nexit 101\n").with_context(|| format!("writing {}", policy.display()))?;
    succeed(Command::new("chmod").arg("+x").arg(&policy))?;
    let install = format!("apt-get update -q && apt-get install -y -q --no-install-recommends {PACKAGES}");
    let mut installed = enter(root, &["/proc".into(), "/dev".into(), "/sys".into()]);
    installed.env("DEBIAN_FRONTEND", "noninteractive").args(["/bin/sh", "-c", &install]);
    succeed(&mut installed)
}

/// The folders that both systems share: the kernel's, the repository, and cargo's.
fn shared_folders(repository: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let home = PathBuf::from(env::var_os("HOME").context("HOME is not set")?);
    let of = |variable: &str, default: &str| env::var_os(variable).map_or_else(|| home.join(default), PathBuf::from);
    let kernel = ["/proc", "/dev", "/sys"].map(PathBuf::from);
    let own = [repository.to_owned(), of("CARGO_HOME", ".cargo"), of("RUSTUP_HOME", ".rustup")];
    let toolchain = Path::new(env!("CARGO")).parent().and_then(Path::parent).map(Path::to_owned);
    Ok(kernel.into_iter().chain(own).chain(toolchain).filter(|folder| folder.is_dir()).collect())
}

/// A command in the system; what it runs is to be added.
fn enter(root: &Path, folders: &[PathBuf]) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "/bin/sh", "-c", ENTER, "enter"]).arg(root).args(folders);
    command.arg("--");
    command
}
