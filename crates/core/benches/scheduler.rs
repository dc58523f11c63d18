//! How many transactions of ten row keys each one core admits, hands out and completes in a second, by how many are in
//! flight.
//!
//! Every transaction writes ten rows of one of eight tables, so its write set has thirteen keys with the intentions. A
//! step admits one transaction, takes one that is ready and completes the one that was taken longest ago, so that the
//! number in flight stays. `apart` transactions share no rows; `crossing` ones draw theirs from so few that about a
//! third of them wait for another. `built` includes making the write set from key images, `given` does not.

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hortator_core::{Key, Mode, Scheduler, Seqno, WriteSet};

const ROWS: u64 = 10;
const BATCH: u64 = 5_000;

/// Where the rows come from.
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

/// A scheduler that is kept at a number in flight.
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
            self.scheduler.complete(self.taken.pop_front().expect("the earliest in flight waits for nobody"));
        }
    }
}

fn given(rows: Rows, in_flight: usize, count: u64) -> (Duration, f64) {
    let mut stream = Stream::new(rows);
    let mut drive = Drive::new(in_flight);
    (0..2 * in_flight).for_each(|_| drive.step(stream.write_set()));
    drive.waited = 0;
    let mut spent = Duration::ZERO;
    let mut left = count;
    while left > 0 {
        let batch: Vec<WriteSet> = (0..left.min(BATCH)).map(|_| stream.write_set()).collect();
        left -= batch.len() as u64;
        let start = Instant::now();
        batch.into_iter().for_each(|write_set| drive.step(write_set));
        spent += start.elapsed();
    }
    (spent, drive.waited as f64 / count as f64)
}

fn built(rows: Rows, in_flight: usize, count: u64) -> Duration {
    let mut stream = Stream::new(rows);
    let mut drive = Drive::new(in_flight);
    (0..2 * in_flight).for_each(|_| drive.step(stream.write_set()));
    let start = Instant::now();
    (0..count).for_each(|_| drive.step(stream.write_set()));
    start.elapsed()
}

fn scheduler(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scheduler");
    group.throughput(Throughput::Elements(1)).sample_size(20).measurement_time(Duration::from_secs(3));
    for in_flight in [10, 100, 1_000, 10_000] {
        let crossing = Rows::Crossing { universe: in_flight as u64 * ROWS * 3 };
        eprintln!("{in_flight} in flight, crossing: {:.0}% wait", given(crossing, in_flight, 20_000).1 * 100.0);
        let id = |name| BenchmarkId::new(name, in_flight);
        group.bench_function(id("apart, given"), |bencher| {
            bencher.iter_custom(|count| given(Rows::Apart, in_flight, count).0);
        });
        group.bench_function(id("apart, built"), |bencher| {
            bencher.iter_custom(|count| built(Rows::Apart, in_flight, count));
        });
        group.bench_function(id("crossing, given"), |bencher| {
            bencher.iter_custom(|count| given(crossing, in_flight, count).0);
        });
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
