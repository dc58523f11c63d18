//! Invariants of every run: one property a file.

mod confirmed_stays;
mod never_too_old;
mod one_leader;
mod reads;
mod same_order;
mod same_protocol;
mod same_tables;
mod sound_failures;

use super::memory_log::MemoryLog;
use super::process::{Fact, Process};
use super::world::Slot;
use crate::identity::Uuid;
use crate::log::Index;

#[derive(Default)]
pub struct Invariants {
    one_leader: one_leader::OneLeader,
    same_order: same_order::SameOrder,
    same_protocol: same_protocol::SameProtocol,
    same_tables: same_tables::SameTables,
    confirmed_stays: confirmed_stays::ConfirmedStays,
    reads: reads::Reads,
}

impl Invariants {
    pub fn observe(&mut self, slot: Slot, generation: Uuid, fact: Fact) {
        match fact {
            Fact::Leads { term } => self.one_leader.leads(slot, generation, term),
            // Judged by `upgrades`, which knows the releases.
            Fact::Raises { .. } => {}
            Fact::Ordered { index, seqno, protocol, bytes, passed } => {
                self.same_order.ordered(slot, index, seqno, &bytes, passed);
                self.same_protocol.ordered(slot, index, protocol);
            }
            Fact::Applied { seqno, row } => self.same_tables.applied(slot, seqno, row),
            Fact::Confirmed { seqno, row } => self.confirmed_stays.confirmed(seqno, row),
            Fact::ReadAt { request_id, seqno } => self.reads.ends(request_id, seqno),
            Fact::TooOld { seqno, failure } => never_too_old::check(slot, seqno, failure),
        }
    }

    /// The last of the ordered entries that the log holds durably.
    pub fn holds(&self, log: &MemoryLog) -> Index {
        self.same_order.holds(log)
    }

    pub fn read_starts(&mut self, request_id: u64) {
        self.reads.starts(request_id, self.confirmed_stays.highest());
    }

    pub fn failed(&self, slot: Slot, text: &str) {
        sound_failures::check(slot, text);
    }

    /// Returns the number of ordered entries.
    pub fn at_the_end<'a>(&self, hosts: impl Iterator<Item = &'a Process>) -> u64 {
        for host in hosts {
            self.same_order.check_log(host);
            if host.witness.is_some() {
                continue;
            }
            self.same_tables.check(host);
            self.confirmed_stays.check(host);
        }
        self.same_order.count()
    }
}
