//! Another node, as a replica knows it.

use crate::consensus::NodeId;
use crate::consensus::wire::{Hello, MemberStatus};
use crate::log::Index;

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
        Self { hello, unlinked_since_ms: None, status: None, is_leaving: false, assigned_donor: None, snapshot: None }
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
