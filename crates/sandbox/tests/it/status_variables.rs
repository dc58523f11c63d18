//! What the nodes of a cluster tell about themselves: status variables, the metrics file, notes on options.

use std::fs;

use hortator_sandbox::{Builder, Node};

use crate::cluster_fixture::{define, ids, since, wait_for};
use crate::{ask, provider, run, set_options};

fn status(node: Node<'_>, name: &str) -> String {
    ask(node, &format!("SHOW STATUS LIKE 'wsrep_{name}'"))[0][1].clone()
}

fn number(node: Node<'_>, name: &str) -> f64 {
    status(node, name).parse().unwrap()
}

#[test]
fn all_nodes_agree_on_term_leader_and_indexes_and_the_leader_knows_each_peer() {
    provider::build();
    let options = "metrics.file=node.prom; metrics.interval=PT1S; evs.suspect_timeout=PT30S; cert.log_conflicts=yes";
    let cluster = Builder::cluster(3).set("wsrep_provider_options", options).start_temporary().unwrap();
    let nodes: Vec<Node<'_>> = cluster.nodes().collect();
    define(
        &cluster,
        &["CREATE DATABASE d", "CREATE TABLE d.t (id BIGINT PRIMARY KEY)", "FLUSH /*M!110500 GLOBAL */ STATUS"],
    );
    run(nodes[0], &["USE d", "INSERT INTO d.t SELECT seq FROM seq_1_to_10", "INSERT INTO d.t VALUES (11)"]);
    nodes.iter().for_each(|node| assert_eq!(ids(*node).len(), 11));

    let same = |name: &str| nodes.iter().all(|node| status(*node, name) == status(nodes[0], name));
    wait_for("the same Raft state", || {
        ["raft_term", "raft_leader", "raft_commit_index", "raft_applied_index", "raft_last_index"].into_iter().all(same)
    });
    assert!(number(nodes[0], "raft_term") > 0.0 && number(nodes[0], "raft_commit_index") > 3.0);
    assert_eq!(status(nodes[0], "raft_voters"), "3");
    assert_eq!(status(nodes[0], "cluster_weight"), "3");
    let leaders: Vec<&Node<'_>> = nodes.iter().filter(|node| status(**node, "raft_role") == "leader").collect();
    assert_eq!(leaders.len(), 1);
    let leader = *leaders[0];
    assert_eq!(status(leader, "raft_leader"), ask(leader, "SELECT @@wsrep_node_name")[0][0]);
    wait_for("both peers at the end of the log", || {
        let end = format!("match={}", status(leader, "raft_commit_index"));
        let peers = status(leader, "raft_peers");
        peers.matches("linked voter").count() == 2 && peers.matches(&end).count() == 2
    });
    let follower = nodes.iter().find(|node| status(**node, "raft_role") == "follower").unwrap();
    assert!(!status(*follower, "raft_peers").contains("match="));

    // The first node has replicated since FLUSH STATUS; the others have applied.
    assert_eq!(number(nodes[0], "replicated"), 2.0);
    assert!(number(nodes[0], "repl_other_bytes") > 0.0);
    assert!(number(nodes[0], "causal_reads") >= 1.0);
    assert_eq!(status(nodes[0], "local_send_queue_max"), "1");
    let latencies: Vec<f64> =
        status(nodes[0], "evs_repl_latency").split('/').map(|figure| figure.parse().unwrap()).collect();
    assert!(
        matches!(latencies[..], [min, mean, max, _, 2.0] if 0.0 < min && min <= mean && mean <= max),
        "{latencies:?}"
    );
    assert!(number(nodes[1], "apply_window") >= 1.0);
    assert!(number(nodes[1], "local_recv_queue_max") >= 1.0);

    // The metrics file has the same figures, and goes with the server.
    let file = leader.data_dir().join("node.prom");
    wait_for("the metrics", || {
        let text = fs::read_to_string(&file).unwrap_or_default();
        let has = |line: &str| text.lines().any(|of_file| of_file.starts_with(line));
        has("hortator_wsrep_raft_voters 3")
            && has("hortator_wsrep_raft_peer_match_index{node=")
            && text.contains("raft_role=\"leader\"")
    });
    let log = since(leader, 0);
    let note = "[Note] WSREP: Hortator: wsrep_provider_options: evs.suspect_timeout=PT30S has no effect here";
    assert_eq!(log.matches(note).count(), 1, "{log}");
    assert!(!log.contains("metrics.interval=PT1S has no effect"));
    leader.stop().unwrap();
    assert!(!file.exists(), "old figures would look like new ones");
}

#[test]
fn the_error_log_tells_why_certification_failed_a_transaction_if_asked_to() {
    provider::build();
    let cluster = Builder::cluster(2).set("wsrep_provider_options", "gcs.fc_limit=1000000").start_temporary().unwrap();
    let [first, slow] = [0, 1].map(|index| cluster.node(index));
    define(&cluster, &["CREATE DATABASE d", "CREATE TABLE d.t (id BIGINT PRIMARY KEY)"]);
    run(first, &["USE d", "CREATE TABLE keyless (v INT)", "INSERT INTO keyless SELECT seq FROM seq_1_to_30000"]);
    assert_eq!(ids(slow).len(), 0);
    set_options(slow, "cert.log_conflicts=yes");
    // The slow node applies this for long, and does not see the row of the first one meanwhile.
    run(first, &["UPDATE d.keyless SET v = -v WHERE v > 29000", "INSERT INTO d.t VALUES (1)"]);
    let mut connection = slow.connect().unwrap();
    connection.execute(b"SET SESSION wsrep_retry_autocommit = 0").unwrap();
    let error = connection.execute(b"INSERT INTO d.t VALUES (1)").unwrap_err().to_string();
    assert!(error.contains("Deadlock"), "the node has not seen the other row yet: {error}");
    assert_eq!(status(slow, "local_cert_failures"), "1");
    assert_eq!(status(slow, "local_cert_too_old"), "0");
    let log = since(slow, 0);
    assert!(log.contains("WSREP: Hortator: certification failed transaction"), "{log}");
    assert!(log.contains("which is later than the last-seen seqno of the write set"), "{log}");
}
