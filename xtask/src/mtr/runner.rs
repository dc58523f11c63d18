//! Runs groups of tests with a provider, in a folder that is gone afterwards.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use tempfile::TempDir;

use super::account::Account;
use super::output::{self, Test};
use super::provider::Provider;
use super::{Group, single_node};

/// Where the package mariadb-test puts the suites: Debian 12's, and Debian 13's.
const INSTALLED: [&str; 2] = ["/usr/share/mysql/mysql-test", "/usr/share/mariadb/mariadb-test"];
/// It has this name in both.
const PROGRAM: &str = "mysql-test-run.pl";
/// The servers' sockets lie below: the path has to be short. The program takes what is behind a `-` in the path of a suite for
/// something else.
const PARENT: &str = "/tmp";
const PREFIX: &str = "hortator_mtr_";
const TIMEOUT_MINUTES: u32 = 2;
const SERVERS_IN_PARALLEL: u32 = 2;
/// Lines of the program's output in an error.
const TAIL_LINES: usize = 20;

/// What is the same for all runs.
pub(super) struct Runner {
    account: Account,
    folder: TempDir,
}

impl Runner {
    /// Installs the suites where they are missing.
    pub(super) fn new(repository: &Path) -> anyhow::Result<Runner> {
        suites_folder(repository)?;
        let account = Account::for_servers()?;
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(PARENT).context("making a folder")?;
        account.own(folder.path())?;
        Ok(Runner { account, folder })
    }

    /// Runs a group's tests with the provider's library.
    pub(super) fn run(&self, group: &Group, provider: Provider, library: &Path) -> anyhow::Result<Vec<Test>> {
        let library = self.readable(library)?;
        let suites = self.suites(group)?;
        let mut command = Command::new("perl");
        command
            .arg(PROGRAM)
            .arg(format!("--vardir={}", self.folder.path().join("var").display()))
            .args(["--force", "--max-test-fail=0", "--retry=0"])
            .arg(format!("--parallel={SERVERS_IN_PARALLEL}"))
            .arg(format!("--testcase-timeout={TIMEOUT_MINUTES}"))
            .arg(format!("--suite={}", suites.join(",")))
            .current_dir(installed())
            .env("WSREP_PROVIDER", &library)
            .env("HOME", self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        if let Some(tests) = &group.tests {
            // Tests named as arguments would run even where they need --big-test.
            command.arg(format!("--do-test={}", pattern(tests)));
        }
        self.account.run(&mut command);
        let text = read_along(&mut command, provider)?;
        let mut tests = output::tests(&text);
        if let Some(wanted) = &group.tests {
            // Another suite may have a test of the same name.
            tests.retain(|test| wanted.contains(&test.name));
        }
        if tests.is_empty() {
            let lines: Vec<&str> = text.lines().collect();
            bail!("no test ran:\n{}", lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n"));
        }
        Ok(tests)
    }

    /// The library where the account can read it.
    fn readable(&self, library: &Path) -> anyhow::Result<PathBuf> {
        let copy = self.folder.path().join(library.file_name().context("a library has a name")?);
        fs::copy(library, &copy).with_context(|| format!("copying {}", library.display()))?;
        fs::set_permissions(&copy, fs::Permissions::from_mode(0o755))?;
        Ok(copy)
    }

    fn suites(&self, group: &Group) -> anyhow::Result<Vec<String>> {
        if !group.on_one_node {
            return Ok(group.suites.clone());
        }
        let folder = self.folder.path().join("suite");
        if !folder.exists() {
            fs::create_dir(&folder)?;
            self.account.own(&folder)?;
            single_node::copy_suites(installed(), &folder, self.account)?;
        }
        Ok(group.suites.iter().map(|suite| folder.join(suite).display().to_string()).collect())
    }
}

/// The folder of all suites. Installs them where they are missing.
pub(crate) fn suites_folder(repository: &Path) -> anyhow::Result<&'static Path> {
    let script = repository.join("scripts/packages");
    let status = Command::new(&script).arg(installed().join(PROGRAM)).arg("mariadb-test").status();
    let is_done = status.with_context(|| format!("cannot run {}", script.display()))?.success();
    let folder = installed();
    if !is_done || !folder.join(PROGRAM).is_file() {
        bail!("the server's suites are not installed; on Debian: apt-get install mariadb-test");
    }
    Ok(folder)
}

/// Where the suites are, or would be.
fn installed() -> &'static Path {
    let is_there = |folder: &&str| Path::new(folder).join(PROGRAM).is_file();
    Path::new(INSTALLED.into_iter().find(is_there).unwrap_or(INSTALLED[0]))
}

/// A regular expression of the tests' own names.
fn pattern(tests: &[String]) -> String {
    let names: Vec<&str> = tests.iter().filter_map(|test| Some(test.split_once('.')?.1)).collect();
    format!("^({})$", names.join("|"))
}

/// Runs the command, shows the line of each test as it ends, and gives the whole output.
fn read_along(command: &mut Command, provider: Provider) -> anyhow::Result<String> {
    let mut child = command.spawn().context("cannot run perl")?;
    let output = child.stdout.take().context("its output is a pipe")?;
    let mut text = String::new();
    for line in BufReader::new(output).split(b'\n') {
        let line = line.context("reading what the program says")?;
        let line = String::from_utf8_lossy(&line);
        if output::is_result(&line) {
            // A suite from elsewhere goes by its folder; what is said of the test may have slashes, too.
            let folder = line.split(" [ ").next().and_then(|head| head.rfind('/')).map_or(0, |slash| slash + 1);
            eprintln!("{:<9} {}", provider.name(), &line[folder..]);
        }
        text.push_str(&line);
        text.push('\n');
    }
    // It fails when a test does, which the output tells better.
    let _status = child.wait().context("waiting for the program")?;
    Ok(text)
}
