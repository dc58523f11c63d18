//! A deterministic simulator: a few nodes, their disks and links, clients, and everything that goes wrong.
//!
//! One seed gives a whole run: a phase with faults, then a phase without in which everything proposed must come to
//! stand in the order. The seed of a run that fails is printed; `HORTATOR_SEED` replays it, `HORTATOR_SEEDS` says how
//! many are run (`cargo xtask sim` runs many). What must hold is in `invariants/`, one property a file.

mod clients;
mod disk;
mod faults;
mod instance;
mod invariants;
mod links;
mod members;
pub mod rng;
mod settings;
mod world;

use std::time::Instant;

use settings::Settings;
use world::World;

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

/// `seeds`: number of runs of that kind in the usual test run.
fn run(kind: &'static str, seeds: u64, settings: fn(u64) -> Settings) {
    let started = Instant::now();
    let first = from_environment("HORTATOR_SEED").unwrap_or(FIRST_SEED);
    let alone = from_environment("HORTATOR_SEED").map(|_| 1);
    let count = from_environment("HORTATOR_SEEDS").or(alone).unwrap_or(seeds);
    let mut entries = 0;
    for seed in first..first + count {
        let _shown = Seed { kind, seed };
        entries += World::new(settings(seed)).run();
    }
    println!("{kind}: {count} seeds from {first}, {entries} entries, {:.1} s", started.elapsed().as_secs_f64());
}

#[test]
fn sim_calm() {
    run("sim_calm", 300, Settings::calm);
}

#[test]
fn sim_crashes_and_partitions() {
    run("sim_crashes_and_partitions", 600, Settings::crashes_and_cuts);
}

#[test]
fn sim_membership_changes() {
    run("sim_membership_changes", 500, Settings::members_come_and_go);
}

#[test]
fn sim_lost_duplicated_and_reordered_messages() {
    run("sim_lost_duplicated_and_reordered_messages", 600, Settings::lost_and_twice_and_out_of_order);
}
