//! One load that is killed and resumed repeatedly, with its server: more often than in the usual tests.

use std::path::Path;

use anyhow::{Context, bail};

use crate::cargo::cargo;

/// The default number of kills.
const KILLS: &str = "120";

/// Runs the test with that many kills.
pub(crate) fn run(repository: &Path, kills: Option<&str>) -> anyhow::Result<()> {
    let kills = kills.unwrap_or(KILLS);
    if kills.parse::<u32>().is_err() {
        bail!("`{kills}` is not a number of kills");
    }
    let mut tests = cargo();
    tests.current_dir(repository).env("HORTATOR_KILLS", kills);
    tests.args(["test", "--locked", "--package", "hortator", "--test", "it", "--", "killed_again", "--nocapture"]);
    if !tests.status().context("cannot run cargo")?.success() {
        bail!("the result differs from that of an undisturbed load");
    }
    Ok(())
}
