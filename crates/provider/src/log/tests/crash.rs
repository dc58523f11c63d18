//! Killed processes and power failures.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use super::super::segment::RECORDS_START;
use super::super::{DiskLog, Index, Settings};
use super::{HISTORY, Rng, append, expect_entries, folder, open, payload, segments, small};

const FOLDER: &str = "HORTATOR_TEST_LOG_FOLDER";
const SYNC: &str = "HORTATOR_TEST_LOG_SYNC";

fn settings(sync: bool) -> Settings {
    Settings { segment_bytes: 64 << 10, retain_bytes: 128 << 10, sync }
}

/// Not a test: the process to kill. It appends for ever and reports each flushed entry.
#[test]
#[ignore = "run by flushed_entries_survive_a_kill"]
fn appending_process() {
    let folder = std::env::var_os(FOLDER).unwrap();
    let sync = std::env::var_os(SYNC).is_some();
    let (log, _) = DiskLog::open(folder.as_ref(), settings(sync), HISTORY).unwrap();
    let order = Mutex::new(());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let index = {
                        let _turn = order.lock().unwrap();
                        let next = log.last().next();
                        log.append(&[&payload(next.0)]).unwrap()
                    };
                    log.flush(index).unwrap();
                    std::io::stdout().write_all(format!("committed {index}\n").as_bytes()).unwrap();
                    if index.0.is_multiple_of(500) {
                        log.purge(index);
                    }
                }
            });
        }
    });
}

#[test]
fn flushed_entries_survive_a_kill() {
    let mut rng = Rng::seeded();
    let folder = tempfile::tempdir().unwrap();
    let mut last = 0;
    for round in 0..50 {
        let sync = round % 2 == 0;
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "log::tests::crash::appending_process", "--ignored", "--nocapture"]);
        command.env(FOLDER, folder.path()).stdout(Stdio::piped());
        if sync {
            command.env(SYNC, "1");
        }
        let mut process = command.spawn().unwrap();
        let output_text = BufReader::new(process.stdout.take().unwrap());
        let until = 1 + rng.below(if sync { 60 } else { 2500 });
        let mut count = 0;
        let mut committed = last;
        // To the end: reports between the decision and the kill count too. A line cut by the kill does not.
        for line in output_text.split(b'\n') {
            let line = String::from_utf8(line.unwrap()).unwrap();
            let Some(index) = line.rsplit_once("committed ").and_then(|(_, index)| index.parse().ok()) else {
                continue;
            };
            committed = committed.max(index);
            count += 1;
            if count == until {
                process.kill().unwrap();
            }
        }
        process.wait().unwrap();
        assert!(count >= until, "the process ended by itself in round {round}");
        let (log, opened) = DiskLog::open(folder.path(), settings(sync), HISTORY).unwrap();
        assert!(
            opened.last.0 >= committed,
            "round {round}: {committed} was committed, the log ends at {}",
            opened.last
        );
        expect_entries(&log, opened.first.0, opened.last.0);
        last = opened.last.0;
    }
}

/// A power failure keeps any part of the unsynced data: of each sector either the old or the new bytes.
#[test]
fn synced_entries_survive_any_mix_of_old_and_new_sectors() {
    let mut rng = Rng::seeded();
    for _ in 0..200 {
        let dir = folder();
        let (log, _) = open(dir.path());
        append(&log, rng.below(200));
        log.flush(log.last()).unwrap();
        log.purge(Index(rng.below(200)));
        // Purged files are removed when the log is closed.
        drop(log);
        let (log, _) = open(dir.path());
        let durable = log.durable();
        let before: Vec<_> = segments(dir.path()).into_iter().map(|file| (fs::read(&file).unwrap(), file)).collect();
        log.set_sync(false).unwrap();
        for _ in 0..rng.below(4) {
            append(&log, rng.below(40));
            log.flush(log.last()).unwrap();
        }
        assert_eq!(log.durable(), durable);
        let (first, written) = (log.first(), log.written());
        drop(log);
        for file in segments(dir.path()) {
            let mut bytes = fs::read(&file).unwrap();
            let stale: Vec<u8> = bytes.iter().map(|_| rng.next() as u8).collect();
            // The old content of a new file may be anything, but its header is synced before it gets its name.
            let known = before.iter().find(|(_, name)| *name == file);
            let old = known.map_or(if rng.below(2) == 0 { &stale } else { &before[0].0 }, |(bytes, _)| bytes);
            let odds = 1 + rng.below(8);
            for sector in (RECORDS_START as usize..bytes.len()).step_by(512) {
                if rng.below(odds) == 0 {
                    bytes[sector..sector + 512].copy_from_slice(&old[sector..sector + 512]);
                }
            }
            fs::write(&file, &bytes).unwrap();
        }
        let (log, opened) = open(dir.path());
        assert!(opened.last >= durable && opened.last <= written, "{durable} was synced: {opened:?}");
        assert_eq!(opened.first, first);
        append(&log, 50);
        log.flush(log.last()).unwrap();
        drop(log);
        let (log, again) = DiskLog::open(dir.path(), small(), HISTORY).unwrap();
        assert_eq!((again.last, again.torn_tail), (Index(opened.last.0 + 50), None));
        expect_entries(&log, first.0, again.last.0);
    }
}
