//! What a node's provider is given and cannot take: it says what and why, and with the cause gone everything is there.

use std::fs;
use std::os::unix::fs::{FileExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hortator_sandbox::{Builder, Node, Sandbox, State, Temporary};

use crate::kills::arguments;
use crate::{ask, provider, run};

/// A node whose log alone has the last rows.
fn cluster() -> Temporary {
    provider::build();
    let builder = Builder::cluster(1).set("innodb_flush_log_at_trx_commit", "0");
    let cluster = builder.set("wsrep_provider_options", "log.segment=1M").start_temporary().unwrap();
    run(cluster.node(0), &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    for id in 1..=50 {
        run(cluster.node(0), &[&format!("INSERT INTO d.t VALUES ({id})")]);
    }
    cluster
}

fn rows(node: Node<'_>) -> String {
    ask(node, "SELECT CONCAT(COUNT(*), ' to ', MAX(id)) FROM d.t").concat().concat()
}

/// The node does not start, and says why.
fn assert_refused(cluster: &Sandbox, words: &[&str]) {
    let node = cluster.node(0);
    let from = error_log(node).len();
    cluster.start().expect_err("it must not start");
    assert_ne!(node.state(), State::Running);
    assert_told(&error_log(node)[from..], words);
}

fn assert_told(log: &str, words: &[&str]) {
    for word in words {
        assert!(log.contains(word), "`{word}` is missing in:\n{log}");
    }
    assert!(!log.contains("panicked") && !log.contains("got signal"), "{log}");
}

fn error_log(node: Node<'_>) -> String {
    String::from_utf8_lossy(&fs::read(node.error_log()).unwrap()).into_owned()
}

fn files_of_the_log(data: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.file_name().unwrap().to_str().unwrap().starts_with("hortator-"));
    files.retain(|file| file.extension().is_some_and(|extension| extension == "log"));
    files.sort();
    files
}

/// Changes a byte of the log's first file, and gives what stood there.
fn patch(file: &Path, at: u64, change: impl Fn(u8) -> u8) -> u8 {
    let open = fs::OpenOptions::new().read(true).write(true).open(file).unwrap();
    let mut byte = [0];
    open.read_exact_at(&mut byte, at).unwrap();
    open.write_all_at(&[change(byte[0])], at).unwrap();
    byte[0]
}

#[test]
fn options_that_are_none() {
    provider::build();
    for (options, words) in [
        ("log.retian=1G", "`log.retian` is no option of this provider"),
        ("log.segment=much", "log.segment is a size such as 128M, not `much`"),
        ("log.sync", "`log.sync` stands without a value"),
    ] {
        let error =
            Builder::cluster(1).set("wsrep_provider_options", options).start_temporary().unwrap_err().to_string();
        assert_told(&error, &[words]);
    }
    let cluster = cluster();
    let node = cluster.node(0);
    let mut connection = node.connect().unwrap();
    for options in ["log.retian=1G", "log.segment=2M"] {
        let error = connection.execute(format!("SET GLOBAL wsrep_provider_options = '{options}'").as_bytes());
        assert!(error.is_err(), "{options}");
    }
    let log = error_log(node);
    assert_told(&log, &["`log.retian` is no option", "log.segment cannot be changed while the server runs"]);
    run(node, &["INSERT INTO d.t VALUES (51)"]);
    assert_eq!(rows(node), "51 to 51");
}

#[test]
fn logs_that_cannot_be_read() {
    let cluster = cluster();
    let node = cluster.node(0);
    cluster.kill().unwrap();
    let file = files_of_the_log(&node.data_dir()).remove(0);
    // The tenth insert or so: confirmed, with others behind it.
    let middle = 4096 + 4000;
    let before = patch(&file, middle, |byte| byte ^ 0x55);
    assert_refused(&cluster, &["is damaged at byte", "Entries that were confirmed are missing"]);
    patch(&file, middle, |_| before);
    // The version is the third word of the header, and looked at before its checksum.
    let before = patch(&file, 8, |_| 2);
    assert_refused(&cluster, &["has the log format 2, and this version reads format 1"]);
    patch(&file, 8, |_| before);
    cluster.start().unwrap();
    assert_eq!(rows(node), "50 to 50");
}

#[test]
fn the_log_of_another_cluster() {
    let (own, other) = (cluster(), cluster());
    let (data, others) = (own.node(0).data_dir(), other.node(0).data_dir());
    own.kill().unwrap();
    other.kill().unwrap();
    let aside = own.folder().join("aside");
    fs::create_dir(&aside).unwrap();
    for file in files_of_the_log(&data) {
        fs::rename(&file, aside.join(file.file_name().unwrap())).unwrap();
    }
    let owner = fs::metadata(&data).unwrap();
    for file in files_of_the_log(&others) {
        let copy = data.join(file.file_name().unwrap());
        fs::copy(&file, &copy).unwrap();
        chown(&copy, Some(std::os::unix::fs::MetadataExt::uid(&owner)), None).unwrap();
    }
    assert_refused(
        &own,
        &["the server's tables belong to the cluster", "Put back the log that belongs to these tables"],
    );
    for file in files_of_the_log(&data) {
        fs::remove_file(file).unwrap();
    }
    for file in files_of_the_log(&aside) {
        fs::rename(&file, data.join(file.file_name().unwrap())).unwrap();
    }
    own.start().unwrap();
    assert_eq!(rows(own.node(0)), "50 to 50");
}

#[test]
fn a_start_without_a_position() {
    let cluster = cluster();
    let node = cluster.node(0);
    let arguments = arguments(node);
    cluster.kill().unwrap();
    let from = error_log(node).len();
    let mut server = Command::new(&arguments[0]);
    server.args(&arguments[1..]).arg("--user=mysql").stdout(Stdio::null()).stderr(Stdio::null());
    assert!(!server.status().unwrap().success(), "it must not start");
    let words = ["the server does not say which of them its tables hold", "--wsrep-recover", "--wsrep-start-position="];
    assert_told(&error_log(node)[from..], &words);
    cluster.start().unwrap();
    assert_eq!(rows(node), "50 to 50");
}

/// Files of the server's may not grow beyond that, which for the log's next one is a full disk.
fn limit_files(node: Node<'_>, bytes: &str) {
    let mut limit = Command::new("prlimit");
    limit.arg(format!("--pid={}", node.pid().unwrap())).arg(format!("--fsize={bytes}:"));
    assert!(limit.status().unwrap().success());
}

#[test]
fn no_room_for_the_log() {
    provider::build();
    let builder = Builder::cluster(1).set("innodb_flush_log_at_trx_commit", "0").set("innodb_log_file_size", "16M");
    let cluster = builder.set("wsrep_provider_options", "log.segment=64M").start_temporary().unwrap();
    let node = cluster.node(0);
    run(node, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT, filler LONGTEXT)"]);
    run(node, &["INSERT INTO d.t VALUES (1, 0, '')"]);
    // Larger than all files of the server's, smaller than the log's.
    limit_files(node, "50331648");
    let mut connection = node.connect().unwrap();
    let mut confirmed = 0;
    let error = loop {
        assert!(confirmed < 1000, "the log finds room for everything");
        let update = format!("UPDATE d.t SET v = {}, filler = REPEAT('x', 400000)", confirmed + 1);
        match connection.execute(update.as_bytes()) {
            Ok(_) => confirmed += 1,
            Err(error) => break error,
        }
    };
    assert!(error.code().is_some() && confirmed > 50, "after {confirmed}: {error}");
    assert_told(&error_log(node), &["a transaction was refused: no room in", "free some"]);
    assert_eq!(ask(node, "SELECT v FROM d.t"), [[confirmed.to_string()]]);
    limit_files(node, "unlimited");
    connection.execute(b"UPDATE d.t SET v = v + 1").unwrap();
    cluster.kill().unwrap();
    cluster.start().unwrap();
    assert_eq!(ask(node, "SELECT v FROM d.t"), [[(confirmed + 1).to_string()]]);
}
