//! A slow node: the cluster waits for it, up to its flow control limit.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use hortator_sandbox::{Builder, Node};

use crate::cluster_fixture::{define, ids, wait_for};
use crate::{ask, provider, run, set_options};

/// `gcs.fc_limit` of the slow node.
const LIMIT: u64 = 8;
const CLIENTS: u64 = 8;
const ROWS_OF_A_CLIENT: u64 = 1_000;
/// The maximum length of the receive queue. Other nodes continue between the moment when the queue is too long and the
/// moment when the leader knows it, for longer on a busy machine. Without a limit nearly all rows wait.
const QUEUE_LIMIT: u64 = CLIENTS * ROWS_OF_A_CLIENT / 2;

fn status(node: Node<'_>, name: &str) -> u64 {
    ask(node, &format!("SHOW STATUS LIKE '{name}'"))[0][1].parse().unwrap()
}

#[test]
fn a_node_over_its_flow_control_limit_slows_the_cluster() {
    provider::build();
    let builder = Builder::cluster(3).set("wsrep_provider_options", "gcs.fc_limit=1000000");
    let cluster = builder.start_temporary().unwrap();
    let [first, _, slow] = [0, 1, 2].map(|index| cluster.node(index));
    define(&cluster, &["CREATE DATABASE d", "CREATE TABLE d.t (id BIGINT PRIMARY KEY)"]);
    // Without a key, the applier scans the table for each row.
    run(first, &["USE d", "CREATE TABLE keyless (v INT)", "INSERT INTO keyless SELECT seq FROM seq_1_to_20000"]);
    assert_eq!(ids(slow).len(), 0);
    set_options(slow, &format!("gcs.fc_limit={LIMIT}"));

    // A small write set that takes long to apply, and many after it.
    run(first, &["UPDATE d.keyless SET v = -v WHERE v > 19500"]);
    let (are_done, longest) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                scope.spawn(move || {
                    let mut connection = first.connect().unwrap();
                    for row in 0..ROWS_OF_A_CLIENT {
                        let id = client * ROWS_OF_A_CLIENT + row;
                        connection.execute(format!("INSERT INTO d.t VALUES ({id})").as_bytes()).unwrap();
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            while !are_done.load(Ordering::SeqCst) {
                longest.fetch_max(status(slow, "wsrep_local_recv_queue"), Ordering::SeqCst);
                thread::sleep(Duration::from_millis(5));
            }
        });
        clients.into_iter().for_each(|client| client.join().unwrap());
        are_done.store(true, Ordering::SeqCst);
    });
    let longest = longest.into_inner();
    assert!(longest <= QUEUE_LIMIT, "{longest} waited to be applied");
    let sum = |name: &str| cluster.nodes().map(|node| status(node, name)).sum::<u64>();
    assert!(sum("wsrep_flow_control_recv") > 0, "nobody was held back, and {longest} waited");
    assert!(sum("wsrep_flow_control_paused_ns") > 0);
    for node in cluster.nodes() {
        assert_eq!(ids(node).len() as u64, CLIENTS * ROWS_OF_A_CLIENT, "{}", node.name());
        assert_eq!(ask(node, "SELECT COUNT(*) FROM d.keyless WHERE v < 0"), [["500"]], "{}", node.name());
        // The leader has yet to hear that the slow node has applied all.
        wait_for("the end of the pause", || ask(node, "SHOW STATUS LIKE 'wsrep_flow_control_active'")[0][1] == "false");
    }
}
