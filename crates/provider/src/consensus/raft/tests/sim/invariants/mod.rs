//! Invariants of every run: one property a file, with its section in the thesis.

mod committed_stays;
mod leader_has_all;
mod logs_match;
mod no_duplicates;
mod no_gaps;
mod no_losses;
mod one_leader;
mod reads;

use std::collections::{BTreeMap, BTreeSet};

use super::disk::Disk;
use super::world::{Entry, Node, Payload};
use crate::consensus::NodeId;
use crate::consensus::proposals::{RequestId, SessionId};
use crate::consensus::raft::Term;
use crate::log::Index;

#[derive(Default)]
pub struct Invariants {
    one_leader: one_leader::OneLeader,
    committed_stays: committed_stays::CommittedStays,
    no_gaps: no_gaps::NoGaps,
    no_duplicates: no_duplicates::NoneTwice,
    no_losses: no_losses::NoneLost,
}

impl Invariants {
    pub fn starts(&mut self, node: NodeId, applied: Index) {
        self.no_gaps.starts(node, applied);
    }

    pub fn leads(&mut self, node: NodeId, term: Term, disk: &Disk) {
        self.one_leader.leads(node, term);
        let (order, committed_in) = (self.committed_stays.order(), self.committed_stays.committed_in());
        leader_has_all::check(node, term, disk, order, committed_in);
    }

    /// A node learns that an entry is committed.
    pub fn committed(&mut self, node: NodeId, term: Term, index: Index, entry: &Entry) {
        self.no_gaps.applies(node, index);
        let is_new = self.committed_stays.committed(node, term, index, entry);
        if is_new && let Payload::Write { session, request_id } = entry.payload {
            self.no_duplicates.committed(session, request_id, index);
            self.no_losses.committed(session, request_id);
        }
    }

    /// A client learns that its write is committed.
    pub fn confirmed(&mut self, session: SessionId, request_id: RequestId, index: Index) {
        self.no_losses.confirmed(session, request_id, index);
    }

    /// A client learns that its write will not be ordered.
    pub fn lost(&mut self, session: SessionId, request_id: RequestId) {
        self.no_losses.lost(session, request_id);
    }

    /// The last entry that any node knows to be committed.
    pub fn highest(&self) -> Index {
        Index(self.committed_stays.order().len() as u64)
    }

    /// All entries that some node knows to be committed.
    pub fn order(&self) -> &[Entry] {
        self.committed_stays.order()
    }

    /// The voters of the last of these entries that changes them.
    pub fn voters(&self) -> Option<&BTreeSet<NodeId>> {
        self.order().iter().rev().find_map(|entry| entry.meta.membership.as_ref()).map(|membership| &membership.voters)
    }

    pub fn read(&self, node: NodeId, floor: Index, upto: Index, highest: Index) {
        reads::check(node, floor, upto, highest);
    }

    pub fn compare<'a>(&self, disks: impl Iterator<Item = &'a Disk>) {
        logs_match::check(&disks.collect::<Vec<_>>());
    }

    /// Returns the number of ordered entries.
    pub fn at_the_end(&self, nodes: &BTreeMap<NodeId, Node>) -> u64 {
        self.no_losses.at_the_end(self.committed_stays.order());
        let term = Term(u64::MAX);
        for (node, up) in nodes.iter().filter(|(_, node)| node.instance.is_some()) {
            let (order, committed_in) = (self.committed_stays.order(), self.committed_stays.committed_in());
            leader_has_all::check(*node, term, &up.disk, order, committed_in);
        }
        self.highest().0
    }
}
