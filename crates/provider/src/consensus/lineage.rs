//! The generations of a cluster that a node belongs to; tells two clusters with a common past apart.
//!
//! Raft guarantees one cluster as long as every change needs a majority. Three operations make a cluster out of one
//! node without asking the others: `pc.bootstrap`, `pc.ignore_sb` (or `pc.ignore_quorum`), and removing
//! `hortator.raft.log`. The history UUID stays the same, so the others would take such a node for one of theirs.
//! Therefore each *generation* of a cluster has a random id: one for the first start, another for each of these three
//! operations. Membership changes are committed by a majority and start no generation. A node stores its generation and
//! the earlier ones, sends them in its handshake, and adopts those of the cluster that it joins.
//!
//! # When two nodes meet
//!
//! If the generation is the same, or one node belongs to no cluster yet, the nodes link. Else they never do, and both
//! error logs name the reason: each side may have confirmed write sets that the other lacks, and Raft would truncate
//! one of them. The rest depends on how the lineages relate ([`LineageRelation`]):
//!
//! - *The other's cluster was bootstrapped from ours, without us*: an administrator, or an option, has decided for the
//!   nodes over there. A node without a live majority then stops (`node/replica/bootstrap.rs`): if it waited, it would
//!   at some time find other excluded nodes, form a majority with them, and accept writes beside the new cluster. A
//!   node that leads or follows a live majority continues and reports the split: its confirmed writes are safe on that
//!   majority, and a bootstrap on the wrong node (a partitioned one, say) must not take down the correct nodes.
//! - *Our cluster was bootstrapped from the other's, without that node*: only a line in the error log. The other node
//!   learns the same from us.
//! - *Neither descends from the other* (split-brain): both have continued independently. Neither has a better claim, so
//!   none stops: an administrator must decide which one to discard.
//!
//! Nodes that cannot reach each other's addresses do not learn of each other; generations do not help there.
//!
//! # Where a generation begins
//!
//! A node that bootstraps keeps its whole log, so its cluster has all entries of the earlier generation up to the last one of
//! that log: the *fork*. The ID of the new generation names it, so every node that knows the generation knows the fork. It is
//! a UUID of version 8 (RFC 9562):
//!
//! | byte | bits | content |
//! |---|---|---|
//! | 0 | 48 | the index of the fork |
//! | 6 | 4 | version: 8 |
//! | 6 | 12 | random |
//! | 8 | 2 | variant: 2 |
//! | 8 | 30 | random |
//! | 12 | 32 | the term of the fork |
//!
//! A random UUID (version 4) names none: of a first start, of a node whose `hortator.raft.log` was removed, or of a release
//! without forks.

use crate::consensus::raft::{LogId, Term};
use crate::identity::Uuid;
use crate::log::Index;

#[cfg(test)]
mod tests;

/// Limit of generations, the current one included. Older ones are dropped: a node of a dropped generation counts as
/// diverged, and is still not linked.
pub const GENERATIONS_LIMIT: usize = 8;

/// A generation and the earlier ones. Unknown: the node belongs to no cluster yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lineage {
    /// Newest first; unused entries are undefined.
    generations: [Uuid; GENERATIONS_LIMIT],
}

/// How the lineages of two nodes relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineageRelation {
    /// The same generation, or one of the nodes belongs to no cluster yet.
    Same,
    /// The other's cluster was bootstrapped from ours, without us.
    Descendant,
    /// Our cluster was bootstrapped from the other's, without that node.
    Ancestor,
    /// Both have continued independently.
    Diverged,
}

/// The ID of a generation that begins behind the entry `fork`. Beyond 48 bits of index or 32 of term it names no fork.
pub fn generation_after(fork: LogId, random: Uuid) -> Uuid {
    let [0, 0, index @ ..] = fork.index.0.to_be_bytes() else { return random };
    let [0, 0, 0, 0, term @ ..] = fork.term.0.to_be_bytes() else { return random };
    let mut bytes = random.0;
    bytes[..6].copy_from_slice(&index);
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    bytes[12..].copy_from_slice(&term);
    Uuid(bytes)
}

/// The fork that a generation's ID names.
fn fork_of(generation: Uuid) -> Option<LogId> {
    let [a, b, c, d, e, f, version, _, variant, _, _, _, term @ ..] = generation.0;
    let is_named = version >> 4 == 8 && variant >> 6 == 2;
    let index = Index(u64::from_be_bytes([0, 0, a, b, c, d, e, f]));
    is_named.then(|| LogId { term: Term(u32::from_be_bytes(term).into()), index })
}

impl Lineage {
    /// The node belongs to no cluster yet.
    pub const UNKNOWN: Self = Self { generations: [Uuid::UNDEFINED; GENERATIONS_LIMIT] };

    /// The lineage of a new cluster.
    pub fn initial(generation: Uuid) -> Self {
        Self::UNKNOWN.bootstrapped(generation)
    }

    /// The substitute if no generation was stored: the history UUID, which all nodes of a cluster know.
    pub fn of_history(history_uuid: Uuid) -> Self {
        Self::initial(history_uuid)
    }

    /// The lineage of a cluster that one node bootstraps from this one.
    #[must_use]
    pub fn bootstrapped(self, generation: Uuid) -> Self {
        let mut generations = [generation; GENERATIONS_LIMIT];
        generations[1..].copy_from_slice(&self.generations[..GENERATIONS_LIMIT - 1]);
        Self { generations }
    }

    /// From newest to oldest. None: too many, or one of them is undefined.
    pub fn from_newest(generations: &[Uuid]) -> Option<Self> {
        let is_sound = generations.len() <= GENERATIONS_LIMIT && generations.iter().all(|one| !one.is_undefined());
        let mut lineage = Self::UNKNOWN;
        is_sound.then(|| lineage.generations[..generations.len()].copy_from_slice(generations))?;
        Some(lineage)
    }

    /// From newest to oldest.
    pub fn newest_first(&self) -> &[Uuid] {
        let known = self.generations.iter().take_while(|one| !one.is_undefined()).count();
        &self.generations[..known]
    }

    /// Whether the node belongs to no cluster yet.
    pub fn is_unknown(&self) -> bool {
        self.generation().is_undefined()
    }

    /// The current generation.
    pub fn generation(&self) -> Uuid {
        self.generations[0]
    }

    /// The last entry of an earlier generation's log that the current one has too: of all forks in between the earliest, since
    /// a later generation can begin with a shorter log. None: one of them is not named.
    pub fn fork_from(&self, generation: Uuid) -> Option<LogId> {
        let later = self.newest_first().iter().position(|one| *one == generation)?;
        let forks: Option<Vec<LogId>> = self.newest_first()[..later].iter().map(|one| fork_of(*one)).collect();
        forks?.into_iter().min()
    }

    /// Where the current generation begins, if there is an earlier one, and its ID names that.
    pub fn own_fork(&self) -> Option<LogId> {
        self.newest_first().get(1).and_then(|_| fork_of(self.generation()))
    }

    fn descends_from(&self, generation: Uuid) -> bool {
        self.newest_first().iter().skip(1).any(|one| *one == generation)
    }

    /// How the other lineage relates to this one.
    pub fn relation_to(&self, other: &Self) -> LineageRelation {
        if self.is_unknown() || other.is_unknown() || self.generation() == other.generation() {
            return LineageRelation::Same;
        }
        match (other.descends_from(self.generation()), self.descends_from(other.generation())) {
            (true, false) => LineageRelation::Descendant,
            (false, true) => LineageRelation::Ancestor,
            _ => LineageRelation::Diverged,
        }
    }
}
