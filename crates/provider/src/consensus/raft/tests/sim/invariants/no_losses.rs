//! A write set that was confirmed to its client is ordered; one that was reported as lost is not.

use std::collections::{BTreeMap, BTreeSet};

use crate::consensus::proposals::{RequestId, SessionId};
use crate::log::Index;

use super::super::world::{Entry, Payload};

#[derive(Default)]
pub struct NoneLost {
    confirmed: BTreeMap<(SessionId, RequestId), Index>,
    lost: BTreeSet<(SessionId, RequestId)>,
}

impl NoneLost {
    pub fn confirmed(&mut self, session: SessionId, request_id: RequestId, index: Index) {
        self.confirmed.insert((session, request_id), index);
    }

    pub fn lost(&mut self, session: SessionId, request_id: RequestId) {
        self.lost.insert((session, request_id));
    }

    pub fn committed(&self, session: SessionId, request_id: RequestId) {
        assert!(!self.lost.contains(&(session, request_id)), "{request_id:?} of {session:?} was withdrawn");
    }

    pub fn at_the_end(&self, order: &[Entry]) {
        for (&(session, request_id), index) in &self.confirmed {
            let found = order.get(index.0 as usize - 1).map(|entry| entry.payload);
            assert_eq!(found, Some(Payload::Write { session, request_id }), "{request_id:?} of {session:?} is lost");
        }
    }
}
