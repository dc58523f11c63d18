//! Seeds of simulated runs, and the random numbers from them.
//!
//! One seed gives a whole run. The seed of a run that fails is printed; `HORTATOR_SEED` replays it, `HORTATOR_SEEDS` says
//! how many are run (`cargo xtask sim` runs many).

use std::time::Instant;

/// The first seed: fixed, so that the usual test run is the same everywhere.
const FIRST_SEED: u64 = 1;

/// Prints the seed if its run panics.
struct Seed {
    kind: &'static str,
    seed: u64,
}

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("HORTATOR_SEED={} of {}", self.seed, self.kind);
        }
    }
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a seed, and the number of seeds, is a number"))
}

/// Runs that kind for several seeds. `seeds`: their number in the usual test run; `run` returns the number of entries.
pub fn run(kind: &'static str, seeds: u64, run: impl Fn(u64) -> u64) {
    let started = Instant::now();
    let first = from_environment("HORTATOR_SEED").unwrap_or(FIRST_SEED);
    let alone = from_environment("HORTATOR_SEED").map(|_| 1);
    let count = from_environment("HORTATOR_SEEDS").or(alone).unwrap_or(seeds);
    let mut entries = 0;
    for seed in first..first + count {
        let _shown = Seed { kind, seed };
        entries += run(seed);
    }
    println!("{kind}: {count} seeds from {first}, {entries} entries, {:.1} s", started.elapsed().as_secs_f64());
}

pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From `low` to `high`, inclusive.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    pub fn percent(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        if all.is_empty() { None } else { Some(all[(self.next() % all.len() as u64) as usize]) }
    }
}
