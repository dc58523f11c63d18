//! What the command line of `cargo xtask replicate-streams` asks for.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};

/// What runs when nothing is named.
const SUITES: [&str; 3] = ["rpl", "binlog", "multi_source"];
const FORMATS: [&str; 2] = ["ROW", "MIXED"];
const TIMEOUT: Duration = Duration::from_secs(20);
const JOBS: usize = 2;

/// A command line, understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Arguments {
    /// Suites (`rpl`) or tests (`rpl.rpl_ddl`).
    pub(super) names: Vec<String>,
    /// Values of `binlog_format`.
    pub(super) formats: Vec<String>,
    pub(super) limit: Option<usize>,
    pub(super) hortator: Option<PathBuf>,
    pub(super) jobs: usize,
    /// How long the statements of a file may take.
    pub(super) timeout: Duration,
    /// Where all that was found is written, a file for each test.
    pub(super) keep: Option<PathBuf>,
    /// Where the page goes.
    pub(super) page: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn parse(mut words: impl Iterator<Item = String>) -> anyhow::Result<Arguments> {
        let mut arguments = Arguments {
            names: Vec::new(),
            formats: FORMATS.map(str::to_owned).to_vec(),
            limit: None,
            hortator: None,
            jobs: JOBS,
            timeout: TIMEOUT,
            keep: None,
            page: None,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} needs a value"));
            match word.as_str() {
                "--format" => arguments.formats = vec![value()?.to_ascii_uppercase()],
                "--limit" => arguments.limit = Some(value()?.parse().context("--limit takes a number")?),
                "--hortator" => arguments.hortator = Some(value()?.into()),
                "--jobs" => arguments.jobs = value()?.parse().context("--jobs takes a number")?,
                "--timeout" => {
                    arguments.timeout = Duration::from_secs(value()?.parse().context("--timeout takes seconds")?);
                }
                "--keep" => arguments.keep = Some(value()?.into()),
                "--page" => arguments.page = Some(value()?.into()),
                "--only" => arguments.names.push(value()?),
                other if other.starts_with('-') => bail!("`{other}` is no option of replicate-streams"),
                name => arguments.names.push(name.to_owned()),
            }
        }
        if arguments.names.is_empty() {
            arguments.names = SUITES.map(str::to_owned).to_vec();
        }
        if arguments.jobs == 0 {
            bail!("--jobs takes a number above 0");
        }
        Ok(arguments)
    }
}
