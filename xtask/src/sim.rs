//! The simulators of Raft and of whole replicas, for longer than in the usual tests.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

/// The default number of runs of each kind.
const SEEDS: u64 = 20_000;

/// Runs that many seeds of every kind, from a random one or from the given one. A failed run prints its seed.
pub(crate) fn run(repository: &Path, arguments: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let (mut seeds, mut first) = (None, None);
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--seed" => first = Some(number(&arguments.next().unwrap_or_default())?),
            count => seeds = Some(number(count)?),
        }
    }
    let seeds = seeds.unwrap_or(if first.is_some() { 1 } else { SEEDS });
    let first = first.unwrap_or_else(random);
    let mut tests = Command::new(env!("CARGO"));
    tests.current_dir(repository).env("HORTATOR_SEED", first.to_string()).env("HORTATOR_SEEDS", seeds.to_string());
    tests.args(["test", "--locked", "--release", "--package", "hortator-provider", "--lib", "--"]);
    tests.args(["tests::sim::", "--nocapture"]);
    if !tests.status().context("cannot run cargo")?.success() {
        bail!("a property does not hold: replay the seed that is printed above with --seed, and HORTATOR_TRACE=1");
    }
    Ok(())
}

fn number(argument: &str) -> anyhow::Result<u64> {
    argument.parse().with_context(|| format!("`{argument}` is neither a number of seeds nor --seed and a number"))
}

/// A seed that is easy to type.
fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish() % 1_000_000_000
}
