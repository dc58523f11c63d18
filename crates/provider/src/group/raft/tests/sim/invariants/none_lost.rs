//! A write set whose client was told that it is committed is in the order; one whose client was told that nothing came
//! of it is not.

use std::collections::{BTreeMap, BTreeSet};

use crate::group::proposals::{Origin, Ticket};
use crate::log::Index;

use super::super::world::{Entry, Payload};

#[derive(Default)]
pub struct NoneLost {
    confirmed: BTreeMap<(Origin, Ticket), Index>,
    withdrawn: BTreeSet<(Origin, Ticket)>,
}

impl NoneLost {
    pub fn confirmed(&mut self, origin: Origin, ticket: Ticket, index: Index) {
        self.confirmed.insert((origin, ticket), index);
    }

    pub fn withdrawn(&mut self, origin: Origin, ticket: Ticket) {
        self.withdrawn.insert((origin, ticket));
    }

    pub fn committed(&self, origin: Origin, ticket: Ticket) {
        assert!(!self.withdrawn.contains(&(origin, ticket)), "{ticket:?} of {origin:?} was withdrawn");
    }

    pub fn at_the_end(&self, order: &[Entry]) {
        for (&(origin, ticket), index) in &self.confirmed {
            let found = order.get(index.0 as usize - 1).map(|entry| entry.payload);
            assert_eq!(found, Some(Payload::Write { origin, ticket }), "{ticket:?} of {origin:?} is lost");
        }
    }
}
