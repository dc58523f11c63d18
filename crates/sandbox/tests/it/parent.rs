//! The end of the process that creates or holds a sandbox.
//!
//! That process is this test binary, run again for one of the ignored tests below.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use hortator_sandbox::{Builder, Error, Sandbox};
use rustix::process::{Pid, Signal, kill_process};

use crate::{ask, is_alive, servers_on};

/// The folder in which that process creates its sandbox.
const FOLDER_VARIABLE: &str = "HORTATOR_TEST_FOLDER";
const LIMIT: Duration = Duration::from_secs(180);

#[test]
#[ignore = "run by the tests below as a process of its own"]
fn holds_a_temporary_server() {
    let Some(folder) = given_folder() else { return };
    let _server = Builder::standalone().dir(&folder).start_temporary().unwrap();
    std::fs::write(folder.join("ready"), "").unwrap();
    thread::sleep(LIMIT);
}

#[test]
#[ignore = "run by the tests below as a process of its own"]
fn makes_a_cluster() {
    let Some(folder) = given_folder() else { return };
    let interrupt = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&interrupt)).unwrap();
    let result = Builder::galera(2).dir(folder).interrupt_flag(interrupt).create("pair");
    assert!(matches!(result, Err(Error::Interrupted)), "{result:?}");
}

#[test]
#[ignore = "run by the tests below as a process of its own"]
fn makes_a_server_and_ends() {
    let Some(folder) = given_folder() else { return };
    Builder::standalone().dir(folder).create("left").unwrap();
}

#[test]
fn a_named_server_outlives_the_process_that_made_it() {
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let mut maker = run_again("parent::makes_a_server_and_ends", dir.path());
    assert!(maker.wait().unwrap().success());
    let sandbox = Sandbox::open(dir.path(), "left").unwrap();
    assert_eq!(ask(sandbox.node(0), "SELECT 1"), [["1"]]);

    let lock = sandbox.lock().unwrap();
    let message = Sandbox::open(dir.path(), "left").unwrap().lock().unwrap_err().to_string();
    assert_eq!(message, "another process is changing sandbox `left`: wait until it has ended");
    drop(lock);
    sandbox.down().unwrap();
    assert!(servers_on(dir.path()).is_empty());
}

#[test]
fn a_temporary_server_ends_with_a_killed_process() {
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let mut holder = run_again("parent::holds_a_temporary_server", dir.path());
    wait_for("the server", || dir.path().join("ready").exists());
    let server = servers_on(dir.path())[0];
    holder.kill().unwrap();
    holder.wait().unwrap();
    wait_for("the server's end", || !is_alive(server) && only_ready_is_left(dir.path()));
}

#[test]
fn an_interrupted_start_leaves_nothing() {
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let mut maker = run_again("parent::makes_a_cluster", dir.path());
    wait_for("a server", || !servers_on(dir.path()).is_empty());
    let pid = Pid::from_raw(maker.id().cast_signed()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    assert!(maker.wait().unwrap().success());
    assert!(servers_on(dir.path()).is_empty());
    assert!(std::fs::read_dir(dir.path()).unwrap().next().is_none());
}

#[test]
fn a_start_that_is_killed_leaves_nothing() {
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let mut maker = run_again("parent::makes_a_cluster", dir.path());
    wait_for("a server", || !servers_on(dir.path()).is_empty());
    maker.kill().unwrap();
    assert_eq!(maker.wait().unwrap().signal(), Some(9));
    wait_for("the end of everything", || {
        servers_on(dir.path()).is_empty() && std::fs::read_dir(dir.path()).unwrap().next().is_none()
    });
}

/// None when all ignored tests are run: no process waits for this one then.
fn given_folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER_VARIABLE).map(PathBuf::from)
}

fn only_ready_is_left(dir: &Path) -> bool {
    std::fs::read_dir(dir).unwrap().count() == 1
}

fn run_again(test: &str, folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored"])
        .env(FOLDER_VARIABLE, folder)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !there() {
        assert!(Instant::now() < deadline, "waited {LIMIT:?} for {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
