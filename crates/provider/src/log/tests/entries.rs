//! Entries for followers: from memory, from the files, and from both.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::super::{DiskLog, Error, Index, Settings};
use super::{HISTORY, append, folder, open, payload, small};

fn expect(log: &DiskLog, first: u64, limit_bytes: usize) -> u64 {
    let entries = log.entries(Index(first), limit_bytes).unwrap();
    for (at, (index, bytes)) in entries.iter().enumerate() {
        assert_eq!((*index, &bytes[..]), (Index(first + at as u64), &payload(first + at as u64)[..]));
    }
    entries.len() as u64
}

#[test]
fn appended_entries_are_readable_before_they_are_written() {
    for keeps in [true, false] {
        let folder = folder();
        let (log, _) = open(folder.path());
        log.set_keeps_recent(keeps);
        assert!(log.entries(Index(1), 1000).unwrap().is_empty());
        append(&log, 30);
        assert_eq!(expect(&log, 1, usize::MAX), 30);
        assert_eq!(log.written(), Index(if keeps { 0 } else { 30 }));
        assert_eq!(expect(&log, 30, 0), 1);
        assert_eq!(expect(&log, 31, 1000), 0);
        assert!(matches!(log.entries(Index(32), 1000), Err(Error::Absent { .. })));
        assert!(matches!(log.entries(Index(0), 1000), Err(Error::Absent { .. })));
    }
}

#[test]
fn entries_beyond_the_memory_limit_come_from_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { sync: false, segment_bytes: 32 << 20, ..small() };
    let (log, _) = DiskLog::open(folder.path(), settings, HISTORY).unwrap();
    log.set_keeps_recent(true);
    for at in 0..40_u8 {
        log.append(&[&[at], &vec![at; 1 << 20]]).unwrap();
    }
    let large = vec![0x77; 17 << 20];
    log.append(&[&large]).unwrap();
    log.append(&[b"behind"]).unwrap();
    for (first, expected) in [(1, 3), (35, 3), (41, 1), (42, 1)] {
        let entries = log.entries(Index(first), 4 << 20).unwrap();
        assert_eq!(entries.len(), expected);
        assert_eq!(
            entries[0].1[0],
            if first <= 40 {
                first as u8 - 1
            } else if first == 41 {
                0x77
            } else {
                b'b'
            }
        );
    }
}

#[test]
fn followers_read_everything_while_threads_flush() {
    let folder = folder();
    let (log, _) = open(folder.path());
    append(&log, 1000);
    log.set_keeps_recent(true);
    let (log, left) = (&log, &AtomicU64::new(3));
    thread::scope(|scope| {
        for first in [1, 500, 990] {
            scope.spawn(move || {
                let _leaving = Leaving(left);
                let mut next = first;
                while next <= 3000 {
                    match expect(log, next, 700) {
                        0 => thread::yield_now(),
                        count => next += count,
                    }
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(move || {
                while left.load(Ordering::Relaxed) > 0 {
                    log.flush(log.last()).unwrap();
                }
            });
        }
        append(log, 2000);
    });
}

/// Counts a thread that ends, also by a panic.
struct Leaving<'a>(&'a AtomicU64);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The new entries have other lengths, also before that index.
#[test]
fn a_reader_after_a_truncation_finds_the_new_entries() {
    let folder = folder();
    let (log, _) = open(folder.path());
    append(&log, 40);
    assert_eq!(log.entries(Index(1), 300).unwrap().len() as u64, expect(&log, 1, 300));
    let next = 1 + expect(&log, 1, 300);
    log.truncate(Index(next - 3)).unwrap();
    for _ in 0..30 {
        log.append(&[b"of another length"]).unwrap();
    }
    let entries = log.entries(Index(next), usize::MAX).unwrap();
    assert_eq!(entries.len(), 27);
    assert!(entries.iter().all(|(_, bytes)| bytes[..] == b"of another length"[..]));
}

#[test]
fn truncated_entries_do_not_come_from_memory() {
    let folder = folder();
    let (log, _) = open(folder.path());
    log.set_keeps_recent(true);
    append(&log, 30);
    log.truncate(Index(11)).unwrap();
    assert!(log.entries(Index(11), 1000).unwrap().is_empty());
    assert_eq!(log.append(&[b"new"]).unwrap(), Index(11));
    let entries = log.entries(Index(10), usize::MAX).unwrap();
    assert_eq!((entries.len(), &entries[0].1[..], &entries[1].1[..]), (2, &payload(10)[..], &b"new"[..]));
}
