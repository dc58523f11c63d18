//! State machine safety (3.2): what one node applied at a place, no other ever applies anything else at. So all nodes
//! apply the same entries in the same order, and come to the same verdicts.

use crate::consensus::NodeId;
use crate::consensus::raft::Term;
use crate::log::Index;

use super::super::world::Entry;

#[derive(Default)]
pub struct CommittedStays {
    /// The first is at index 1.
    order: Vec<Entry>,
    /// Of the same, the newest term that the node knew that was told of it first.
    committed_in: Vec<Term>,
}

impl CommittedStays {
    /// True: nobody applied that one before.
    pub fn committed(&mut self, node: NodeId, term: Term, index: Index, entry: &Entry) -> bool {
        let at = index.0 as usize - 1;
        if let Some(before) = self.order.get(at) {
            assert_eq!(entry, before, "{node} applies another entry at {}", index.0);
            return false;
        }
        assert_eq!(at, self.order.len(), "{node} applies {} before anybody applied what stands before", index.0);
        self.order.push(entry.clone());
        let before = self.committed_in.last().copied().unwrap_or_default();
        self.committed_in.push(term.max(before));
        true
    }

    /// Ascends.
    pub fn committed_in(&self) -> &[Term] {
        &self.committed_in
    }

    pub fn order(&self) -> &[Entry] {
        &self.order
    }
}
