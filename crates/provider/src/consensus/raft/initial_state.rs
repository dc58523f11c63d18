//! The state that a node starts with.

use super::{LogId, Membership, PendingMembership, Term};
use crate::consensus::NodeId;
use crate::log::Index;

/// Timeouts.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// A leader sends a heartbeat at least this often.
    pub heartbeat_ms: u64,
    /// A node without a leader starts an election after one to two times this; a leader without contact to a majority
    /// for this long steps down. Several times `heartbeat_ms`.
    pub election_ms: u64,
}

/// What a node knows when it starts.
#[derive(Clone, Debug)]
pub struct InitialState {
    /// The node's id.
    pub id: NodeId,
    /// From the last [`super::Action::SaveHardState`].
    pub term: Term,
    /// From the last [`super::Action::SaveHardState`].
    pub voted_for: Option<NodeId>,
    /// The entry right before the first one in the log.
    pub last_purged: LogId,
    /// Terms of the log's entries: each run starts at this index. Ascending, all after `last_purged`.
    pub term_runs: Vec<(Index, Term)>,
    /// The log's last entry; `last_purged` if the log is empty.
    pub last: Index,
    /// The last membership known to be committed ([`super::Raft::committed_membership`]), and its index, in the log or
    /// before it. None: this node has never learnt one, and waits for entries or for [`super::Raft::install_snapshot`].
    pub committed_membership: Option<(Index, Membership)>,
    /// Memberships in the log, ascending, committed or not.
    pub memberships: Vec<(Index, Membership)>,
    /// From the last [`super::Action::SavePendingMemberships`] or [`super::Action::SettlePendingMemberships`].
    pub pending_memberships: Vec<PendingMembership>,
    /// The known commit index; `last_purged` and `committed_membership` count as well.
    pub commit_index: Index,
    /// The log may end before entries that this node has acknowledged.
    pub has_lost_tail: bool,
    /// Seed for the random election timeouts.
    pub seed: u64,
}
