//! Inconsistency votes: what the nodes do with a seqno that not all of them could apply.
//!
//! Each node votes with its own result. The majority decides: if it has applied the write set, nodes that could not
//! leave; if it failed with the same error, the nodes skip the write set, and those that have applied it leave. A tie
//! counts as applied; a write set that failed on every node is skipped, whatever the errors.
//!
//! An error of resources (`resource_errors`) is no vote: a full disk does not say that the other nodes are wrong. A node
//! that cannot apply a write set for such a reason leaves without a vote, and applies it again after a restart. A
//! statement in total order isolation is put to the vote all the same, since one that is too large fails on all nodes:
//! it is skipped only if it failed on its own node too, and its client knows.

use crate::resource_errors::resource_error;

#[cfg(test)]
mod tests;

/// The error is one of resources.
const OF_RESOURCES: u64 = 1 << 63;
/// The node's own statement failed.
const OWN_STATEMENT: u64 = 1 << 62;
const LENGTH_MASK: u64 = (1 << 30) - 1;

/// A write set that a node could not apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApplyError {
    /// Its seqno.
    pub seqno: i64,
    /// A hash of the server's message, equal for equal texts, and marks: [`OF_RESOURCES`], [`OWN_STATEMENT`]. Never 0 nor
    /// [`ANY_ERROR`].
    pub error: u64,
}

impl ApplyError {
    /// From the server's message, which is not empty.
    pub fn new(seqno: i64, message: &[u8]) -> Self {
        let length = (message.len().max(1) as u64) & LENGTH_MASK;
        let marks = if resource_error(message).is_some() { OF_RESOURCES } else { 0 };
        Self { seqno, error: marks | length << 32 | u64::from(crc32fast::hash(message)) }
    }

    /// The same, of a statement whose client knows that it failed.
    pub fn of_own_statement(self) -> Self {
        Self { error: self.error | OWN_STATEMENT, ..self }
    }

    /// The error, whichever node's statement it was.
    pub fn cause(self) -> u64 {
        self.error & !OWN_STATEMENT
    }
}

/// The result of a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VoteResult {
    /// 0: applied; else the error of the majority, or [`ANY_ERROR`].
    pub error: u64,
    /// Number of nodes that agree.
    pub agreeing: u32,
}

impl VoteResult {
    /// Whether a node with this error skips the write set and continues.
    pub fn is_skipped_by(self, error: u64) -> bool {
        let is_same = self.error == error & !OWN_STATEMENT || error & OF_RESOURCES != 0;
        self.error != 0 && (is_same || self.error == ANY_ERROR)
    }
}

/// It failed on every node, with different errors.
pub const ANY_ERROR: u64 = u64::MAX;

/// The vote of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InconsistencyVote {
    /// Applied.
    Applied,
    /// Failed with this error.
    Failed(u64),
    /// Not applied yet.
    Unknown,
}

/// A single vote never skips what another node may have confirmed to a client.
const MIN_VOTES_TO_SKIP: usize = 2;

/// The result of the votes. None: missing votes may change it, or there is only one.
pub fn tally(votes: &[InconsistencyVote]) -> Option<VoteResult> {
    let saying = |what: InconsistencyVote| votes.iter().filter(|stance| **stance == what).count();
    let (applied, unknown) = (saying(InconsistencyVote::Applied), saying(InconsistencyVote::Unknown));
    let failures = || {
        votes.iter().filter_map(|vote| if let InconsistencyVote::Failed(error) = vote { Some(*error) } else { None })
    };
    let causes = || failures().filter(|error| error & OF_RESOURCES == 0).map(|error| error & !OWN_STATEMENT);
    let most = causes().map(|cause| (causes().filter(|other| *other == cause).count(), cause)).max();
    let failed = most.filter(|(count, _)| *count > applied && *count >= MIN_VOTES_TO_SKIP);
    let all = votes.len();
    let (agreeing, error) = match failed {
        Some(most) => most,
        None if applied == 0 && unknown == 0 && all >= MIN_VOTES_TO_SKIP => {
            let has_own_failed = failures().any(|error| error & OWN_STATEMENT != 0);
            if failures().any(|error| error & OF_RESOURCES != 0) && !has_own_failed {
                // Nobody here could, and the node that proposed it may have: all leave, and try again.
                return Some(VoteResult { error: 0, agreeing: 0 });
            }
            (all, ANY_ERROR)
        }
        None => (applied, 0),
    };
    let is_settled = agreeing * 2 > all || unknown == 0 && agreeing > 0;
    is_settled.then_some(VoteResult { error, agreeing: agreeing as u32 })
}
