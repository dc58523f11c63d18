//! Normal use of the log.

use std::fs;

use super::super::{DiskLog, Error, Index, Settings};
use super::{HISTORY, append, expect_entries, folder, open, payload, segments, small};

#[test]
fn entries_are_there_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    for run in 0..3 {
        let (log, opened) = open(folder.path());
        assert_eq!((opened.first, opened.last, opened.torn_tail), (Index(1), Index(run * 100), None));
        append(&log, 40);
        log.flush(Index(run * 100 + 40)).unwrap();
        append(&log, 60);
        log.flush(log.last()).unwrap();
        assert_eq!(log.durable(), log.last());
        expect_entries(&log, 1, run * 100 + 100);
        expect_entries(&log, run * 100 + 33, run * 100 + 100);
    }
    assert!(segments(folder.path()).len() > 3);
}

#[test]
fn parts_are_read_as_one_payload() {
    let folder = folder();
    let (log, _) = open(folder.path());
    let index = log.append(&[b"one ", b"", b"two", b" three"]).unwrap();
    let empty = log.append(&[]).unwrap();
    log.flush(empty).unwrap();
    let entries: Vec<_> = log.read(Index(1)).unwrap().map(Result::unwrap).collect();
    assert_eq!(entries, [(index, b"one two three".to_vec()), (empty, Vec::new())]);
}

#[test]
fn unflushed_entries_are_not_read() {
    let folder = folder();
    let (log, _) = open(folder.path());
    append(&log, 10);
    log.flush(Index(10)).unwrap();
    append(&log, 3);
    expect_entries(&log, 1, 10);
    assert_eq!((log.written(), log.last()), (Index(10), Index(13)));
    drop(log);
    assert_eq!(open(folder.path()).1.last, Index(10));
}

#[test]
fn a_reader_at_the_end_continues_with_new_entries() {
    let folder = folder();
    let (log, _) = open(folder.path());
    let mut reader = log.read(Index(1)).unwrap();
    for round in 0..40 {
        assert!(reader.next().is_none());
        append(&log, 5);
        log.flush(log.last()).unwrap();
        for index in round * 5 + 1..=round * 5 + 5 {
            assert_eq!(reader.next().unwrap().unwrap(), (Index(index), payload(index)));
        }
    }
}

#[test]
fn a_payload_larger_than_a_segment_gets_its_own_segment() {
    let folder = folder();
    let (log, _) = open(folder.path());
    let large: Vec<u8> = (0..100_000_u32).map(|at| at as u8).collect();
    append(&log, 3);
    let index = log.append(&[&large[..5], &large[5..]]).unwrap();
    log.flush(index).unwrap();
    log.append(&[b"behind"]).unwrap();
    log.flush(log.last()).unwrap();
    drop(log);
    let (log, _) = open(folder.path());
    let entries: Vec<_> = log.read(index).unwrap().map(Result::unwrap).collect();
    assert_eq!(entries, [(index, large), (Index(5), b"behind".to_vec())]);
}

#[test]
fn a_payload_over_the_limit_is_refused_and_changes_nothing() {
    let folder = folder();
    let (log, _) = open(folder.path());
    let mebibyte = vec![0; 1 << 20];
    let parts = vec![mebibyte.as_slice(); 2049];
    assert!(
        matches!(log.append(&parts), Err(Error::TooLarge { bytes, limit }) if bytes == 2049 << 20 && limit == 1 << 31)
    );
    assert_eq!(log.append(&[b"small"]).unwrap(), Index(1));
}

#[test]
fn throttle_writes_entries_over_the_memory_limit() {
    let folder = tempfile::tempdir().unwrap();
    let (log, _) = DiskLog::open(folder.path(), Settings { sync: false, ..Settings::default() }, HISTORY).unwrap();
    let mebibyte = vec![0x11; 1 << 20];
    for _ in 0..64 {
        log.throttle().unwrap();
        log.append(&[&mebibyte]).unwrap();
    }
    assert_eq!(log.written(), Index(0), "an append writes nothing");
    log.throttle().unwrap();
    assert_eq!(log.written(), log.last());
}

#[test]
fn purging_keeps_the_retained_bytes_and_reuses_files() {
    let folder = folder();
    let settings = Settings { retain_bytes: 24 << 10, ..small() };
    let (log, _) = DiskLog::open(folder.path(), settings, HISTORY).unwrap();
    for _ in 0..100 {
        append(&log, 20);
        log.flush(log.last()).unwrap();
        let below = Index(log.last().0 / 2);
        log.purge(below);
        assert!(log.first() <= below && log.bytes() >= (24 << 10).min(log.last().0 * 24));
    }
    log.purge(log.last());
    assert_eq!(log.bytes(), 24 << 10);
    let (first, last) = (log.first(), log.last());
    expect_entries(&log, first.0, last.0);
    let absent = log.read(Index(first.0 - 1)).unwrap_err();
    assert!(
        matches!(absent, Error::Absent { index, first: f, last: l } if index.0 == first.0 - 1 && (f, l) == (first, last))
    );
    drop(log);
    assert_eq!(segments(folder.path()).len(), 3);
    // Three segments, at most two spares, the lock, the acknowledged mark.
    assert!(fs::read_dir(folder.path()).unwrap().count() <= 7);
    let (log, opened) = open(folder.path());
    assert_eq!((opened.first, opened.last, opened.torn_tail), (first, last, None));
    expect_entries(&log, first.0, last.0);
}

#[test]
fn sync_can_change_while_the_log_is_open() {
    let folder = folder();
    let (log, _) = open(folder.path());
    log.set_sync(false).unwrap();
    append(&log, 30);
    log.flush(Index(30)).unwrap();
    assert_eq!((log.written(), log.durable()), (Index(30), Index(0)));
    log.set_sync(true).unwrap();
    log.flush(Index(30)).unwrap();
    assert_eq!(log.durable(), Index(30));
}

#[test]
fn other_histories_and_second_users_are_refused() {
    let folder = folder();
    assert_eq!(DiskLog::read_history_uuid(&folder.path().join("none")).unwrap(), None);
    assert_eq!(DiskLog::read_history_uuid(folder.path()).unwrap(), None);
    let (log, _) = open(folder.path());
    assert!(matches!(DiskLog::open(folder.path(), small(), HISTORY), Err(Error::Locked { .. })));
    assert_eq!(DiskLog::read_history_uuid(folder.path()).unwrap(), Some(HISTORY));
    drop(log);
    let other = DiskLog::open(folder.path(), small(), [8; 16]).unwrap_err();
    assert!(matches!(&other, Error::OtherHistory { found: HISTORY, expected, .. } if *expected == [8; 16]));
    assert!(other.to_string().contains("07070707-0707-0707-0707-070707070707"));
    open(folder.path());
}
