//! A Galera cluster that loses nodes while a load goes on.

use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::Connection;
use hortator_sandbox::Node;

use crate::cluster::load_over;
use crate::errors::{assert_tells, dump_file, load_into};
use crate::interrupted::{STATEMENTS, long_dump};
use crate::programs::{Outcome, Running, run};
use crate::servers::{SETTINGS, Server};

/// A busy machine takes its time over a load that moves.
const PATIENCE: Duration = Duration::from_secs(600);
/// How often a node is cut off in the middle of a load.
const CUTS: u32 = 2;
/// How long a cluster may take to find together again.
const CLUSTER_PATIENCE: Duration = Duration::from_secs(300);

/// Loads a long dump by way of all nodes, and lets `event` happen once rows go in.
fn load_while(server: &Server, chunk_bytes: &str, arguments: &[&str], event: impl FnOnce()) -> Outcome {
    server.reset();
    // The main session has something to do at the end.
    let text = [&long_dump()[..], b"SELECT COUNT(*) FROM t;\n"].concat();
    let (_folder, dump) = dump_file("dump.sql", &text);
    let arguments: Vec<&str> =
        arguments.iter().copied().chain(["--chunk-bytes", chunk_bytes, dump.to_str().unwrap()]).collect();
    let running = Running::start(load_over(server, &[0, 1, 2], &arguments));
    server.wait_until("SELECT COUNT(*) > 1000 FROM hortator_case.t");
    event();
    running.finish_within(PATIENCE)
}

/// Rows of the dump on a node, of which no statement's are there in part.
fn whole_rows(node: Node<'_>) -> u64 {
    let mut connection = node.connect().unwrap();
    connection.execute(b"SET SESSION wsrep_sync_wait = 1").unwrap();
    let query = b"SELECT COUNT(*), COUNT(DISTINCT id DIV 2) * 2 = COUNT(*) FROM hortator_case.t";
    let rows = connection.fetch(query).unwrap();
    assert_eq!(rows[0][1].as_deref(), Some(&b"1"[..]), "{}: a statement is there in part", node.name());
    String::from_utf8(rows[0][0].clone().unwrap()).unwrap().parse().unwrap()
}

fn wait_for(node: Node<'_>, status: &str, value: &str) {
    let start = Instant::now();
    let query = format!("SHOW GLOBAL STATUS LIKE '{status}'");
    let is_so = |connection: &mut Connection| {
        let rows = connection.fetch(query.as_bytes()).unwrap();
        rows[0][1].as_deref() == Some(value.as_bytes())
    };
    while !is_so(&mut node.connect().unwrap()) {
        assert!(start.elapsed() < CLUSTER_PATIENCE, "{}: {status} does not come to {value}", node.name());
        thread::sleep(Duration::from_millis(50));
    }
}

fn isolate(node: Node<'_>, is_isolated: bool) {
    let option = format!("gmcast.isolate={}", u8::from(is_isolated));
    hortator_sandbox::set_provider_options(&mut node.connect().unwrap(), &option).unwrap();
}

#[test]
fn a_node_that_dies_is_left() {
    let server = Server::start_cluster(3, &SETTINGS);
    let [first, second, third] = [0, 1, 2].map(|index| server.sandbox().node(index));

    // One that only follows: it is done without.
    let outcome = load_while(&server, "65536", &[], || third.kill().unwrap());
    assert_tells(&outcome, 0, &["node3", "may not have applied all rows"]);
    assert_eq!((whole_rows(first), whole_rows(second)), (STATEMENTS * 2, STATEMENTS * 2));
    third.start().unwrap();
    assert_eq!(whole_rows(third), STATEMENTS * 2);

    // Home itself: another takes its place, and what was not committed there is done again.
    let outcome = load_while(&server, "65536", &[], || first.kill().unwrap());
    assert_tells(&outcome, 0, &["failover from node1", "to node2", "writer: node2"]);
    // What the main session reads on the node that it came to is all that was committed before.
    assert!(String::from_utf8_lossy(&outcome.rows).contains(&(STATEMENTS * 2).to_string()), "it read too early");
    assert_eq!((whole_rows(second), whole_rows(third)), (STATEMENTS * 2, STATEMENTS * 2));
    first.start().unwrap();
    assert_eq!(whole_rows(first), STATEMENTS * 2);
    assert!(server.node_differences(true, false).is_empty());

    // Without records nobody can go on for the main session: that is said, and nothing is there in part.
    let outcome = load_while(&server, "65536", &["--no-checkpoint"], || first.kill().unwrap());
    assert_tells(&outcome, 1, &["lost the connection", "dump.sql"]);
    assert!(whole_rows(second) >= 1000);
}

#[test]
fn a_node_that_is_cut_off_takes_no_statements() {
    let server = Server::start_cluster(3, &SETTINGS);
    let [first, second, third] = [0, 1, 2].map(|index| server.sandbox().node(index));
    server.reset();
    let (_folder, dump) = dump_file("dump.sql", b"CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1);\n");
    let dump = dump.to_str().unwrap();
    isolate(first, true);
    wait_for(first, "wsrep_cluster_status", "non-Primary");
    wait_for(second, "wsrep_cluster_size", "2");
    let words = ["no node accepts statements", "non-Primary"];
    let mut alone = load_over(&server, &[0], &[dump]);
    assert_tells(&run(load_into(&server, &[dump])), 1, &words);
    alone.env_remove("MYSQL_PWD");
    assert_tells(&run(alone), 1, &words);
    let outcome = run(load_over(&server, &[0, 1, 2], &[dump]));
    assert_tells(&outcome, 0, &["the load does not use node1", "writer: node2"]);
    isolate(first, false);
    wait_for(first, "wsrep_local_state_comment", "Synced");
    wait_for(first, "wsrep_ready", "ON");
    assert!(server.node_differences(true, false).is_empty());

    // In the middle of a load: of small chunks, so that commits are under way. The cluster may have those that the node
    // refused.
    for _ in 0..CUTS {
        let outcome = load_while(&server, "1024", &[], || isolate(first, true));
        assert_tells(&outcome, 0, &["failover from node1", "writer: node2"]);
        assert_eq!((whole_rows(second), whole_rows(third)), (STATEMENTS * 2, STATEMENTS * 2));
        isolate(first, false);
        wait_for(first, "wsrep_local_state_comment", "Synced");
        wait_for(first, "wsrep_ready", "ON");
        assert!(server.node_differences(true, false).is_empty());
    }
}
