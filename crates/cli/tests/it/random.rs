//! Dumps made from seeds: random tables, keys, session states, forms of INSERT, transactions and changes of the schema.
//!
//! [`script`] writes dumps that are close to what tools write, [`wide`] dumps of everything else that a server takes. A seed
//! that fails is replayed by `HORTATOR_SEED=n` and the name of its test; it is then cut down to the statements that it takes
//! to differ, and the dump that is left is printed. `HORTATOR_SEEDS=121-900` runs others than the usual ones, and
//! `HORTATOR_ROUNDS=2000` so many of the wide ones. With a folder in `HORTATOR_KEEP` every seed that differs is cut down, and
//! its dump is kept there.

mod collisions;
mod detours;
mod dice;
pub use dice::Dice;
mod inserts;
mod script;
mod tables;
mod values;
mod wide;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::ops::RangeInclusive;

use crate::compare::{Comparison, Terms, compare};
use crate::programs::{Contender, Dump};
use crate::servers::{Pair, pair};
use crate::target;

/// Seeds of a usual run.
const SEEDS: RangeInclusive<u64> = 1..=120;
/// The same of wide dumps.
const WIDE_SEEDS: RangeInclusive<u64> = 1..=40;
/// Seeds with foreign keys deferred, besides.
const DEFERRED_SEEDS: RangeInclusive<u64> = 1..=40;
/// Seeds with indexes built after the rows, besides.
const INDEX_SEEDS: RangeInclusive<u64> = 1..=30;
/// The server's error for a row whose parent is not there.
const NO_PARENT: u16 = 1452;
/// INSERTs that travel as arrays, of about fifty in a dump, at least.
const ARRAYS_PER_DUMP: u64 = 6;
/// The same on MySQL, where one contender of four has pieces as small as these dumps' statements.
const PIECES_PER_DUMP: u64 = 1;
/// Loads that a dump is cut down by, at most.
const CUTS_LIMIT: u32 = 200;

/// Makes the statements of a seed's dump.
type Generator = fn(u64) -> Vec<Vec<u8>>;

#[test]
fn dumps_from_seeds() {
    let (dumps, arrays) = compare_seeds(script::statements, SEEDS);
    // Dumps of which all runs in one session would prove nothing.
    let least = if target::mysql().is_some() { PIECES_PER_DUMP } else { ARRAYS_PER_DUMP };
    assert!(arrays >= dumps * least || Contender::only_client(), "only {arrays} arrays in {dumps} dumps");
}

#[test]
fn wide_dumps_from_seeds() {
    if target::mysql().is_some() {
        // Much of what they hold is MariaDB's own.
        return;
    }
    let rounds = number_of("HORTATOR_ROUNDS");
    let (dumps, arrays) = compare_seeds(wide::statements, rounds.map_or(WIDE_SEEDS, |rounds| 1..=rounds));
    assert!(arrays >= dumps || Contender::only_client(), "only {arrays} arrays in {dumps} dumps");
}

fn number_of(variable: &str) -> Option<u64> {
    env::var(variable).ok().map(|number| number.parse().expect("a number"))
}

/// Compares the dumps of seeds; how many there were, and how many INSERTs of theirs travelled as arrays.
fn compare_seeds(generator: Generator, usual: RangeInclusive<u64>) -> (u64, u64) {
    let pair = pair();
    let seeds = match number_of("HORTATOR_SEED") {
        Some(seed) => seed..=seed,
        None => seeds(usual),
    };
    let keep = env::var_os("HORTATOR_KEEP");
    let mut differing = Vec::new();
    let mut arrays = 0;
    for seed in seeds.clone() {
        let statements = generator(seed);
        let found = compare_seed(&pair, seed, &statements);
        arrays += found.arrays;
        if found.differences.is_empty() {
            continue;
        }
        let mut told = found.differences.join("\n");
        if keep.is_some() || seeds.start() == seeds.end() {
            let (statements, differences) = cut_down(&pair, seed, statements, found.differences);
            let dump = String::from_utf8_lossy(&statements.concat()).into_owned();
            told = format!("by {:?}:\n{}\n\nwith\n{dump}", contender(seed), differences.join("\n"));
            if let Some(folder) = &keep {
                let comment = differences.join("\n").replace('\n', "\n-- ");
                fs::create_dir_all(folder).unwrap();
                let text = format!("-- seed {seed} by {:?}:\n-- {comment}\n{dump}", contender(seed));
                fs::write(std::path::Path::new(folder).join(format!("seed-{seed}.sql")), text).unwrap();
            }
        }
        differing.push(format!("== HORTATOR_SEED={seed} {told}"));
    }
    let count = differing.len();
    assert!(count == 0, "{count} of the seeds {seeds:?} differ from the client:\n\n{}\n", differing.join("\n\n"));
    if seeds.start() == seeds.end() {
        // One alone proves nothing of how they travel.
        let text = generator(*seeds.start()).concat();
        eprintln!("seed {} does not differ:\n{}", seeds.start(), String::from_utf8_lossy(&text));
        return (0, 0);
    }
    (seeds.count() as u64, arrays)
}

fn seeds(usual: RangeInclusive<u64>) -> RangeInclusive<u64> {
    let named = env::var("HORTATOR_SEEDS").ok();
    let bounds = named.as_deref().and_then(|named| named.split_once('-'));
    let parsed = bounds.map(|(first, last)| (first.parse().expect("a number"), last.parse().expect("a number")));
    parsed.map_or(usual, |(first, last)| first..=last)
}

/// Every fourth seed has the same contender.
fn contender(seed: u64) -> Contender {
    Contender::OURS[usize::try_from(seed).expect("a seed is small") % Contender::OURS.len()]
}

fn compare_seed(pair: &Pair, seed: u64, statements: &[Vec<u8>]) -> Comparison {
    let dump = statements.concat();
    let run = |force, ahead: &[String]| {
        let terms = Terms { contenders: &[contender(seed)], force, row_times: true, is_stricter: false, ahead };
        compare(pair, Dump::Bytes(&dump), terms)
    };
    // A failed statement stops some dumps, where what else was added is not certain; with --force everything is.
    let stops = (seed / 4).is_multiple_of(4);
    let once = run(!stops, &[]);
    if !stops || once.failures.is_empty() {
        return once;
    }
    if dump.contains(&b'`') {
        // Names that are not as plain as those looked for.
        return run(true, &[]);
    }
    let mut stopped = run(false, &names(&dump));
    stopped.differences.retain(|difference| !is_addition(difference));
    if stopped.differences.is_empty() { run(true, &[]) } else { stopped }
}

/// What a load may have made ahead of a failure: nothing that was there is gone, and nothing is changed.
fn is_addition(difference: &str) -> bool {
    let first = difference.lines().next().unwrap_or_default();
    first.ends_with(": only the second has it") || (first.contains(": a schema ") && first.ends_with(" too many"))
}

/// All names in a dump that may be those of tables.
fn names(dump: &[u8]) -> Vec<String> {
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let words: BTreeSet<&[u8]> = dump.split(|byte| !is_of_name(byte)).collect();
    let lower = words.into_iter().filter(|word| word.first().is_some_and(u8::is_ascii_lowercase));
    lower.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Foreign keys deferred: what the client refuses no row of must come to the same state, orphans and all; those are told.
#[test]
fn dumps_from_seeds_with_checks_put_off() {
    let pair = pair();
    let (mut differing, mut compared, mut with_orphans) = (Vec::new(), 0, 0);
    for seed in DEFERRED_SEEDS {
        let dump = script::statements(seed).concat();
        let terms =
            Terms { contenders: &[Contender::Deferred], force: true, row_times: true, is_stricter: false, ahead: &[] };
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

/// Indexes built after the rows: the state is the client's, also behind a statement that fails.
#[test]
fn dumps_from_seeds_with_indexes_built_later() {
    if target::mysql().is_some() {
        // Indexes are deferred on MariaDB only.
        return;
    }
    let pair = pair();
    let mut differing = Vec::new();
    for seed in seeds(INDEX_SEEDS) {
        for generator in [script::statements as Generator, wide::statements, with_fulltext] {
            let dump = generator(seed).concat();
            let ahead = names(&dump);
            let contenders = &[Contender::DeferredIndexes];
            let terms = Terms { contenders, force: false, row_times: true, is_stricter: false, ahead: &ahead };
            let mut found = compare(&pair, Dump::Bytes(&dump), terms);
            if !found.failures.is_empty() {
                found.differences.retain(|difference| !is_addition(difference));
                if dump.contains(&b'`') {
                    // Names that are not as plain as those looked for.
                    continue;
                }
            }
            if !found.differences.is_empty() {
                differing.push(format!("== HORTATOR_SEEDS={seed}-{seed}: {}", found.differences.join("\n")));
            }
        }
    }
    let count = differing.len();
    assert!(count == 0, "{count} dumps differ from the client:\n\n{}\n", differing.join("\n\n"));
}

/// The wide statements, in which many tables have a FULLTEXT index.
fn with_fulltext(seed: u64) -> Vec<Vec<u8>> {
    let with_key = |statement: Vec<u8>| match String::from_utf8(statement) {
        Ok(text) if text.contains("v VARCHAR(40)") && !text.contains("PARTITION") => {
            text.replacen(") ENGINE=InnoDB", ", FULLTEXT KEY words (v)) ENGINE=InnoDB", 1).into_bytes()
        }
        Ok(text) => text.into_bytes(),
        Err(bytes) => bytes.into_bytes(),
    };
    wide::statements(seed).into_iter().map(with_key).collect()
}

/// The statements that it takes to differ in the same way, and how they differ.
fn cut_down(
    pair: &Pair,
    seed: u64,
    mut statements: Vec<Vec<u8>>,
    mut found: Vec<String>,
) -> (Vec<Vec<u8>>, Vec<String>) {
    let wanted = what(&found[0]);
    let mut cuts = 0;
    let mut step = statements.len().div_ceil(2);
    while step > 0 {
        let mut index = 0;
        while index < statements.len() && cuts < CUTS_LIMIT {
            let mut fewer = statements.clone();
            fewer.drain(index..(index + step).min(statements.len()));
            cuts += 1;
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
    (statements, found)
}

/// What a difference is about, without its numbers: `Default: hortator_case: rows of log`.
fn what(difference: &str) -> String {
    difference.lines().next().unwrap_or_default().split(':').take(3).collect::<Vec<_>>().join(":")
}

#[test]
fn a_seed_gives_one_dump() {
    for generator in [script::statements as Generator, wide::statements] {
        assert_eq!(generator(7), generator(7));
        assert_ne!(generator(7), generator(8));
    }
}
