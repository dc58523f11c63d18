//! The file has Galera's content.

use std::collections::BTreeMap;

use super::*;
use crate::consensus::NodeId;
use crate::consensus::lineage::Lineage;
use crate::consensus::raft::{LogId, Term};
use crate::log::Index;
use crate::protocol::ProtocolVersion;

const HISTORY: Uuid = Uuid([3; 16]);

fn state(stopped_at: i64) -> SavedState {
    SavedState { stopped_at, ..SavedState::running(HISTORY, Uuid([4; 16])) }
}

fn hard_state(voters: &[u64]) -> HardState {
    let voters: BTreeMap<_, _> = voters.iter().map(|voter| (NodeId(*voter), format!("10.0.0.{voter}:4567"))).collect();
    let membership_at = LogId { term: Term(1), index: Index(1) };
    let lineage = Lineage::UNKNOWN;
    HardState {
        weights: [].into(),
        node: NodeId(1),
        term: Term(1),
        voted_for: None,
        committed: Index(1),
        membership_log_id: membership_at,
        snapshot_log_id: LogId { term: Term(0), index: Index(0) },
        voters,
        pending_memberships: Vec::new(),
        lineage,
        protocol: ProtocolVersion::FIRST,
    }
}

#[test]
fn it_has_the_seqno_of_a_stopped_node_and_whether_it_was_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let lines = || {
        let text = fs::read_to_string(folder.join(FILE_NAME)).unwrap();
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(!exists(folder));
    write(folder, &state(12)).unwrap();
    assert!(exists(folder));
    let uuid = "uuid:    03030303-0303-0303-0303-030303030303";
    assert_eq!(lines(), ["version: 2.1", uuid, "seqno:   12", "safe_to_bootstrap: 0"]);
    for (voters, is_safe) in [(&[1, 2][..], 0), (&[1], 1), (&[2], 0), (&[], 0)] {
        hard_state(voters).write(folder).unwrap();
        write(folder, &state(-1)).unwrap();
        let is_safe = format!("safe_to_bootstrap: {is_safe}");
        assert_eq!(lines(), ["version: 2.1", uuid, "seqno:   -1", &is_safe], "{voters:?}");
    }
    hard_state(&[1]).write(folder).unwrap();
    write(folder, &SavedState::running(Uuid::UNDEFINED, Uuid::UNDEFINED)).unwrap();
    let nowhere = "uuid:    00000000-0000-0000-0000-000000000000";
    assert_eq!(lines(), ["version: 2.1", nowhere, "seqno:   -1", "safe_to_bootstrap: 0"]);
}
