//! Which beginning of its group a node is of, so that two groups that came of one are told apart.
//!
//! Raft keeps a group whole as long as whoever goes on has a majority. Three things make a group of one out of a node
//! without asking the others: `pc.bootstrap`, `pc.ignore_sb` (or `pc.ignore_quorum`), and `hortator.group.log` moved away.
//! The history's UUID stays, so to the others such a node looks like one of theirs. Therefore each *generation* of a group
//! bears a random id: one for the cluster's beginning, another for each of these three. Changes of who votes are
//! agreed on and make none. A node keeps the generation that it is of, with those that it came from, tells them
//! in its greeting, and takes over those of the group that it joins.
//!
//! # When two nodes meet
//!
//! Of the same generation, or where one belongs to no group yet: they are linked. Else never, and both error logs say why:
//! what one side has confirmed the other does not have, and Raft, which knows nothing of that, would cut one of them off.
//! What else follows depends on who stands where ([`Kinship`]):
//!
//! - *The other's group was begun anew without us*: somebody, or an option, has decided that the nodes over there go on.
//!   A node that is of no living majority then stops (`node/together/anew.rs`): waiting, it would sooner or later find
//!   some of the others who were left out, be a majority with them, and take writes beside the new group. One that leads or
//!   follows a living majority goes on and says so: what it confirms is safe with that majority, and that somebody began
//!   the group anew on the wrong node (one that was cut off, say) must not take down those who are right.
//! - *Our group was begun anew without the other*: nothing, but for the line in the log. It learns the same from us.
//! - *Neither came from the other*: both have gone on by themselves. None has a better claim, so none stops: a person has
//!   to decide which is thrown away.
//!
//! Nodes that never reach each other's addresses do not learn of each other. No generation helps there.

use crate::identity::Uuid;

#[cfg(test)]
mod tests;

/// So many generations are known, the group's own among them. Beyond, the oldest are forgotten: who is of one of those is taken
/// for a stranger, and still not linked.
pub const GENERATIONS_LIMIT: usize = 8;

/// A generation and those before it. Unknown: of no group yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Descent {
    /// The newest first; what is not used is undefined.
    generations: [Uuid; GENERATIONS_LIMIT],
}

/// How the groups of two nodes came from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinship {
    /// They are one, or one of the nodes belongs to none yet.
    Same,
    /// The other's was begun anew from ours, without us.
    Newer,
    /// Ours was begun anew from the other's, without that node.
    Older,
    /// Both have gone on by themselves.
    Apart,
}

impl Descent {
    /// Of no group yet.
    pub const UNKNOWN: Self = Self { generations: [Uuid::UNDEFINED; GENERATIONS_LIMIT] };

    /// That of a group that is just begun.
    pub fn begun(generation: Uuid) -> Self {
        Self::UNKNOWN.begun_anew(generation)
    }

    /// What stands for it where nothing was written of generations: the history's UUID, which all nodes of a group know.
    pub fn of_history(history: Uuid) -> Self {
        Self::begun(history)
    }

    /// That of a group which goes on from this one's data, without asking the others.
    #[must_use]
    pub fn begun_anew(self, generation: Uuid) -> Self {
        let mut generations = [generation; GENERATIONS_LIMIT];
        generations[1..].copy_from_slice(&self.generations[..GENERATIONS_LIMIT - 1]);
        Self { generations }
    }

    /// From the newest to the oldest. None: too many, or one of them names nothing.
    pub fn from_newest(generations: &[Uuid]) -> Option<Self> {
        let is_sound = generations.len() <= GENERATIONS_LIMIT && generations.iter().all(|one| !one.is_undefined());
        let mut descent = Self::UNKNOWN;
        is_sound.then(|| descent.generations[..generations.len()].copy_from_slice(generations))?;
        Some(descent)
    }

    /// From the newest to the oldest.
    pub fn newest_first(&self) -> &[Uuid] {
        let known = self.generations.iter().take_while(|one| !one.is_undefined()).count();
        &self.generations[..known]
    }

    /// Whether it belongs to no group yet.
    pub fn is_unknown(&self) -> bool {
        self.generation().is_undefined()
    }

    /// The group's own.
    pub fn generation(&self) -> Uuid {
        self.generations[0]
    }

    fn comes_from(&self, generation: Uuid) -> bool {
        self.newest_first().iter().skip(1).any(|one| *one == generation)
    }

    /// How the other stands to this one.
    pub fn kinship(&self, other: &Self) -> Kinship {
        if self.is_unknown() || other.is_unknown() || self.generation() == other.generation() {
            return Kinship::Same;
        }
        match (other.comes_from(self.generation()), self.comes_from(other.generation())) {
            (true, false) => Kinship::Newer,
            (false, true) => Kinship::Older,
            _ => Kinship::Apart,
        }
    }
}
