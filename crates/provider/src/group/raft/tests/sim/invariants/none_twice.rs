//! No write set stands in the order twice (`proposals`; thesis 6.3 asks for the same of its clients' sessions).

use std::collections::BTreeMap;

use crate::group::proposals::{Origin, Ticket};
use crate::log::Index;

#[derive(Default)]
pub struct NoneTwice {
    places: BTreeMap<(Origin, Ticket), Index>,
}

impl NoneTwice {
    pub fn committed(&mut self, origin: Origin, ticket: Ticket, index: Index) {
        let before = self.places.insert((origin, ticket), index);
        assert_eq!(before, None, "{ticket:?} of {origin:?} is at {} as well", index.0);
    }
}
