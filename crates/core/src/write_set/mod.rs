//! The keys of one transaction with their modes.
//!
//! What it keeps true: every place above a key is in the set with at least the intention that the key implies, so that
//! two transactions that use overlapping places always meet at one key; each key is there once, with the strongest mode
//! asked for; nothing is there that a place above covers already when it is added; and there are never more keys than
//! its limit, beyond which it says the same more coarsely (see `coarsen`).

use hashbrown::HashTable;

use crate::{Key, Mode};

mod coarsen;
#[cfg(test)]
mod tests;

/// How many keys a write set holds, places above the rows included, before it becomes coarser. Chosen so that one
/// transaction takes at most about 200 KiB of keys.
pub const KEYS_LIMIT: usize = 4096;

/// Up to here a glance over all keys is faster than a hash table, and needs none.
const SCAN_LIMIT: usize = 24;

/// A key with the mode in which it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) key: Key,
    pub(crate) mode: Mode,
}

/// What one transaction reads and writes: keys with modes, and what they imply above.
#[derive(Clone, Debug)]
pub struct WriteSet {
    claims: Vec<Claim>,
    /// Positions in `claims`, by key; empty up to `SCAN_LIMIT` claims.
    positions: HashTable<u32>,
    keys_limit: usize,
}

impl Default for WriteSet {
    fn default() -> Self {
        Self::new()
    }
}

impl WriteSet {
    /// A transaction that uses nothing and so waits for nobody. Holds up to [`KEYS_LIMIT`] keys.
    pub fn new() -> Self {
        Self::with_keys_limit(KEYS_LIMIT)
    }

    /// As [`WriteSet::new`], with another limit; a limit of 0 counts as 1, which leaves only the server's key.
    pub fn with_keys_limit(keys_limit: usize) -> Self {
        Self { claims: Vec::new(), positions: HashTable::new(), keys_limit: keys_limit.clamp(1, u32::MAX as usize) }
    }

    /// Adds the use of a place, and hands the set on.
    #[must_use]
    pub fn with(mut self, key: Key, mode: Mode) -> Self {
        self.add(key, mode);
        self
    }

    /// Adds the use of a place and the intentions on every place above it.
    ///
    /// A mode that does not fit the key's depth is translated by [`Mode::at`]. A key that is there already gets the
    /// stronger of the two modes ([`Mode::join`]; shared and intention exclusive give exclusive).
    pub fn add(&mut self, key: Key, mode: Mode) {
        if self.claims.is_empty() {
            self.claims.reserve(16);
        }
        self.raise(key, mode.at(key.level()));
        if self.claims.len() > self.keys_limit {
            self.coarsen();
        }
    }

    /// The keys with their modes, each key once, every place before what lies below it.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = (Key, Mode)> {
        self.claims.iter().map(|claim| (claim.key, claim.mode))
    }

    /// The mode in which exactly this key is used; none when it is not, or when a place above covers it.
    pub fn mode(&self, key: Key) -> Option<Mode> {
        self.find(key).map(|position| self.claims[position].mode)
    }

    /// Whether it uses nothing.
    pub fn is_empty(&self) -> bool {
        self.claims.is_empty()
    }

    /// Whether this transaction, being the later one, must wait for `first`. Compares all pairs of keys.
    pub fn waits_for(&self, first: &Self) -> bool {
        self.keys().any(|(key, mode)| first.mode(key).is_some_and(|held| mode.waits_for(held)))
    }

    pub(crate) fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// Makes sure that `key` is used in `mode` at least, the places above first. Gives the mode that holds for it now,
    /// its own or that of a place above that covers it.
    fn raise(&mut self, key: Key, mode: Mode) -> Mode {
        let position = self.find(key);
        let wanted = position.map_or(mode, |position| self.claims[position].mode.join(mode));
        if let Some(position) = position {
            if self.claims[position].mode == wanted {
                return wanted;
            }
            // Places above precede, so nothing moves when they are raised.
            self.claims[position].mode = wanted;
        }
        if let Some(parent) = key.parent() {
            let above = self.raise(parent, wanted.intention());
            if position.is_none() && above.covers(wanted) {
                return above;
            }
        }
        if position.is_none() {
            self.push(Claim { key, mode: wanted });
        }
        wanted
    }

    fn find(&self, key: Key) -> Option<usize> {
        if self.claims.len() <= SCAN_LIMIT {
            return self.claims.iter().position(|claim| claim.key == key);
        }
        self.positions
            .find(key.bits(), |&position| self.claims[position as usize].key == key)
            .map(|&position| position as usize)
    }

    fn push(&mut self, claim: Claim) {
        self.claims.push(claim);
        if self.claims.len() == SCAN_LIMIT + 1 {
            self.index_all();
        } else if self.claims.len() > SCAN_LIMIT {
            self.index(self.claims.len() - 1);
        }
    }

    fn index_all(&mut self) {
        self.positions.clear();
        if self.claims.len() > SCAN_LIMIT {
            for position in 0..self.claims.len() {
                self.index(position);
            }
        }
    }

    fn index(&mut self, position: usize) {
        let claims = &self.claims;
        // The limit on keys fits in 32 bits, see `with_keys_limit`.
        self.positions
            .insert_unique(claims[position].key.bits(), position as u32, |&other| claims[other as usize].key.bits());
    }
}
