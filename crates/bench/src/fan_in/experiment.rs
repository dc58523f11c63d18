//! The measurement.

use std::cell::{Cell as Slot, RefCell};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use hortator_mysql::Connection;
use hortator_sandbox::{Temporary, Topology};

use super::applier::Applier;
use super::contender::{self, Agent};
use super::live::{self, Live, Series};
use super::sources::{LogPosition, Source, checksums, connect, set_up};
use super::{Contender, Workload};
use crate::extent::Extent;
use crate::figures::{CORES, LATENCIES, LONGEST, MEASURED, OTHER_CPU, WALL, named};
use crate::progress::Observer;
use crate::rounds::{self, Cell, Figures, Measured, Task};
use crate::{Error, measure, options, profile, server};

/// What is to be measured.
#[derive(Debug)]
pub struct Experiment {
    /// The numbers of sources.
    pub sources: Vec<usize>,
    /// Transactions of each source.
    pub transactions: u64,
    /// The backlogs.
    pub workloads: Vec<Workload>,
    /// What is measured while the sources write.
    pub live: Option<Live>,
    /// Who drains them.
    pub contenders: Vec<Contender>,
    /// This program.
    pub hortator: PathBuf,
    /// Rounds, folder and end.
    pub extent: Extent,
}

/// The result.
#[derive(Debug)]
pub struct Outcome {
    /// All runs.
    pub measured: Measured,
    /// The server's version.
    pub version: String,
    /// The lag of each live run over its time.
    pub series: Vec<Series>,
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

/// Transactions in a second that the sources are to write, all together.
pub(super) const ASKED_RATE: &str = "rate_per_s";

/// The sources of the cell that is measured, with their backlogs.
struct Backlog {
    workload: Workload,
    /// Of a live cell.
    rate: Option<u32>,
    sources: RefCell<Vec<Source>>,
}

/// What a cell is.
#[derive(Clone)]
struct CellFactors {
    cell: Cell,
    workload: Workload,
    sources: usize,
    /// Of a live cell.
    rate: Option<u32>,
}

/// The cell of a live part.
pub(super) fn live_cell(sources: usize, rate: u32) -> Cell {
    rounds::cell(&[
        (BACKLOG, Workload::Live.name().to_owned()),
        (SOURCES, sources.to_string()),
        (ASKED_RATE, rate.to_string()),
    ])
}

impl Experiment {
    /// Runs it. The observer hears of each step. A contender that leaves other rows than the sources' has no figure.
    ///
    /// # Errors
    /// When the folder cannot be made. All other errors stand with the runs.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Outcome, Error> {
        self.extent.create_folder()?;
        if options::is_mysql() {
            return Err(Error::Answer(
                "fan-in needs MariaDB servers: leave --server out, or give a MariaDB's folder".to_owned(),
            ));
        }
        let cells: Vec<Cell> = self.all_factors().into_iter().map(|factors| factors.cell).collect();
        let tasks = rounds::plan(&cells, &self.contenders, self.extent.rounds);
        let (mut version, mut series) = (String::new(), Vec::new());
        let prepare = |cell: &Cell, say: &mut dyn FnMut(&str)| {
            let backlog = self.backlog(cell, say).map_err(|error| error.or_interrupted(&self.extent.stop))?;
            if let Some(first) = backlog.sources.borrow().first() {
                version = format!("MariaDB {}", server_version(&mut connect(&first.server)?)?);
            }
            Ok(backlog)
        };
        let measured =
            rounds::run_prepared(&tasks, observer, prepare, |task, backlog| self.measure(task, backlog, &mut series));
        Ok(Outcome { measured, version, series })
    }

    /// Each backlog with each number of sources, then what is live.
    fn all_factors(&self) -> Vec<CellFactors> {
        let with = |workload: Workload| {
            self.sources.iter().map(move |sources| {
                let factors = [(BACKLOG, workload.name().to_owned()), (SOURCES, sources.to_string())];
                CellFactors { cell: rounds::cell(&factors), workload, sources: *sources, rate: None }
            })
        };
        let mut all_factors: Vec<CellFactors> = self.workloads.iter().flat_map(|workload| with(*workload)).collect();
        for rate in self.live.iter().flat_map(|live| &live.rates) {
            all_factors.extend(self.sources.iter().map(|sources| CellFactors {
                cell: live_cell(*sources, *rate),
                workload: Workload::Live,
                sources: *sources,
                rate: Some(*rate),
            }));
        }
        all_factors
    }

    fn backlog(&self, cell: &Cell, say: &mut dyn FnMut(&str)) -> Result<Backlog, Error> {
        let found = self.all_factors().into_iter().find(|factors| factors.cell == *cell);
        let factors = found.ok_or_else(|| Error::Answer(format!("no such cell: {cell:?}")))?;
        let CellFactors { workload, sources, rate, .. } = factors;
        let does = if rate.is_some() { "start" } else { "write their backlogs" };
        say(&format!("{}: {sources} sources {does}", workload.name()));
        let start = |number| match rate {
            Some(_) => Source::without_backlog(number, workload, &self.extent.stop),
            None => Source::start(number, workload, self.transactions, &self.extent.stop),
        };
        let sources = side_by_side(sources, start)?;
        Ok(Backlog { workload, rate, sources: RefCell::new(sources) })
    }

    /// A new target with the tables as they are before the backlog.
    fn target(&self, workload: Workload, sources: &[Source]) -> Result<Temporary, Error> {
        let target =
            server::set_up(options::builder(Topology::Standalone), &[], &self.extent.stop).start_temporary()?;
        for source in sources {
            set_up(&mut connect(&target)?, &source.schema, workload)?;
        }
        Ok(target)
    }

    fn measure(&self, task: &Task<Contender>, backlog: &Backlog, series: &mut Vec<Series>) -> Result<Figures, Error> {
        self.extent.check_stop()?;
        let figures = match backlog.rate.zip(self.live.as_ref()) {
            Some((rate, live)) => self.follow(task, rate, live, &mut backlog.sources.borrow_mut(), series),
            None => self.drain(task.contender, backlog.workload, &backlog.sources.borrow()),
        };
        figures.map_err(|error| error.or_interrupted(&self.extent.stop))
    }

    fn drain(&self, contender: Contender, workload: Workload, sources: &[Source]) -> Result<Figures, Error> {
        let target = self.target(workload, sources)?;
        let process = target.node(0).pid().ok_or(Error::Ended { node: 1 })?;
        let recording = profile::begin(vec![process]);
        let before = Clocks::read(&target, sources)?;
        let (wall, agent) =
            contender::drain(contender, sources, &target, &self.hortator, &self.extent.folder, &self.extent.stop)?;
        let used = Clocks::read(&target, sources)?.since(&before, Duration::ZERO);
        if let Some(recording) = recording {
            recording.end();
        }
        check(contender, workload, sources, &target)?;
        let transactions = workload.transactions(self.transactions) * sources.len() as u64;
        let rate = transactions as f64 / wall.as_secs_f64();
        let mut figures = named([(WALL, wall.as_secs_f64()), (RATE, rate)]);
        figures.extend(used.figures(wall.as_secs_f64()));
        figures.extend(of_agent(agent));
        Ok(figures)
    }

    /// The lag of a target that applies while the sources write.
    fn follow(
        &self,
        task: &Task<Contender>,
        rate: u32,
        live: &Live,
        sources: &mut [Source],
        series: &mut Vec<Series>,
    ) -> Result<Figures, Error> {
        let contender = task.contender;
        for source in &mut *sources {
            source.reset(Workload::Live)?;
        }
        let target = self.target(Workload::Live, sources)?;
        let process = target.node(0).pid().ok_or(Error::Ended { node: 1 })?;
        let (mut applier, _) =
            Applier::start(contender, sources, &target, &self.hortator, &self.extent.folder, &self.extent.stop)?;
        let (before, used) = (Slot::new(None), Slot::new(None));
        let recording = profile::begin(vec![process]);
        let at_begin = || {
            before.set(Some((Clocks::read(&target, sources)?, applier.cpu()?)));
            Ok(())
        };
        let at_end = || {
            if let Some((clocks, agent)) = before.take() {
                let agent = applier.cpu()?.saturating_sub(agent);
                used.set(Some((Clocks::read(&target, sources)?.since(&clocks, agent), agent)));
            }
            Ok(())
        };
        let lag = live::run(sources, &target, rate, live.time, &self.extent.stop, at_begin, at_end)?;
        if let Some(recording) = recording {
            recording.end();
        }
        for source in &mut *sources {
            source.close(Workload::Live)?;
        }
        let ends: Vec<(&str, LogPosition)> =
            sources.iter().map(|source| (source.schema.as_str(), source.end.clone())).collect();
        applier.wait(&ends)?;
        let agent = applier.stop()?;
        check(contender, Workload::Live, sources, &target)?;

        let seconds = lag.time.as_secs_f64();
        let mut figures = named([(MEASURED, seconds), (RATE, lag.written as f64 / seconds)]);
        figures.extend(named(
            LATENCIES
                .into_iter()
                .chain([LONGEST])
                .filter_map(|(name, share)| Some((name, lag.latencies.quantile_ms(share)?))),
        ));
        figures.extend(of_agent(agent));
        if let Some((used, agent)) = used.take() {
            figures.extend(used.figures(seconds));
            figures.entry(AGENT_CPU.to_owned()).and_modify(|cpu| *cpu = agent.as_secs_f64());
        }
        let (cell, contender, round) = (task.cell.clone(), contender.to_string(), task.round);
        series.push(Series { cell, contender, round, points: lag.longest });
        Ok(figures)
    }
}

/// Makes so many sources, as many at a time as there are cores: nothing is measured meanwhile.
fn side_by_side(count: usize, start: impl Fn(usize) -> Result<Source, Error> + Sync) -> Result<Vec<Source>, Error> {
    let (next, threads) = (AtomicUsize::new(0), thread::available_parallelism().map_or(1, usize::from));
    let some = || -> Result<Vec<(usize, Source)>, Error> {
        let mut started = Vec::new();
        loop {
            match next.fetch_add(1, Ordering::Relaxed) {
                number if number < count => started.push((number, start(number)?)),
                _ => return Ok(started),
            }
        }
    };
    let parts = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(some)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic in a source")).collect::<Vec<_>>()
    });
    let mut sources: Vec<_> = parts.into_iter().collect::<Result<Vec<_>, Error>>()?.into_iter().flatten().collect();
    sources.sort_by_key(|(number, _)| *number);
    Ok(sources.into_iter().map(|(_, source)| source).collect())
}

/// Whether the target has the rows of all sources.
fn check(contender: Contender, workload: Workload, sources: &[Source], target: &Temporary) -> Result<(), Error> {
    let mut connection = connect(target)?;
    for source in sources {
        if checksums(&mut connection, &source.schema, workload)? != source.checksums {
            let text = format!("{contender} left other rows in {} than the source has", source.schema);
            return Err(Error::Answer(text));
        }
    }
    Ok(())
}

/// CPU time at one moment.
#[derive(Clone, Copy)]
struct Clocks {
    target: Duration,
    sources: Duration,
    own: Duration,
    machine: Duration,
}

/// CPU time between two moments.
struct Used {
    target: Duration,
    /// Of everything that is no part of the experiment.
    other: Duration,
}

impl Clocks {
    fn read(target: &Temporary, sources: &[Source]) -> Result<Self, Error> {
        let process = target.node(0).pid().ok_or(Error::Ended { node: 1 })?;
        let cpu = |process| measure::cpu_time(process).map_err(Error::io("reading CPU time"));
        Ok(Self {
            target: cpu(process)?,
            sources: sources.iter().map(Source::cpu).sum::<Result<Duration, Error>>()?,
            own: cpu(std::process::id())?,
            machine: measure::machine_cpu_time().map_err(Error::io("reading the machine's CPU time"))?,
        })
    }

    /// An agent that has ended is part of this program's own time; one that runs is not.
    fn since(&self, before: &Self, running_agent: Duration) -> Used {
        let target = self.target.saturating_sub(before.target);
        let own = self.own.saturating_sub(before.own) + running_agent;
        let ours = target + self.sources.saturating_sub(before.sources) + own;
        Used { target, other: self.machine.saturating_sub(before.machine).saturating_sub(ours) }
    }
}

impl Used {
    /// Its figures, over so many seconds.
    fn figures(&self, seconds: f64) -> Figures {
        let target = self.target.as_secs_f64();
        named([(TARGET_CPU, target), (CORES, target / seconds), (OTHER_CPU, self.other.as_secs_f64())])
    }
}

fn of_agent(agent: Option<Agent>) -> Figures {
    let mut figures = Figures::new();
    if let Some(agent) = agent {
        figures.extend(named([
            (AGENT_CPU, agent.cpu.as_secs_f64()),
            (AGENT_PEAK, agent.peak_bytes as f64 / f64::from(1 << 20)),
        ]));
    }
    figures
}

fn server_version(connection: &mut Connection) -> Result<String, Error> {
    let rows = connection.fetch(b"SELECT VERSION()").map_err(Error::server("asking for the version"))?;
    let version = rows.into_iter().flatten().flatten().next().unwrap_or_default();
    Ok(String::from_utf8_lossy(&version).into_owned())
}
