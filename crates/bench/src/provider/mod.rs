//! How fast servers with Hortator's provider are, beside those with Galera's: a single node of each and a server with none,
//! or three nodes of each ([`Lineup`]).
//!
//! On one machine, with the same settings but for those by which each keeps the same promise ([`Promise`]). One server or
//! cluster runs at a time: it is started on empty data, does all workloads, and is gone; the rounds interleave them. After
//! each workload all nodes must have what was confirmed. On a machine that does other things besides, the servers' CPU time
//! for a row is the steadier figure than rows by the second; that of a cluster is of all its nodes together.

mod contender;
mod hot_row;
mod inserts;
mod lineup;
mod load;
mod pressure;
mod report;
mod settled;
mod spent;
mod workload;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::Error;
use crate::employees::{self, Dump};
use crate::nodes::Nodes;

pub use contender::{Contender, Promise};
pub use lineup::Lineup;
pub use report::{markdown, table};
pub use spent::Spent;
pub use workload::{Threads, Workload};

/// What is to be done.
#[derive(Debug)]
pub struct Experiment {
    /// Who takes part, and with how many nodes.
    pub lineup: Lineup,
    /// How often each of them does each workload.
    pub rounds: usize,
    /// For how long inserts and updates are measured.
    pub time: Duration,
    /// What the servers are given to do: some of [`Lineup::workloads`].
    pub workloads: Vec<Workload>,
    /// The dump's size; 1 is all of the sample's rows.
    pub scale: f64,
    /// Where the dump is made and found again, and where logs go.
    pub folder: PathBuf,
    /// Raised when the experiment is to end.
    pub stop: Arc<AtomicBool>,
}

/// One workload done once.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Under which promise.
    pub promise: Promise,
    /// What was done.
    pub workload: Workload,
    /// By whom.
    pub contender: Contender,
    /// What came of it.
    pub done: Done,
}

/// What came of a workload.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// Rows that were confirmed.
    pub rows: u64,
    /// Statements that got error 1213, and were sent again.
    pub refused: u64,
    /// What it took.
    pub spent: Spent,
    /// How long after the last statement's end all nodes had everything.
    pub behind: Duration,
}

impl Run {
    /// Confirmed rows by the second.
    #[must_use]
    pub fn rows_per_s(&self) -> f64 {
        self.done.rows as f64 / self.done.spent.wall.as_secs_f64()
    }

    /// Microseconds of the servers' CPU for each confirmed row.
    #[must_use]
    pub fn cpu_us_per_row(&self) -> f64 {
        self.done.spent.server_cpu.as_secs_f64() * 1e6 / self.done.rows as f64
    }
}

/// What came out.
#[derive(Debug)]
pub struct Outcome {
    /// Who took part.
    pub lineup: Lineup,
    /// How often each did each workload.
    pub rounds: usize,
    /// For how long inserts and updates were measured.
    pub time: Duration,
    /// What was loaded, if that was a workload.
    pub dump: Option<Dump>,
    /// Every run, in the order of time.
    pub runs: Vec<Run>,
    /// The versions of what took part.
    pub versions: Vec<String>,
}

impl Experiment {
    /// Does it all, with a line to `say` for each step.
    ///
    /// # Errors
    /// Any [`Error`], also where a node lacks what was confirmed; the servers are gone then.
    pub fn run(&self, say: &mut dyn FnMut(&str)) -> Result<Outcome, Error> {
        fs::create_dir_all(&self.folder).map_err(Error::io(format!("creating {}", self.folder.display())))?;
        let dump = if self.workloads.contains(&Workload::Load) { Some(self.dump(say)?) } else { None };
        let (runs, versions) = (Vec::new(), Vec::new());
        let mut outcome = Outcome { lineup: self.lineup, rounds: self.rounds, time: self.time, dump, runs, versions };
        for round in 0..self.rounds {
            for promise in Promise::ALL {
                let contenders = self.lineup.contenders();
                // Each is first in turn.
                for contender in contenders.iter().cycle().skip(round % contenders.len()).take(contenders.len()) {
                    let title = format!("{}, {}", promise.title(), contender.title());
                    say(&format!("round {}/{}: {title}: starting", round + 1, self.rounds));
                    let nodes = contender.start(self.lineup, promise, &self.stop)?;
                    take_versions(*contender, &nodes, &mut outcome.versions)?;
                    let worked = self.work(*contender, promise, &nodes, &mut outcome, say);
                    worked.inspect_err(|error| self.keep_error_logs(error, &nodes, say))?;
                }
            }
        }
        Ok(outcome)
    }

    /// All workloads, one after the other.
    fn work(
        &self,
        contender: Contender,
        promise: Promise,
        nodes: &Nodes,
        outcome: &mut Outcome,
        say: &mut dyn FnMut(&str),
    ) -> Result<(), Error> {
        for workload in &self.workloads {
            let done = self.cell(*workload, outcome.dump.as_ref(), nodes)?;
            let run = Run { promise, workload: *workload, contender, done };
            say(&format!("  {}", report::line(&run)));
            outcome.runs.push(run);
        }
        Ok(())
    }

    /// The servers are gone soon: what they said of it stays.
    fn keep_error_logs(&self, error: &Error, nodes: &Nodes, say: &mut dyn FnMut(&str)) {
        if matches!(error, Error::Interrupted) {
            return;
        }
        match nodes.copy_error_logs(&self.folder) {
            Ok(()) => say(&format!("the nodes' error logs are in {}", self.folder.display())),
            Err(error) => say(&format!("the nodes' error logs are lost: {error}")),
        }
    }

    fn dump(&self, say: &mut dyn FnMut(&str)) -> Result<Dump, Error> {
        say(&format!("dump: making or finding it in {}", self.folder.display()));
        employees::cached(&self.folder, self.scale)
    }

    fn cell(&self, workload: Workload, dump: Option<&Dump>, nodes: &Nodes) -> Result<Done, Error> {
        nodes.rest_without(pressure::SCHEMA)?;
        match (workload, dump) {
            (Workload::Inserts { threads, rows }, _) => inserts::run(nodes, threads, rows, self.time, &self.stop),
            (Workload::HotRow(threads), _) => hot_row::run(nodes, threads, self.time, &self.stop),
            (Workload::Load, Some(dump)) => load::run(dump, nodes, &self.folder, &self.stop),
            (Workload::Load, None) => unreachable!("the dump is made when it is to be loaded"),
        }
    }
}

/// Of the server, and of its provider.
fn take_versions(contender: Contender, nodes: &Nodes, versions: &mut Vec<String>) -> Result<(), Error> {
    let server = format!("server {}", nodes.connect(0)?.version().text);
    let provider = if contender == Contender::Alone { None } else { Some(nodes.provider()?) };
    for found in [Some(server), provider].into_iter().flatten() {
        if !versions.contains(&found) {
            versions.push(found);
        }
    }
    Ok(())
}
