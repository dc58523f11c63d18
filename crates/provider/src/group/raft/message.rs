//! What nodes say to each other to agree.

use std::collections::BTreeSet;

use crate::group::NodeId;
use crate::log::Index;

/// A leader's reign; the first is 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(pub u64);

/// Where an entry is and whose it is. What lies before the first entry of all is `Place::default()`-like: index 0, term 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The term of the leader that made it.
    pub term: Term,
    /// Where in the log.
    pub index: Index,
}

/// Who decides. A majority of these is enough for everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Membership {
    /// The nodes that vote.
    pub voters: BTreeSet<NodeId>,
}

/// What agreement has to know of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The term of the leader that made it.
    pub term: Term,
    /// Some: from this entry on others decide.
    pub membership: Option<Membership>,
}

/// Entries for a follower.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Append {
    /// The leader's.
    pub term: Term,
    /// The entry right before the first of these.
    pub before: Place,
    /// Up to here everything is agreed on.
    pub committed: Index,
    /// Echoed: which round of heartbeats it belongs to.
    pub round: u64,
    /// None of them: a heartbeat.
    pub entries: Vec<Shape>,
}

/// What a node says to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Vote for me.
    VoteRequest {
        /// Would you? Changes nobody's term.
        is_trial: bool,
        /// The one that it would lead.
        term: Term,
        /// The end of its log.
        last: Place,
    },
    /// The answer to that.
    VoteReply {
        /// To a trial.
        is_trial: bool,
        /// Of the voter; of the request where it is granted.
        term: Term,
        /// Whether.
        is_granted: bool,
    },
    /// Entries, or a heartbeat.
    Append(Append),
    /// The answer to that.
    AppendReply {
        /// Of the follower.
        term: Term,
        /// Of the append.
        round: u64,
        /// Whether its log holds what stands before.
        is_taken: bool,
        /// Taken: its log is the leader's up to here, and safe. Not taken: try from behind here.
        upto: Index,
    },
    /// Ask for votes at once: the leader steps down for you.
    TakeOver {
        /// The leader's.
        term: Term,
    },
}
