//! What the state machine asks its driver to do.

use super::{LogId, Message, PendingMembership, Term};
use crate::consensus::NodeId;
use crate::log::Index;

/// The driver runs actions in the given order, each before the next. If an action leads to a call of [`super::Raft`]
/// (except [`super::Raft::on_partial_send`]), the driver makes the call after the last action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Write the hard state to disk before the next action. If that fails, the node must stop.
    SaveHardState {
        /// The latest term that the node knows.
        term: Term,
        /// The candidate that got the node's vote in that term.
        voted_for: Option<NodeId>,
    },
    /// Write these pending memberships to the hard state on disk before the next action, and before the entries of the
    /// latest ones. If that fails, the node must stop.
    SavePendingMemberships {
        /// All of them.
        memberships: Vec<PendingMembership>,
    },
    /// Fewer memberships are pending: the next write of the hard state has only these. There is no hurry.
    SettlePendingMemberships {
        /// All that are left.
        memberships: Vec<PendingMembership>,
    },
    /// Remove the entries from `from` to the end of the log.
    Truncate {
        /// The first entry to remove.
        from: Index,
    },
    /// Append the entries of the [`super::Append`] just received. When they are durable, call
    /// [`super::Raft::on_durable`]. If they cannot be written, the node must stop.
    WriteEntries {
        /// Number of leading entries that the log already holds.
        skip: usize,
        /// Index of the first entry to write: right after the end of the log.
        first: Index,
    },
    /// Send a message to another node. It may get lost.
    Send {
        /// The receiver.
        to: NodeId,
        /// The message.
        message: Message,
    },
    /// Send an [`super::Append`] with entries from the node's log, read now: never an entry that a later
    /// [`Action::Truncate`] replaces. The driver may send fewer than up to `upto`; it then calls
    /// [`super::Raft::on_partial_send`].
    SendEntries {
        /// The receiver.
        to: NodeId,
        /// The same as in the message.
        term: Term,
        /// The same as in the message.
        prev_log_id: LogId,
        /// The first entry: the one after `prev_log_id`.
        first: Index,
        /// The last entry.
        upto: Index,
        /// The same as in the message.
        leader_commit: Index,
        /// The same as in the message.
        round: u64,
    },
    /// Committed, and durable in this node's log: may be applied.
    Committed {
        /// All entries up to this one.
        upto: Index,
    },
    /// The leader has changed, or there is none for now. Pending [`Action::ReadIndexReady`] never come.
    LeaderChanged {
        /// The term.
        term: Term,
        /// The leader; may be this node.
        leader: Option<NodeId>,
    },
    /// This node has become leader. The driver should append a no-op entry: the leader does not know what is committed
    /// until an entry of its own term is.
    BecameLeader {
        /// Its term.
        term: Term,
    },
    /// The log holds again every committed entry that this node had acknowledged: its votes count from now on. The
    /// driver saves that.
    Recovered,
    /// An entry that is committed here is another one in the leader's log: the node must stop. Raft excludes it; a disk
    /// that has lost data, or files of another cluster, do not.
    HistoryMismatch {
        /// The entry, as it is in this node's log.
        here: LogId,
        /// Its term in the leader's log.
        leader: Term,
    },
    /// The next entry that this node needs is purged here. Repeated with every reply while that is so.
    SnapshotRequired {
        /// The node.
        node: NodeId,
        /// The last index that its log and this one have in common, as far as known.
        has: Index,
    },
    /// A majority has answered the round of a [`super::Raft::read_index`], and all rounds before.
    ReadIndexReady {
        /// The round.
        round: u64,
        /// A node that has applied everything up to here has applied everything that was committed at the time of the
        /// request.
        upto: Index,
    },
}
