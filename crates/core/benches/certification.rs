//! The number of write sets per second that one core certifies, by the size of the window above the purged seqno.
//!
//! Three nodes take turns; each has seen all but the last hundred write sets, and every hundredth write set is followed
//! by a purge: so entries are added, found again and dropped at the same rate. `1 key` and `10 keys` insert rows into
//! one of eight tables; `50 rows` inserts fifty, each with a reference to one of a thousand rows of a parent table, so
//! that a write set has a hundred keys; `10 updates` draws its rows from three times the window, so that a third of
//! them are known already. The keys are hashed before the measurement.
//!
//! On a shared machine, criterion's means depend on the other load. So the benchmark first prints a table of the same
//! work in many short batches: the fastest batch, which is the least disturbed, and the median one; and the maximum
//! time of all calls but one in a thousand, because a session's commit waits for each.

use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hortator_core::{Candidate, CertificationIndex, Key, Mode, Seqno, SourceId, Verdict};

const NODES: u64 = 3;
const UNSEEN: u64 = 100;
const PURGE_EVERY: u64 = 100;
const WINDOWS: [u64; 3] = [1_000, 10_000, 100_000];

#[derive(Clone, Copy)]
enum Work {
    Inserts { rows: u64 },
    InsertsWithParents { rows: u64 },
    Updates { rows: u64, universe: u64 },
}

/// The kinds of work for a window, by name.
fn works(window: u64) -> [(&'static str, Work); 4] {
    [
        ("1 key", Work::Inserts { rows: 1 }),
        ("10 keys", Work::Inserts { rows: 10 }),
        ("50 rows", Work::InsertsWithParents { rows: 50 }),
        ("10 updates", Work::Updates { rows: 10, universe: 3 * 10 * window }),
    ]
}

/// An index in the middle of a stream of write sets.
struct Drive {
    work: Work,
    window: u64,
    tables: Vec<Key>,
    parent: Key,
    index: CertificationIndex,
    seqno: u64,
    next_row: u64,
    failed: u64,
}

impl Drive {
    /// An index with a full window.
    fn new(work: Work, window: u64) -> Self {
        let tables = (0..8_u8).map(|number| Key::table(b"bench", &[b't', number])).collect();
        let (parent, index) = (Key::table(b"bench", b"parent"), CertificationIndex::new(Seqno(0)));
        let mut drive = Self { work, window, tables, parent, index, seqno: 0, next_row: 0, failed: 0 };
        for _ in 0..3 * window / 1_000 {
            let given = drive.given(1_000);
            given.iter().for_each(|keys| drive.step(keys));
        }
        drive.failed = 0;
        drive
    }

    fn given(&mut self, count: u64) -> Vec<Vec<(Key, Mode)>> {
        (0..count).map(|_| self.keys()).collect()
    }

    fn keys(&mut self) -> Vec<(Key, Mode)> {
        let table = self.tables[(self.next_row / 100 % 8) as usize];
        let mut new_row = || {
            self.next_row += 1;
            self.next_row
        };
        let key = |table: Key, number: u64| Key::row_in(table, 0, &number.to_be_bytes());
        match self.work {
            Work::Inserts { rows } => (0..rows).map(|_| (key(table, new_row()), Mode::RowExclusive)).collect(),
            Work::Updates { rows, universe } => {
                (0..rows).map(|_| (key(table, scatter(new_row()) % universe), Mode::RowUpdate)).collect()
            }
            Work::InsertsWithParents { rows } => {
                let parent = self.parent;
                let both = |row: u64| {
                    let parent = key(parent, scatter(row) % 1_000);
                    [(key(table, row), Mode::RowExclusive), (parent, Mode::RowReference)]
                };
                (0..rows).flat_map(|_| both(new_row())).collect()
            }
        }
    }

    fn step(&mut self, keys: &[(Key, Mode)]) {
        self.seqno += 1;
        let verdict = self.index.certify(&Candidate {
            seqno: Seqno(self.seqno),
            source: SourceId(self.seqno % NODES),
            last_seen: Seqno(self.seqno.saturating_sub(UNSEEN).max(self.index.purged_upto().0)),
            isolation: false,
            pa_unsafe: false,
            implicit_deps: false,
            keys,
        });
        self.failed += u64::from(matches!(verdict, Verdict::Failed(_)));
        if self.seqno.is_multiple_of(PURGE_EVERY) {
            self.index.purge(Seqno(self.seqno.saturating_sub(self.window)));
        }
    }

    fn batch(&mut self, size: u64) -> Duration {
        let given = self.given(size);
        let start = Instant::now();
        given.iter().for_each(|keys| self.step(keys));
        start.elapsed()
    }
}

/// The mixing step of SplitMix64: a number that looks random, the same in every run.
fn scatter(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn print_table() {
    const BATCHES: usize = 300;
    const BATCH: u64 = 200;
    println!(
        "window | write sets | thousand a second: best (median) batch | entries of bytes | 99.9% us | % that fail"
    );
    for window in WINDOWS {
        for (name, work) in works(window) {
            let mut drive = Drive::new(work, window);
            let mut spent: Vec<Duration> = (0..BATCHES).map(|_| drive.batch(BATCH)).collect();
            spent.sort_unstable();
            let thousands = |spent: Duration| BATCH as f64 / spent.as_secs_f64() / 1e3;
            let failed = drive.failed as f64 * 100.0 / (BATCHES as f64 * BATCH as f64);
            let time = |drive: &mut Drive, keys: &[(Key, Mode)]| {
                let start = Instant::now();
                drive.step(keys);
                start.elapsed()
            };
            let given = drive.given(20_000);
            let mut calls: Vec<Duration> = given.iter().map(|keys| time(&mut drive, keys)).collect();
            calls.sort_unstable();
            let all_but_few = calls[calls.len() - calls.len() / 1_000 - 1].as_micros();
            println!(
                "{window:>6} | {name:>10} | {:>5.0} ({:.0}) | {:>8} of {:.0} | {all_but_few} | {failed:.1}",
                thousands(spent[0]),
                thousands(spent[BATCHES / 2]),
                drive.index.len(),
                drive.index.bytes() as f64 / drive.index.len() as f64,
            );
        }
    }
}

fn certification(criterion: &mut Criterion) {
    print_table();
    let mut group = criterion.benchmark_group("certification");
    group.throughput(Throughput::Elements(1)).sample_size(10).measurement_time(Duration::from_secs(2));
    for window in WINDOWS {
        for (name, work) in works(window) {
            let mut drive = Drive::new(work, window);
            group.bench_function(BenchmarkId::new(name, window), |bencher| {
                bencher.iter_custom(|count| {
                    let size = count.min(200);
                    let spent: Duration = (0..count.div_ceil(size)).map(|_| drive.batch(size)).sum();
                    spent.mul_f64(count as f64 / (count.div_ceil(size) * size) as f64)
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, certification);
criterion_main!(benches);
