//! A node's disk: what survives a crash, and what may not.

use super::world::{Entry, Payload};
use crate::consensus::NodeId;
use crate::consensus::raft::{EntryMeta, InitialState, LogId, Membership, PendingMembership, Term};
use crate::log::Index;
use crate::seeds::Rng;

pub struct Disk {
    pub term: Term,
    pub voted_for: Option<NodeId>,
    last_purged: LogId,
    entries: Vec<Entry>,
    /// Later entries may be lost.
    pub durable_index: Index,
    /// The last membership that the driver knew to be committed.
    pub committed_membership: Option<(Index, Membership)>,
    pub pending_memberships: Vec<PendingMembership>,
    /// The position of the tables.
    pub applied: Index,
    /// Durable entries are gone, and the node knows it.
    pub has_lost_tail: bool,
}

impl Disk {
    pub fn new(committed_membership: Option<(Index, Membership)>) -> Self {
        let last_purged = LogId { term: Term(0), index: Index(0) };
        let (term, index) = (last_purged.term, last_purged.index);
        Self {
            term,
            voted_for: None,
            last_purged,
            entries: Vec::new(),
            durable_index: index,
            committed_membership,
            pending_memberships: Vec::new(),
            applied: index,
            has_lost_tail: false,
        }
    }

    pub fn last(&self) -> Index {
        Index(self.last_purged.index.0 + self.entries.len() as u64)
    }

    pub fn last_purged(&self) -> LogId {
        self.last_purged
    }

    pub fn entry(&self, index: Index) -> &Entry {
        &self.entries[(index.0 - self.last_purged.index.0 - 1) as usize]
    }

    pub fn log_id(&self, index: Index) -> LogId {
        if index == self.last_purged.index {
            self.last_purged
        } else {
            LogId { term: self.entry(index).meta.term, index }
        }
    }

    /// Whether it holds exactly this entry.
    pub fn has(&self, log_id: LogId) -> bool {
        log_id.index >= self.last_purged.index && log_id.index <= self.last() && self.log_id(log_id.index) == log_id
    }

    pub fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    pub fn truncate(&mut self, from: Index) {
        assert!(from > self.applied, "applied entries were truncated");
        self.entries.truncate((from.0 - self.last_purged.index.0 - 1) as usize);
        self.durable_index = self.durable_index.min(self.last());
    }

    pub fn purge(&mut self, log_id: LogId) {
        self.entries.drain(..(log_id.index.0 - self.last_purged.index.0) as usize);
        self.last_purged = log_id;
    }

    pub fn install_snapshot(&mut self, log_id: LogId, membership: (Index, Membership)) {
        if self.has(log_id) {
            self.purge(log_id);
        } else {
            self.entries.clear();
            self.last_purged = log_id;
        }
        self.durable_index = self.durable_index.min(self.last()).max(log_id.index);
        self.committed_membership = Some(membership);
        self.applied = self.applied.max(log_id.index);
    }

    /// Any part of the data that is not durable is lost.
    pub fn crash(&mut self, rng: &mut Rng) {
        let last = rng.between(self.durable_index.0, self.last().0);
        self.entries.truncate((last - self.last_purged.index.0) as usize);
        self.durable_index = self.last();
        // Tables are not synced either; they hold a prefix of what was applied.
        self.applied = Index(rng.between(self.last_purged.index.0, self.applied.0));
    }

    /// The last of the committed entries that it holds durably.
    pub fn holds_of(&self, order: &[Entry]) -> Index {
        let durable = self.durable_index.0.min(order.len() as u64);
        let differs = |at: &u64| self.entry(Index(*at)) != &order[*at as usize - 1];
        (self.last_purged.index.0 + 1..=durable).find(differs).map_or(Index(durable), |at| Index(at - 1))
    }

    /// Durable entries at the end are lost, too, after `keeps`. Tables may be ahead of the log then.
    pub fn lose_tail(&mut self, keeps: Index, rng: &mut Rng) {
        let last = rng.between(self.last_purged.index.0.max(keeps.0), self.last().0);
        self.entries.truncate((last - self.last_purged.index.0) as usize);
        (self.durable_index, self.has_lost_tail) = (self.last(), true);
        self.applied = self.applied.min(self.last());
    }

    pub fn start(&self, id: NodeId, seed: u64) -> InitialState {
        let mut runs: Vec<(Index, Term)> = Vec::new();
        let mut memberships = Vec::new();
        for (nth, entry) in self.entries.iter().enumerate() {
            let index = Index(self.last_purged.index.0 + 1 + nth as u64);
            if runs.last().is_none_or(|(_, term)| *term != entry.meta.term) {
                runs.push((index, entry.meta.term));
            }
            if let Some(membership) = &entry.meta.membership {
                memberships.push((index, membership.clone()));
            }
        }
        InitialState {
            id,
            term: self.term,
            voted_for: self.voted_for,
            last_purged: self.last_purged,
            term_runs: runs,
            last: self.last(),
            committed_membership: self.committed_membership.clone(),
            memberships,
            pending_memberships: self.pending_memberships.clone(),
            commit_index: self.applied,
            has_lost_tail: self.has_lost_tail,
            seed,
        }
    }
}

pub fn entry(term: Term, membership: Option<Membership>, payload: Payload) -> Entry {
    Entry { meta: EntryMeta { term, membership }, payload }
}
