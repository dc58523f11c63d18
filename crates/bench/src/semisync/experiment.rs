//! The measurement: which contender in which cell, on which servers.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::check::{self, Contents};
use super::clients::{Clients, Inserted};
use super::contender::Contender;
use super::factors::Variations;
use super::failover::{self, Curve};
use super::rows::Supply;
use super::servers::{Servers, check_storage};
use super::{Deployment, Factors, Keys, SCHEMA, Storage};
use crate::Error;
use crate::extent::Extent;
use crate::figures::{CORES, LAG, LATENCIES, MEASURED, OTHER_CPU, ROW_CPU};
use crate::nodes::APPLIED_TIMEOUT;
use crate::options;
use crate::progress::Observer;
use crate::resource_usage::Clocks;
use crate::rounds::{self, Cell, Figures, Measured, Task};

/// What is to be measured. The first value of each factor is the centre; the others are measured one at a time.
#[derive(Debug)]
pub struct Experiment {
    /// The servers that take inserts undisturbed.
    pub deployments: Vec<Deployment>,
    /// The servers of which one is killed: of [`Deployment::WITH_FAILOVER`].
    pub failovers: Vec<Deployment>,
    /// Rows of each run.
    pub rows: u64,
    /// Connections, on all servers together.
    pub threads: Vec<usize>,
    /// Whether a commit is on disk before it is confirmed.
    pub flush: Vec<bool>,
    /// Threads that apply the commits of other servers.
    pub appliers: Vec<usize>,
    /// Where the servers keep their data.
    pub storage: Vec<Storage>,
    /// How the threads share the keys.
    pub keys: Vec<Keys>,
    /// The tmpfs for data.
    pub tmpfs: PathBuf,
    /// The limit for a server to apply everything.
    pub catch_up_limit: Duration,
    /// Rounds, folder and end.
    pub extent: Extent,
}

/// The result.
#[derive(Debug)]
pub struct Outcome {
    /// All runs.
    pub measured: Measured,
    /// What this machine can run undisturbed, and with the loss of a server.
    pub(super) contenders: Vec<Contender>,
    pub(super) failover_contenders: Vec<Contender>,
    /// Commits per second around each kill.
    pub(super) curves: Vec<(Contender, Curve)>,
    /// Versions of servers and providers.
    pub versions: Vec<String>,
    /// Deployments that this machine cannot run, with the reason.
    pub left_out: Vec<String>,
}

/// Confirmed rows per second.
pub(super) const RATE: &str = "inserts_per_s";
/// CPU time of the threads that insert.
pub(super) const CLIENT_CPU: &str = "client_cpu_s";
/// Peak memory of all servers.
pub(super) const PEAK: &str = "server_peak_mib";

impl Experiment {
    /// The usual limit for a server to apply everything.
    pub const CATCH_UP_LIMIT: Duration = APPLIED_TIMEOUT;

    /// Runs it. The observer hears of each step. A run after which a server lacks a row, or that was not semi-synchronous to
    /// its end, has no figure.
    ///
    /// # Errors
    /// When nothing can be measured here, or the folder cannot be made. All other errors stand with the runs.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Outcome, Error> {
        self.extent.create_folder()?;
        let (contenders, failover_contenders, left_out) = self.installed();
        let tasks = self.tasks(&contenders, &failover_contenders);
        if tasks.is_empty() {
            // All that is left out of an experiment with servers is what needs a thread on each of two.
            let few = "two servers that take inserts need at least two threads".to_owned();
            let reasons = if left_out.is_empty() { few } else { left_out.join("; ") };
            return Err(Error::Answer(format!("there is nothing to measure: {reasons}")));
        }
        let mut bench = Bench { experiment: self, running: None, curves: Vec::new(), versions: Vec::new() };
        let measured = rounds::run(&tasks, None, observer, |task, say| bench.measure(&task.contender, say));
        let Bench { curves, versions, .. } = bench;
        Ok(Outcome { measured, contenders, failover_contenders, curves, versions, left_out })
    }

    pub(super) fn variations(&self) -> Variations<'_> {
        let Self { threads, flush, appliers, storage, keys, .. } = self;
        Variations { threads, flush, appliers, storage, keys }
    }

    /// What this machine can run undisturbed, and with the loss of a server; and a line for each of the others.
    fn installed(&self) -> (Vec<Contender>, Vec<Contender>, Vec<String>) {
        let mut left_out: Vec<String> = Vec::new();
        let mut of = |deployments: &[Deployment]| {
            let mut found = Vec::new();
            for deployment in deployments {
                match options::builder(deployment.topology()).check_installed() {
                    Ok(()) => found.push(*deployment),
                    Err(reason) => left_out.push(format!("{deployment} is left out: {reason}")),
                }
            }
            Contender::of(&found)
        };
        let (undisturbed, failover) = (of(&self.deployments), of(&self.failovers));
        left_out.sort();
        left_out.dedup();
        (undisturbed, failover, left_out)
    }

    /// All cells of a contender after each other, as they share servers; each contender first in turn; kills at the end of
    /// each round.
    fn tasks(&self, contenders: &[Contender], failover_contenders: &[Contender]) -> Vec<Task<Work>> {
        let (cells, centre) = (self.variations().cells(), self.variations().centre());
        let Some(centre) = centre else { return Vec::new() };
        let mut tasks = Vec::new();
        for round in 1..=self.extent.rounds {
            for contender in rotated(contenders, round - 1) {
                for factors in cells.iter().copied().filter(|factors| factors.applies_to(contender, centre)) {
                    let compares_states = round == 1 && factors == centre && contender.deployment.has_appliers();
                    let work = Work { contender, factors, is_failover: false, compares_states };
                    tasks.push(Task { cell: inserts_cell(factors), contender: work, round });
                }
            }
            for contender in rotated(failover_contenders, round - 1) {
                let work = Work { contender, factors: centre, is_failover: true, compares_states: false };
                tasks.push(Task { cell: failover_cell(centre), contender: work, round });
            }
        }
        tasks
    }

    fn storage_folder(&self, storage: Storage) -> &Path {
        match storage {
            Storage::Tmpfs => &self.tmpfs,
            Storage::Disk => &self.extent.folder,
        }
    }
}

fn rotated<T: Copy>(all: &[T], first: usize) -> Vec<T> {
    (0..all.len()).map(|index| all[(index + first) % all.len()]).collect()
}

/// The cell of undisturbed inserts.
pub(super) fn inserts_cell(factors: Factors) -> Cell {
    with_run(factors, "inserts")
}

/// The cell in which a server is killed.
pub(super) fn failover_cell(factors: Factors) -> Cell {
    with_run(factors, "failover")
}

fn with_run(factors: Factors, run: &str) -> Cell {
    let mut cell = factors.cell();
    cell.insert("run".to_owned(), run.to_owned());
    cell
}

/// One thing to measure.
#[derive(Clone, Copy, Debug)]
struct Work {
    contender: Contender,
    factors: Factors,
    is_failover: bool,
    /// Whether all that servers hold is compared, not only rows and checksums: once for each contender.
    compares_states: bool,
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.contender.fmt(f)
    }
}

/// The servers that are measured at the moment, and what they have said.
struct Bench<'a> {
    experiment: &'a Experiment,
    /// Servers, or why there are none: those that failed to start are not tried again for the next cell.
    running: Option<(Deployment, Factors, Result<Servers, String>)>,
    curves: Vec<(Contender, Curve)>,
    versions: Vec<String>,
}

impl Bench<'_> {
    fn measure(&mut self, work: &Work, say: &mut dyn FnMut(&str)) -> Result<Figures, Error> {
        self.experiment.extent.check_stop()?;
        let result = self.measure_on_servers(work, say);
        let is_good = matches!(result, Ok(_) | Err(Error::Interrupted));
        if !is_good && let Some((_, _, Ok(servers))) = &self.running {
            let folder = &self.experiment.extent.folder;
            match servers.nodes.copy_error_logs(folder) {
                Ok(()) => say(&format!("the servers' error logs are in {}", folder.display())),
                Err(error) => say(&format!("cannot copy the servers' error logs: {error}")),
            }
            self.running = None;
        }
        if work.is_failover {
            self.running = None;
        }
        result
    }

    fn measure_on_servers(&mut self, work: &Work, say: &mut dyn FnMut(&str)) -> Result<Figures, Error> {
        let Work { contender, factors, is_failover, compares_states } = *work;
        let experiment = self.experiment;
        let servers = self.servers(contender.deployment, factors, is_failover, say)?;
        servers.reset()?;
        say(&format!("{contender}: inserting"));
        match is_failover {
            false => {
                let figures = undisturbed(servers, contender, factors, experiment, say)?;
                if compares_states {
                    servers.nodes.check_same_state(SCHEMA, None)?;
                }
                Ok(figures)
            }
            true => {
                let (figures, curve) =
                    failover::run(servers, contender, factors, experiment.rows, &experiment.extent.stop)?;
                self.curves.push((contender, curve));
                Ok(figures)
            }
        }
    }

    fn servers(
        &mut self,
        deployment: Deployment,
        factors: Factors,
        is_new: bool,
        say: &mut dyn FnMut(&str),
    ) -> Result<&Servers, Error> {
        let is_it =
            |(running, of, _): &(Deployment, Factors, _)| *running == deployment && of.has_same_servers(factors);
        if is_new || !self.running.as_ref().is_some_and(is_it) {
            self.running = None;
            say(&format!("{deployment}: starting"));
            let started = match self.start(deployment, factors) {
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                started => started.map_err(|error| format!("{deployment} did not start: {error}")),
            };
            self.running = Some((deployment, factors, started));
        }
        match &self.running {
            Some((_, _, Ok(servers))) => Ok(servers),
            Some((_, _, Err(reason))) => Err(Error::Answer(reason.clone())),
            None => Err(Error::Answer(format!("{deployment} did not start"))),
        }
    }

    fn start(&mut self, deployment: Deployment, factors: Factors) -> Result<Servers, Error> {
        let Experiment { rows, catch_up_limit, extent: Extent { stop, .. }, .. } = self.experiment;
        let folder = self.experiment.storage_folder(factors.storage);
        check_storage(factors.storage, folder, deployment.nodes(), *rows)?;
        let servers = Servers::start(deployment, factors, folder, *catch_up_limit, stop)?;
        for version in servers.versions()? {
            if !self.versions.contains(&version) {
                self.versions.push(version);
            }
        }
        Ok(servers)
    }
}

/// Inserts all rows, waits until every server has them, and compares.
fn undisturbed(
    servers: &Servers,
    contender: Contender,
    factors: Factors,
    experiment: &Experiment,
    say: &mut dyn FnMut(&str),
) -> Result<Figures, Error> {
    let supply = Supply::new(factors.keys, experiment.rows, factors.threads, servers.nodes.count());
    let clients = Clients {
        nodes: &servers.nodes,
        supply,
        threads: factors.threads,
        writers: contender.writers,
        can_move: false,
        stop: &experiment.extent.stop,
    };
    let unacknowledged = servers.unacknowledged()?;
    // When all threads are connected.
    let (inserted, before) = clients.run(&[], |_| Clocks::read(&servers.nodes))?;
    let end = Clocks::read(&servers.nodes)?;
    say(&format!("{contender}: waiting until each server has everything"));
    servers.wait_until_equal()?;
    let equal = Clocks::read(&servers.nodes)?;

    say(&format!("{contender}: comparing the servers"));
    let work = format!("{} threads", factors.threads);
    if inserted.unknown.is_empty() {
        let confirmed = Contents::of_keys(inserted.confirmed.iter().map(|row| row.key));
        check::check_contents(servers, &work, confirmed)?;
    } else {
        check::check_none_lost(check::survival(servers, &work, &inserted)?, &work)?;
    }
    check::check_semisync(servers, &unacknowledged)?;
    // The servers' CPU time until all have everything: appliers that come later cost as much.
    let (threads, all) = (end.since(&before), equal.since(&before));
    if inserted.confirmed.is_empty() {
        return Err(Error::Answer(format!("no row was confirmed: the errors were {}", inserted.errors.text())));
    }
    let mut figures = figures(&inserted);
    figures.extend([
        (LAG.to_owned(), equal.since(&end).wall.as_secs_f64()),
        (CORES.to_owned(), all.server_cpu.as_secs_f64() / all.wall.as_secs_f64()),
        (ROW_CPU.to_owned(), all.server_cpu.as_secs_f64() * 1e6 / inserted.confirmed.len().max(1) as f64),
        (MEASURED.to_owned(), all.wall.as_secs_f64()),
        (CLIENT_CPU.to_owned(), threads.own_cpu.as_secs_f64()),
        (OTHER_CPU.to_owned(), all.other_cpu.as_secs_f64()),
        (PEAK.to_owned(), servers.nodes.peak_memory_bytes() as f64 / f64::from(1 << 20)),
    ]);
    Ok(figures)
}

/// What the threads have seen.
fn figures(inserted: &Inserted) -> Figures {
    let latencies = inserted.latencies();
    let seconds = inserted.wall().as_secs_f64().max(1e-6);
    let mut figures = Figures::from([(RATE.to_owned(), inserted.confirmed.len() as f64 / seconds)]);
    figures.extend(
        LATENCIES.iter().filter_map(|(name, share)| Some(((*name).to_owned(), latencies.quantile_ms(*share)?))),
    );
    figures.extend(inserted.errors.figures());
    figures
}
