//! All places that somebody used above the cut, and how those that nobody did are found again and dropped.
//!
//! The table is cut into shards, each a hash table of its own, so that no call pays for all of it: one that has to
//! grow moves only its own places. What expired is not looked up place by place, for each would be a cache miss. A
//! sweep goes around over the shards, reading memory in order, and every place that is entered pays for a few that are
//! looked at. So it is around before the table has grown by more than a quarter of what it holds.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::sources::Origin;
use super::uses::{Owed, Use, Uses};
use crate::{Key, Mode, Seqno};

/// Enough that a shard of a table with ten million places is moved in less than a millisecond.
const SHARDS: usize = 1024;

/// How many places a sweep looks at for one that is entered.
const SWEPT_PER_ENTERED: usize = 4;

/// What a shard costs a sweep besides its places, counted in places.
const SHARD_COST: usize = 4;

/// A shard with no more room than this is never made smaller.
const SHARD_ROOM_LIMIT: usize = 7;

/// One place. Half a cache line, and never in two: fetching these is most of what certification costs.
#[derive(Debug)]
#[repr(align(32))]
struct Place {
    hash: [u64; 2],
    uses: Uses,
}

const _: () = assert!(size_of::<Place>() == 32);

/// Where a place was found, to enter its use without looking for it again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    hash: [u64; 2],
    bucket: usize,
    is_new: bool,
}

#[derive(Debug)]
pub(super) struct Places {
    shards: Box<[HashTable<Place>]>,
    len: usize,
    boxed_bytes: usize,
    /// The shard that is swept next, and how many are to be swept until all have been since the last cut.
    next: usize,
    unswept: usize,
    /// How many places a sweep may look at.
    credit: usize,
}

impl Places {
    pub(super) fn new() -> Self {
        let shards = (0..SHARDS).map(|_| HashTable::new()).collect();
        Self { shards, len: 0, boxed_bytes: 0, next: 0, unswept: 0, credit: 0 }
    }

    /// What a second use of that place owes to those before. Makes room for the place when it is new.
    pub(super) fn ask(&mut self, key: Key, mode: Mode, own: Origin) -> (Owed, Spot) {
        let hash = key.place_hash();
        match self.shards[shard(hash)].entry(hash[0], |place| place.hash == hash, |place| place.hash[0]) {
            Entry::Occupied(entry) => {
                (entry.get().uses.owed(mode, own), Spot { hash, bucket: entry.bucket_index(), is_new: false })
            }
            Entry::Vacant(entry) => {
                let bucket = entry.insert(Place { hash, uses: Uses::NONE }).bucket_index();
                self.len += 1;
                (Owed::default(), Spot { hash, bucket, is_new: true })
            }
        }
    }

    /// Enters a use of a place that was asked for.
    pub(super) fn enter(&mut self, spot: Spot, new: Use, cut: Seqno) {
        let Spot { hash, bucket, .. } = spot;
        let shard = &mut self.shards[shard(hash)];
        // A place moves when one that was asked for later made its shard grow.
        let unmoved = shard.get_bucket(bucket).is_some_and(|place| place.hash == hash);
        let place =
            if unmoved { shard.get_bucket_mut(bucket) } else { shard.find_mut(hash[0], |place| place.hash == hash) };
        let uses = &mut place.expect("a place stays from when it is asked for until it is entered").uses;
        self.boxed_bytes -= uses.boxed_bytes();
        uses.enter(new, cut);
        self.boxed_bytes += uses.boxed_bytes();
    }

    /// Drops the place when asking for it made it, and nothing was entered.
    pub(super) fn leave_out(&mut self, spot: Spot) {
        if !spot.is_new {
            return;
        }
        let shard = &mut self.shards[shard(spot.hash)];
        if let Ok(entry) = shard.find_entry(spot.hash[0], |place| place.hash == spot.hash) {
            entry.remove();
            self.len -= 1;
        }
    }

    /// Says that the cut has moved: what lies at or below it is to be dropped in the calls that follow.
    pub(super) fn expire(&mut self) {
        self.unswept = SHARDS;
    }

    /// Pays for places that were entered.
    pub(super) fn pay(&mut self, entered: usize, cut: Seqno) {
        self.sweep(entered * SWEPT_PER_ENTERED, cut);
    }

    /// Looks at about so many places and drops those that expired. Says whether there are others to look at.
    pub(super) fn sweep(&mut self, places: usize, cut: Seqno) -> bool {
        self.credit = self.credit.saturating_add(places);
        while self.unswept > 0 {
            let cost = self.shards[self.next].len() + SHARD_COST;
            if cost > self.credit {
                return true;
            }
            self.credit -= cost;
            self.sweep_next(cut);
        }
        self.credit = 0;
        false
    }

    fn sweep_next(&mut self, cut: Seqno) {
        let shard = &mut self.shards[self.next];
        let before = shard.len();
        shard.retain(|place| {
            let stays = place.uses.latest() > cut;
            self.boxed_bytes -= if stays { 0 } else { place.uses.boxed_bytes() };
            stays
        });
        self.len -= before - shard.len();
        if shard.capacity() > SHARD_ROOM_LIMIT.max(4 * shard.len()) {
            shard.shrink_to(2 * shard.len(), |place| place.hash[0]);
        }
        self.next = (self.next + 1) % SHARDS;
        self.unswept -= 1;
    }

    /// How many places are held, with those that expired and were not swept yet.
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
