//! A node's log in memory, with what a crash leaves of it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use crate::identity::Uuid;
use crate::log::{Error, Index, LogRecords, Shared};
use crate::seeds::Rng;

/// Whole segments are purged, and a segment has that many entries.
const SEGMENT_ENTRIES: u64 = 8;

/// A disk loses the writes of the last moments.
const LOST_ENTRIES_LIMIT: u64 = 40;

#[derive(Clone)]
pub struct MemoryLog {
    pub history_uuid: Uuid,
    first: Index,
    entries: VecDeque<Arc<[u8]>>,
    /// The disk has everything up to here.
    durable: Index,
    /// Durable entries are gone, and the node knows it.
    has_lost_tail: bool,
    /// The disk takes no more entries.
    pub is_full: bool,
    /// The log says so before an append.
    pub refuses: bool,
}

impl MemoryLog {
    pub fn new(history_uuid: Uuid, after: Index) -> Self {
        let entries = VecDeque::new();
        Self {
            history_uuid,
            first: after.next(),
            entries,
            durable: after,
            has_lost_tail: false,
            is_full: false,
            refuses: false,
        }
    }

    pub fn entry(&self, index: Index) -> Option<&[u8]> {
        let at = index.0.checked_sub(self.first.0)?;
        self.entries.get(at as usize).map(AsRef::as_ref)
    }

    pub fn durable(&self) -> Index {
        self.durable
    }

    pub fn entries_from(&self, from: Index, limit_bytes: usize) -> Result<Vec<Shared>, Error> {
        if from < self.first || from > self.last().next() {
            return Err(Error::Absent { index: from, first: self.first, last: self.last() });
        }
        let mut bytes = 0;
        let mut entries = Vec::new();
        for (at, entry) in self.entries.iter().enumerate().skip((from.0 - self.first.0) as usize) {
            bytes += entry.len();
            if !entries.is_empty() && bytes > limit_bytes {
                break;
            }
            entries.push((Index(self.first.0 + at as u64), Arc::clone(entry)));
        }
        Ok(entries)
    }

    pub fn throttle(&self) -> Result<(), Error> {
        if self.refuses { Err(full()) } else { Ok(()) }
    }

    pub fn append(&mut self, bytes: &[u8]) -> Result<Index, Error> {
        if self.is_full {
            return Err(full());
        }
        self.entries.push_back(Arc::from(bytes));
        Ok(self.last())
    }

    pub fn truncate(&mut self, from: Index) {
        self.entries.truncate(from.0.saturating_sub(self.first.0) as usize);
        self.durable = self.durable.min(self.last());
    }

    pub fn sync(&mut self, upto: Index) -> Result<(), Error> {
        if upto > self.last() {
            return Err(Error::Dropped { index: upto });
        }
        self.durable = self.durable.max(upto);
        Ok(())
    }

    pub fn purge(&mut self, below: Index) {
        while self.first.0 + SEGMENT_ENTRIES <= below.0 && self.entries.len() as u64 > SEGMENT_ENTRIES {
            self.entries.drain(..SEGMENT_ENTRIES as usize);
            self.first.0 += SEGMENT_ENTRIES;
        }
    }

    pub fn abandon_tail(&mut self, from: Index) {
        self.has_lost_tail = true;
        self.truncate(from);
    }

    pub fn confirm_tail(&mut self) {
        self.has_lost_tail = false;
    }

    /// Any part of what is not durable is lost.
    pub fn crash(&mut self, rng: &mut Rng) {
        let last = rng.between(self.durable.0, self.last().0.max(self.durable.0));
        self.entries.truncate((last + 1).saturating_sub(self.first.0) as usize);
        self.durable = self.last();
        (self.is_full, self.refuses) = (false, false);
    }

    /// The disk loses, or damages, durable entries at the end, after `keeps`. The log finds that out when it opens.
    pub fn lose_tail(&mut self, keeps: Index, rng: &mut Rng) {
        let last = self.last().0;
        let last =
            rng.between(last.saturating_sub(LOST_ENTRIES_LIMIT).max(keeps.0).min(last).max(self.first.0 - 1), last);
        if last < self.last().0 {
            self.has_lost_tail = true;
        }
        self.entries.truncate((last + 1 - self.first.0) as usize);
        self.durable = self.last();
    }
}

fn full() -> Error {
    let source = Arc::new(std::io::Error::other("the simulated disk is full"));
    Error::Full { folder: PathBuf::new(), bytes: 1, source }
}

impl LogRecords for MemoryLog {
    fn first(&self) -> Index {
        self.first
    }

    fn last(&self) -> Index {
        Index(self.first.0 + self.entries.len() as u64 - 1)
    }

    fn has_lost_tail(&self) -> bool {
        self.has_lost_tail
    }

    fn records(&self) -> Result<impl Iterator<Item = Result<(Index, Vec<u8>), Error>>, Error> {
        let first = self.first.0;
        Ok((first..).map(Index).zip(&self.entries).map(|(index, bytes)| Ok((index, bytes.to_vec()))))
    }
}
