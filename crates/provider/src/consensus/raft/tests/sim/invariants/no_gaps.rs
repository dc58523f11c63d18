//! A node applies consecutive entries, from the position of its tables. With `committed_stays` that makes the sequences
//! of all nodes one.

use std::collections::BTreeMap;

use crate::consensus::NodeId;
use crate::log::Index;

#[derive(Default)]
pub struct NoGaps {
    applied: BTreeMap<NodeId, Index>,
}

impl NoGaps {
    pub fn starts(&mut self, node: NodeId, applied: Index) {
        self.applied.insert(node, applied);
    }

    pub fn applies(&mut self, node: NodeId, index: Index) {
        let before = self.applied.insert(node, index);
        assert_eq!(before.map(Index::next), Some(index), "{node} skips, or applies again");
    }
}
