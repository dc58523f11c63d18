//! Dumps made from seeds: random tables, keys, session states, forms of INSERT, transactions and changes of the schema.
//!
//! A seed that fails is replayed by `HORTATOR_SEED=n`; it is then cut down to the statements that it takes to differ,
//! and the dump that is left is printed. `HORTATOR_SEEDS=201-900` runs others than the usual ones.

mod collisions;
mod detours;
mod dice;
pub use dice::Dice;
mod inserts;
mod script;
mod tables;
mod values;

use std::env;
use std::ops::RangeInclusive;

use crate::compare::{Comparison, Terms, compare};
use crate::programs::{Dump, Way};
use crate::servers::{Pair, pair};
use crate::target;

/// Seeds of a usual run.
const SEEDS: RangeInclusive<u64> = 1..=200;
/// Seeds with foreign keys put off, besides.
const DEFERRED_SEEDS: RangeInclusive<u64> = 1..=40;
/// The server's error for a row whose parent is not there.
const NO_PARENT: u16 = 1452;
/// INSERTs that travel as arrays, of about fifty in a dump, at least.
const ARRAYS_PER_DUMP: u64 = 6;
/// The same on MySQL, where one way of four has pieces as small as these dumps' statements.
const PIECES_PER_DUMP: u64 = 1;

#[test]
fn dumps_from_seeds() {
    let pair = pair();
    if let Some(seed) = env::var("HORTATOR_SEED").ok().and_then(|seed| seed.parse().ok()) {
        return replay(&pair, seed);
    }
    let seeds = seeds();
    let mut differing = Vec::new();
    let mut arrays = 0;
    for seed in seeds.clone() {
        let found = compare_seed(&pair, seed, &script::statements(seed));
        arrays += found.arrays;
        if !found.differences.is_empty() {
            differing.push(format!("== HORTATOR_SEED={seed}: {}", found.differences.join("\n")));
        }
    }
    let count = differing.len();
    assert!(count == 0, "{count} of the seeds {seeds:?} differ from the client:\n\n{}\n", differing.join("\n\n"));
    // Dumps of which all runs in one session would prove nothing.
    let dumps = seeds.count() as u64;
    let least = if target::mysql().is_some() { PIECES_PER_DUMP } else { ARRAYS_PER_DUMP };
    assert!(arrays >= dumps * least || Way::only_client(), "only {arrays} arrays in {dumps} dumps");
}

fn seeds() -> RangeInclusive<u64> {
    let named = env::var("HORTATOR_SEEDS").ok();
    let bounds = named.as_deref().and_then(|named| named.split_once('-'));
    let parsed = bounds.map(|(first, last)| (first.parse().expect("a number"), last.parse().expect("a number")));
    parsed.map_or(SEEDS, |(first, last)| first..=last)
}

/// Every fourth seed runs in the same way.
fn way(seed: u64) -> Way {
    Way::OURS[usize::try_from(seed).expect("a seed is small") % Way::OURS.len()]
}

fn compare_seed(pair: &Pair, seed: u64, statements: &[Vec<u8>]) -> Comparison {
    let dump = statements.concat();
    let run = |force| {
        compare(
            pair,
            Dump::Bytes(&dump),
            Terms { ways: &[way(seed)], force, row_times: true, is_stricter: false, ahead: &[] },
        )
    };
    // A failed statement stops some dumps, where what else ran is not certain; with --force everything is.
    let stops = (seed / 4).is_multiple_of(4);
    let once = run(!stops);
    if stops && !once.failures.is_empty() { run(true) } else { once }
}

/// Foreign keys put off: what the client refuses no row of must come to the same state, orphans and all; those are told.
#[test]
fn dumps_from_seeds_with_checks_put_off() {
    let pair = pair();
    let (mut differing, mut compared, mut with_orphans) = (Vec::new(), 0, 0);
    for seed in DEFERRED_SEEDS {
        let dump = script::statements(seed).concat();
        let terms = Terms { ways: &[Way::Deferred], force: true, row_times: true, is_stricter: false, ahead: &[] };
        let mut found = compare(&pair, Dump::Bytes(&dump), terms);
        if found.failures.iter().any(|failure| failure.code == Some(NO_PARENT)) {
            continue;
        }
        compared += 1;
        let told = |found: &String| {
            found.contains("exit status Some(1) instead of") && found.contains(" row(s) have no parent row: (")
        };
        if let Some(at) = found.differences.iter().position(told) {
            found.differences.remove(at);
            with_orphans += 1;
        }
        if !found.differences.is_empty() {
            differing.push(format!("== seed {seed}: {}", found.differences.join("\n")));
        }
    }
    let count = differing.len();
    assert!(count == 0, "{count} of {compared} seeds differ from the client:\n\n{}\n", differing.join("\n\n"));
    assert!(compared >= 8, "only {compared} seeds were compared, {with_orphans} of them with orphans");
}

fn replay(pair: &Pair, seed: u64) {
    let mut statements = script::statements(seed);
    let mut found = compare_seed(pair, seed, &statements).differences;
    if found.is_empty() {
        eprintln!("seed {seed} does not differ:\n{}", String::from_utf8_lossy(&statements.concat()));
        return;
    }
    let wanted = what(&found[0]);
    let mut step = statements.len().div_ceil(2);
    while step > 0 {
        let mut index = 0;
        while index < statements.len() {
            let mut fewer = statements.clone();
            fewer.drain(index..(index + step).min(statements.len()));
            let differing = compare_seed(pair, seed, &fewer).differences;
            // Another difference would lead elsewhere.
            if differing.iter().any(|other| what(other) == wanted) {
                (statements, found) = (fewer, differing);
            } else {
                index += step;
            }
        }
        step /= 2;
    }
    let dump = String::from_utf8_lossy(&statements.concat()).into_owned();
    panic!("HORTATOR_SEED={seed} by {:?} differs:\n{}\n\nwith\n{dump}", way(seed), found.join("\n"));
}

/// What a difference is about, without its numbers: `Default: hortator_case: rows of log`.
fn what(difference: &str) -> String {
    difference.lines().next().unwrap_or_default().split(':').take(3).collect::<Vec<_>>().join(":")
}

#[test]
fn a_seed_gives_one_dump() {
    assert_eq!(script::statements(7), script::statements(7));
    assert_ne!(script::statements(7), script::statements(8));
}
