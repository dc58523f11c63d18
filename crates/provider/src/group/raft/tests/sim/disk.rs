//! A node's disk: what outlives a crash, and what may not.

use super::chance::Chance;
use super::world::{Entry, Payload};
use crate::group::NodeId;
use crate::group::raft::{Membership, Place, Shape, Start, Term};
use crate::log::Index;

pub struct Disk {
    pub term: Term,
    pub voted_for: Option<NodeId>,
    base: Place,
    entries: Vec<Entry>,
    /// What is behind this may be lost.
    pub safe: Index,
    /// The last membership that the driver knew to be committed.
    pub settled: Option<(Index, Membership)>,
    /// Where the tables are.
    pub applied: Index,
}

impl Disk {
    pub fn new(settled: Option<(Index, Membership)>) -> Self {
        let base = Place { term: Term(0), index: Index(0) };
        let (term, index) = (base.term, base.index);
        Self { term, voted_for: None, base, entries: Vec::new(), safe: index, settled, applied: index }
    }

    pub fn last(&self) -> Index {
        Index(self.base.index.0 + self.entries.len() as u64)
    }

    pub fn base(&self) -> Place {
        self.base
    }

    pub fn entry(&self, index: Index) -> &Entry {
        &self.entries[(index.0 - self.base.index.0 - 1) as usize]
    }

    pub fn place(&self, index: Index) -> Place {
        if index == self.base.index { self.base } else { Place { term: self.entry(index).shape.term, index } }
    }

    /// Whether it has this very entry.
    pub fn has(&self, place: Place) -> bool {
        place.index >= self.base.index && place.index <= self.last() && self.place(place.index) == place
    }

    pub fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    pub fn truncate(&mut self, from: Index) {
        assert!(from > self.applied, "what is applied was cut off");
        self.entries.truncate((from.0 - self.base.index.0 - 1) as usize);
        self.safe = self.safe.min(self.last());
    }

    pub fn purge(&mut self, place: Place) {
        self.entries.drain(..(place.index.0 - self.base.index.0) as usize);
        self.base = place;
    }

    pub fn begin_behind(&mut self, place: Place, membership: (Index, Membership)) {
        if self.has(place) {
            self.purge(place);
        } else {
            self.entries.clear();
            self.base = place;
        }
        self.safe = self.safe.min(self.last()).max(place.index);
        self.settled = Some(membership);
        self.applied = self.applied.max(place.index);
    }

    /// Any part of what is not safe is lost.
    pub fn crash(&mut self, chance: &mut Chance) {
        let last = chance.between(self.safe.0, self.last().0);
        self.entries.truncate((last - self.base.index.0) as usize);
        self.safe = self.last();
        // Tables are not synced either; a prefix of what was applied is in them.
        self.applied = Index(chance.between(self.base.index.0, self.applied.0));
    }

    pub fn start(&self, id: NodeId, seed: u64) -> Start {
        let mut runs: Vec<(Index, Term)> = Vec::new();
        let mut memberships = Vec::new();
        for (nth, entry) in self.entries.iter().enumerate() {
            let index = Index(self.base.index.0 + 1 + nth as u64);
            if runs.last().is_none_or(|(_, term)| *term != entry.shape.term) {
                runs.push((index, entry.shape.term));
            }
            if let Some(membership) = &entry.shape.membership {
                memberships.push((index, membership.clone()));
            }
        }
        Start {
            id,
            term: self.term,
            voted_for: self.voted_for,
            base: self.base,
            runs,
            last: self.last(),
            settled: self.settled.clone(),
            memberships,
            committed: self.applied,
            seed,
        }
    }
}

pub fn entry(term: Term, membership: Option<Membership>, payload: Payload) -> Entry {
    Entry { shape: Shape { term, membership }, payload }
}
