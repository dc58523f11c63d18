//! The error log has lines that programs know from Galera, when their events occur.

use hortator_sandbox::{Builder, Node};

use crate::cluster_fixture::{since, wait_for};
use crate::{provider, run};

/// The log has a line with these words right after the server's own prefix.
fn has(node: Node<'_>, from: usize, words: &str) -> bool {
    since(node, from).contains(&format!("[Note] WSREP: {words}"))
}

fn wait_for_lines(node: Node<'_>, from: usize, lines: &[&str]) {
    for line in lines {
        wait_for(line, || has(node, from, line));
    }
}

#[test]
fn a_joiner_its_donor_and_a_node_that_leaves_say_what_programs_look_for() {
    provider::build();
    let cluster = Builder::cluster(2).start_temporary().unwrap();
    let [first, second] = [0, 1].map(|index| cluster.node(index));
    let start = [
        "Shifting CLOSED -> OPEN (TO: ",
        "Shifting OPEN -> PRIMARY (TO: ",
        "New COMPONENT: primary = yes, bootstrap = yes, my_idx = 0, memb_num = 1",
        "Quorum results: component = PRIMARY, conf_id = 1, ",
        "Member 0.0 (node1) synced with group.",
        "Flow-control interval: [256, 256]",
        "Shifting PRIMARY -> JOINED (TO: ",
        "Shifting JOINED -> SYNCED (TO: ",
    ];
    wait_for_lines(first, 0, &start);
    let donation = [
        "Member -1.-1 (node2) requested state transfer from '*any*'. Selected 0.0 (node1)(SYNCED) as donor.",
        "Shifting SYNCED -> DONOR/DESYNCED (TO: ",
        "0.0 (node1): State transfer to -1.-1 (node2) complete.",
        "Shifting DONOR/DESYNCED -> JOINED (TO: ",
        "memb_num = 2",
        "declaring ",
        "Member 1.0 (node2) synced with group.",
        "Flow-control interval: [362, 362]",
    ];
    for line in donation {
        wait_for(line, || since(first, 0).contains(line));
    }
    wait_for_lines(
        second,
        0,
        &[
            "Shifting PRIMARY -> JOINER (TO: ",
            "Shifting JOINER -> JOINED (TO: ",
            "New COMPONENT: primary = yes, bootstrap = no, my_idx = 1, memb_num = 2",
            "Shifting JOINED -> SYNCED (TO: ",
        ],
    );

    let from = since(first, 0).len();
    run(first, &["SET GLOBAL wsrep_desync = ON", "SET GLOBAL wsrep_desync = OFF"]);
    wait_for_lines(
        first,
        from,
        &[
            "Member 0.0 (node1) desyncs itself from group",
            "Shifting SYNCED -> DONOR/DESYNCED (TO: ",
            "Member 0.0 (node1) resyncs itself to group",
            "Shifting JOINED -> SYNCED (TO: ",
        ],
    );
    second.stop().unwrap();
    wait_for_lines(
        first,
        from,
        &["New COMPONENT: primary = yes, bootstrap = no, my_idx = 0, memb_num = 1", "forgetting "],
    );
    assert!(has(second, 0, "Shifting SYNCED -> CLOSED (TO: "), "{}", since(second, 0));
}
