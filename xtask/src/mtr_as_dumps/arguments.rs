//! What the command line of `cargo xtask mtr-as-dumps` asks for.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};

const TIMEOUT: Duration = Duration::from_secs(60);
const JOBS: usize = 2;

/// Which dump is made of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variant {
    /// All statements.
    Whole,
    /// Without those that only print, and up to a place that the seed chooses.
    Cut,
}

/// A command line, understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Arguments {
    /// Suites (`main`), tests (`main.alter_table`) or SQL files.
    pub(super) names: Vec<String>,
    pub(super) seed: u64,
    pub(super) limit: Option<usize>,
    pub(super) variant: Variant,
    pub(super) hortator: Option<PathBuf>,
    pub(super) jobs: usize,
    pub(super) timeout: Duration,
    pub(super) keep: Option<PathBuf>,
    pub(super) reduce: bool,
    /// A page with further explained differences.
    pub(super) explained: Option<PathBuf>,
    /// Options of the servers.
    pub(super) settings: Vec<(String, String)>,
    /// Options of `hortator load`.
    pub(super) options: Vec<String>,
}

impl Arguments {
    pub(super) fn parse(mut words: impl Iterator<Item = String>) -> anyhow::Result<Arguments> {
        let mut arguments = Arguments {
            names: Vec::new(),
            seed: 1,
            limit: None,
            variant: Variant::Whole,
            hortator: None,
            jobs: JOBS,
            timeout: TIMEOUT,
            keep: None,
            reduce: false,
            explained: None,
            settings: Vec::new(),
            options: Vec::new(),
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} needs a value"));
            match word.as_str() {
                "--seed" => arguments.seed = value()?.parse().context("--seed takes a number")?,
                "--limit" => arguments.limit = Some(value()?.parse().context("--limit takes a number")?),
                "--variant" => {
                    arguments.variant = match value()?.as_str() {
                        "whole" => Variant::Whole,
                        "cut" => Variant::Cut,
                        other => bail!("--variant takes `whole` or `cut`, not `{other}`"),
                    }
                }
                "--hortator" => arguments.hortator = Some(value()?.into()),
                "--jobs" => arguments.jobs = value()?.parse().context("--jobs takes a number")?,
                "--timeout" => {
                    arguments.timeout = Duration::from_secs(value()?.parse().context("--timeout takes seconds")?);
                }
                "--keep" => arguments.keep = Some(value()?.into()),
                "--explained" => arguments.explained = Some(value()?.into()),
                "--reduce" => arguments.reduce = true,
                "--set" => {
                    let setting = value()?;
                    let (name, value) = setting.split_once('=').context("--set takes NAME=VALUE")?;
                    arguments.settings.push((name.to_owned(), value.to_owned()));
                }
                "--" => arguments.options.extend(words.by_ref()),
                other if other.starts_with('-') => bail!("`{other}` is no option of mtr-as-dumps"),
                name => arguments.names.push(name.to_owned()),
            }
        }
        if arguments.jobs == 0 {
            bail!("--jobs takes a number above 0");
        }
        Ok(arguments)
    }
}
