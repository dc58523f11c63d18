//! A node with Hortator's own provider: it keeps what it has confirmed, however it ends.

use hortator_sandbox::{Builder, State};

use crate::{ask, provider, run};

#[test]
fn a_node_keeps_its_rows_over_crashes_and_stops() {
    provider::build();
    let cluster = Builder::cluster(1).start_temporary().unwrap();
    let node = cluster.node(0);
    assert!(ask(node, "SELECT @@wsrep_provider")[0][0].ends_with("/libhortator_wsrep.so"));
    let last_committed = || -> u64 { ask(node, "SHOW STATUS LIKE 'wsrep_last_committed'")[0][1].parse().unwrap() };
    run(node, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)"]);
    let rows = || ask(node, "SELECT id FROM d.t ORDER BY id").concat();
    let before = last_committed();

    cluster.kill().unwrap();
    assert_eq!(node.state(), State::Crashed);
    cluster.start().unwrap();
    assert_eq!(rows(), ["1"]);
    let position = || ask(node, "SELECT @@wsrep_start_position").concat().concat();
    let history = position().split_once(':').unwrap().0.to_owned();
    assert!(!history.starts_with("00000000-"), "the second start is told its place");
    assert!(last_committed() >= before, "{} after {before}", last_committed());

    run(node, &["INSERT INTO d.t VALUES (2)"]);
    cluster.stop().unwrap();
    assert_eq!(node.state(), State::Stopped);
    cluster.start().unwrap();
    assert_eq!(rows(), ["1", "2"]);
    assert!(position().starts_with(&history), "{history} goes on, at {}", position());
    // Nothing but the log has the last row: the storage engine writes its own once a second, or at its end.
    run(node, &["SET GLOBAL innodb_flush_log_at_trx_commit = 0", "INSERT INTO d.t VALUES (3)"]);
    cluster.kill().unwrap();
    cluster.start().unwrap();
    assert_eq!(rows(), ["1", "2", "3"]);
}

#[test]
fn more_than_one_node_is_refused() {
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let message = Builder::cluster(2).dir(dir.path()).create("two").unwrap_err().to_string();
    assert!(message.contains("makes clusters of 1 so far"), "{message}");
    assert!(!dir.path().join("two").exists());
}
