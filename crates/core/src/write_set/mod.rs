//! The keys of one transaction with their modes.
//!
//! Invariants: every ancestor of a key is in the set with at least the intention that the key implies, so that two
//! transactions that use overlapping resources always share a key; each key occurs once, with the strongest requested
//! mode; a key is not added if an ancestor covers it; and the number of keys never exceeds the limit, beyond which the
//! set becomes coarser (see `coarsen`).

use hashbrown::HashTable;

use crate::{Key, Mode};

mod coarsen;
#[cfg(test)]
mod tests;

/// The number of keys that a write set holds, ancestors included, before it becomes coarser. Chosen so that one
/// transaction takes at most about 200 KiB of keys.
pub const KEYS_LIMIT: usize = 4096;

/// Up to this number a scan over all keys is faster than a hash table.
const SCAN_LIMIT: usize = 24;

/// A key with the mode in which a transaction uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LockRequest {
    pub(crate) key: Key,
    pub(crate) mode: Mode,
}

/// The keys that one transaction reads and writes, with modes, and the intentions on their ancestors.
#[derive(Clone, Debug)]
pub struct WriteSet {
    requests: Vec<LockRequest>,
    /// Positions in `requests`, by key; empty up to `SCAN_LIMIT` requests.
    positions: HashTable<u32>,
    keys_limit: usize,
}

impl Default for WriteSet {
    fn default() -> Self {
        Self::new()
    }
}

impl WriteSet {
    /// A transaction that uses nothing and so waits for none. Holds up to [`KEYS_LIMIT`] keys.
    pub fn new() -> Self {
        Self::with_keys_limit(KEYS_LIMIT)
    }

    /// As [`WriteSet::new`], with another limit; a limit of 0 counts as 1, which leaves only the server's key.
    pub fn with_keys_limit(keys_limit: usize) -> Self {
        Self { requests: Vec::new(), positions: HashTable::new(), keys_limit: keys_limit.clamp(1, u32::MAX as usize) }
    }

    /// Adds the use of a key, and returns the set.
    #[must_use]
    pub fn with(mut self, key: Key, mode: Mode) -> Self {
        self.add(key, mode);
        self
    }

    /// Adds the use of a key and the intentions on all its ancestors.
    ///
    /// [`Mode::at`] translates a mode that does not fit the key's level. A key that is in the set already gets the
    /// stronger of the two modes ([`Mode::join`]; shared and intention exclusive give exclusive).
    pub fn add(&mut self, key: Key, mode: Mode) {
        if self.requests.is_empty() {
            self.requests.reserve(16);
        }
        self.raise(key, mode.at(key.level()));
        if self.requests.len() > self.keys_limit {
            self.coarsen();
        }
    }

    /// The keys with their modes, each key once, every ancestor before its descendants.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = (Key, Mode)> {
        self.requests.iter().map(|request| (request.key, request.mode))
    }

    /// The mode of exactly this key; None if the key is not used, or if an ancestor covers it.
    pub fn mode(&self, key: Key) -> Option<Mode> {
        self.find(key).map(|position| self.requests[position].mode)
    }

    /// Whether it uses nothing.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Whether this transaction, as the later one, must wait for `first`. Compares all pairs of keys.
    pub fn waits_for(&self, first: &Self) -> bool {
        self.keys().any(|(key, mode)| first.mode(key).is_some_and(|held| mode.waits_for(held)))
    }

    pub(crate) fn lock_requests(&self) -> &[LockRequest] {
        &self.requests
    }

    /// Ensures that `key` is used at least in `mode`, after its ancestors. Returns the mode that holds for the key now:
    /// its own, or that of an ancestor that covers it.
    fn raise(&mut self, key: Key, mode: Mode) -> Mode {
        let position = self.find(key);
        let wanted = position.map_or(mode, |position| self.requests[position].mode.join(mode));
        if let Some(position) = position {
            if self.requests[position].mode == wanted {
                return wanted;
            }
            // Ancestors come first, so raising them moves nothing.
            self.requests[position].mode = wanted;
        }
        if let Some(parent) = key.parent() {
            let above = self.raise(parent, wanted.intention());
            if position.is_none() && above.covers(wanted) {
                return above;
            }
        }
        if position.is_none() {
            self.push(LockRequest { key, mode: wanted });
        }
        wanted
    }

    fn find(&self, key: Key) -> Option<usize> {
        if self.requests.len() <= SCAN_LIMIT {
            return self.requests.iter().position(|request| request.key == key);
        }
        self.positions
            .find(key.bits(), |&position| self.requests[position as usize].key == key)
            .map(|&position| position as usize)
    }

    fn push(&mut self, request: LockRequest) {
        self.requests.push(request);
        if self.requests.len() == SCAN_LIMIT + 1 {
            self.index_all();
        } else if self.requests.len() > SCAN_LIMIT {
            self.index(self.requests.len() - 1);
        }
    }

    fn index_all(&mut self) {
        self.positions.clear();
        if self.requests.len() > SCAN_LIMIT {
            for position in 0..self.requests.len() {
                self.index(position);
            }
        }
    }

    fn index(&mut self, position: usize) {
        let requests = &self.requests;
        // The limit of keys fits in 32 bits, see `with_keys_limit`.
        self.positions.insert_unique(requests[position].key.bits(), position as u32, |&other| {
            requests[other as usize].key.bits()
        });
    }
}
