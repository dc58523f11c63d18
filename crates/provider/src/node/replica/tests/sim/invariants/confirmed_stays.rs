//! What a client was told is committed is in the tables of all nodes at the end.

use std::collections::BTreeMap;

use super::super::process::{Process, Row};

#[derive(Default)]
pub struct ConfirmedStays {
    confirmed: BTreeMap<i64, Row>,
}

impl ConfirmedStays {
    pub fn confirmed(&mut self, seqno: i64, row: Row) {
        let before = self.confirmed.insert(seqno, row);
        assert_eq!(before, None, "two write sets are confirmed at seqno {seqno}");
    }

    /// The highest confirmed seqno.
    pub fn highest(&self) -> i64 {
        self.confirmed.last_key_value().map_or(0, |(seqno, _)| *seqno)
    }

    pub fn check(&self, host: &Process) {
        for (seqno, row) in &self.confirmed {
            let found = host.disk.tables.get(*seqno as usize - 1);
            assert_eq!(found, Some(row), "{} has lost seqno {seqno}, which was confirmed", host.hello.name);
        }
    }
}
