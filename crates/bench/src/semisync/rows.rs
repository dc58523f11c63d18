//! Which row a thread inserts next: a key that no other row has, and a text that follows from the key.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Keys, SCHEMA};

/// The table of the report.
pub(super) const TABLE: &str =
    "CREATE TABLE tab1 (c1 INT NOT NULL, c2 CHAR(100), PRIMARY KEY (c1)) ENGINE=InnoDB DEFAULT CHARSET=latin1";
/// The distance between the first keys of two servers' counters.
const KEYS_PER_SERVER: u64 = 700_000_000;
/// The least and the number of different lengths of a text: 5 to 100 characters.
const TEXT_LENGTHS: (u64, u64) = (5, 96);
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyzABCDEF";

/// Rows that are still to be inserted, and the keys that are taken.
#[derive(Debug)]
pub(super) struct Supply {
    keys: Keys,
    /// Keys between the first ones of two threads' ranges.
    range: u64,
    rows: u64,
    /// Rows that a thread has begun with.
    begun: AtomicU64,
    /// The counter of each server.
    counters: Vec<AtomicU64>,
}

impl Supply {
    /// So many rows for these threads, on these servers.
    pub(super) fn new(keys: Keys, rows: u64, threads: usize, servers: usize) -> Self {
        let range = u64::from(i32::MAX.unsigned_abs()) / threads.max(1) as u64;
        let counters = (0..servers).map(|_| AtomicU64::new(0)).collect();
        Self { keys, range, rows, begun: AtomicU64::new(0), counters }
    }

    /// Takes one of the rows; false when there are none left.
    pub(super) fn take(&self) -> bool {
        // Each thread may count one too many at the end, once.
        self.begun.load(Ordering::Relaxed) < self.rows && self.begun.fetch_add(1, Ordering::Relaxed) < self.rows
    }

    /// The key of a thread's next row on a server; `own` counts the rows of the thread.
    pub(super) fn key(&self, thread: usize, server: usize, own: u64) -> u32 {
        let key = match self.keys {
            Keys::Counter => server as u64 * KEYS_PER_SERVER + self.counters[server].fetch_add(1, Ordering::Relaxed),
            Keys::Ranges => thread as u64 * self.range + own,
        };
        u32::try_from(key).unwrap_or(u32::MAX)
    }
}

/// The text of a row: the same for a key, different from key to key.
pub(super) fn text(key: u32, text: &mut String) {
    let mut random = splitmix(u64::from(key));
    let length = TEXT_LENGTHS.0 + random % TEXT_LENGTHS.1;
    for index in 0..length {
        // Twelve letters of five bits each.
        if index % 12 == 0 {
            random = splitmix(random);
        }
        text.push(char::from(LETTERS[(random >> (index % 12 * 5) & 31) as usize]));
    }
}

/// The statement that inserts a row.
pub(super) fn insert(key: u32, sql: &mut String) {
    let _ = write!(sql, "INSERT INTO {SCHEMA}.tab1 VALUES ({key},'");
    text(key, sql);
    sql.push_str("')");
}

/// What `CRC32(c2)` is of a row.
pub(super) fn checksum(key: u32) -> u64 {
    let mut c2 = String::new();
    text(key, &mut c2);
    u64::from(crc32fast::hash(c2.as_bytes()))
}

/// One step of the generator `SplitMix64` (Steele, Lea, Flood 2014).
fn splitmix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_rows_have_the_same_key() {
        for keys in Keys::ALL {
            let supply = Supply::new(keys, 9_000, 400, 3);
            let mut seen = HashSet::new();
            let mut number = 0;
            while supply.take() {
                let thread = number % 400;
                let key = supply.key(thread, thread % 3, number as u64 / 400);
                assert!(i32::try_from(key).is_ok() && seen.insert(key), "{keys}: {key}");
                number += 1;
            }
            assert_eq!(seen.len(), 9_000);
        }
    }

    #[test]
    fn texts_have_5_to_100_letters() {
        let lengths: HashSet<usize> = (0..20_000)
            .map(|key| {
                let mut c2 = String::new();
                text(key, &mut c2);
                assert!(c2.bytes().all(|letter| letter.is_ascii_alphabetic()), "{c2}");
                c2.len()
            })
            .collect();
        assert_eq!((lengths.len(), lengths.iter().min(), lengths.iter().max()), (96, Some(&5), Some(&100)));
    }

    /// The server's `CRC32('abc')` is 891568578.
    #[test]
    fn checksums_are_those_of_the_server() {
        assert_eq!(crc32fast::hash(b"abc"), 891_568_578);
        let mut c2 = String::new();
        text(7, &mut c2);
        assert_eq!(checksum(7), u64::from(crc32fast::hash(c2.as_bytes())));
    }
}
