//! The lines, in the form that programs look for.

use super::*;
use crate::node_state::NodeState;

fn member(id: u8, name: &str) -> Member {
    Member { id: Uuid([id; 16]), name: name.to_owned(), incoming: format!("10.0.0.{id}:3306") }
}

#[test]
fn each_step_of_a_shift_has_a_line() {
    use NodeState::{Joined, Joiner, Open, Primary, Synced};
    let lines = |from, path| shifts(&Shift { from, path }, 7);
    assert_eq!(lines(Synced, &[Open]), ["Shifting SYNCED -> OPEN (TO: 7)"]);
    assert_eq!(
        lines(Open, &[Primary, Joiner, Joined]),
        ["Shifting OPEN -> PRIMARY (TO: 7)", "Shifting PRIMARY -> JOINER (TO: 7)", "Shifting JOINER -> JOINED (TO: 7)",]
    );
    assert_eq!(lines(Synced, &[]), [""; 0]);
}

#[test]
fn a_node_that_was_away_tells_what_it_has_received() {
    let state = Gtid { history_uuid: Uuid([0xab; 16]), seqno: 40 };
    assert_eq!(
        received_missed(29, state),
        ["Receiving IST...100.0% (10/10 events) complete.", &format!("IST received: {}:40", state.history_uuid)]
    );
    assert!(received_missed(39, state).is_empty(), "only its own view is new");
}

#[test]
fn a_view_tells_who_has_come_and_gone() {
    let before = [member(1, "n1"), member(2, "n2")];
    let members = [member(1, "n1"), member(3, "n3")];
    let state = Gtid { history_uuid: Uuid([0xab; 16]), seqno: 40 };
    let view = ViewLines { before: &before, members: &members, own_index: 0, number: 3, state };
    let address_of = |member: &Member| (member.name == "n3").then(|| "10.0.0.3:4567".to_owned());
    assert_eq!(
        view.lines(address_of),
        [
            "New COMPONENT: primary = yes, bootstrap = no, my_idx = 0, memb_num = 2",
            "Quorum results: component = PRIMARY, conf_id = 3, members = 2/2 (joined/total), act_id = 40, group UUID = \
             abababab-abab-abab-abab-abababababab",
            "declaring 03030303-0303 at tcp://10.0.0.3:4567 stable",
            "forgetting 02020202-0202 (tcp://10.0.0.2:3306)",
            "Member 1.0 (n3) synced with group.",
        ]
    );
    let first = ViewLines { before: &[], members: &members[..1], own_index: 0, number: 1, state };
    assert_eq!(
        first.lines(|_| None).iter().filter(|line| !line.starts_with("Quorum")).collect::<Vec<_>>(),
        [
            "New COMPONENT: primary = yes, bootstrap = yes, my_idx = 0, memb_num = 1",
            "Member 0.0 (n1) synced with group."
        ]
    );
}

#[test]
fn state_transfers_name_both_nodes() {
    let members = [member(1, "n1"), member(2, "n2")];
    let (joiner, donor) = (node(&members, "n3"), node(&members, "n2"));
    assert_eq!(
        transfer_request(&joiner, "", &donor),
        "Member -1.-1 (n3) requested state transfer from '*any*'. Selected 1.0 (n2)(SYNCED) as donor."
    );
    assert!(transfer_request(&joiner, "n2,", &donor).contains("from 'n2,'. Selected"));
    assert_eq!(transfer_end(&joiner, &donor, None), "1.0 (n2): State transfer to -1.-1 (n3) complete.");
    assert_eq!(transfer_end(&joiner, &donor, Some("-1")), "1.0 (n2): State transfer to -1.-1 (n3) failed: -1");
    assert_eq!(desync(&donor, true), "Member 1.0 (n2) desyncs itself from group");
    let gtid = Gtid { history_uuid: Uuid([0xab; 16]), seqno: 40 };
    assert_eq!(
        vote(&donor, gtid, 0x1f, "Can't find record in 't1', Error_code: 1032;"),
        "Member 1.0 (n2) initiates vote on abababab-abab-abab-abab-abababababab:40,000000000000001f:  Can't find record \
         in 't1', Error_code: 1032;"
    );
    assert_eq!(flow_control_interval((221, 443)), "Flow-control interval: [221, 443]");
}

/// The patterns of the servers' own tests, without the parts that vary.
#[test]
fn the_servers_tests_find_these_words() {
    let gtid = Gtid::UNDEFINED;
    use KnownMessage::*;
    let cases: [(KnownMessage, &[&str]); 11] = [
        (NotApplied(gtid), &["Failed to apply write set: gtid"]),
        (Inconsistent(gtid), &["Inconsistency detected: Inconsistent by consensus on "]),
        (
            Outvoted(gtid),
            &[
                "Vote 0 (success) on ",
                " is inconsistent with group. Leaving cluster.",
                "Inconsistency detected: Inconsistent by consensus on ",
            ],
        ),
        (BackendUri, &["gcs connect failed: Invalid argument"]),
        (Scheme, &["gcs connect failed: Socket type not supported"]),
        (Unreachable, &["gcs connect failed: Connection timed out"]),
        (UnsafeBootstrap, &["It may not be safe to bootstrap the cluster from this node"]),
        (UnknownOption("a".into()), &["Unknown parameter 'a'"]),
        (NoGrastate("grastate.dat".into()), &["Could not open state file for reading: "]),
        (SstNotReceived, &["Will never receive state. Need to abort."]),
        (SstNotPrepared, &["SST request callback failed. This is unrecoverable, restart required."]),
    ];
    for (message, patterns) in cases {
        let line = format!("{message}. Hortator: why");
        let mut rest = line.as_str();
        for pattern in patterns {
            let (_, after) = rest.split_once(pattern).unwrap_or_else(|| panic!("`{pattern}` is missing in: {line}"));
            rest = after;
        }
    }
}
