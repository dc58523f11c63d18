//! A transaction that waits long for its seqno, while others commit, does not fail without a conflict.

use std::sync::Barrier;
use std::thread;

use hortator_sandbox::{Builder, Node};

use crate::cluster_fixture::{define, ids, wait_for};
use crate::{ask, provider, run, set_options};

/// Rows that are ordered while the slow node cannot apply them: more than there are between two commit cuts.
const ROWS: u64 = 2_000;
/// They write these rows.
const WRITERS: u64 = 8;
const CLIENTS: u64 = 4;

fn status(node: Node<'_>, name: &str) -> u64 {
    ask(node, &format!("SHOW STATUS LIKE '{name}'"))[0][1].parse().unwrap()
}

/// The slow node has seen little when its clients commit. Flow control then holds their proposals back until it has
/// applied everything, and the cluster purges what all nodes have applied meanwhile.
#[test]
fn what_flow_control_holds_back_is_not_too_old_afterwards() {
    provider::build();
    // The rows must be there before the slow node has scanned its table, also where the disk is slow.
    let builder = Builder::cluster(2).set("wsrep_provider_options", "gcs.fc_limit=1000000;log.sync=no");
    let cluster = builder.set("innodb_flush_log_at_trx_commit", "0").start_temporary().unwrap();
    let [first, slow] = [0, 1].map(|index| cluster.node(index));
    define(&cluster, &["CREATE DATABASE d", "CREATE TABLE d.t (id BIGINT PRIMARY KEY)"]);
    // Without a key, the applier scans the table for each row.
    run(first, &["USE d", "CREATE TABLE keyless (v INT)", "INSERT INTO keyless SELECT seq FROM seq_1_to_30000"]);
    assert_eq!(ids(slow).len(), 0);
    let is_blocked = || ask(slow, "SELECT COUNT(*) FROM d.keyless WHERE v < 0") == [["0"]];

    run(first, &["UPDATE d.keyless SET v = -v WHERE v > 26000"]);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                let mut connection = first.connect().unwrap();
                for id in (writer..ROWS).step_by(WRITERS as usize) {
                    connection.execute(format!("INSERT INTO d.t VALUES ({id})").as_bytes()).unwrap();
                }
            });
        }
    });
    // From here on the slow node is over its limit, and nothing more is ordered.
    set_options(slow, "gcs.fc_limit=8");
    wait_for("a pause", || {
        cluster.nodes().any(|node| ask(node, "SHOW STATUS LIKE 'wsrep_flow_control_active'")[0][1] == "true")
    });
    let start = Barrier::new(CLIENTS as usize + 1);
    thread::scope(|scope| {
        let insert = |id: u64| {
            let mut connection = slow.connect().unwrap();
            connection.execute(b"SET SESSION wsrep_retry_autocommit = 0").unwrap();
            start.wait();
            connection.execute(format!("INSERT INTO d.t VALUES ({id})").as_bytes())
        };
        let clients: Vec<_> = (ROWS..ROWS + CLIENTS).map(|id| scope.spawn(move || insert(id))).collect();
        start.wait();
        wait_for("the clients' proposals", || status(slow, "wsrep_local_send_queue") == CLIENTS);
        assert!(is_blocked(), "the slow node was too fast for this test");
        for client in clients {
            client.join().unwrap().expect("no other transaction has touched these rows");
        }
    });
    assert_eq!(status(slow, "wsrep_local_cert_failures"), 0);
    assert_eq!(status(slow, "wsrep_local_cert_too_old"), 0);
    for node in cluster.nodes() {
        assert_eq!(ids(node).len() as u64, ROWS + CLIENTS, "{}", node.name());
    }
}
