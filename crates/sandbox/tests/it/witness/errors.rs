//! What the witness says when it cannot start, or when a node refuses it; its exit status; and its leave.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;

use hortator_sandbox::Builder;

use super::manual_witness::{Own, program};
use super::{cluster, variable, witness};
use crate::cluster_fixture::{assert_logged, ids, since, wait_for};
use crate::secure_links::Files;
use crate::{provider, run};

/// Runs a witness that has to end by itself.
fn ended(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(program());
    command.arg(format!("--dir={}", folder.display())).args(arguments);
    let Output { status, stderr, .. } = command.output().unwrap();
    (status.code(), String::from_utf8(stderr).unwrap())
}

fn without_witness(options: &str) -> hortator_sandbox::Temporary {
    provider::build();
    Builder::cluster(1).set("wsrep_provider_options", options).start_temporary().unwrap()
}

#[test]
fn a_witness_that_cannot_start_says_why() {
    let sandbox = cluster(1, "");
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("w");
    let address = "--cluster-address=gcomm://127.0.0.1:1";
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = format!("--listen={}", taken.local_addr().unwrap());
    let in_use = witness(&sandbox).folder();
    let of_server = sandbox.node(0).data_dir();
    for (folder, arguments, expected) in [
        (in_use.as_path(), &[address, "--listen=127.0.0.1:0"][..], "is in use by another witness"),
        (of_server.as_path(), &[address, "--listen=127.0.0.1:0"], "it is the data folder of a server"),
        (&folder, &[address, &port], "cannot listen for other nodes on"),
        (&folder, &[address, "--listen=0.0.0.0:0"], "which no other node can use as an address"),
        (&folder, &["--cluster-address=gcomm://", "--listen=127.0.0.1:0"], "a witness cannot begin a cluster"),
        (&folder, &["--cluster-address=127.0.0.1", "--listen=127.0.0.1:0"], "use the form gcomm://A,B"),
        (&folder, &[address, "--provider-options=no.option=1"], "`no.option` is not an option"),
        (&folder, &[address, "--provider-options=pc.ignore_sb=yes"], "pc.ignore_sb is not for a witness"),
        (&folder, &[address, "--provider-options=socket.ssl=yes"], "socket.ssl_key"),
        (&folder, &[address, "--provider-options=auth.secret_file=/no/such"], "/no/such"),
    ] {
        let (status, output) = ended(folder, arguments);
        assert_eq!(status, Some(1), "{output}");
        assert!(output.contains(expected), "`{expected}` is missing in: {output}");
    }
    let (status, output) = ended(&folder, &[]);
    assert_eq!(status, Some(2), "{output}");
    // The witness that runs is not disturbed.
    run(sandbox.node(0), &["CREATE DATABASE d"]);
}

#[test]
fn a_witness_of_another_cluster_is_refused_and_both_sides_say_why() {
    let sandbox = without_witness("");
    let node = sandbox.node(0);
    let mut own = Own::start(&sandbox, "another", &["--provider-options=gcs.fc_limit=9"]);
    wait_for("the refusal", || own.output().contains("cluster names differ"));
    wait_for("the node's line", || since(node, 0).contains("cluster names differ"));
    let (status, output) = own.stop();
    assert_eq!(status, Some(0), "{output}");
    assert_logged(&output, &["the option gcs.fc_limit has no effect on a witness", "It stays a voter"]);

    // A folder of another cluster: it has a log with another history.
    let other = without_witness("");
    let mut joined = Own::start(&other, "sandbox", &[]);
    wait_for("its vote", || variable(other.node(0), "raft_voters") == "2");
    let (status, output) = joined.stop();
    assert_eq!(status, Some(0), "{output}");
    let folder = tempfile::tempdir().unwrap();
    let copied = Command::new("cp").arg("-a").arg(joined.folder.path().join("w")).arg(folder.path()).status().unwrap();
    assert!(copied.success());
    let own = Own::start_in(folder, &sandbox, "sandbox", &[]);
    wait_for("the refusal", || own.output().contains("history UUIDs differ"));
    wait_for("the node's line", || since(node, 0).contains("history UUIDs differ"));
}

#[test]
fn a_witness_proves_that_it_knows_the_secret() {
    let files = Files::new();
    let right = files.secret("right", "0123456789abcdef-of-all-nodes\n");
    let sandbox = cluster(1, &right);
    assert!(witness(&sandbox).has_vote());
    let log = || fs::read_to_string(witness(&sandbox).error_log()).unwrap();
    assert!(log().contains("secret, without TLS"), "{}", log());
    run(sandbox.node(0), &["CREATE DATABASE d"]);

    let wrong = files.secret("wrong", "fedcba9876543210-of-none-here\n");
    let own = Own::start(&sandbox, "sandbox", &[&format!("--provider-options={wrong}")]);
    wait_for("the refusal", || own.output().contains("secret"));
    wait_for("the node's line", || since(sandbox.node(0), 0).contains("secret"));
    assert_eq!(variable(sandbox.node(0), "raft_voters"), "2");
}

#[test]
fn a_witness_leaves_for_good_and_may_come_back() {
    let sandbox = cluster(2, "");
    let [first, second] = [0, 1].map(|index| sandbox.node(index));
    let arguments = command_line(witness(&sandbox).pid().unwrap());
    witness(&sandbox).stop().unwrap();
    assert_eq!(variable(first, "raft_voters"), "3");
    let owner = fs::metadata(witness(&sandbox).folder()).unwrap();
    let leave = |arguments: &[String]| {
        let mut command = Command::new(&arguments[0]);
        // As the same account.
        let output = command
            .uid(owner.uid())
            .gid(owner.gid())
            .current_dir(witness(&sandbox).folder())
            .args(&arguments[1..])
            .arg("--leave")
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (status, output) = leave(&arguments);
    assert_eq!(status, Some(0), "{output}");
    assert_logged(&output, &["has given its vote back"]);
    wait_for("two voters", || variable(first, "raft_voters") == "2" && variable(second, "raft_voters") == "2");
    run(first, &["CREATE DATABASE d"]);
    witness(&sandbox).start().unwrap();
    wait_for("three voters", || variable(first, "raft_voters") == "3");

    // Without a majority nobody takes its vote.
    witness(&sandbox).stop().unwrap();
    sandbox.nodes().for_each(|node| node.kill().unwrap());
    let (status, output) = leave(&arguments);
    assert_eq!(status, Some(1), "{output}");
    assert_logged(&output, &["still has its vote"]);
    sandbox.start().unwrap();
    assert_eq!(variable(first, "raft_voters"), "3");
}

#[test]
fn the_last_node_without_grastate_says_what_it_waits_for() {
    let sandbox = cluster(1, "");
    let node = sandbox.node(0);
    run(node, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)"]);
    node.stop().unwrap();
    let grastate = node.data_dir().join("grastate.dat");
    fs::remove_file(&grastate).unwrap();
    let from = since(node, 0).len();
    thread::scope(|scope| {
        let start = scope.spawn(|| node.start());
        // One of the two leads.
        let reasons = ["no linked node has tables", "the Raft leader is a witness, and no node with tables is up"];
        wait_for("the reason", || reasons.iter().any(|reason| since(node, from).contains(reason)));
        node.kill().unwrap();
        assert!(start.join().unwrap().is_err(), "there are no tables to receive");
    });
    assert_logged(&since(node, from), &["this node waits for a donor", "create an empty grastate.dat"]);
    fs::write(&grastate, "").unwrap();
    node.start().unwrap();
    assert_eq!(ids(node), ["1"]);
}

/// The words of a process's command.
fn command_line(pid: u32) -> Vec<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    let words = line.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8(word.to_vec()).unwrap()).collect()
}
