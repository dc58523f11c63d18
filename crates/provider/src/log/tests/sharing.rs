//! Many threads at once.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::super::{DiskLog, Index, Settings};
use super::{HISTORY, expect_entries, folder, payload, small};

const THREADS: u64 = 16;
const EACH: u64 = 200;

#[test]
fn flushed_entries_are_readable_in_order() {
    for sync in [true, false] {
        let folder = folder();
        let (log, _) = DiskLog::open(folder.path(), Settings { sync, ..small() }, HISTORY).unwrap();
        let (log, order, done) = (&log, &Mutex::new(()), &AtomicBool::new(false));
        thread::scope(|scope| {
            let writers: Vec<_> = (0..THREADS)
                .map(|_| {
                    scope.spawn(move || {
                        for _ in 0..EACH {
                            let index = {
                                let _turn = order.lock().unwrap();
                                let next = log.last().next();
                                log.append(&[&payload(next.0)]).unwrap()
                            };
                            log.flush(index).unwrap();
                            assert!(log.written() >= index && (!sync || log.durable() >= index));
                            assert_eq!(log.read(index).unwrap().next().unwrap().unwrap(), (index, payload(index.0)));
                        }
                    })
                })
                .collect();
            let reader = scope.spawn(move || {
                let mut reader = log.read(Index(1)).unwrap();
                let mut next = 1;
                while next <= THREADS * EACH {
                    match reader.next() {
                        Some(entry) => {
                            assert_eq!(entry.unwrap(), (Index(next), payload(next)));
                            next += 1;
                        }
                        None => thread::yield_now(),
                    }
                }
            });
            let switcher = scope.spawn(move || {
                while !sync && !done.load(Ordering::Relaxed) {
                    log.set_sync(true).unwrap();
                    thread::yield_now();
                    log.set_sync(false).unwrap();
                }
            });
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            reader.join().unwrap();
            done.store(true, Ordering::Relaxed);
            switcher.join().unwrap();
        });
        expect_entries(log, 1, THREADS * EACH);
    }
}

#[test]
fn a_reader_never_sees_reused_blocks() {
    let folder = folder();
    let (log, _) = DiskLog::open(folder.path(), small(), HISTORY).unwrap();
    let (log, done) = (&log, &AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..2000 {
                let next = log.last().next();
                log.append(&[&payload(next.0)]).unwrap();
                log.flush(next).unwrap();
                log.purge(next);
            }
            done.store(true, Ordering::Relaxed);
        });
        while !done.load(Ordering::Relaxed) {
            let Ok(reader) = log.read(log.first()) else { continue };
            for entry in reader {
                match entry {
                    Ok((index, bytes)) => assert_eq!(bytes, payload(index.0)),
                    Err(error) => {
                        assert!(matches!(error, super::Error::Absent { .. }), "{error}");
                        break;
                    }
                }
            }
        }
    });
}
