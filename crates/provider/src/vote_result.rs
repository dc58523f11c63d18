//! What the nodes decide on a place of the order that not all of them could apply.
//!
//! Each says what became of it there. What most say holds: if they applied it, those that could not leave; if it failed for them, all
//! in the same way, they go on without it, and those that have it leave. Where it is as many against as many, it is applied; where it
//! failed everywhere, nobody has it, in whatever way it failed.

#[cfg(test)]
mod tests;

/// Something that one node could not apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApplyError {
    /// Its place.
    pub seqno: i64,
    /// The server's message, in short: the same for the same text, never 0 nor [`ANY_ERROR`].
    pub error: u64,
}

impl ApplyError {
    /// Of the server's message, which is not empty.
    pub fn new(seqno: i64, message: &[u8]) -> Self {
        let length = message.len().max(1) as u64;
        Self { seqno, error: length << 32 | u64::from(crc32fast::hash(message)) }
    }
}

/// What holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VoteResult {
    /// 0: it is applied; else how it failed, or [`ANY_ERROR`].
    pub error: u64,
    /// So many nodes say so.
    pub agreeing: u32,
}

impl VoteResult {
    /// Whether a node where it failed so goes on without it.
    pub fn is_skipped_by(self, error: u64) -> bool {
        self.error != 0 && (self.error == error || self.error == ANY_ERROR)
    }
}

/// It failed on every node, not on all alike.
pub const ANY_ERROR: u64 = u64::MAX;

/// What one node says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InconsistencyVote {
    /// It is in the tables there.
    Applied,
    /// It failed there, so.
    Failed(u64),
    /// It has not come so far.
    Unknown,
}

/// One node alone never goes on without what another may have confirmed to a client.
const MIN_VOTES_TO_SKIP: usize = 2;

/// What holds, by what the nodes say. None: those who have not said anything yet may turn the scale, or there is one only.
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
