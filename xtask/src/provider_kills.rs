//! A server with Hortator's provider, or with Galera, that is killed under its clients: more often than in the usual
//! tests.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

/// The default number of rounds.
const ROUNDS: &str = "200";

/// Runs the test with that many rounds; the result is its last output.
pub(crate) fn run(repository: &Path, arguments: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let (mut rounds, mut provider) = (ROUNDS.to_owned(), "ours".to_owned());
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--provider" => provider = arguments.next().unwrap_or_default(),
            count if count.parse::<u32>().is_ok() => rounds = argument,
            _ => bail!("`{argument}` is neither a number of rounds nor --provider"),
        }
    }
    if !["ours", "galera"].contains(&provider.as_str()) {
        bail!("--provider is ours or galera, not `{provider}`");
    }
    let mut tests = Command::new(env!("CARGO"));
    tests.current_dir(repository).env("HORTATOR_KILLS", rounds).env("HORTATOR_KILLED", &provider);
    tests.args(["test", "--locked", "--release", "--package", "hortator-sandbox", "--test", "it", "--"]);
    tests.args(["--exact", "kills::nothing_confirmed_is_lost", "--nocapture"]);
    if !tests.status().context("cannot run cargo")?.success() {
        bail!("a confirmed transaction is lost, or a transaction is partly there");
    }
    Ok(())
}
