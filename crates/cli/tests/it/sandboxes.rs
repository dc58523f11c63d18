//! `hortator sandbox` on the command line: its output about nodes, and its error messages.

use std::path::Path;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A folder of sandboxes, all of which end with it, however the test ends.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir_in("/tmp").unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ended = sandbox(self.0.path(), "down --all");
    }
}

/// A process that ends with this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Standard output and standard error, and the exit status.
fn sandbox(dir: &Path, line: &str) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hortator"));
    command.arg("sandbox").args(line.split_whitespace()).arg("--dir").arg(dir);
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&text).trim().to_owned(), output.status.code())
}

/// The words of a node's line in the status, without its sandbox's name.
fn status(dir: &Path, node: &str) -> String {
    let (shown, code) = sandbox(dir, "status");
    assert_eq!(code, Some(0), "{shown}");
    let line = shown.lines().find(|line| line.contains(node)).unwrap_or_else(|| panic!("{shown}"));
    line.split_whitespace().skip(2).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_cluster_under_faults() {
    let folder = Folder::new();
    let dir = folder.0.path();
    let says = |line: &str| sandbox(dir, line);
    let refused = |what: &str| (format!("hortator: {what}"), Some(1));
    let (made, code) = says("up galera 2 --name pair");
    assert_eq!(code, Some(0), "{made}");
    let shown = status(dir, "node2");
    assert!(shown.starts_with("running Primary 2 Synced "), "{shown}");

    assert_eq!(says("isolate pair 3"), refused("sandbox `pair` has no node 3: give a number from 1 to 2"));
    assert_eq!(says("heal pair 2"), refused("node2 is not isolated"));
    assert_eq!(says("heal pair"), refused("no node of sandbox `pair` is isolated"));
    assert_eq!(says("resume pair"), refused("no node of sandbox `pair` is paused"));
    assert_eq!(says("isolate pair").1, Some(2));

    let (isolated, code) = says("isolate pair node2");
    assert!(
        code == Some(0) && isolated.starts_with("node2 is isolated by its own provider (gmcast.isolate)"),
        "{isolated}"
    );
    assert!(status(dir, "node2").starts_with("isolated "));
    assert_eq!(says("isolate pair 2"), refused("node2 is already isolated: `heal` ends the isolation"));
    assert_eq!(says("heal pair"), (String::new(), Some(0)));

    assert_eq!(says("pause pair 1"), (String::new(), Some(0)));
    assert_eq!(status(dir, "node1"), "paused - - - -");
    assert_eq!(says("start pair 1"), refused("node1 is paused: `resume` continues it"));
    assert_eq!(says("resume pair 1"), (String::new(), Some(0)));
    assert_eq!(says("kill pair 1"), (String::new(), Some(0)));
    assert_eq!(says("pause pair 1"), refused("node1 does not run, so it cannot be paused"));
    assert_eq!(says("isolate pair 1"), refused("node1 does not run: it is crashed"));
    assert_eq!(says("down pair"), (String::new(), Some(0)));
}

/// A server that starts removes the `#sql*` files in its folder for temporary files: temporary tables of others.
#[test]
fn a_new_data_folder_leaves_the_temporary_tables_of_other_servers() {
    let folder = Folder::new();
    let other = tempfile::Builder::new().prefix("#sql-temptable-").tempfile_in("/tmp").unwrap();
    if rustix::process::geteuid().is_root() {
        // The account that the servers of root run as could remove it.
        assert!(Command::new("chown").arg("mysql").arg(other.path()).status().unwrap().success());
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_hortator"));
    command.args(["sandbox", "up", "standalone", "--name", "new", "--dir"]).arg(folder.0.path());
    // Without a template the data folder is initialised.
    let output = command.env("XDG_CACHE_HOME", folder.0.path().join("cache")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.0.path().join("cache/hortator/sandbox").is_dir());
    assert!(other.path().exists());
}

#[test]
fn a_single_server_cannot_be_isolated() {
    let folder = Folder::new();
    let dir = folder.0.path();
    let (made, code) = sandbox(dir, "up");
    assert_eq!(code, Some(0), "{made}");
    let (said, code) = sandbox(dir, "isolate standalone 1");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("sandbox `standalone` is standalone: only a node of a cluster with several nodes"), "{said}");
    assert_eq!(status(dir, "node1"), "running - - - -");
    let refused = "hortator: sandbox `standalone` has no witness";
    assert_eq!(sandbox(dir, "kill standalone witness"), (refused.to_owned(), Some(1)));
    let refused = "hortator: galera 2 cannot have a witness: only a cluster of Hortator's own provider can (`cluster`)";
    assert_eq!(sandbox(dir, "up galera 2 --witness"), (refused.to_owned(), Some(1)));
    assert_eq!(sandbox(dir, "down --all"), (String::new(), Some(0)));
}

/// The README's third example.
#[test]
fn sources_that_write_by_themselves() {
    let folder = Folder::new();
    let dir = folder.0.path();
    let (made, code) = sandbox(dir, "up fan-in 2 --name shops");
    let file = dir.join("shops/replicate.toml");
    assert!(code == Some(0) && made.ends_with(&format!("hortator replicate run {}", file.display())), "{made}");
    let replicate = |subcommand: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hortator"));
        command.args(["replicate", subcommand]).arg(&file);
        command
    };
    let text =
        |output: std::process::Output| String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let checked = text(replicate("check").output().unwrap());
    assert_eq!(checked, "the target and 2 sources can be used\n");
    let mut agent = Running(replicate("run").spawn().unwrap());
    let socket = dir.join("shops/replicate.toml.sock");
    while !socket.exists() {
        thread::sleep(Duration::from_millis(20));
    }
    let orders = || {
        let sandbox = hortator_sandbox::Sandbox::open(dir, "shops").unwrap();
        let mut connection = sandbox.numbered(3).unwrap().connect().unwrap();
        let query = b"SELECT (SELECT COUNT(*) FROM shop1.orders) * (SELECT COUNT(*) FROM shop2.orders)";
        connection.fetch(query).ok().and_then(|rows| String::from_utf8(rows[0][0].clone()?).ok()?.parse::<u64>().ok())
    };
    let end = Instant::now() + Duration::from_secs(120);
    while orders().is_none_or(|count| count < 1_000) {
        assert!(Instant::now() < end, "{}", text(replicate("status").output().unwrap()));
        assert!(agent.0.try_wait().unwrap().is_none(), "the agent has ended");
        thread::sleep(Duration::from_millis(100));
    }
    let status = text(replicate("status").output().unwrap());
    assert_eq!(status.matches(" running ").count(), 2, "{status}");
    assert!(replicate("stop").status().unwrap().success());
    assert!(agent.0.wait().unwrap().success());
    for (line, said) in [("up fan-in 0", "0 sources are not possible"), ("up fan-in 31", "give 1 to 30")] {
        let (shown, code) = sandbox(dir, line);
        assert!(code == Some(1) && shown.contains(said), "{shown}");
    }
}
