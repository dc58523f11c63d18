//! A process ends by itself only for the faults of a run: never because its log belongs to another history, has a gap,
//! or holds what the cluster does not.

use super::super::world::Slot;

/// Parts of the messages of failures that the faults of a run explain.
const EXPECTED: [&str; 11] = [
    "inconsistency vote on seqno",
    "no vote on an apply error",
    "the logs of the cluster no longer hold the entries that this node needs",
    "the leader no longer has the entries of the log",
    "the log cannot be appended to",
    "the SST failed with error",
    "the donor, ",
    "the log of the joiner begins after the state of the SST",
    "its log takes no entry",
    "the last entry of the log cannot be read",
    "no majority of the old cluster",
];

pub fn check(slot: Slot, text: &str) {
    let is_expected = EXPECTED.iter().any(|part| text.contains(part));
    assert!(is_expected, "{slot:?} ends without a fault: {text}");
}
