//! All nodes order the same entries at the same indexes, with the same verdicts, also after a purge and after a restart
//! from a log that begins in the middle.

use std::collections::BTreeMap;

use super::super::memory_log::MemoryLog;
use super::super::process::Process;
use super::super::world::Slot;
use crate::log::{Index, LogRecords};

#[derive(Default)]
pub struct SameOrder {
    entries: BTreeMap<Index, Vec<u8>>,
    verdicts: BTreeMap<Index, (i64, bool)>,
}

impl SameOrder {
    pub fn ordered(&mut self, slot: Slot, index: Index, seqno: i64, bytes: &[u8], passed: bool) {
        let before = self.entries.entry(index).or_insert_with(|| bytes.to_vec());
        assert_eq!(*before, bytes, "{slot:?} orders another entry at {index}");
        let before = *self.verdicts.entry(index).or_insert((seqno, passed));
        assert_eq!(before, (seqno, passed), "{slot:?} gives entry {index} another verdict");
    }

    /// The log holds what was ordered.
    pub fn check_log(&self, host: &Process) {
        let log = host.disk.log.as_ref().expect("a node that is well has a log");
        let Some((last, _)) = self.entries.last_key_value() else { return };
        assert!(log.last() >= *last, "{} lacks entries up to {last}", host.hello.name);
        for (index, bytes) in self.entries.range(log.first()..) {
            assert_eq!(log.entry(*index), Some(&bytes[..]), "{} has another entry at {index}", host.hello.name);
        }
    }

    /// The last of the ordered entries that the log holds durably.
    pub fn holds(&self, log: &MemoryLog) -> Index {
        let durable = log.durable();
        let in_log = self.entries.range(log.first()..).take_while(|(index, _)| **index <= durable);
        let same = in_log.take_while(|(index, bytes)| log.entry(**index) == Some(&bytes[..]));
        same.last().map_or(Index(log.first().0 - 1), |(index, _)| *index)
    }

    pub fn count(&self) -> u64 {
        self.entries.len() as u64
    }
}
