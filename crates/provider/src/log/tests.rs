//! Tests of the log as a whole, on real files.

mod acked;
mod crash;
mod damage;
mod entries;
mod full;
mod group_commit;
pub(super) mod power;
mod sharing;
mod truncate;
mod usage;
mod wiped;

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::segment::first_of_name;
use super::{DiskLog, Error, Index, Opened, Settings};

const HISTORY: [u8; 16] = [7; 16];

/// Small segments, nothing retained by purges, no waits for a disk.
fn small() -> Settings {
    Settings { segment_bytes: 8 << 10, retain_bytes: 0, sync: true }
}

fn open(folder: &Path) -> (DiskLog, Opened) {
    DiskLog::open(folder, small(), HISTORY).unwrap()
}

/// In memory if possible: the tests open thousands of logs, and none cuts the power.
fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

/// The payload of entry `index`: all are different, and most are small.
fn payload(index: u64) -> Vec<u8> {
    let mut rng = Rng(index);
    let length = if index.is_multiple_of(5) { rng.below(700) } else { rng.below(60) };
    (0..length).map(|_| rng.next() as u8).collect()
}

fn append(log: &DiskLog, count: u64) {
    for _ in 0..count {
        let index = log.last().0 + 1;
        assert_eq!(log.append(&[&payload(index)]).unwrap(), Index(index));
    }
}

/// The log holds exactly the entries from `first` to `last`, unchanged.
fn expect_entries(log: &DiskLog, first: u64, last: u64) {
    let mut next = first;
    for entry in log.read(Index(first)).unwrap() {
        assert_eq!(entry.unwrap(), (Index(next), payload(next)));
        next += 1;
    }
    assert_eq!(next, last + 1);
}

/// The segments, oldest first.
fn segments(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| first_of_name(file).is_some());
    files.sort();
    files
}

fn damaged(result: Result<(DiskLog, Opened), Error>) -> (String, u64, Index) {
    match result {
        Err(Error::Damaged { file, byte, index, .. }) => {
            (file.file_name().unwrap().to_str().unwrap().to_owned(), byte, index)
        }
        other => panic!("not refused as damaged: {:?}", other.map(|(_, opened)| opened)),
    }
}

/// splitmix64.
struct Rng(u64);

impl Rng {
    /// From HORTATOR_SEED, or a new seed, which is printed if the test fails.
    fn seeded() -> Self {
        use std::hash::{BuildHasher, Hasher, RandomState};
        let given = std::env::var("HORTATOR_SEED").ok().map(|seed| seed.parse().unwrap());
        let seed = given.unwrap_or_else(|| RandomState::new().build_hasher().finish() % 1_000_000);
        println!("HORTATOR_SEED={seed}");
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}
