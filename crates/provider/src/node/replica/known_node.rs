//! Another node, as a replica knows it.

use crate::consensus::NodeId;
use crate::consensus::wire::{Hello, MemberStatus};
use crate::log::Index;
use crate::vote_result::ApplyError;

/// A node without a link for this long is excluded from the view.
pub(super) const AWAY_TIMEOUT_MS: u64 = 1_500;
/// A linked node without a status report for this long is excluded, too.
const SILENCE_TIMEOUT_MS: u64 = 5_000;

/// Another node.
#[derive(Debug)]
pub(super) struct Peer {
    pub hello: Hello,
    /// None: the node is linked. Else since when it is not.
    pub unlinked_since_ms: Option<u64>,
    /// Its last status report, and the time.
    pub status: Option<(MemberStatus, u64)>,
    /// It could not apply this seqno, and the nodes do not skip it, as far as is known.
    pub failed_seqno: Option<i64>,
    /// It wants to leave.
    pub is_leaving: bool,
    /// Its last SST request, and the donor chosen for it.
    pub assigned_donor: Option<(Vec<u8>, NodeId)>,
    /// Its log begins after this entry: the last snapshot that it got from this leader.
    pub snapshot: Option<Index>,
}

impl Peer {
    /// A node that has just been linked.
    pub fn new(hello: Hello) -> Self {
        Self {
            hello,
            unlinked_since_ms: None,
            status: None,
            failed_seqno: None,
            is_leaving: false,
            assigned_donor: None,
            snapshot: None,
        }
    }

    /// Takes its status report over.
    pub fn on_status(&mut self, status: MemberStatus, now_ms: u64) {
        self.failed_seqno = failed_seqno(self.failed_seqno, status.apply_error, status.applied);
        self.status = Some((status, now_ms));
    }

    /// Whether it is a witness.
    pub fn is_witness(&self) -> bool {
        self.hello.is_witness()
    }

    /// The node is linked, or was a moment ago.
    pub fn is_present(&self, now_ms: u64) -> bool {
        let is_linked = self.unlinked_since_ms.is_none_or(|since| now_ms - since < AWAY_TIMEOUT_MS);
        is_linked && self.status.as_ref().is_some_and(|(_, at)| now_ms - at < SILENCE_TIMEOUT_MS)
    }
}

/// The seqno that a node could not apply, after a report of it. The error is no longer reported when there is a result, and a
/// node that has lost the vote needs a moment to leave.
pub(super) fn failed_seqno(before: Option<i64>, apply_error: Option<ApplyError>, applied: i64) -> Option<i64> {
    apply_error.map(|apply_error| apply_error.seqno).or(before.filter(|seqno| applied < *seqno))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_could_not_apply_counts_as_failed_until_it_has_skipped_the_seqno() {
        let apply_error = Some(ApplyError::new(6, b"Can't find record in 't', Error_code: 1032;"));
        let reported = failed_seqno(None, apply_error, 5);
        assert_eq!(reported, Some(6));
        assert_eq!(failed_seqno(reported, None, 5), Some(6), "it has lost the vote, and is about to leave");
        assert_eq!(failed_seqno(reported, None, 6), None, "all skip it, or it has received the tables of another node");
        assert_eq!(failed_seqno(None, None, 6), None);
    }
}
