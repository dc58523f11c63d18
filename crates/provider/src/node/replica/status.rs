//! What a replica tells the server's threads.

use crate::identity::{Gtid, Uuid};
use crate::log::Index;

/// The node's state in its cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::node) struct ClusterStatus {
    /// There is a leader, and this node is connected to it.
    pub has_quorum: bool,
    /// This node is the leader and alone.
    pub is_single_node: bool,
    /// Committed, and in this node's log, up to here.
    pub apply_bound: Index,
    /// The history UUID of the linked nodes.
    pub history_uuid: Uuid,
    /// Another node is linked.
    pub is_linked: bool,
    /// The leader's log no longer holds the entry after this node's last one.
    pub needs_snapshot: bool,
    /// The server may prepare an SST.
    pub can_prepare_sst: bool,
    /// The log of a joiner was reset; the position of its tables will be after the snapshot point, and needs entries up
    /// to here.
    pub snapshot_upto: Option<Index>,
    /// The donor has sent everything; its tables match the vote results up to this seqno; -1: unknown.
    pub donor_resolved_upto: Option<i64>,
    /// It has left, or never will.
    pub has_left: bool,
}

/// What has become of the log of a joiner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::node) enum JoinerLog {
    /// Entries are missing, and come from the leader.
    Incomplete,
    /// It holds what the tables need.
    Complete,
    /// No leader has the next entry any more: a new one has purged it, or the link was down for too long.
    Lost,
}

impl ClusterStatus {
    /// The state of the log that a joiner has begun with its SST.
    pub(in crate::node) fn joiner_log(&self) -> JoinerLog {
        match self.snapshot_upto {
            Some(upto) if self.apply_bound >= upto => JoinerLog::Complete,
            Some(_) if self.needs_snapshot => JoinerLog::Lost,
            _ => JoinerLog::Incomplete,
        }
    }
}

/// The result of an SST.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::node) enum SstResult {
    /// The tables are there.
    Received(Gtid),
    /// The server reports a failure.
    Failed(i32),
    /// The donor is lost, with the reason.
    DonorLost(String),
}
