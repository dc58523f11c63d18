//! Small write sets through the ordered log: entries per second by threads, with sync on and off, compared with bare
//! system calls.
//!
//! `cargo bench -p hortator-provider --bench log [folder]`. The bare calls are the baseline of a log without group
//! commit: one thread writes the same bytes to a preallocated file and syncs after each entry.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_wsrep::log::{DiskLog, Settings};

const PAYLOAD: [u8; 300] = [0x5a; 300];
const ROUND: Duration = Duration::from_secs(2);

fn main() {
    // cargo passes --bench.
    let folder = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let folder = folder.map_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")), PathBuf::from).join("log-bench");
    println!("300 bytes an entry, {} s each, in {}", ROUND.as_secs(), folder.display());
    for round in 1..=2 {
        println!("round {round}");
        println!("  bare write + fdatasync   1 thread  {:>9.0}/s", bare(&folder));
        for sync in [true, false] {
            for threads in [1, 16, 200] {
                let (entries, slowest) = log(&folder, threads, sync);
                let sync = if sync { "on" } else { "off" };
                println!("  log, sync {sync:<3} {threads:>10} threads {entries:>9.0}/s, slowest commit {slowest:?}");
            }
        }
    }
    recovery(&folder);
    std::fs::remove_dir_all(&folder).expect("the folder was made here");
}

fn fresh(folder: &Path) {
    if folder.exists() {
        std::fs::remove_dir_all(folder).expect("an earlier run's folder can be removed");
    }
    std::fs::create_dir_all(folder).expect("the folder can be made");
}

fn bare(folder: &Path) -> f64 {
    fresh(folder);
    let file = OpenOptions::new().write(true).create_new(true).open(folder.join("bare")).expect("a new file");
    file.write_all_at(&vec![0; 64 << 20], 0).expect("room for a file");
    file.sync_all().expect("a sync");
    let start = Instant::now();
    let mut entries = 0;
    while start.elapsed() < ROUND {
        file.write_all_at(&PAYLOAD, entries * 328).expect("a write");
        file.sync_data().expect("a sync");
        entries += 1;
    }
    entries as f64 / start.elapsed().as_secs_f64()
}

fn log(folder: &Path, threads: usize, sync: bool) -> (f64, Duration) {
    fresh(folder);
    let settings = Settings { sync, retain_bytes: 0, ..Settings::default() };
    let (log, _) = DiskLog::open(folder, settings, [1; 16]).expect("a new log");
    let (order, stop, entries) = (Mutex::new(()), AtomicBool::new(false), AtomicU64::new(0));
    let slowest = Mutex::new(Duration::ZERO);
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut own = Duration::ZERO;
                while !stop.load(Ordering::Relaxed) {
                    let turn = order.lock().expect("no panic before");
                    let index = log.append(&[&PAYLOAD]).expect("an append");
                    drop(turn);
                    let began = Instant::now();
                    log.flush(index).expect("a commit");
                    own = own.max(began.elapsed());
                    if entries.fetch_add(1, Ordering::Relaxed) % 50_000 == 0 {
                        log.purge(index);
                    }
                }
                let mut slowest = slowest.lock().expect("no panic before");
                *slowest = own.max(*slowest);
            });
        }
        thread::sleep(ROUND);
        stop.store(true, Ordering::Relaxed);
    });
    let rate = entries.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64();
    (rate, slowest.into_inner().expect("no panic before"))
}

fn recovery(folder: &Path) {
    fresh(folder);
    let settings = Settings { sync: false, ..Settings::default() };
    let (log, _) = DiskLog::open(folder, settings, [1; 16]).expect("a new log");
    while log.bytes() < 1 << 30 {
        for _ in 0..1000 {
            log.append(&[&PAYLOAD]).expect("an append");
        }
        log.flush(log.last()).expect("a commit");
    }
    drop(log);
    let start = Instant::now();
    let (log, _) = DiskLog::open(folder, settings, [1; 16]).expect("the same log");
    println!("open and check {} MiB: {:?}", log.bytes() >> 20, start.elapsed());
    let start = Instant::now();
    let entries = log.read(log.first()).expect("all of it").inspect(|entry| assert!(entry.is_ok())).count();
    println!("read {entries} entries: {:?}", start.elapsed());
}
