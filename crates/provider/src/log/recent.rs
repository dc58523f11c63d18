//! The newest entries in memory, for followers: they are sent before they are in the file, so that the disks of all
//! nodes work at the same time.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{DiskLog, Error, Index};

/// Limit of bytes of the newest entries.
const RECENT_LIMIT_BYTES: usize = 16 << 20;
/// Overhead counted per entry, so that empty ones are limited too.
const ENTRY_BYTES: usize = 64;

/// An index and its payload, shared with other senders.
pub type Shared = (Index, Arc<[u8]>);

#[derive(Debug, Default)]
pub(super) struct Recent {
    is_on: AtomicBool,
    newest: Mutex<Newest>,
}

/// Consecutive entries up to the last appended one.
#[derive(Debug, Default)]
struct Newest {
    entries: VecDeque<Shared>,
    bytes: usize,
}

impl Recent {
    /// Keeps the entry just appended.
    pub fn keep(&self, index: u64, parts: &[&[u8]]) {
        if self.is_on.load(Ordering::Relaxed) {
            self.newest().push(Index(index), parts);
        }
    }

    /// Drops the entries from `from` on.
    pub fn truncate(&self, from: u64) {
        let mut newest = self.newest();
        while newest.entries.back().is_some_and(|(index, _)| index.0 >= from) {
            newest.drop_one(VecDeque::pop_back);
        }
    }

    /// The entries from `first` on, if that one is here.
    fn entries(&self, first: Index, limit_bytes: usize) -> Vec<Shared> {
        let newest = self.newest();
        let Some((oldest, _)) = newest.entries.front() else { return Vec::new() };
        let skip = first
            .0
            .checked_sub(oldest.0)
            .map_or(newest.entries.len(), |skip| usize::try_from(skip).unwrap_or(usize::MAX).min(newest.entries.len()));
        let mut bytes = 0;
        let fits = |(at, (_, payload)): &(usize, &Shared)| {
            bytes += payload.len();
            *at == 0 || bytes <= limit_bytes
        };
        newest.entries.range(skip..).enumerate().take_while(fits).map(|(_, entry)| entry.clone()).collect()
    }

    fn newest(&self) -> MutexGuard<'_, Newest> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Newest {
    fn push(&mut self, index: Index, parts: &[&[u8]]) {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if length + ENTRY_BYTES > RECENT_LIMIT_BYTES || self.entries.back().is_some_and(|last| last.0.next() != index) {
            *self = Self::default();
        }
        if length + ENTRY_BYTES > RECENT_LIMIT_BYTES {
            return;
        }
        let payload = if let [one] = parts { Arc::from(*one) } else { Arc::from(parts.concat()) };
        self.bytes += length + ENTRY_BYTES;
        self.entries.push_back((index, payload));
        while self.bytes > RECENT_LIMIT_BYTES {
            self.drop_one(VecDeque::pop_front);
        }
    }

    fn drop_one(&mut self, end: fn(&mut VecDeque<Shared>) -> Option<Shared>) {
        if let Some((_, payload)) = end(&mut self.entries) {
            self.bytes -= payload.len() + ENTRY_BYTES;
        }
    }
}

impl DiskLog {
    /// Whether the newest entries, up to 16 MiB, stay in memory for [`DiskLog::entries`]. Off by default: a node
    /// without followers does not need them.
    pub fn set_keeps_recent(&self, keeps: bool) {
        self.recent.is_on.store(keeps, Ordering::Relaxed);
        if !keeps {
            *self.recent.newest() = Newest::default();
        }
    }

    /// The entries from `first` on, up to `limit_bytes` of payload, but at least one if there is one; none if `first`
    /// is right after the last. Includes entries that are appended and not written: from memory, or else they are
    /// flushed first.
    ///
    /// # Errors
    /// `first` is neither in the log nor right after its last entry; the entry was truncated meanwhile; it cannot be
    /// read.
    pub fn entries(&self, first: Index, limit_bytes: usize) -> Result<Vec<Shared>, Error> {
        let recent = self.recent.entries(first, limit_bytes);
        if !recent.is_empty() {
            return Ok(recent);
        }
        let last = self.last();
        if first == last.next() {
            return Ok(Vec::new());
        }
        if first <= last && first > self.written() {
            self.flush(first)?;
        }
        let mut reader = self.read(first)?;
        let (mut entries, mut bytes) = (Vec::new(), 0);
        let mut end = None;
        while let Some(entry) = reader.next() {
            let (index, payload) = entry?;
            bytes += payload.len();
            if !entries.is_empty() && bytes > limit_bytes {
                break;
            }
            entries.push((index, Arc::from(payload)));
            end = reader.bookmark();
        }
        reader.save_bookmark(end);
        Ok(entries)
    }
}
