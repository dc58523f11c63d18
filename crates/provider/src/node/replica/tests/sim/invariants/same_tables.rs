//! All tables change in the same way at each seqno, and are equal at the end. What only one node could not apply is
//! applied; tables that do not match a vote serve no client.

use std::collections::BTreeMap;

use super::super::process::{Process, Row};
use super::super::world::Slot;

#[derive(Default)]
pub struct SameTables {
    rows: BTreeMap<i64, Row>,
}

impl SameTables {
    pub fn applied(&mut self, slot: Slot, seqno: i64, row: Row) {
        let before = *self.rows.entry(seqno).or_insert(row);
        assert_eq!(before, row, "{slot:?} changes its tables in another way at seqno {seqno}");
    }

    pub fn check(&self, host: &Process) {
        let expected: Vec<Row> = self.rows.values().copied().collect();
        let found = &host.disk.tables;
        let differs = expected.iter().zip(found).position(|(expected, found)| expected != found);
        let text = format!("{}: {} rows, expected {}", host.hello.name, found.len(), expected.len());
        assert!(expected == *found, "{text}; the first that differs: {differs:?}");
    }
}
