//! All keys that were used above the purged seqno, and how the index finds and drops the unused ones.
//!
//! The table is split into shards, each a hash table of its own, so that no call pays for the whole table: a shard that
//! has to grow moves only its own entries. The index does not look up expired entries one by one, for each would be a
//! cache miss. A sweep goes around the shards and reads memory in order; every use that is entered pays for a few
//! entries of the sweep. So a sweep completes before the table has grown by more than a quarter.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::sources::SourceIndex;
use super::uses::{Dependencies, Use, Uses};
use crate::{Key, Mode, Seqno};

/// Enough that a shard of a table with ten million entries moves in less than a millisecond.
const SHARDS: usize = 1024;

/// The number of entries that a sweep reads per entered use.
const SWEPT_PER_ENTERED: usize = 4;

/// The fixed cost of sweeping a shard, in entries.
const SHARD_COST: usize = 4;

/// A shard with no more capacity than this never shrinks.
const SHARD_CAPACITY_LIMIT: usize = 7;

/// The uses of one key. Half a cache line, and never across two: fetching entries is most of the cost of certification.
#[derive(Debug)]
#[repr(align(32))]
struct KeyEntry {
    hash: [u64; 2],
    uses: Uses,
}

const _: () = assert!(size_of::<KeyEntry>() == 32);

/// The position of an entry, to enter its use without another lookup.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryPosition {
    hash: [u64; 2],
    bucket: usize,
    is_new: bool,
}

#[derive(Debug)]
pub(super) struct KeyIndex {
    shards: Box<[HashTable<KeyEntry>]>,
    len: usize,
    boxed_bytes: usize,
    /// The shard that is swept next, and the number of shards to sweep until all have been since the last purge.
    next: usize,
    unswept: usize,
    /// The number of entries that a sweep may read.
    sweep_budget: usize,
}

impl KeyIndex {
    pub(super) fn new() -> Self {
        let shards = (0..SHARDS).map(|_| HashTable::new()).collect();
        Self { shards, len: 0, boxed_bytes: 0, next: 0, unswept: 0, sweep_budget: 0 }
    }

    /// Returns what a second use of the key depends on. Adds an entry if the key is new.
    pub(super) fn look_up(&mut self, key: Key, mode: Mode, own: SourceIndex) -> (Dependencies, EntryPosition) {
        let hash = key.resource_hash();
        match self.shards[shard(hash)].entry(hash[0], |entry| entry.hash == hash, |entry| entry.hash[0]) {
            Entry::Occupied(entry) => (
                entry.get().uses.dependencies(mode, own),
                EntryPosition { hash, bucket: entry.bucket_index(), is_new: false },
            ),
            Entry::Vacant(entry) => {
                let bucket = entry.insert(KeyEntry { hash, uses: Uses::NONE }).bucket_index();
                self.len += 1;
                (Dependencies::default(), EntryPosition { hash, bucket, is_new: true })
            }
        }
    }

    /// Enters a use of a key that was looked up.
    pub(super) fn enter(&mut self, position: EntryPosition, new: Use, purged_upto: Seqno) {
        let EntryPosition { hash, bucket, .. } = position;
        let shard = &mut self.shards[shard(hash)];
        // An entry moves when a later lookup made its shard grow.
        let unmoved = shard.get_bucket(bucket).is_some_and(|entry| entry.hash == hash);
        let entry =
            if unmoved { shard.get_bucket_mut(bucket) } else { shard.find_mut(hash[0], |entry| entry.hash == hash) };
        let uses = &mut entry.expect("an entry stays from its lookup until its use is entered").uses;
        self.boxed_bytes -= uses.boxed_bytes();
        uses.enter(new, purged_upto);
        self.boxed_bytes += uses.boxed_bytes();
    }

    /// Drops the entry if its lookup added it and no use was entered.
    pub(super) fn drop_if_new(&mut self, position: EntryPosition) {
        if !position.is_new {
            return;
        }
        let shard = &mut self.shards[shard(position.hash)];
        if let Ok(entry) = shard.find_entry(position.hash[0], |entry| entry.hash == position.hash) {
            entry.remove();
            self.len -= 1;
        }
    }

    /// Starts a sweep, after a purge: the following calls drop the entries at or below the purged seqno.
    pub(super) fn start_sweep(&mut self) {
        self.unswept = SHARDS;
    }

    /// Sweeps in proportion to the number of entered uses.
    pub(super) fn sweep_for(&mut self, entered: usize, purged_upto: Seqno) {
        self.sweep(entered * SWEPT_PER_ENTERED, purged_upto);
    }

    /// Reads about that many entries and drops the expired ones. Returns whether there are more to read.
    pub(super) fn sweep(&mut self, entries: usize, purged_upto: Seqno) -> bool {
        self.sweep_budget = self.sweep_budget.saturating_add(entries);
        while self.unswept > 0 {
            let cost = self.shards[self.next].len() + SHARD_COST;
            if cost > self.sweep_budget {
                return true;
            }
            self.sweep_budget -= cost;
            self.sweep_next(purged_upto);
        }
        self.sweep_budget = 0;
        false
    }

    fn sweep_next(&mut self, purged_upto: Seqno) {
        let shard = &mut self.shards[self.next];
        let before = shard.len();
        shard.retain(|entry| {
            let stays = entry.uses.latest() > purged_upto;
            self.boxed_bytes -= if stays { 0 } else { entry.uses.boxed_bytes() };
            stays
        });
        self.len -= before - shard.len();
        if shard.capacity() > SHARD_CAPACITY_LIMIT.max(4 * shard.len()) {
            shard.shrink_to(2 * shard.len(), |entry| entry.hash[0]);
        }
        self.next = (self.next + 1) % SHARDS;
        self.unswept -= 1;
    }

    /// The number of entries, including expired ones that are not swept yet.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn bytes(&self) -> usize {
        let tables: usize = self.shards.iter().map(|shard| size_of_val(shard) + shard.allocation_size()).sum();
        tables + self.boxed_bytes
    }
}

/// From bits that the hash tables look at last.
fn shard(hash: [u64; 2]) -> usize {
    (hash[0] >> 40) as usize % SHARDS
}
