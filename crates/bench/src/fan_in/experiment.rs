//! The measurement.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hortator_mysql::Connection;
use hortator_sandbox::Builder;

use super::contender::{self, Agent};
use super::sources::{Source, checksums, connect, set_up};
use super::{Contender, Workload};
use crate::figures::{OTHER_CPU, WALL};
use crate::rounds::{self, Cell, Figures, Measured, Task};
use crate::{Error, measure, server};

/// What is to be measured.
#[derive(Debug)]
pub struct Experiment {
    /// The numbers of sources.
    pub sources: Vec<usize>,
    /// Transactions of each source.
    pub transactions: u64,
    /// How often each contender drains each backlog.
    pub rounds: usize,
    /// The backlogs.
    pub workloads: Vec<Workload>,
    /// Who drains them.
    pub contenders: Vec<Contender>,
    /// This program.
    pub hortator: PathBuf,
    /// Where configuration and log go.
    pub folder: PathBuf,
    /// Raised when the experiment is to end.
    pub stop: Arc<AtomicBool>,
}

/// The result.
#[derive(Debug)]
pub struct Outcome {
    /// All runs.
    pub measured: Measured,
    /// The server's version.
    pub version: String,
}

/// The factor that names the backlog.
pub(super) const BACKLOG: &str = "backlog";
/// The factor that says how many sources there are.
pub(super) const SOURCES: &str = "sources";
/// Transactions of all sources in a second.
pub(super) const RATE: &str = "transactions_per_s";
/// CPU time of the target.
pub(super) const TARGET_CPU: &str = "target_cpu_s";
/// CPU time of the agent.
pub(super) const AGENT_CPU: &str = "agent_cpu_s";
/// Peak resident memory of the agent.
pub(super) const AGENT_PEAK: &str = "agent_peak_mib";

/// The sources of the cell that is measured, with their backlogs.
struct Backlog {
    workload: Workload,
    sources: Vec<Source>,
}

impl Experiment {
    /// Runs it; `say` takes a line for each step. A contender that leaves other rows than the sources' has no figure.
    ///
    /// # Errors
    /// When the folder cannot be made. All other errors stand with the runs.
    pub fn run(&self, say: &mut dyn FnMut(&str)) -> Result<Outcome, Error> {
        std::fs::create_dir_all(&self.folder).map_err(Error::io(format!("creating {}", self.folder.display())))?;
        let cells: Vec<Cell> = self.cells().into_iter().map(|(cell, ..)| cell).collect();
        let tasks = rounds::plan(&cells, &self.contenders, self.rounds);
        let mut version = String::new();
        let prepare = |cell: &Cell, say: &mut dyn FnMut(&str)| {
            let backlog = self.backlog(cell, say)?;
            if let Some(first) = backlog.sources.first() {
                version = format!("MariaDB {}", server_version(&mut connect(&first.server)?)?);
            }
            Ok(backlog)
        };
        let measured = rounds::run_prepared(&tasks, say, prepare, |task, backlog| self.measure(task, backlog));
        Ok(Outcome { measured, version })
    }

    /// Each backlog with each number of sources.
    fn cells(&self) -> Vec<(Cell, Workload, usize)> {
        let with = |workload: Workload| {
            self.sources.iter().map(move |sources| {
                let factors = [(BACKLOG, workload.name().to_owned()), (SOURCES, sources.to_string())];
                (rounds::cell(&factors), workload, *sources)
            })
        };
        self.workloads.iter().flat_map(|workload| with(*workload)).collect()
    }

    fn backlog(&self, cell: &Cell, say: &mut dyn FnMut(&str)) -> Result<Backlog, Error> {
        let found = self.cells().into_iter().find(|(other, ..)| other == cell);
        let (_, workload, sources) = found.ok_or_else(|| Error::Answer(format!("no such cell: {cell:?}")))?;
        say(&format!("{}: {sources} sources write their backlogs", workload.name()));
        let start = |number| Source::start(number, workload, self.transactions, &self.stop);
        Ok(Backlog { workload, sources: (0..sources).map(start).collect::<Result<_, Error>>()? })
    }

    fn measure(&self, task: &Task<Contender>, backlog: &Backlog) -> Result<Figures, Error> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let Backlog { workload, sources } = backlog;
        let contender = task.contender;
        let builder =
            server::SETTINGS.iter().fold(Builder::standalone(), |builder, (name, value)| builder.set(*name, *value));
        let target = builder.interrupt_flag(Arc::clone(&self.stop)).start_temporary()?;
        for source in sources {
            set_up(&mut connect(&target)?, &source.schema, *workload)?;
        }
        let process = target.node(0).pid().ok_or(Error::Ended { node: 1 })?;
        let cpu = || measure::cpu_time(process).map_err(Error::io("reading the target's CPU time"));
        let machine = || measure::machine_cpu_time().map_err(Error::io("reading the machine's CPU time"));
        let of_sources = || sources.iter().map(cpu_of_source).sum::<Result<Duration, Error>>();
        let (before, all_before, sources_before) = (cpu()?, machine()?, of_sources()?);
        let (wall, agent) = contender::drain(contender, sources, &target, &self.hortator, &self.folder, &self.stop)?;
        let target_cpu = cpu()?.saturating_sub(before);
        let source_cpu = of_sources()?.saturating_sub(sources_before);
        let ours = target_cpu + source_cpu + agent.map_or(Duration::ZERO, |agent| agent.cpu);
        let other_cpu = machine()?.saturating_sub(all_before).saturating_sub(ours);
        let mut connection = connect(&target)?;
        for source in sources {
            if checksums(&mut connection, &source.schema, *workload)? != source.checksums {
                let text = format!("{contender} left other rows in {} than the source has", source.schema);
                return Err(Error::Answer(text));
            }
        }
        let transactions = workload.transactions(self.transactions) * sources.len() as u64;
        Ok(figures(wall, transactions, target_cpu, agent, other_cpu))
    }
}

fn cpu_of_source(source: &Source) -> Result<Duration, Error> {
    let process = source.server.node(0).pid().ok_or(Error::Ended { node: 1 })?;
    measure::cpu_time(process).map_err(Error::io("reading a source's CPU time"))
}

fn figures(
    wall: Duration,
    transactions: u64,
    target_cpu: Duration,
    agent: Option<Agent>,
    other_cpu: Duration,
) -> Figures {
    let mut figures = vec![
        (WALL, wall.as_secs_f64()),
        (RATE, transactions as f64 / wall.as_secs_f64()),
        (TARGET_CPU, target_cpu.as_secs_f64()),
        (OTHER_CPU, other_cpu.as_secs_f64()),
    ];
    if let Some(agent) = agent {
        figures.push((AGENT_CPU, agent.cpu.as_secs_f64()));
        figures.push((AGENT_PEAK, agent.peak_bytes as f64 / f64::from(1 << 20)));
    }
    figures.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn server_version(connection: &mut Connection) -> Result<String, Error> {
    let rows = connection.fetch(b"SELECT VERSION()").map_err(Error::server("asking for the version"))?;
    let version = rows.into_iter().flatten().flatten().next().unwrap_or_default();
    Ok(String::from_utf8_lossy(&version).into_owned())
}
