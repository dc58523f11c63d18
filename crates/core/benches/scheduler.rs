//! The number of transactions of ten row keys each that one core admits, hands out and completes per second, by the
//! number in flight.
//!
//! Every transaction writes ten rows of one of eight tables, so its write set has thirteen keys with the intentions. A
//! step admits one transaction, takes one that is ready and completes the one that was taken first, so that the number
//! in flight stays constant. `apart` transactions share no rows; `crossing` transactions draw rows from so few that
//! about a third of them wait for another. `built` includes the construction of the write set from key images, `given`
//! does not.
//!
//! On a shared machine, criterion's means depend on the other load. So the benchmark first prints a table of the same
//! work in many short batches: the fastest batch, which is the least disturbed, and the median one.

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hortator_core::{Key, Mode, Scheduler, Seqno, WriteSet};

const ROWS: u64 = 10;
const BATCH: u64 = 1_000;
const IN_FLIGHT: [usize; 4] = [10, 100, 1_000, 10_000];

/// The source of the rows.
#[derive(Clone, Copy)]
enum Rows {
    Apart,
    Crossing { universe: u64 },
}

/// Makes the write sets of one stream, in order.
struct Stream {
    tables: Vec<Key>,
    rows: Rows,
    next: u64,
}

impl Stream {
    fn new(rows: Rows) -> Self {
        let tables = (0..8_u8).map(|number| Key::table(b"bench", &[b't', number])).collect();
        Self { tables, rows, next: 0 }
    }

    fn write_set(&mut self) -> WriteSet {
        let table = self.tables[(self.next / ROWS % 8) as usize];
        let mut write_set = WriteSet::new();
        for _ in 0..ROWS {
            self.next += 1;
            let row = match self.rows {
                Rows::Apart => self.next,
                Rows::Crossing { universe } => scatter(self.next) % universe,
            };
            write_set.add(Key::row_in(table, 0, &row.to_be_bytes()), Mode::RowUpdate);
        }
        write_set
    }
}

/// The mixing step of SplitMix64: a number that looks random, the same in every run.
fn scatter(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A scheduler with a constant number in flight.
struct Drive {
    scheduler: Scheduler<u64>,
    taken: VecDeque<Seqno>,
    in_flight: usize,
    waited: u64,
}

impl Drive {
    fn new(in_flight: usize) -> Self {
        Self { scheduler: Scheduler::new(usize::MAX), taken: VecDeque::new(), in_flight, waited: 0 }
    }

    fn step(&mut self, write_set: WriteSet) {
        let ready = self.scheduler.ready();
        self.scheduler.admit(write_set, 100, 0).expect("the limit is out of reach");
        self.waited += u64::from(self.scheduler.ready() == ready);
        while let Some((seqno, payload)) = self.scheduler.take_ready() {
            black_box(payload);
            self.taken.push_back(seqno);
        }
        if self.scheduler.in_flight() > self.in_flight {
            self.scheduler.complete(self.taken.pop_front().expect("the earliest in flight waits for no other"));
        }
    }
}

/// The time of each batch, and the share of transactions that had to wait.
fn batches(rows: Rows, in_flight: usize, built: bool, batches: u64, size: u64) -> (Vec<Duration>, f64) {
    let mut stream = Stream::new(rows);
    let mut drive = Drive::new(in_flight);
    (0..2 * in_flight).for_each(|_| drive.step(stream.write_set()));
    drive.waited = 0;
    let mut batch = || {
        let given: Vec<WriteSet> = if built { Vec::new() } else { (0..size).map(|_| stream.write_set()).collect() };
        let start = Instant::now();
        if built {
            (0..size).for_each(|_| drive.step(stream.write_set()));
        } else {
            given.into_iter().for_each(|write_set| drive.step(write_set));
        }
        start.elapsed()
    };
    let spent = (0..batches).map(|_| batch()).collect();
    (spent, drive.waited as f64 / (batches * size) as f64)
}

fn crossing(in_flight: usize) -> Rows {
    Rows::Crossing { universe: in_flight as u64 * ROWS * 3 }
}

/// Prints thousands of transactions a second: of the fastest batch, and of the median one.
fn print_table() {
    println!("thousand transactions a second, fastest batch (median batch):");
    println!("in flight | apart, given | apart, built | crossing, given | crossing ones that wait");
    for in_flight in IN_FLIGHT {
        let rate = |rows, built| {
            let (mut spent, waited) = batches(rows, in_flight, built, 500, BATCH);
            spent.sort_unstable();
            let thousands = |spent: Duration| BATCH as f64 / spent.as_secs_f64() / 1e3;
            (format!("{:.0} ({:.0})", thousands(spent[0]), thousands(spent[spent.len() / 2])), waited)
        };
        let (given, built) = (rate(Rows::Apart, false).0, rate(Rows::Apart, true).0);
        let (crossing, waited) = rate(crossing(in_flight), false);
        println!("{in_flight:>9} | {given:>12} | {built:>12} | {crossing:>15} | {:.0}%", waited * 100.0);
    }
}

fn scheduler(criterion: &mut Criterion) {
    print_table();
    let mut group = criterion.benchmark_group("scheduler");
    group.throughput(Throughput::Elements(1)).sample_size(20).measurement_time(Duration::from_secs(3));
    for in_flight in IN_FLIGHT {
        for (name, rows, built) in [
            ("apart, given", Rows::Apart, false),
            ("apart, built", Rows::Apart, true),
            ("crossing, given", crossing(in_flight), false),
        ] {
            group.bench_function(BenchmarkId::new(name, in_flight), |bencher| {
                bencher.iter_custom(|count| {
                    let size = count.min(BATCH);
                    let spent: Duration = batches(rows, in_flight, built, count.div_ceil(size), size).0.iter().sum();
                    spent.mul_f64(count as f64 / (count.div_ceil(size) * size) as f64)
                });
            });
        }
    }
    group.finish();
    let mut group = criterion.benchmark_group("write set");
    group.throughput(Throughput::Elements(1));
    let mut stream = Stream::new(Rows::Apart);
    group.bench_function("ten rows", |bencher| bencher.iter(|| stream.write_set()));
    group.finish();
}

criterion_group!(benches, scheduler);
criterion_main!(benches);
