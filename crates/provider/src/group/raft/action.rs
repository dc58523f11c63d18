//! What agreement wants done.

use super::{Message, Place, Term};
use crate::group::NodeId;
use crate::log::Index;

/// To be carried out in the order given, each before the next. What one leads the driver to ask of [`super::Raft`]
/// (but for [`super::Raft::sent`]) is asked after the last of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Must be on disk before what follows is done. If it cannot be, the node must stop.
    Persist {
        /// The newest term.
        term: Term,
        /// Who got the node's vote in it.
        voted_for: Option<NodeId>,
    },
    /// The log ends before this entry.
    Truncate {
        /// The first that goes.
        from: Index,
    },
    /// The entries of the [`super::Append`] just received go to the end of the log. When they are safe:
    /// [`super::Raft::stored`]. If they cannot be put there, the node must stop.
    Store {
        /// That many at its beginning are there already.
        skip: usize,
        /// Where the first of the others goes: right behind the end of the log.
        first: Index,
    },
    /// To another node; may be lost.
    Send {
        /// Whom.
        to: NodeId,
        /// What.
        message: Message,
    },
    /// An [`super::Append`] with entries from the own log, read as it is now: never sent with what came to stand there
    /// after a later [`Action::Truncate`]. Fewer than `upto` may be sent; then [`super::Raft::sent`] says how many.
    SendEntries {
        /// Whom.
        to: NodeId,
        /// As in the message.
        term: Term,
        /// As in the message.
        before: Place,
        /// The first entry: the one behind `before`.
        first: Index,
        /// The last.
        upto: Index,
        /// As in the message.
        committed: Index,
        /// As in the message.
        round: u64,
    },
    /// Agreed on and safe here: may be applied.
    Committed {
        /// All up to here.
        upto: Index,
    },
    /// Somebody leads, or nobody for now. What was waiting for [`Action::Confirmed`] waits in vain.
    LeaderIs {
        /// Of which term.
        term: Term,
        /// Itself, too.
        leader: Option<NodeId>,
    },
    /// This node leads from now on. It should append an entry that says nothing: until one of its own term is
    /// committed, nothing older is known to be.
    Lead {
        /// Its term.
        term: Term,
    },
    /// What that node needs next is not in this log any more. Said again with every answer while it is so.
    TooFarBehind {
        /// Which node.
        node: NodeId,
        /// Where its log ends, or stops being ours.
        has: Index,
    },
    /// The round of a [`super::Raft::confirm`], and all before, got a majority's answer.
    Confirmed {
        /// Which.
        round: u64,
        /// Who has applied all up to here has everything that had been committed anywhere when it was asked.
        upto: Index,
    },
}
