//! Raft messages.

use super::Membership;
use crate::log::Index;

/// A term of Raft; the first is 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(pub u64);

/// Term and index of an entry. Before the first entry of all: index 0, term 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogId {
    /// The term of the leader that created the entry.
    pub term: Term,
    /// The index in the log.
    pub index: Index,
}

/// What Raft must know of an entry; the payload stays outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryMeta {
    /// The term of the leader that created the entry.
    pub term: Term,
    /// Some: this membership is in force from this entry on.
    pub membership: Option<Membership>,
}

/// Entries for a follower (`AppendEntries`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Append {
    /// The leader's term.
    pub term: Term,
    /// The entry right before the first of these.
    pub prev_log_id: LogId,
    /// The leader's commit index.
    pub leader_commit: Index,
    /// The round of heartbeats; the reply repeats it.
    pub round: u64,
    /// Empty: a heartbeat.
    pub entries: Vec<EntryMeta>,
}

/// A message from one node to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Requests a vote.
    VoteRequest {
        /// Pre-vote: changes no term.
        is_pre_vote: bool,
        /// The term that the candidate would lead.
        term: Term,
        /// The last entry of the candidate's log.
        last: LogId,
    },
    /// Reply to a vote request.
    VoteReply {
        /// Reply to a pre-vote.
        is_pre_vote: bool,
        /// The voter's term; the request's term if the vote is granted.
        term: Term,
        /// Whether the vote is granted.
        is_granted: bool,
        /// The voter's log may lack entries that it has acknowledged: see [`super::recovering`](super).
        is_recovering: bool,
        /// The memberships that the voter knows: the last committed one, those behind it in its log, and those that it
        /// may have lost.
        memberships: Vec<Membership>,
    },
    /// Entries, or a heartbeat.
    Append(Append),
    /// Reply to an append.
    AppendReply {
        /// The follower's term.
        term: Term,
        /// The round of the append.
        round: u64,
        /// Whether the follower's log holds `prev_log_id`.
        is_accepted: bool,
        /// Accepted: the follower's log equals the leader's up to here, durably. Rejected: retry from the entry after
        /// this one.
        upto: Index,
        /// The last entry of the follower's log.
        last: Index,
    },
    /// Start an election at once: the leader transfers leadership to the receiver.
    TimeoutNow {
        /// The leader's term.
        term: Term,
    },
}
