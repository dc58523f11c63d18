//! Election safety (3.2): at most one leader per term.

use std::collections::BTreeMap;

use crate::consensus::NodeId;
use crate::consensus::raft::Term;

#[derive(Default)]
pub struct OneLeader {
    by_term: BTreeMap<Term, NodeId>,
}

impl OneLeader {
    pub fn leads(&mut self, node: NodeId, term: Term) {
        let before = self.by_term.insert(term, node);
        assert_eq!(before, None, "{node} leads term {}, which had a leader", term.0);
    }
}
