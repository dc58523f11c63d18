//! `hortator bench foreign-keys`.

use std::fmt;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use hortator_bench::deployment::Deployment;
use hortator_bench::foreign_keys::{Experiment, Parents, page};

use super::extent::{ExtentArgs, NodeArgs, deployment, parents, scale};
use super::page_output::PageArgs;

/// The sample's size with `--quick` and with `--full`.
const QUICK_SCALE: f64 = 0.05;
const FULL_SCALE: f64 = 1.0;
/// The measured time of inserts.
const QUICK_TIME: Duration = Duration::from_secs(1);
const FULL_TIME: Duration = Duration::from_secs(10);
/// Where one connection inserts children, if the user does not say: one node shows a provider's own cost in loads already.
const SWEEP: [Deployment; 3] = [Deployment::Alone, Deployment::Galera(3), Deployment::Hortator(3)];

/// Arguments of `hortator bench foreign-keys`.
#[derive(Debug, Args)]
pub struct ForeignKeysArgs {
    /// Size of the sample: 1 is 3.9 million rows and 170 MB [default: 0.05; with --full: 1]
    #[arg(long, value_name = "F", value_parser = scale)]
    scale: Option<f64>,
    /// Servers, of alone, G1, G3 (Galera), H1 and H3 (Hortator's provider); or parts, of loads and sweep (inserts of one
    /// connection by rows per statement) [default: all; the sweep: alone, G3 and H3]
    #[arg(long, value_name = "CELL", value_delimiter = ',', value_parser = choice)]
    only: Vec<Choice>,
    /// Parents of the sweep: the rows of a statement are children of many employees or of one [default: many; with --full:
    /// both]
    #[arg(long, value_name = "PARENTS", value_delimiter = ',', value_parser = parents)]
    parents: Vec<Parents>,
    #[command(flatten)]
    nodes: NodeArgs,
    #[command(flatten)]
    extent: ExtentArgs,
    #[command(flatten)]
    page: PageArgs,
}

/// What `--only` names.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Choice {
    Loads,
    Sweep,
    Servers(Deployment),
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loads => f.write_str("loads"),
            Self::Sweep => f.write_str("sweep"),
            Self::Servers(deployment) => deployment.fmt(f),
        }
    }
}

fn choice(text: &str) -> Result<Choice, String> {
    match text {
        "loads" => Ok(Choice::Loads),
        "sweep" => Ok(Choice::Sweep),
        other => deployment(other).map(Choice::Servers).map_err(|error| format!("the parts are loads, sweep; {error}")),
    }
}

pub(super) fn run(args: ForeignKeysArgs) -> anyhow::Result<ExitCode> {
    args.page.check_with(&args.nodes.node_set)?;
    let ForeignKeysArgs { scale, only, parents, nodes: _, extent, page: output } = args;
    let is_part = |part: Choice| {
        only.contains(&part) || !only.iter().any(|choice| matches!(choice, Choice::Loads | Choice::Sweep))
    };
    let named = |default: &[Deployment]| {
        let named: Vec<Deployment> = only
            .iter()
            .filter_map(|choice| match choice {
                Choice::Servers(deployment) => Some(*deployment),
                Choice::Loads | Choice::Sweep => None,
            })
            .collect();
        if named.is_empty() { default.to_vec() } else { named }
    };
    let experiment = Experiment {
        loads: if is_part(Choice::Loads) { named(&Deployment::ALL) } else { Vec::new() },
        sweep: if is_part(Choice::Sweep) { named(&SWEEP) } else { Vec::new() },
        parents: match parents.is_empty() {
            true => extent.by_size(vec![Parents::Many], vec![Parents::Many, Parents::One]),
            false => parents,
        },
        only: only.iter().map(Choice::to_string).collect(),
        scale: scale.unwrap_or_else(|| extent.by_size(QUICK_SCALE, FULL_SCALE)),
        extent: extent.timed(QUICK_TIME, FULL_TIME)?,
        hortator: std::env::current_exe().context("finding this program's own file")?,
    };
    let outcome = experiment.run(&mut output.progress())?;
    output.write(&page(&experiment, &outcome), outcome.measured.unfinished.is_some())
}
