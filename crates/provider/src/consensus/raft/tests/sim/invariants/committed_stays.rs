//! State machine safety (3.2): no two nodes apply different entries at the same index. So all nodes apply the same
//! entries in the same order, and get the same verdicts.

use crate::consensus::NodeId;
use crate::consensus::raft::Term;
use crate::log::Index;

use super::super::world::Entry;

#[derive(Default)]
pub struct CommittedStays {
    /// The first is at index 1.
    order: Vec<Entry>,
    /// By index, the latest term known to the node that first learnt of the commit.
    committed_in: Vec<Term>,
}

impl CommittedStays {
    /// True: no node has applied that entry before.
    pub fn committed(&mut self, node: NodeId, term: Term, index: Index, entry: &Entry) -> bool {
        let at = index.0 as usize - 1;
        if let Some(before) = self.order.get(at) {
            assert_eq!(entry, before, "{node} applies another entry at {}", index.0);
            return false;
        }
        assert_eq!(at, self.order.len(), "{node} applies {}, and no node has applied the entry before it", index.0);
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
