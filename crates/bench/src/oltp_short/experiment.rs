//! The measurement.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::cell::{CellResult, MeasuredWindow, is_steady};
use super::sampler::Sampler;
use super::servers::{Servers, check_rows};
use super::sysbench::{SCHEMA, Sysbench, Window};
use super::{Contender, DiskLimit, Mix};
use crate::deployment::{Deployment, installed};
use crate::disk::{Disk, IoController, IoGroup, Operations};
use crate::extent::Extent;
use crate::nodes::Nodes;
use crate::progress::{Event, Observer};
use crate::resource_usage::Clocks;
use crate::rounds::{self, Cell, Figures, Measured, Task};
use crate::{Error, cpu_set};

/// Threads until the rate is steady.
pub(super) const WARMUP_THREADS: usize = 32;

/// What is to be measured.
#[derive(Debug)]
pub struct Experiment {
    /// The servers, and how many of them are written.
    pub contenders: Vec<Contender>,
    /// The transactions.
    pub mixes: Vec<Mix>,
    /// Limits of the disk.
    pub limits: Vec<DiskLimit>,
    /// Rows of each of the ten tables.
    pub rows: u64,
    /// Settings of all servers, by name, which override those of the experiment.
    pub settings: Vec<(String, String)>,
    /// Seconds of a window.
    pub window_s: u64,
    /// So many windows at most until the rate is steady.
    pub windows: usize,
    /// The threads of the ramp, one window each.
    pub threads: Vec<usize>,
    /// The CPUs of each node, as `0-1`; the last of them also for further nodes. Empty: all CPUs.
    pub cpus: Vec<cpu_set::CpuList>,
    /// sysbench, as [`super::find_sysbench`] finds it.
    pub sysbench: PathBuf,
    /// Measure also where no disk limits the servers.
    pub allows_any_file_system: bool,
    /// Rounds, folder and end.
    pub extent: Extent,
}

/// The result.
#[derive(Debug)]
pub struct Outcome {
    /// All runs.
    pub measured: Measured,
    /// Versions of servers and providers.
    pub versions: Vec<String>,
    /// Contenders that this machine cannot run, and limits that it cannot set, with the reason.
    pub left_out: Vec<String>,
    /// What the folder is on.
    pub disk: Disk,
    /// What limits the disk, if anything does.
    pub controller: Option<&'static str>,
    /// The cells, with the limits that were set.
    pub(super) cells: Vec<(Cell, Mix, DiskLimit)>,
    /// Those that were measured, with the limits as they were.
    pub(super) traces: Vec<Trace>,
}

/// What a run measured second by second.
#[derive(Debug)]
pub(super) struct Trace {
    pub(super) cell: Cell,
    pub(super) contender: Contender,
    pub(super) round: usize,
    pub(super) result: CellResult,
}

/// The factors of a cell.
fn cell(mix: Mix, limit: DiskLimit) -> Cell {
    rounds::cell(&[("transactions", mix.to_string()), ("disk", limit.to_string())])
}

/// What all runs use and change.
struct Run<'a> {
    experiment: &'a Experiment,
    sysbench: Sysbench,
    controller: Option<IoController>,
    servers: Servers,
    traces: Vec<Trace>,
    /// Contenders whose nodes' states were compared.
    compared: Vec<Contender>,
}

impl Experiment {
    /// Runs it. The observer hears of each step. A run after which a node lacks a row has no figure.
    ///
    /// # Errors
    /// When nothing can be measured here, the folder is on no disk, or cannot be made. All other errors stand with the runs.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Outcome, Error> {
        cpu_set::check(&self.cpus)?;
        self.extent.create_folder()?;
        let disk = Disk::of(&self.extent.folder)?;
        if !disk.is_disk() && !self.allows_any_file_system {
            return Err(Error::NoDisk {
                folder: self.extent.folder.display().to_string(),
                file_system: disk.file_system,
            });
        }
        let mut deployments: Vec<Deployment> = Vec::new();
        for Contender { deployment, .. } in &self.contenders {
            if !deployments.contains(deployment) {
                deployments.push(*deployment);
            }
        }
        let (deployments, mut left_out) = installed(&deployments)?;
        let contenders = self.contenders.iter().copied();
        let contenders: Vec<Contender> =
            contenders.filter(|contender| deployments.contains(&contender.deployment)).collect();
        let (controller, limits) = self.limits_here(&disk, &mut left_out);
        left_out.iter().for_each(|line| observer.tell(Event::Step(line.clone())));
        let cells: Vec<(Cell, Mix, DiskLimit)> =
            self.mixes.iter().flat_map(|mix| limits.iter().map(|limit| (cell(*mix, *limit), *mix, *limit))).collect();
        let names: Vec<Cell> = cells.iter().map(|(cell, ..)| cell.clone()).collect();
        let tasks = rounds::plan(&names, &contenders, self.extent.rounds);
        let mut run = Run {
            experiment: self,
            sysbench: Sysbench::new(&self.sysbench, &self.extent.folder, self.rows)?,
            servers: Servers::default(),
            traces: Vec::new(),
            compared: Vec::new(),
            controller,
        };
        let measured = rounds::run(&tasks, Some(self.asked_time()), observer, |task, say| {
            let found = cells.iter().find(|(cell, ..)| *cell == task.cell);
            let (_, mix, limit) = found.ok_or_else(|| Error::Answer(format!("no such cell: {:?}", task.cell)))?;
            let result = run.measure(task, *mix, *limit, say);
            if !matches!(result, Ok(_) | Err(Error::Interrupted)) {
                run.servers.discard(task.contender.deployment, &self.extent.folder, say);
            }
            result
        });
        let Run { servers, traces, controller, .. } = run;
        let controller = controller.map(|controller| controller.description());
        Ok(Outcome { measured, versions: servers.versions, left_out, disk, controller, cells, traces })
    }

    /// The time of all windows of a run.
    fn asked_time(&self) -> Duration {
        let windows = (self.windows + self.threads.len()) as u64;
        Duration::from_secs(self.window_s * windows)
    }

    /// The limits that can be set here: where none can, the raw disk is measured instead.
    fn limits_here(&self, disk: &Disk, left_out: &mut Vec<String>) -> (Option<IoController>, Vec<DiskLimit>) {
        if self.limits.iter().all(|limit| *limit == DiskLimit::Raw) {
            return (None, vec![DiskLimit::Raw]);
        }
        match IoController::find(disk) {
            Ok(controller) => (Some(controller), self.limits.clone()),
            Err(reason) => {
                left_out.push(format!("the disk is not limited, and measured as it is: {reason}"));
                (None, vec![DiskLimit::Raw])
            }
        }
    }
}

impl Run<'_> {
    fn measure(
        &mut self,
        task: &Task<Contender>,
        mix: Mix,
        limit: DiskLimit,
        say: &mut dyn FnMut(&str),
    ) -> Result<Figures, Error> {
        let experiment = self.experiment;
        experiment.extent.check_stop()?;
        let contender = task.contender;
        let nodes = self.servers.restart(contender.deployment, experiment, &self.sysbench, say)?;
        let restarted = Instant::now();
        cpu_set::assign(&experiment.cpus, &nodes.processes()?)?;
        let groups = limit_disk(self.controller.as_ref(), limit, nodes)?;
        let sampler = Sampler::start(nodes, restarted)?;
        let sockets = &nodes.sockets()[..contender.writers];
        let mut run_window = |threads| -> Result<MeasuredWindow, Error> {
            let before = Clocks::read(nodes)?;
            let window = Window { mix, threads, seconds: experiment.window_s };
            let run = self.sysbench.run(sockets, window, &experiment.extent.stop);
            // Why a node has no connection says more than that sysbench lost one.
            let ended = (0..nodes.count()).find(|node| nodes.has_ended(*node));
            let (report, usage) = match ended {
                Some(node) => return Err(Error::Ended { node: node + 1 }),
                None => run?,
            };
            say(&format!("{contender}, {threads} threads: {:.0} transactions/s", report.transactions_per_s));
            let usage_of_all = Clocks::read(nodes)?.since(&before);
            // Behind its start sysbench opens connections and prepares statements.
            let begin_s = restarted.elapsed().as_secs_f64() - usage.wall.as_secs_f64().min(experiment.window_s as f64);
            Ok(MeasuredWindow { threads, begin_s, report, usage: usage_of_all })
        };
        let mut warmup = Vec::new();
        while warmup.len() < experiment.windows && !is_steady(&warmup) {
            warmup.push(run_window(WARMUP_THREADS)?);
        }
        let ramp = experiment.threads.iter().map(|threads| run_window(*threads)).collect::<Result<Vec<_>, _>>()?;
        let samples = sampler.finish()?;
        let operations = operations(&groups)?.map(|operations| (operations, restarted.elapsed().as_secs_f64()));
        drop(groups);
        check_rows(nodes, experiment.rows)?;
        if nodes.count() > 1 && !self.compared.contains(&contender) {
            nodes.check_same_state(SCHEMA, None)?;
            self.compared.push(contender);
        }
        nodes.shut_down()?;
        let result = CellResult { warmup, ramp, samples, operations };
        let figures = result.figures();
        self.traces.push(Trace { cell: task.cell.clone(), contender, round: task.round, result });
        Ok(figures)
    }
}

/// What all groups have done; None without a limit.
fn operations(groups: &[IoGroup]) -> Result<Option<Operations>, Error> {
    let mut all = None;
    for group in groups {
        let Operations { reads, writes } = group.operations()?;
        let sum: &mut Operations = all.get_or_insert_default();
        (sum.reads, sum.writes) = (sum.reads + reads, sum.writes + writes);
    }
    Ok(all)
}

/// Puts the servers under a limit, which ends with the groups.
fn limit_disk(controller: Option<&IoController>, limit: DiskLimit, nodes: &Nodes) -> Result<Vec<IoGroup>, Error> {
    let Some(controller) = controller.filter(|_| limit != DiskLimit::Raw) else { return Ok(Vec::new()) };
    let mut groups: Vec<IoGroup> = Vec::new();
    for (index, process) in nodes.processes()?.into_iter().enumerate() {
        if limit == DiskLimit::Own || groups.is_empty() {
            groups.push(controller.group(&format!("node{}", index + 1), DiskLimit::OPERATIONS)?);
        }
        if let Some(group) = groups.last() {
            group.add(process)?;
        }
    }
    Ok(groups)
}
