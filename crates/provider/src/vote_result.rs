//! Inconsistency votes: what the nodes do with a seqno that not all of them could apply.
//!
//! Each node votes with its own result. The majority decides: if it has applied the write set, nodes that could not
//! leave; if it failed with the same error, the nodes skip the write set, and those that have applied it leave. A tie
//! counts as applied; a write set that failed on every node is skipped, whatever the errors.

#[cfg(test)]
mod tests;

/// A write set that a node could not apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApplyError {
    /// Its seqno.
    pub seqno: i64,
    /// A hash of the server's message: equal for equal texts, never 0 nor [`ANY_ERROR`].
    pub error: u64,
}

impl ApplyError {
    /// From the server's message, which is not empty.
    pub fn new(seqno: i64, message: &[u8]) -> Self {
        let length = message.len().max(1) as u64;
        Self { seqno, error: length << 32 | u64::from(crc32fast::hash(message)) }
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
        self.error != 0 && (self.error == error || self.error == ANY_ERROR)
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
    let errors = votes
        .iter()
        .filter_map(|stance| if let InconsistencyVote::Failed(error) = stance { Some(*error) } else { None });
    let most = errors.map(|error| (saying(InconsistencyVote::Failed(error)), error)).max();
    let failed = most.filter(|(count, _)| *count > applied && *count >= MIN_VOTES_TO_SKIP);
    let all = votes.len();
    let (agreeing, error) = match failed {
        Some(most) => most,
        None if applied == 0 && unknown == 0 && all >= MIN_VOTES_TO_SKIP => (all, ANY_ERROR),
        None => (applied, 0),
    };
    let is_settled = agreeing * 2 > all || unknown == 0 && agreeing > 0;
    is_settled.then_some(VoteResult { error, agreeing: agreeing as u32 })
}
