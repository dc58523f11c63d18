//! `cargo xtask mtr`: the server's own test suites, with Hortator's provider and with Galera's, side by side.
//!
//! The suites come with Debian's package mariadb-test. They run as the account `mysql`, in a folder that is gone
//! afterwards. What whole suites did goes into `docs/provider-status.md`, between two markers; the reasons that people have
//! written there stay.
//!
//! Slow (`wsrep` half a minute, `single` ten minutes with each provider), and no part of `make test`.

mod account;
mod arguments;
mod output;
mod provider;
mod runner;
mod single_node;
mod status;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::Path;

use anyhow::Context;

use arguments::Arguments;
use output::{Outcome, Test};
use runner::Runner;
pub(crate) use runner::suites_folder;

/// The page with what the suites did.
const STATUS_PAGE: &str = "docs/provider-status.md";

/// What was run: a suite, the tests that one node is enough for, or single tests.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    name: String,
    /// All of it ran, so that its results can stand for it.
    is_whole: bool,
    suites: Vec<String>,
    /// As in `galera.basic`; none means all.
    tests: Option<Vec<String>>,
    /// Both nodes that a test speaks to are one server.
    on_one_node: bool,
}

/// What a group's tests did with a provider.
#[derive(Debug)]
struct Run {
    group: String,
    provider: &'static str,
    is_whole: bool,
    tests: Vec<Test>,
}

/// Runs what the command line names.
pub(crate) fn run(repository: &Path, arguments: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let Arguments { providers, groups } = Arguments::parse(arguments)?;
    let runner = Runner::new(repository)?;
    let mut runs = Vec::new();
    for group in &groups {
        for provider in &providers {
            let library = provider.library(repository)?;
            let tests = runner.run(group, *provider, &library)?;
            runs.push(Run { group: group.name.clone(), provider: provider.name(), is_whole: group.is_whole, tests });
        }
    }
    print!("{}", status::summary(&runs));
    if runs.iter().any(|run| run.is_whole) {
        let path = repository.join(STATUS_PAGE);
        let page = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let page = status::regenerated(&page, &runs)?;
        fs::write(&path, page).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

impl Run {
    fn count(&self, is_counted: fn(&Outcome) -> bool) -> usize {
        self.tests.iter().filter(|test| is_counted(&test.outcome)).count()
    }
}
