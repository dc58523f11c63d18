//! A cluster: replicates, readmits a crashed node, and recovers after all nodes crashed.

use hortator_sandbox::{Builder, State};

use crate::{ask, run};

#[test]
fn three_nodes_replicate_and_survive_crashes() {
    let cluster = Builder::galera(3).start_temporary().unwrap();
    run(cluster.node(0), &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)"]);
    for node in cluster.nodes() {
        let mut connection = node.connect().unwrap();
        // Without it a node answers before it has applied what others have committed.
        connection.execute(b"SET SESSION wsrep_sync_wait = 1").unwrap();
        let rows = connection.fetch(b"SELECT id FROM d.t").unwrap();
        assert_eq!(rows, [[Some(b"1".to_vec())]], "{}", node.name());
    }

    cluster.node(2).kill().unwrap();
    assert_eq!(cluster.node(2).state(), State::Crashed);
    run(cluster.node(1), &["INSERT INTO d.t VALUES (2)"]);
    cluster.node(2).start().unwrap();
    assert_eq!(ask(cluster.node(2), "SELECT id FROM d.t ORDER BY id"), [["1"], ["2"]]);

    cluster.kill().unwrap();
    cluster.start().unwrap();
    for node in cluster.nodes() {
        assert_eq!(ask(node, "SELECT id FROM d.t ORDER BY id"), [["1"], ["2"]], "{}", node.name());
    }
}
