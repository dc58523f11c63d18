//! Invalid files and arguments of a node's provider: it reports what is wrong and why, and when the cause is fixed all
//! data is there.

use std::fs;
use std::os::unix::fs::{FileExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use hortator_sandbox::{Builder, Node, Sandbox, State, Temporary, has_option_variables, set_provider_options};

use crate::cluster_fixture::{assert_logged, since};
use crate::kills::arguments;
use crate::manual_server::{Own, is_ready};
use crate::{ask, provider, run};

/// The time limit for a server to start on a busy machine.
const WAIT_TIMEOUT: Duration = Duration::from_secs(180);

/// A node whose log alone holds the last rows.
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

/// The node does not start, and reports why.
fn assert_refused(cluster: &Sandbox, words: &[&str]) {
    let node = cluster.node(0);
    let from = since(node, 0).len();
    cluster.start().expect_err("it must not start");
    assert_ne!(node.state(), State::Running);
    assert_logged(&since(node, from), words);
}

fn files_of_the_log(data: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.file_name().unwrap().to_str().unwrap().starts_with("hortator-"));
    files.retain(|file| file.extension().is_some_and(|extension| extension == "log"));
    files.sort();
    files
}

/// Changes a byte of the log's first file, and returns the old byte.
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
        ("log.retian=1G", "`log.retian` is not an option of this provider"),
        ("log.segment=much", "log.segment is a size such as 128M, not `much`"),
        ("log.sync", "`log.sync` has no value"),
        ("pc.weight=17", "pc.weight is `17`, but it must be a whole number from 1 to 16"),
    ] {
        let error =
            Builder::cluster(1).set("wsrep_provider_options", options).start_temporary().unwrap_err().to_string();
        assert_logged(&error, &[words]);
    }
    let cluster = cluster();
    let node = cluster.node(0);
    let mut connection = node.connect().unwrap();
    for options in ["log.retian=1G", "log.segment=2M", "pc.weight=0"] {
        let error = set_provider_options(&mut connection, options);
        assert!(error.is_err(), "{options}");
    }
    let log = since(node, 0);
    assert_logged(&log, &["pc.weight is `0`, but it must be a whole number from 1 to 16"]);
    // With a variable for each option, the server knows the names and what is read at the start only.
    if !has_option_variables(&mut connection).unwrap() {
        assert_logged(&log, &["`log.retian` is not an option", "log.segment cannot be changed while the server runs"]);
        // Scripts look for these words.
        assert_logged(&log, &["WSREP: Unknown parameter 'log.retian'. Hortator: ", "WSREP: Set options returned 7"]);
    }
    run(node, &["INSERT INTO d.t VALUES (51)"]);
    assert_eq!(rows(node), "51 to 51");
}

#[test]
fn logs_that_cannot_be_read() {
    let cluster = cluster();
    let node = cluster.node(0);
    cluster.kill().unwrap();
    let file = files_of_the_log(&node.data_dir()).remove(0);
    // About the tenth insert: confirmed, with others after it.
    let middle = 4096 + 4000;
    let before = patch(&file, middle, |byte| byte ^ 0x55);
    assert_refused(&cluster, &["is damaged at byte", "Confirmed entries are missing"]);
    patch(&file, middle, |_| before);
    // The version is the third word of the header, and is checked before its checksum.
    let before = patch(&file, 8, |_| 2);
    assert_refused(&cluster, &["has log format 2, this release reads format 1"]);
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
    assert_refused(&own, &["the server's tables belong to the cluster", "Restore the log of these tables"]);
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
    let from = since(node, 0).len();
    let mut server = Command::new(&arguments[0]);
    server.args(&arguments[1..]).arg("--user=mysql").stdout(Stdio::null()).stderr(Stdio::null());
    assert!(!server.status().unwrap().success(), "it must not start");
    let words = ["the server does not report the position of its tables", "--wsrep-recover", "--wsrep-start-position="];
    assert_logged(&since(node, from), &words);
    cluster.start().unwrap();
    assert_eq!(rows(node), "50 to 50");
}

#[test]
fn no_room_for_the_log() {
    provider::build();
    let builder = Builder::cluster(1).set("innodb_flush_log_at_trx_commit", "0").set("innodb_log_file_size", "16M");
    let cluster = builder.set("wsrep_provider_options", "log.segment=1M").start_temporary().unwrap();
    let node = cluster.node(0);
    run(node, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT, filler LONGTEXT)"]);
    run(node, &["INSERT INTO d.t VALUES (1, 0, '')"]);
    let mut arguments = arguments(node);
    arguments.push("--wsrep-provider-options=log.segment=64M".to_owned());
    cluster.stop().unwrap();
    // Larger than all existing files, smaller than the log's next file.
    let own = Own::start(node, &arguments, &Own::no_file_beyond(50_331_648));
    let start = Instant::now();
    while !is_ready(node) {
        assert!(start.elapsed() < WAIT_TIMEOUT, "nobody may write:\n{}", since(node, 0));
        thread::sleep(Duration::from_millis(50));
    }
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
    assert!(error.to_string().contains("ERROR 1180") && confirmed > 0, "after {confirmed}: {error}");
    assert_logged(
        &since(node, 0),
        &["transactions are refused, each with an error to its client: no room in", "free some"],
    );
    assert_eq!(ask(node, "SELECT v FROM d.t"), [[confirmed.to_string()]]);
    drop(own);
    cluster.start().unwrap();
    assert_eq!(ask(node, "SELECT v FROM d.t"), [[confirmed.to_string()]]);
    run(node, &["UPDATE d.t SET v = v + 1"]);
    cluster.kill().unwrap();
    cluster.start().unwrap();
    assert_eq!(ask(node, "SELECT v FROM d.t"), [[(confirmed + 1).to_string()]]);
}

/// Changes the tables of a stopped node without its provider. Returns the result of `asked` before.
fn behind_the_providers_back(node: Node<'_>, arguments: &[String], asked: &str, change: Option<&str>) -> String {
    let arguments = arguments.iter().filter(|argument| !argument.starts_with("--wsrep"));
    let arguments: Vec<String> = arguments.cloned().chain(["--wsrep-on=OFF".to_owned()]).collect();
    let own = Own::start(node, &arguments, &[]);
    let answer = ask(node, asked).concat().concat();
    run(node, &Vec::from_iter(change));
    own.shut_down();
    answer
}

#[test]
fn entries_that_cannot_be_applied_again() {
    let cluster = cluster();
    let node = cluster.node(0);
    let arguments = arguments(node);
    let conflict = Some("INSERT INTO d.t VALUES (51)");
    // The storage engine writes once a second, and may have done so within the last moment.
    for tries in 0.. {
        run(node, &["SET GLOBAL innodb_flush_log_at_timeout = 600", "INSERT INTO d.t VALUES (51)"]);
        cluster.kill().unwrap();
        if behind_the_providers_back(node, &arguments, "SELECT COUNT(*) FROM d.t WHERE id = 51", None) == "0" {
            break;
        }
        assert!(tries < 5, "the row is in the tables each time");
        cluster.start().unwrap();
        run(node, &["DELETE FROM d.t WHERE id = 51"]);
        thread::sleep(Duration::from_millis(1500));
    }
    behind_the_providers_back(node, &arguments, "SELECT 1", conflict);
    // A failed attempt must not count as done.
    for _ in 0..2 {
        assert_refused(&cluster, &["could not be applied"]);
    }
    behind_the_providers_back(node, &arguments, "SELECT 1", Some("DELETE FROM d.t WHERE id = 51"));
    cluster.start().unwrap();
    assert_eq!(rows(node), "51 to 51");
    run(node, &["INSERT INTO d.t VALUES (52)"]);
    assert_eq!(rows(node), "52 to 52");
}
