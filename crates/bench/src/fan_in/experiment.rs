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
use crate::{Error, measure, server};

/// What is to be measured.
#[derive(Debug)]
pub struct Experiment {
    /// The number of sources.
    pub sources: usize,
    /// Transactions of all sources together.
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

/// One drained backlog.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// What was drained.
    pub workload: Workload,
    /// By whom.
    pub contender: Contender,
    /// How long it took.
    pub wall: Duration,
    /// CPU time of the target.
    pub target_cpu: Duration,
    /// The agent's share, of `hortator replicate`.
    pub agent: Option<Agent>,
}

/// The result.
#[derive(Debug)]
pub struct Outcome {
    /// The number of sources.
    pub sources: usize,
    /// Transactions of all sources together.
    pub transactions: u64,
    /// All runs; each has left the target equal to the sources.
    pub runs: Vec<Run>,
    /// The server's version.
    pub version: String,
}

impl Experiment {
    /// Runs it; `say` takes a line for each step.
    ///
    /// # Errors
    /// When a server or a contender fails, or leaves another state than the sources'.
    pub fn run(&self, say: &mut dyn FnMut(&str)) -> Result<Outcome, Error> {
        std::fs::create_dir_all(&self.folder).map_err(Error::io(format!("creating {}", self.folder.display())))?;
        let mut outcome = Outcome {
            sources: self.sources,
            transactions: self.transactions,
            runs: Vec::new(),
            version: String::new(),
        };
        for workload in &self.workloads {
            say(&format!("{}: {} sources write their backlogs", workload.name(), self.sources));
            let each = self.transactions / self.sources as u64;
            let sources: Vec<Source> = (0..self.sources)
                .map(|number| Source::start(number, *workload, each, &self.stop))
                .collect::<Result<_, Error>>()?;
            if let Some(first) = sources.first() {
                outcome.version = format!("MariaDB {}", version(&mut connect(&first.server)?)?);
            }
            for round in 0..self.rounds {
                // Each round begins with another contender.
                for index in 0..self.contenders.len() {
                    let contender = self.contenders[(index + round) % self.contenders.len()];
                    let run = self.measure(*workload, contender, &sources)?;
                    say(&format!("{}: {contender}: {:.2} s", workload.name(), run.wall.as_secs_f64()));
                    outcome.runs.push(run);
                }
            }
        }
        Ok(outcome)
    }

    fn measure(&self, workload: Workload, contender: Contender, sources: &[Source]) -> Result<Run, Error> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let builder =
            server::SETTINGS.iter().fold(Builder::standalone(), |builder, (name, value)| builder.set(*name, *value));
        let target = builder.interrupt_flag(Arc::clone(&self.stop)).start_temporary()?;
        for source in sources {
            set_up(&mut connect(&target)?, &source.schema, workload)?;
        }
        let process = target.node(0).pid().ok_or(Error::Ended { node: 1 })?;
        let cpu = || measure::cpu_time(process).map_err(Error::io("reading the target's CPU time"));
        let before = cpu()?;
        let (wall, agent) = contender::drain(contender, sources, &target, &self.hortator, &self.folder, &self.stop)?;
        let target_cpu = cpu()?.saturating_sub(before);
        let mut connection = connect(&target)?;
        for source in sources {
            if checksums(&mut connection, &source.schema, workload)? != source.checksums {
                let text = format!("{contender} left other rows in {} than the source has", source.schema);
                return Err(Error::Answer(text));
            }
        }
        Ok(Run { workload, contender, wall, target_cpu, agent })
    }
}

fn version(connection: &mut Connection) -> Result<String, Error> {
    let rows = connection.fetch(b"SELECT VERSION()").map_err(Error::server("asking for the version"))?;
    let version = rows.into_iter().flatten().flatten().next().unwrap_or_default();
    Ok(String::from_utf8_lossy(&version).into_owned())
}
