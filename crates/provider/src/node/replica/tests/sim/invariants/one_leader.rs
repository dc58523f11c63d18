//! At most one leader per term and generation.

use std::collections::BTreeMap;

use super::super::world::Slot;
use crate::consensus::raft::Term;
use crate::identity::Uuid;

#[derive(Default)]
pub struct OneLeader {
    leaders: BTreeMap<(Uuid, Term), Slot>,
}

impl OneLeader {
    pub fn leads(&mut self, slot: Slot, generation: Uuid, term: Term) {
        let before = self.leaders.insert((generation, term), slot);
        assert_eq!(before, None, "{slot:?} leads {term:?}, which had a leader");
    }
}
