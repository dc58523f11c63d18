//! The speed of servers with Hortator's provider compared with Galera: a single node of each and a server without a
//! provider, or three nodes of each ([`Suite`]).
//!
//! All run on one machine, with the same settings except those that give each the same durability ([`Durability`]). One
//! server or cluster runs at a time: it starts on empty data, runs all workloads, and is removed; the rounds interleave
//! them. After each workload all nodes must have the confirmed rows. On a shared machine, the servers' CPU time per row
//! is a more stable figure than rows per second; for a cluster it is that of all its nodes together.

pub(crate) mod contender;
mod hot_row;
mod inserts;
mod load;
mod report;
mod suite;
mod workload;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hortator_mysql::Connection;
use hortator_mysql::error::DEADLOCK;

use crate::Error;
use crate::employees::{self, Dump};
use crate::load_generator::Generated;
use crate::nodes::Nodes;

pub use crate::load_generator::Threads;
pub use crate::resource_usage::ResourceUsage;
pub use contender::{Contender, Durability};
pub use report::{markdown, table};
pub use suite::Suite;
pub use workload::Workload;

/// The schema of the tables of inserts and updates.
const SCHEMA: &str = "work";

/// The parameters of the experiment.
#[derive(Debug)]
pub struct Experiment {
    /// The contenders and the number of nodes.
    pub suite: Suite,
    /// Runs of each workload on each contender.
    pub rounds: usize,
    /// The measured time of inserts and updates.
    pub time: Duration,
    /// The workloads: some of [`Suite::workloads`].
    pub workloads: Vec<Workload>,
    /// The dump's size; 1 is all of the sample's rows.
    pub scale: f64,
    /// The folder of the dump (kept for later experiments) and of the logs.
    pub folder: PathBuf,
    /// Set to end the experiment.
    pub stop: Arc<AtomicBool>,
}

/// One run of a workload.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The durability.
    pub durability: Durability,
    /// The workload.
    pub workload: Workload,
    /// The contender.
    pub contender: Contender,
    /// The result.
    pub done: Done,
}

/// The result of a workload.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// Confirmed rows.
    pub rows: u64,
    /// Statements that got error 1213 and were sent again.
    pub conflicts: u64,
    /// The resources of the run.
    pub usage: ResourceUsage,
    /// The time from the end of the last statement until all nodes had applied everything.
    pub apply_lag: Duration,
}

impl From<Generated> for Done {
    fn from(generated: Generated) -> Self {
        let Generated { rows, errors, usage, apply_lag, .. } = generated;
        Self { rows: rows.round() as u64, conflicts: errors.get(&DEADLOCK).copied().unwrap_or(0), usage, apply_lag }
    }
}

/// Creates [`SCHEMA`] and in it what these statements create.
fn set_up(connection: &mut Connection, statements: &[&str]) -> Result<(), hortator_mysql::Error> {
    connection.execute(format!("CREATE DATABASE {SCHEMA}").as_bytes())?;
    connection.execute(format!("USE {SCHEMA}").as_bytes())?;
    statements.iter().try_for_each(|sql| connection.execute(sql.as_bytes()).map(drop))
}

impl Run {
    /// Confirmed rows per second.
    #[must_use]
    pub fn rows_per_s(&self) -> f64 {
        self.done.rows as f64 / self.done.usage.wall.as_secs_f64()
    }

    /// Microseconds of the servers' CPU time per confirmed row.
    #[must_use]
    pub fn cpu_us_per_row(&self) -> f64 {
        self.done.usage.server_cpu.as_secs_f64() * 1e6 / self.done.rows as f64
    }
}

/// The result of the experiment.
#[derive(Debug)]
pub struct Outcome {
    /// The contenders and the number of nodes.
    pub suite: Suite,
    /// Runs of each workload on each contender.
    pub rounds: usize,
    /// The measured time of inserts and updates.
    pub time: Duration,
    /// The loaded dump, if loading was a workload.
    pub dump: Option<Dump>,
    /// Every run, in order of time.
    pub runs: Vec<Run>,
    /// The versions of the servers and providers.
    pub versions: Vec<String>,
}

impl Experiment {
    /// Runs the experiment, and calls `say` with a line for each step.
    ///
    /// # Errors
    /// Any [`Error`], also if a node lacks confirmed rows; the servers are removed then.
    pub fn run(&self, say: &mut dyn FnMut(&str)) -> Result<Outcome, Error> {
        fs::create_dir_all(&self.folder).map_err(Error::io(format!("creating {}", self.folder.display())))?;
        let dump = if self.workloads.contains(&Workload::Load) { Some(self.dump(say)?) } else { None };
        let (runs, versions) = (Vec::new(), Vec::new());
        let mut outcome = Outcome { suite: self.suite, rounds: self.rounds, time: self.time, dump, runs, versions };
        for round in 0..self.rounds {
            for durability in Durability::ALL {
                let contenders = self.suite.contenders();
                // Rotate which contender is first.
                for contender in contenders.iter().cycle().skip(round % contenders.len()).take(contenders.len()) {
                    let title = format!("{}, {}", durability.title(), contender.title());
                    say(&format!("round {}/{}: {title}: starting", round + 1, self.rounds));
                    let nodes = contender.start(self.suite, durability, &self.stop)?;
                    collect_versions(*contender, &nodes, &mut outcome.versions)?;
                    let worked = self.work(*contender, durability, &nodes, &mut outcome, say);
                    worked.inspect_err(|error| self.keep_error_logs(error, &nodes, say))?;
                }
            }
        }
        Ok(outcome)
    }

    /// Runs all workloads, one after the other.
    fn work(
        &self,
        contender: Contender,
        durability: Durability,
        nodes: &Nodes,
        outcome: &mut Outcome,
        say: &mut dyn FnMut(&str),
    ) -> Result<(), Error> {
        for workload in &self.workloads {
            let done = self.cell(*workload, outcome.dump.as_ref(), nodes)?;
            let run = Run { durability, workload: *workload, contender, done };
            say(&format!("  {}", report::line(&run)));
            outcome.runs.push(run);
        }
        Ok(())
    }

    /// Keeps the error logs of servers that are about to be removed.
    fn keep_error_logs(&self, error: &Error, nodes: &Nodes, say: &mut dyn FnMut(&str)) {
        if matches!(error, Error::Interrupted) {
            return;
        }
        match nodes.copy_error_logs(&self.folder) {
            Ok(()) => say(&format!("the nodes' error logs are in {}", self.folder.display())),
            Err(error) => say(&format!("cannot copy the nodes' error logs: {error}")),
        }
    }

    fn dump(&self, say: &mut dyn FnMut(&str)) -> Result<Dump, Error> {
        say(&format!("dump: generating it, or reusing it, in {}", self.folder.display()));
        employees::cached(&self.folder, self.scale)
    }

    fn cell(&self, workload: Workload, dump: Option<&Dump>, nodes: &Nodes) -> Result<Done, Error> {
        nodes.quiesce_without(SCHEMA)?;
        match (workload, dump) {
            (Workload::Inserts { threads, rows }, _) => inserts::run(nodes, threads, rows, self.time, &self.stop),
            (Workload::HotRow(threads), _) => hot_row::run(nodes, threads, self.time, &self.stop),
            (Workload::Load, Some(dump)) => load::run(dump, nodes, &self.folder, &self.stop),
            (Workload::Load, None) => unreachable!("the dump exists if it is a workload"),
        }
    }
}

/// Adds the versions of the server and its provider.
fn collect_versions(contender: Contender, nodes: &Nodes, versions: &mut Vec<String>) -> Result<(), Error> {
    let server = format!("server {}", nodes.connect(0)?.version().text);
    let provider = if contender == Contender::NoProvider { None } else { Some(nodes.provider()?) };
    for found in [Some(server), provider].into_iter().flatten() {
        if !versions.contains(&found) {
            versions.push(found);
        }
    }
    Ok(())
}
