//! What is agreed on is taken, as fast as there is room for it.

use super::thread::GroupThread;
use crate::entry::Voter;
use crate::group::proposals::Ticket;
use crate::group::raft::{Action, Place, Term};
use crate::group::wire::BATCH_LIMIT_BYTES;
use crate::log::{DiskLog, Index};
use crate::node::{Ordering, lock};

/// A round takes so much of what is agreed on before it looks at the links again.
const TAKE_LIMIT_BYTES: usize = 4 << 20;

impl GroupThread {
    /// What is agreed on takes its place.
    pub(super) fn take_agreed(&mut self, actions: &mut Vec<Action>) {
        let Some(log) = self.node.log() else { return };
        let mut steps = Vec::new();
        let mut bytes_taken = 0;
        while let Some(taken) = self.taken
            && taken < self.contact.agreed
            && bytes_taken < TAKE_LIMIT_BYTES
            && !self.is_over
        {
            let entries = match log.entries(taken.next(), BATCH_LIMIT_BYTES) {
                Ok(entries) => entries,
                Err(error) => return self.fail(&format!("the log cannot be read: {error}")),
            };
            for (index, bytes) in entries {
                if index > self.contact.agreed {
                    break;
                }
                if !self.node.may_take(&self.together) {
                    self.look_ahead(&log, index);
                    bytes_taken = TAKE_LIMIT_BYTES;
                    break;
                }
                let what = match self.node.take_agreed(&self.together, index, &bytes, &self.lives) {
                    Ok(Some(what)) => what,
                    Ok(None) => {
                        bytes_taken = TAKE_LIMIT_BYTES;
                        break;
                    }
                    Err(_) => {
                        self.is_over = true;
                        return;
                    }
                };
                bytes_taken += bytes.len();
                self.taken = Some(index);
                let own = what.ticket.filter(|(source, _)| self.lives.contains(source)).map(|(_, ticket)| ticket);
                self.proposals.committed(what.term, own.map(Ticket), &mut steps);
                if let Some(ticket) = own {
                    self.payloads.remove(&ticket);
                }
                if let Some(voters) = what.group {
                    self.group_is(index, what.term, voters);
                }
                if let Some(below) = what.purge_below {
                    self.purge(&log, below);
                }
                if what.is_excluded {
                    self.node.note("the others count this node out");
                    self.lose_touch();
                }
            }
        }
        self.answer_confirmed();
        self.step(steps, actions);
    }

    pub(super) fn answer_confirmed(&mut self) {
        let Some(taken) = self.taken else { return };
        let seqno = lock(&self.node.order).as_ref().map_or(-1, |Ordering { order, .. }| order.seqno);
        self.confirmed.retain(|(upto, ticket)| {
            let waits = *upto > taken;
            if !waits {
                self.together.answer(*ticket, Some(seqno));
            }
            waits
        });
    }

    /// Those decide from there on, and everybody agrees.
    pub(super) fn group_is(&mut self, index: Index, term: Term, voters: Vec<Voter>) {
        self.saved.membership_at = Place { term, index };
        self.saved.voters = voters.into_iter().map(|voter| (voter.node, voter.address)).collect();
        self.save();
        // Two that found the group by way of a third need each other when that one is gone.
        for (_, address) in self.saved.voters.iter().filter(|(node, _)| **node != self.saved.node) {
            self.links.dial(address);
        }
        let names: Vec<String> = self.saved.voters.values().cloned().collect();
        self.node.note(&format!("the group is {}", names.join(", ")));
        if self.leaves && !self.saved.voters.contains_key(&self.own()) {
            self.contact.has_left = true;
        }
    }

    /// Nobody who is here needs what lies below.
    pub(super) fn purge(&mut self, log: &DiskLog, below: Index) {
        let followers = self
            .raft
            .progress()
            .filter(|progress| self.peers.get(&progress.node).is_some_and(|peer| peer.away_since_ms.is_none()));
        let below = followers.map(|progress| progress.matched.next()).min().map_or(below, |least| least.min(below));
        let first = log.first();
        log.purge(below);
        let base = Index(log.first().0 - 1);
        if log.first() > first
            && let Some(term) = self.raft.term_at(base)
        {
            self.raft.base_moved(Place { term, index: base });
        }
    }
}
