//! Truncation and reset: single-threaded, in any order with other calls, with threads, and with power failures.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use super::super::{DiskLog, Error, Index, Settings};
use super::power::{at_each_sync, between, read, states, write};
use super::{HISTORY, Rng, append, expect_entries, folder, open, payload, segments, small};

#[test]
fn truncated_entries_are_gone_and_their_indexes_are_reused() {
    let folder = folder();
    let (log, _) = open(folder.path());
    append(&log, 200);
    log.flush(Index(150)).unwrap();
    // In memory only, in the last segment, in an earlier one, at the start of one, and all.
    assert!(segments(folder.path()).len() > 2);
    let second = super::super::segment::first_of_name(&segments(folder.path())[1]).unwrap();
    for from in [180, 149, second + 1, second, second - 1, 1] {
        log.truncate(Index(from)).unwrap();
        assert_eq!((log.first(), log.last()), (Index(1), Index(from - 1)));
        assert_eq!((log.written(), log.durable()), (Index(from - 1), Index(from - 1)));
        assert!(matches!(log.flush(Index(from)), Err(Error::Dropped { index: Index(i) }) if i == from));
        expect_entries(&log, 1, from - 1);
        assert_eq!(log.append(&[b"other"]).unwrap(), Index(from));
        log.flush(Index(from)).unwrap();
        let other = log.read(Index(from)).unwrap().next().unwrap().unwrap();
        assert_eq!(other, (Index(from), b"other".to_vec()));
        log.truncate(Index(from)).unwrap();
        log.truncate(Index(from)).unwrap();
    }
    append(&log, 100);
    log.flush(Index(100)).unwrap();
    drop(log);
    let (log, opened) = open(folder.path());
    assert_eq!((opened.last, opened.torn_tail), (Index(100), None));
    expect_entries(&log, 1, 100);
}

#[test]
fn an_index_outside_the_log_is_refused_and_changes_nothing() {
    let folder = folder();
    let log = DiskLog::install_snapshot(folder.path(), small(), HISTORY, Index(10)).unwrap();
    append(&log, 10);
    log.flush(Index(20)).unwrap();
    for from in [0, 1, 10, 22, u64::MAX] {
        assert!(matches!(log.truncate(Index(from)), Err(Error::Absent { index: Index(i), .. }) if i == from));
    }
    expect_entries(&log, 11, 20);
    log.truncate(Index(11)).unwrap();
    assert_eq!((log.first(), log.last()), (Index(11), Index(10)));
}

/// Removed unsynced segments say nothing about older ones.
#[test]
fn removed_segments_do_not_count_as_synced() {
    let folder = folder();
    let (log, _) = DiskLog::open(folder.path(), Settings { sync: false, ..small() }, HISTORY).unwrap();
    append(&log, 300);
    log.flush(Index(300)).unwrap();
    assert!(log.durable() < Index(200));
    log.truncate(Index(log.durable().0 + 2)).unwrap();
    while log.last() < Index(290) {
        append(&log, 1);
        log.flush(log.last()).unwrap();
        assert!(log.durable() <= log.written());
    }
}

#[test]
fn a_reader_after_the_truncation_fails_and_one_before_it_continues() {
    let folder = folder();
    let (log, _) = open(folder.path());
    append(&log, 50);
    log.flush(Index(50)).unwrap();
    let (mut past, mut before) = (log.read(Index(1)).unwrap(), log.read(Index(1)).unwrap());
    assert_eq!((past.by_ref().take(31).count(), before.by_ref().take(30).count()), (31, 30));
    log.truncate(Index(31)).unwrap();
    assert!(before.next().is_none());
    for name in [b"a".as_slice(), b"b", b"c"] {
        log.append(&[name]).unwrap();
    }
    log.flush(log.last()).unwrap();
    assert!(matches!(past.next(), Some(Err(Error::Dropped { index: Index(32) }))));
    assert!(past.next().is_none());
    assert_eq!(before.next().unwrap().unwrap(), (Index(31), b"a".to_vec()));
    assert_eq!(before.map(|entry| entry.unwrap().1).collect::<Vec<_>>(), [b"b", b"c"]);
}

/// The rest is the old log or the truncated one, and removed entries never come back.
#[test]
fn a_power_failure_in_a_truncation_leaves_the_old_or_the_new_log() {
    let mut rng = Rng::seeded();
    for _ in 0..60 {
        let dir = folder();
        let (log, _) = open(dir.path());
        let count = 1 + rng.below(250);
        for _ in 0..count {
            append(&log, 1);
            if rng.below(3) == 0 {
                log.flush(log.last()).unwrap();
            }
        }
        let durable = log.durable();
        let from = 1 + rng.below(count);
        let seen = states(dir.path(), || log.truncate(Index(from)).unwrap());
        assert!(seen.len() > 3, "a mark, zeros, no mark: three syncs at least");
        drop(log);
        let cut_decided =
            seen.iter().position(|files| files.keys().any(|name| name.ends_with(".truncate.log"))).unwrap();
        for (at, pair) in seen.windows(2).enumerate() {
            for _ in 0..4 {
                let files = between(&pair[0], &pair[1], &mut rng);
                let dir = folder();
                write(&files, dir.path());
                let (log, opened) = open(dir.path());
                let is_old = opened.last >= durable && at < cut_decided;
                assert!(is_old || opened.last == Index(from - 1), "step {at}, from {from}: {opened:?}");
                expect_entries(&log, 1, opened.last.0);
                for _ in 0..5 {
                    log.append(&[b"behind it"]).unwrap();
                }
                log.flush(log.last()).unwrap();
                drop(log);
                assert!(read(dir.path()).keys().all(|name| !name.ends_with(".truncate.log")));
                let (log, again) = open(dir.path());
                assert_eq!((again.last, again.torn_tail), (Index(opened.last.0 + 5), None));
                assert!(log.read(opened.last.next()).unwrap().all(|entry| entry.unwrap().1 == b"behind it"));
            }
        }
    }
}

#[test]
fn a_power_failure_in_a_reset_leaves_the_old_or_the_new_log() {
    let mut rng = Rng::seeded();
    for _ in 0..30 {
        let dir = folder();
        let (log, _) = open(dir.path());
        append(&log, 200);
        log.flush(Index(200)).unwrap();
        drop(log);
        // Also indexes that names of the old log have.
        let snapshot_index = if rng.below(2) == 0 { Index(rng.below(400)) } else { Index(0) };
        let mut log = None;
        let begin = || log = Some(DiskLog::install_snapshot(dir.path(), small(), [8; 16], snapshot_index).unwrap());
        let seen = states(dir.path(), begin);
        let log = log.unwrap();
        assert_eq!((log.first(), log.last(), log.durable()), (snapshot_index.next(), snapshot_index, snapshot_index));
        append(&log, 20);
        log.flush(log.last()).unwrap();
        drop(log);
        for pair in seen.windows(2) {
            for _ in 0..4 {
                let files = between(&pair[0], &pair[1], &mut rng);
                let dir = folder();
                write(&files, dir.path());
                let history_uuid = DiskLog::read_history_uuid(dir.path()).unwrap().unwrap();
                let (log, opened) = DiskLog::open(dir.path(), small(), history_uuid).unwrap();
                let expected = if history_uuid == HISTORY {
                    (Index(1), Index(200))
                } else {
                    (snapshot_index.next(), snapshot_index)
                };
                assert_eq!((opened.first, opened.last), expected);
                append(&log, 20);
                log.flush(log.last()).unwrap();
                expect_entries(&log, opened.first.0, opened.last.0 + 20);
            }
        }
        assert_eq!(DiskLog::read_history_uuid(dir.path()).unwrap(), Some([8; 16]));
        let (log, opened) = DiskLog::open(dir.path(), small(), [8; 16]).unwrap();
        assert_eq!(
            (opened.first, opened.last, opened.torn_tail),
            (snapshot_index.next(), Index(snapshot_index.0 + 20), None)
        );
        expect_entries(&log, snapshot_index.0 + 1, snapshot_index.0 + 20);
    }
}

#[test]
fn a_damaged_log_can_be_reset_and_an_open_one_cannot() {
    let folder = folder();
    let (log, _) = open(folder.path());
    append(&log, 100);
    log.flush(Index(100)).unwrap();
    assert!(matches!(DiskLog::install_snapshot(folder.path(), small(), HISTORY, Index(7)), Err(Error::Locked { .. })));
    expect_entries(&log, 1, 100);
    drop(log);
    std::fs::write(&segments(folder.path())[0], b"nothing like it").unwrap();
    let log = DiskLog::install_snapshot(folder.path(), small(), HISTORY, Index(7)).unwrap();
    append(&log, 1);
    log.flush(Index(8)).unwrap();
    expect_entries(&log, 8, 8);
}

/// Any calls in any order, compared with a plain list.
#[test]
fn any_sequence_of_calls_matches_a_list() {
    let mut rng = Rng::seeded();
    for round in 0..30 {
        let dir = folder();
        let settings = Settings { sync: round % 2 == 0, ..small() };
        let (mut log, _) = DiskLog::open(dir.path(), settings, HISTORY).unwrap();
        let (mut list, mut before, mut number) = (Vec::new(), 0, 0);
        for _ in 0..120 {
            let end = before + list.len() as u64;
            match rng.below(12) {
                0..=4 => {
                    for _ in 0..rng.below(40) {
                        number += 1;
                        list.push(payload(number));
                        let index = log.append(&[&payload(number)]).unwrap();
                        assert_eq!(index.0, before + list.len() as u64);
                    }
                }
                5 | 6 if end > before => log.flush(Index(before + 1 + rng.below(end - before))).unwrap(),
                7 | 8 => {
                    let most = 1 << rng.below(9);
                    let back = rng.below(most).min(list.len() as u64);
                    log.truncate(Index(end + 1 - back)).unwrap();
                    list.truncate(list.len() - back as usize);
                }
                9 => {
                    let written = log.written();
                    drop(log);
                    let opened;
                    (log, opened) = DiskLog::open(dir.path(), settings, HISTORY).unwrap();
                    assert_eq!((opened.last, opened.torn_tail), (written, None));
                    list.truncate((written.0 - before) as usize);
                    log.set_keeps_recent(rng.below(2) == 0);
                }
                10 => {
                    log.purge(Index(before + rng.below(list.len() as u64 + 1)));
                    list.drain(..(log.first().0 - 1 - before) as usize);
                    before = log.first().0 - 1;
                }
                _ if end > before => {
                    let skip = rng.below(end - before);
                    let limit = rng.below(3000) as usize;
                    let entries = log.entries(Index(before + 1 + skip), limit).unwrap();
                    let bytes: usize = entries.iter().map(|(_, payload)| payload.len()).sum();
                    assert!(entries.len() == 1 || (entries.len() > 1 && bytes <= limit));
                    for (at, (index, payload)) in entries.iter().enumerate() {
                        let at = at + skip as usize;
                        assert_eq!((index.0, &payload[..]), (before + 1 + at as u64, &list[at][..]));
                    }
                }
                _ => {}
            }
            assert!(log.durable() <= log.written() && log.written() <= log.last());
        }
        log.flush(log.last()).unwrap();
        let held: Vec<_> = log.read(Index(before + 1)).unwrap().map(|entry| entry.unwrap().1).collect();
        assert_eq!(held, list);
    }
}

/// Several threads wait for the same removed entry: all wake, though no other thread flushes after them.
#[test]
fn threads_that_wait_for_truncated_entries_get_an_error() {
    let folder = folder();
    let (log, _) = open(folder.path());
    append(&log, 10);
    let (log, waiting) = (&log, Arc::new(Barrier::new(4)));
    let (results, all_results) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..3 {
            let (results, waiting) = (results.clone(), Arc::clone(&waiting));
            scope.spawn(move || {
                waiting.wait();
                results.send(log.flush(Index(10))).unwrap();
            });
        }
        let mut is_first = true;
        let meet = move || {
            if std::mem::take(&mut is_first) {
                waiting.wait();
                // The threads should reach their wait; if one does not, the test still passes.
                thread::sleep(Duration::from_millis(50));
            }
        };
        at_each_sync(meet, || log.truncate(Index(5)).unwrap());
        for _ in 0..3 {
            match all_results.recv_timeout(Duration::from_secs(30)) {
                Ok(result) => assert!(matches!(result, Ok(()) | Err(Error::Dropped { .. })), "{result:?}"),
                Err(_) => {
                    eprintln!("a thread waits for ever");
                    std::process::abort();
                }
            }
        }
    });
    expect_entries(log, 1, 4);
}

/// Ends the other threads, also after a panic.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Each entry holds the number of the previous one, so that a reader notices a mix of two logs.
#[test]
fn no_thread_hangs_or_sees_a_mix_during_truncations() {
    let mut rng = Rng::seeded();
    for sync in [true, false] {
        let dir = folder();
        let (log, _) = DiskLog::open(dir.path(), Settings { sync, ..small() }, HISTORY).unwrap();
        let (log, is_done, asked) = (&log, &AtomicBool::new(false), &AtomicU64::new(0));
        let numbers = Mutex::new(vec![0_u64]);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(move || {
                    while !is_done.load(Ordering::Relaxed) {
                        let result = log.flush(log.last());
                        assert!(matches!(result, Ok(()) | Err(Error::Dropped { .. })), "{result:?}");
                        asked.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            for _ in 0..2 {
                scope.spawn(move || {
                    while !is_done.load(Ordering::Relaxed) {
                        let mut before = 0;
                        for entry in log.read(Index(1)).unwrap() {
                            let bytes = match entry {
                                Ok((_, bytes)) => bytes,
                                Err(Error::Dropped { .. }) => break,
                                Err(error) => panic!("{error}"),
                            };
                            let number = |at| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
                            assert_eq!(number(0), before, "not the entry that follows");
                            before = number(8);
                        }
                    }
                });
            }
            let _done = Done(is_done);
            let mut number = 0;
            let mut numbers = numbers.lock().unwrap();
            for _ in 0..300 {
                for _ in 0..rng.below(20) {
                    number += 1;
                    let before = *numbers.last().unwrap();
                    let filling = payload(number);
                    log.append(&[&before.to_le_bytes(), &number.to_le_bytes(), &filling]).unwrap();
                    numbers.push(number);
                }
                if rng.below(3) == 0 {
                    log.flush(log.last()).unwrap();
                }
                if rng.below(2) == 0 && log.last().0 > 0 {
                    let from = log.last().0 - rng.below(log.last().0.min(30));
                    log.truncate(Index(from)).unwrap();
                    numbers.truncate(from as usize);
                }
            }
        });
        assert!(asked.load(Ordering::Relaxed) > 0);
        log.flush(log.last()).unwrap();
        let held: Vec<_> = log.read(Index(1)).unwrap().map(|entry| entry.unwrap().1).collect();
        let held: Vec<_> = held.iter().map(|bytes| u64::from_le_bytes(bytes[8..16].try_into().unwrap())).collect();
        assert_eq!(held, numbers.into_inner().unwrap()[1..]);
    }
}
