//! One load that is killed again and again, with its server, and gone on with: more often than the usual tests do.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

/// Kills, unless told otherwise.
const KILLS: &str = "120";

/// Runs the test with so many kills.
pub(crate) fn run(repository: &Path, kills: Option<&str>) -> anyhow::Result<()> {
    let kills = kills.unwrap_or(KILLS);
    if kills.parse::<u32>().is_err() {
        bail!("`{kills}` is no number of kills");
    }
    let mut tests = Command::new(env!("CARGO"));
    tests.current_dir(repository).env("HORTATOR_KILLS", kills);
    tests.args(["test", "--locked", "--package", "hortator", "--test", "it", "--", "killed_again", "--nocapture"]);
    if !tests.status().context("cannot run cargo")?.success() {
        bail!("the end is not that of an undisturbed load");
    }
    Ok(())
}
