//! Acknowledged entries that are gone are noticed; torn writes, which nobody was told of, are not blamed.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::super::{DiskLog, Index, LostTail, Settings};

const HISTORY: [u8; 16] = [7; 16];
const SYNCED: Settings = Settings { segment_bytes: 64 << 10, retain_bytes: 0, sync: true };
const UNSYNCED: Settings = Settings { sync: false, ..SYNCED };

fn open(folder: &Path, settings: Settings) -> DiskLog {
    DiskLog::open(folder, settings, HISTORY).unwrap().0
}

fn append(log: &DiskLog, count: usize) {
    for _ in 0..count {
        let index = log.append(&[&[5; 100]]).unwrap();
        log.flush(index).unwrap();
    }
}

/// Overwrites a part of the only segment, from the end of the last record on.
fn damage(folder: &Path, from_end: u64, bytes: &[u8]) {
    let file = OpenOptions::new().read(true).write(true).open(folder.join(format!("hortator-{:020}.log", 1))).unwrap();
    let mut content = vec![0; 64 << 10];
    file.read_exact_at(&mut content, 0).unwrap();
    let end = content.iter().rposition(|byte| *byte != 0).unwrap() as u64;
    file.write_all_at(bytes, end - from_end).unwrap();
}

/// The machine starts again: another boot id.
fn reboot(folder: &Path) {
    let file = OpenOptions::new().read(true).write(true).open(folder.join("hortator-acked.log")).unwrap();
    let mut bytes = [0; 52];
    file.read_exact_at(&mut bytes, 0).unwrap();
    if bytes[32..48] != [0; 16] {
        bytes[32..48].copy_from_slice(&[9; 16]);
        let checksum = crc32fast::hash(&bytes[..48]);
        bytes[48..].copy_from_slice(&checksum.to_le_bytes());
        file.write_all_at(&bytes, 0).unwrap();
    }
}

#[test]
fn an_acknowledged_entry_that_rots_is_missed_until_the_log_is_confirmed() {
    let folder = tempfile::tempdir().unwrap();
    append(&open(folder.path(), SYNCED), 3);
    damage(folder.path(), 20, b"rot");
    for _ in 0..2 {
        let log = open(folder.path(), SYNCED);
        assert_eq!((log.last(), log.lost_tail()), (Index(2), Some(LostTail::Acknowledged(Index(3)))));
    }
    let log = open(folder.path(), SYNCED);
    log.confirm_tail().unwrap();
    assert_eq!(log.lost_tail(), None);
    drop(log);
    assert_eq!(open(folder.path(), SYNCED).lost_tail(), None);
}

#[test]
fn a_torn_write_of_unacknowledged_entries_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    append(&open(folder.path(), SYNCED), 3);
    damage(folder.path(), 0, &[5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 77]);
    let log = open(folder.path(), SYNCED);
    assert_eq!(log.lost_tail(), None);
    append(&log, 2);
    drop(log);
    assert_eq!(open(folder.path(), SYNCED).lost_tail(), None);
}

#[test]
fn truncated_entries_are_not_missed() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path(), SYNCED);
    append(&log, 5);
    log.truncate(Index(4)).unwrap();
    drop(log);
    let log = open(folder.path(), SYNCED);
    assert_eq!((log.last(), log.lost_tail()), (Index(3), None));
    append(&log, 2);
    drop(log);
    damage(folder.path(), 20, b"rot");
    assert_eq!(open(folder.path(), SYNCED).lost_tail(), Some(LostTail::Acknowledged(Index(5))));
}

#[test]
fn an_abandoned_tail_is_missed_until_the_log_is_confirmed() {
    for settings in [SYNCED, UNSYNCED] {
        let folder = tempfile::tempdir().unwrap();
        let log = open(folder.path(), settings);
        append(&log, 5);
        log.abandon_tail(Index(4)).unwrap();
        assert_eq!(log.last(), Index(3));
        // The process is killed.
        drop(log);
        let log = open(folder.path(), settings);
        assert_eq!((log.last(), log.lost_tail()), (Index(3), Some(LostTail::Acknowledged(Index(5)))));
        log.confirm_tail().unwrap();
        append(&log, 1);
        drop(log);
        let log = open(folder.path(), settings);
        assert_eq!((log.last(), log.lost_tail()), (Index(4), None));
    }
}

#[test]
fn an_unsynced_log_is_in_doubt_after_another_boot_only() {
    let folder = tempfile::tempdir().unwrap();
    append(&open(folder.path(), UNSYNCED), 3);
    let log = open(folder.path(), UNSYNCED);
    assert_eq!(log.lost_tail(), None, "the process ended, not the machine");
    drop(log);
    reboot(folder.path());
    for settings in [SYNCED, UNSYNCED] {
        let log = open(folder.path(), settings);
        append(&log, 1);
        assert_eq!(log.lost_tail(), Some(LostTail::Unsynced), "new entries do not bring back lost ones");
    }
    open(folder.path(), UNSYNCED).confirm_tail().unwrap();
    assert_eq!(open(folder.path(), UNSYNCED).lost_tail(), None);
}

#[test]
fn a_clean_end_and_sync_end_the_doubt() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path(), UNSYNCED);
    append(&log, 3);
    log.sync_all().unwrap();
    drop(log);
    reboot(folder.path());
    let log = open(folder.path(), UNSYNCED);
    assert_eq!(log.lost_tail(), None);
    append(&log, 1);
    log.set_sync(true).unwrap();
    append(&log, 1);
    drop(log);
    reboot(folder.path());
    let log = open(folder.path(), SYNCED);
    assert_eq!(log.lost_tail(), None);
    log.set_sync(false).unwrap();
    drop(log);
    reboot(folder.path());
    assert_eq!(open(folder.path(), SYNCED).lost_tail(), Some(LostTail::Unsynced));
}

#[test]
fn the_mark_of_another_log_says_nothing() {
    let folder = tempfile::tempdir().unwrap();
    append(&open(folder.path(), SYNCED), 3);
    DiskLog::install_snapshot(folder.path(), SYNCED, [8; 16], Index(1)).unwrap();
    assert_eq!(DiskLog::open(folder.path(), SYNCED, [8; 16]).unwrap().0.lost_tail(), None);
}
