//! One server: its lifetime, and several ways to end.

use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use hortator_sandbox::{Builder, Sandbox, State};

use crate::{ask, is_alive, run};

#[test]
fn a_temporary_server_answers_and_is_gone_when_dropped() {
    let server = Builder::standalone().set("max_connections", "17").start_temporary().unwrap();
    assert_eq!(ask(server.node(0), "SELECT 6 * 7, @@max_connections"), [["42", "17"]]);
    let (folder, pid) = (server.folder().to_owned(), server.node(0).pid().unwrap());
    drop(server);
    assert!(!folder.exists() && !is_alive(pid));
}

#[test]
fn a_named_server_keeps_its_data_until_it_goes_down() {
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    drop(Builder::standalone().dir(dir.path()).create("one").unwrap());

    let sandbox = Sandbox::open(dir.path(), "one").unwrap();
    let node = sandbox.node(0);
    run(node, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT)", "INSERT INTO d.t VALUES (7)"]);
    let first_pid = node.pid().unwrap();
    node.kill().unwrap();
    assert_eq!((node.state(), is_alive(first_pid)), (State::Crashed, false));
    node.start().unwrap();
    node.start().unwrap();
    assert_eq!(ask(node, "SELECT id FROM d.t"), [["7"]]);
    node.stop().unwrap();
    assert_eq!(node.state(), State::Stopped);

    // Another process takes the port meanwhile.
    let port = node.port();
    let _other = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
    node.start().unwrap();
    assert_ne!(node.port(), port);
    assert_eq!(ask(node, "SELECT id FROM d.t"), [["7"]]);
    assert_eq!(Sandbox::open(dir.path(), "one").unwrap().node(0).port(), node.port());

    let message = Builder::standalone().dir(dir.path()).create("one").unwrap_err().to_string();
    assert!(message.contains("already exists"), "{message}");
    let pid = node.pid().unwrap();
    sandbox.down().unwrap();
    assert!(!is_alive(pid));
    assert!(Sandbox::list(dir.path()).unwrap().is_empty());
    assert!(std::fs::read_dir(dir.path()).unwrap().next().is_none());
}

/// The system's server as another build has it: in a folder of its own.
#[test]
fn another_mariadb_build_runs_from_its_folder_and_starts_again() {
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let build = dir.path().join("build");
    let link = |to: &str, name: &str| {
        let path = build.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(to, path).unwrap();
    };
    let found = |name: &str| {
        let folders = ["/usr/sbin", "/usr/bin"].into_iter().map(|folder| Path::new(folder).join(name));
        folders.into_iter().find(|path| path.is_file()).unwrap().display().to_string()
    };
    link(&found("mariadbd"), "usr/sbin/mariadbd");
    for name in ["mariadb-install-db", "my_print_defaults", "resolveip"] {
        link(&found(name), &format!("usr/bin/{name}"));
    }
    link("/usr/share/mysql", "usr/share/mysql");
    link("/usr/lib/mysql", "usr/lib/mysql");
    for folder in [dir.path(), &build] {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let sandbox = Builder::standalone().server_in(&build).dir(dir.path().join("boxes")).create("other").unwrap();
    let base = format!("{}/usr", build.display());
    assert_eq!(ask(sandbox.node(0), "SELECT @@basedir"), [[base.as_str()]]);
    sandbox.stop().unwrap();
    let again = Sandbox::open(&dir.path().join("boxes"), "other").unwrap();
    again.start().unwrap();
    assert_eq!(ask(again.node(0), "SELECT @@basedir"), [[base.as_str()]]);
    again.down().unwrap();

    let message = Builder::galera(2).server_in(dir.path()).start_temporary().unwrap_err().to_string();
    assert!(message.contains("mariadbd is not in ") && message.contains("usr/sbin/mariadbd"), "{message}");
}

#[test]
fn two_sandboxes_run_in_parallel() {
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let create = |name| Builder::standalone().dir(dir.path()).create(name).unwrap();
    let (a, b) = (create("a"), create("b"));
    run(a.node(0), &["CREATE DATABASE only_in_a"]);
    assert!(ask(b.node(0), "SHOW DATABASES LIKE 'only%'").is_empty());
    let names: Vec<String> = Sandbox::list(dir.path()).unwrap().iter().map(Sandbox::name).collect();
    assert_eq!(names, ["a", "b"]);
    a.down().unwrap();
    assert_eq!(b.node(0).state(), State::Running);
    b.down().unwrap();
}

#[test]
fn an_option_that_the_server_refuses_shows_the_end_of_its_log() {
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let builder = Builder::standalone().dir(dir.path()).set("no_such_option", "1");
    let message = builder.create("bad").unwrap_err().to_string();
    assert!(message.starts_with("node1 ended before it was ready\nThe end of "), "{message}");
    assert!(message.contains("unknown variable 'no_such_option=1'"), "{message}");
    assert!(message.lines().count() <= 32, "{message}");
    assert!(std::fs::read_dir(dir.path()).unwrap().next().is_none());
}

#[test]
fn a_folder_with_a_long_path_has_its_socket_elsewhere() {
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let deep = dir.path().join("a".repeat(60)).join("b".repeat(60));
    let sandbox = Builder::standalone().dir(&deep).create("deep").unwrap();
    let socket = sandbox.node(0).socket();
    assert!(!socket.starts_with(dir.path()));
    assert_eq!(ask(sandbox.node(0), "SELECT 1"), [["1"]]);
    // Another program may empty the system's folder for temporary files.
    sandbox.stop().unwrap();
    std::fs::remove_dir_all(socket.parent().unwrap()).unwrap();
    sandbox.start().unwrap();
    let socket = sandbox.node(0).socket();
    assert_eq!(ask(sandbox.node(0), "SELECT 1"), [["1"]]);
    sandbox.down().unwrap();
    assert!(!socket.parent().is_some_and(Path::exists));
}

#[test]
fn root_can_connect_through_the_socket_only() {
    let server = Builder::standalone().start_temporary().unwrap();
    let address = hortator_mysql::Address::Tcp { host: "127.0.0.1".to_owned(), port: server.node(0).port() };
    let options = hortator_mysql::ConnectOptions::new(address, "root");
    let error = hortator_mysql::Connection::open(&options).unwrap_err();
    assert_eq!(error.code(), Some(1130), "{error}");
}
