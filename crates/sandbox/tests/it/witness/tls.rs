//! A witness of nodes that link by TLS.

use std::fs;

use super::manual_witness::Own;
use super::{cluster, witness};
use crate::cluster_fixture::{Writers, assert_logged, since, wait_for};
use crate::secure_links::{Files, set_options};
use crate::signal;

#[test]
fn a_witness_links_by_tls_and_takes_new_certificates() {
    let files = Files::new();
    files.certificates(1);
    files.certificates(2);
    let sandbox = cluster(2, &files.tls(1));
    let said = || fs::read_to_string(witness(&sandbox).error_log()).unwrap();
    for log in [said(), since(sandbox.node(0), 0), since(sandbox.node(1), 0)] {
        assert_logged(&log, &["linked to", "): TLS"]);
        assert!(!log.contains("): without TLS"), "{log}");
    }
    let writers = Writers::on(&sandbox, &[0, 1]);
    let any_node_may_die = || {
        for (dies, stays) in [(1, 0), (0, 1)] {
            sandbox.node(dies).kill().unwrap();
            writers.wait_for_more_of(stays);
            sandbox.node(dies).start().unwrap();
            writers.wait_for_more();
        }
    };
    any_node_may_die();

    let unknown = "is not signed by a CA in socket.ssl_ca of this node";
    let stranger = Own::start(&sandbox, "sandbox", &[&format!("--provider-options={}", files.tls(2))]);
    // It dials, and so it is the one that refuses.
    let refused = "the node there refuses the certificate of this node (socket.ssl_cert";
    wait_for("both logs", || stranger.output().contains(unknown) && since(sandbox.node(0), 0).contains(refused));
    assert!(!stranger.output().contains("linked to"), "{}", stranger.output());
    drop(stranger);

    let reload = |expected: &str| {
        let before = said().len();
        signal(witness(&sandbox).pid().unwrap(), "-HUP");
        wait_for("the witness to read the files", || said()[before..].contains(expected));
    };
    let key = fs::read(files.path("node1.key")).unwrap();
    fs::write(files.path("node1.key"), "torn").unwrap();
    reload("nothing was read again: ");
    fs::write(files.path("node1.key"), key).unwrap();

    // Another CA, in two steps: all trust both, then get their certificates of the new one.
    let reload_all = || {
        reload("were read again");
        sandbox.nodes().for_each(|node| set_options(node, "socket.ssl_reload=1").unwrap());
    };
    let both = ["ca1.pem", "ca2.pem"].map(|file| fs::read_to_string(files.path(file)).unwrap()).concat();
    fs::write(files.path("ca1.pem"), both).unwrap();
    reload_all();
    for (from, to) in [("node2.pem", "node1.pem"), ("node2.key", "node1.key")] {
        fs::copy(files.path(from), files.path(to)).unwrap();
    }
    reload_all();
    fs::copy(files.path("ca2.pem"), files.path("ca1.pem")).unwrap();
    reload_all();
    // The links of the old certificates end with their nodes, and that of the witness by an isolation.
    witness(&sandbox).isolate().unwrap();
    wait_for("it to be isolated", || !witness(&sandbox).has_vote());
    sandbox.heal().unwrap();
    wait_for("the witness's vote", || witness(&sandbox).has_vote());
    any_node_may_die();
    writers.stop(&sandbox);
}
