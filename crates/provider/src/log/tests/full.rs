//! No room, and failing writes: by the file size limit, which fails like a full disk.
#![allow(unsafe_code)]

use std::process::Command;

use super::super::segment::RECORDS_START;
use super::super::{DiskLog, Error, Index, Settings};
use super::{HISTORY, append, expect_entries};

const FOLDER: &str = "HORTATOR_TEST_LOG_FOLDER";

fn limit_file_bytes(bytes: u64) {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the struct is ours; the signal is ignored, so no handler is needed.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit), 0);
    }
}

/// The limit applies to the whole process, so each of these tests runs in its own.
fn alone(test: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("log::tests::full::{test}"), "--ignored", "--nocapture"]);
    let output = command.env(FOLDER, folder.path()).output().unwrap();
    let output_text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && output_text.contains("1 passed"),
        "{output_text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn folder() -> std::path::PathBuf {
    std::env::var_os(FOLDER).unwrap().into()
}

fn settings(segment_bytes: u64) -> Settings {
    Settings { segment_bytes, retain_bytes: 0, sync: true }
}

#[test]
fn a_full_disk_is_reported_before_any_change_and_ends_with_room() {
    alone("full_disk");
}

#[test]
#[ignore = "run by a_full_disk_is_reported_before_any_change_and_ends_with_room"]
fn full_disk() {
    drop(DiskLog::open(&folder(), settings(64 << 10), HISTORY).unwrap());
    limit_file_bytes(128 << 10);
    let (log, _) = DiskLog::open(&folder(), settings(256 << 10), HISTORY).unwrap();
    let full = loop {
        let index = log.last().next();
        match log.append(&[&super::payload(index.0)]) {
            Ok(appended) => assert_eq!(appended, index),
            Err(error) => break error,
        }
    };
    assert!(matches!(full, Error::Full { bytes: 262_144, .. }), "{full}");
    let last = log.last();
    assert!(last > Index(100));
    log.flush(last).unwrap();
    assert!(matches!(log.append(&[&[0; 5000]]), Err(Error::Full { .. })));
    assert!(matches!(log.append(&[&[0; 500_000]]), Err(Error::Full { .. })));
    expect_entries(&log, 1, last.0);
    limit_file_bytes(libc::RLIM_INFINITY);
    append(&log, 500);
    log.flush(log.last()).unwrap();
    drop(log);
    let (log, opened) = DiskLog::open(&folder(), settings(256 << 10), HISTORY).unwrap();
    assert_eq!((opened.last, opened.torn_tail), (Index(last.0 + 500), None));
    expect_entries(&log, 1, last.0 + 500);
}

#[test]
fn a_failed_write_ends_the_log_until_it_is_opened_again() {
    alone("failed_write");
}

#[test]
#[ignore = "run by a_failed_write_ends_the_log_until_it_is_opened_again"]
fn failed_write() {
    let (log, _) = DiskLog::open(&folder(), settings(64 << 10), HISTORY).unwrap();
    append(&log, 20);
    log.flush(Index(20)).unwrap();
    limit_file_bytes(RECORDS_START + 50);
    append(&log, 5);
    let first = log.flush(Index(22)).unwrap_err();
    assert!(matches!(first, Error::Broken { .. }) && first.to_string().contains("cannot write"), "{first}");
    limit_file_bytes(libc::RLIM_INFINITY);
    assert!(matches!(log.flush(Index(25)), Err(Error::Broken { .. })));
    assert!(matches!(log.append(&[b"more"]), Err(Error::Broken { .. })));
    log.flush(Index(20)).unwrap();
    expect_entries(&log, 1, 20);
    drop(log);
    let (log, opened) = DiskLog::open(&folder(), settings(64 << 10), HISTORY).unwrap();
    assert_eq!(opened.last, Index(20));
    append(&log, 5);
    log.flush(Index(25)).unwrap();
    expect_entries(&log, 1, 25);
}
