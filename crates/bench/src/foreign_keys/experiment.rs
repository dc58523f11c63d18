//! The measurement.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::Loader;
use super::dumps::Dumps;
use crate::child_inserts::{ChildInserts, Parents};
use crate::deployment::{Current, Deployment, installed};
use crate::employees::{ForeignKeys, SCHEMA};
use crate::extent::TimedExtent;
use crate::load_generator::Threads;
use crate::load_run::LoadRun;
use crate::measure::Usage;
use crate::nodes::Nodes;
use crate::progress::Observer;
use crate::rounds::{self, Cell, Figures, Measured, Task};
use crate::{Error, convergence, figures, foreign_key_validation, measure, programs, server_copy};

/// Rows of a statement; the last ones are about 1 MB.
pub(super) const STATEMENT_ROWS: [u64; 6] = [1, 10, 50, 500, 5_000, 20_000];

/// What is to be measured.
#[derive(Debug)]
pub struct Experiment {
    /// Where the sample is loaded.
    pub loads: Vec<Deployment>,
    /// Where one connection inserts children.
    pub sweep: Vec<Deployment>,
    /// The parents of the children.
    pub parents: Vec<Parents>,
    /// What the user chose of the cells, for the command in the report; empty for all.
    pub only: Vec<String>,
    /// The sample's size; 1 is all of its rows.
    pub scale: f64,
    /// This program.
    pub hortator: PathBuf,
    /// Rounds, measured time, folder and end.
    pub extent: TimedExtent,
}

/// The result.
#[derive(Debug)]
pub struct Outcome {
    /// All runs.
    pub measured: Measured,
    /// Versions of servers, providers and programs.
    pub versions: Vec<String>,
    /// Deployments that this machine cannot run, with the reason.
    pub left_out: Vec<String>,
    /// Rows of the sample.
    pub rows: u64,
}

/// The factor that names the servers.
pub(super) const SERVERS: &str = "servers";
/// The factor that says whether the tables have foreign keys.
pub(super) const KEYS: &str = "foreign_keys";
/// Rows of a statement of the sweep.
pub(super) const ROWS: &str = "rows_per_statement";
/// The parents of the sweep.
pub(super) const PARENTS: &str = "parents";
/// The contender of the sweep.
pub(super) const INSERTS: &str = "INSERTs, one connection";

/// One thing to measure.
#[derive(Clone, Copy, Debug)]
struct Work {
    deployment: Deployment,
    keys: ForeignKeys,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Load(Loader),
    Inserts { rows: u64, parents: Parents },
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.what {
            What::Load(loader) => loader.fmt(f),
            What::Inserts { .. } => f.write_str(INSERTS),
        }
    }
}

/// The cell of loads.
pub(super) fn load_cell(deployment: Deployment, keys: ForeignKeys) -> Cell {
    rounds::cell(&[(SERVERS, deployment.to_string()), (KEYS, keys.to_string())])
}

/// The cell of inserts.
pub(super) fn inserts_cell(deployment: Deployment, keys: ForeignKeys, rows: u64, parents: Parents) -> Cell {
    let mut cell = load_cell(deployment, keys);
    cell.extend(rounds::cell(&[(ROWS, rows.to_string()), (PARENTS, parents.to_string())]));
    cell
}

impl Work {
    fn cell(&self) -> Cell {
        match self.what {
            What::Load(_) => load_cell(self.deployment, self.keys),
            What::Inserts { rows, parents } => inserts_cell(self.deployment, self.keys, rows, parents),
        }
    }
}

impl Experiment {
    /// Runs it. The observer hears of each step. A load that leaves another state than the client's has no figure.
    ///
    /// # Errors
    /// When nothing can be measured here, or the folder cannot be made. All other errors stand with the runs.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Outcome, Error> {
        self.extent.create_folder()?;
        let (deployments, left_out) = installed(&self.deployments())?;
        let tasks: Vec<Task<Work>> = deployments.iter().flat_map(|deployment| self.tasks(*deployment)).collect();
        let mut dumps = None;
        let mut current = Current::default();
        current.versions.extend(programs::client_version());
        current.versions.extend(self.hortator.to_str().and_then(programs::version));
        let measured = rounds::run(&tasks, self.asked_time(), observer, |task, say| {
            let result = self.measure(task, &mut dumps, &mut current, say);
            if !matches!(result, Ok(_) | Err(Error::Interrupted)) {
                current.give_up(&self.extent.folder, say);
            }
            result
        });
        let rows = dumps.and_then(Result::ok).map_or(0, |dumps| dumps.sample.rows);
        Ok(Outcome { measured, versions: current.versions, left_out, rows })
    }

    /// The measured time of a run, if there are no loads, which take as long as they take.
    fn asked_time(&self) -> Option<Duration> {
        self.loads.is_empty().then_some(self.extent.time)
    }

    /// All that are loaded or swept, each once.
    pub(super) fn deployments(&self) -> Vec<Deployment> {
        let only_swept = self.sweep.iter().filter(|deployment| !self.loads.contains(deployment));
        self.loads.iter().chain(only_swept).copied().collect()
    }

    /// All runs on the servers of a deployment: loads, then inserts; in each round another one is first.
    fn tasks(&self, deployment: Deployment) -> Vec<Task<Work>> {
        let mut tasks = Vec::new();
        let mut add = |works: Vec<Work>| {
            for round in 0..self.extent.rounds {
                let first = round % works.len().max(1);
                let in_turn = works[first..].iter().chain(&works[..first]);
                tasks.extend(in_turn.map(|work| Task { cell: work.cell(), contender: *work, round: round + 1 }));
            }
        };
        let with_keys = |what: What| ForeignKeys::ALL.map(|keys| Work { deployment, keys, what });
        if self.loads.contains(&deployment) {
            let loads = Loader::of(ForeignKeys::With).iter().flat_map(|loader| with_keys(What::Load(*loader)));
            let is_there =
                |work: &Work| matches!(work.what, What::Load(loader) if Loader::of(work.keys).contains(&loader));
            add(loads.filter(is_there).collect());
        }
        if self.sweep.contains(&deployment) {
            for parents in &self.parents {
                for rows in STATEMENT_ROWS {
                    add(with_keys(What::Inserts { rows, parents: *parents }).to_vec());
                }
            }
        }
        tasks
    }

    fn measure(
        &self,
        task: &Task<Work>,
        dumps: &mut Option<Result<Dumps, String>>,
        current: &mut Current,
        say: &mut dyn FnMut(&str),
    ) -> Result<Figures, Error> {
        self.extent.check_stop()?;
        let Work { deployment, keys, what } = task.contender;
        match what {
            What::Load(loader) => {
                let dumps = self.dumps(dumps, say)?;
                // The servers' files grow to their size in a load that does not count.
                let warm_up = |nodes: &Nodes| self.run_loader(Loader::ClientSource, keys, dumps, nodes).map(drop);
                let nodes = current.nodes(deployment, &self.extent.stop, say, warm_up)?;
                self.load(loader, keys, dumps, nodes, task.round == 1)
            }
            What::Inserts { rows, parents } => {
                let nodes = current.nodes(deployment, &self.extent.stop, say, |_| Ok(()))?;
                let threads = Threads { count: 1, nodes: 1 };
                let inserts = ChildInserts { keys, threads, rows, parents, time: self.extent.time };
                let generated = inserts.run(nodes, &self.extent.stop)?;
                if task.round == 1 {
                    nodes.check_same_state(SCHEMA, None)?;
                }
                Ok(figures::of_threads(&generated))
            }
        }
    }

    /// The files, made at their first use.
    fn dumps<'d>(
        &self,
        dumps: &'d mut Option<Result<Dumps, String>>,
        say: &mut dyn FnMut(&str),
    ) -> Result<&'d Dumps, Error> {
        if dumps.is_none() {
            say(&format!(
                "writing the dumps in {}; the client's load gives the expected state",
                self.extent.folder.display()
            ));
            *dumps = Some(match Dumps::prepare(&self.extent.folder, self.scale, &self.extent.stop) {
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                prepared => prepared.map_err(|error| error.to_string()),
            });
        }
        match dumps {
            Some(Ok(dumps)) => Ok(dumps),
            Some(Err(reason)) => Err(Error::Answer(reason.clone())),
            None => Err(Error::Answer("there are no dumps".to_owned())),
        }
    }

    /// What the program used.
    fn run_loader(&self, loader: Loader, keys: ForeignKeys, dumps: &Dumps, nodes: &Nodes) -> Result<Usage, Error> {
        let mut command = loader.command(keys, dumps, nodes, &self.hortator)?;
        measure::run(&mut command, &self.extent.folder.join("foreign-keys.log"), &self.extent.stop)
    }

    fn load(
        &self,
        loader: Loader,
        keys: ForeignKeys,
        dumps: &Dumps,
        nodes: &Nodes,
        is_first: bool,
    ) -> Result<Figures, Error> {
        let rest = nodes.quiesce_without(SCHEMA)?;
        let run = LoadRun::measure(rest, nodes, || self.run_loader(loader, keys, dumps, nodes).map(Some))?;
        let rows = dumps.sample.rows;
        convergence::check(nodes, &loader.to_string(), rows, server_copy::loaded_rows)?;
        if !loader.is_checked() {
            foreign_key_validation::check(nodes)?;
        }
        if is_first {
            nodes.check_same_state(SCHEMA, dumps.expected(keys))?;
        }
        Ok(run.figures(rows))
    }
}
