//! The measurement.

use std::fmt;
use std::path::PathBuf;

use hortator_check::state::{self, State};
use hortator_mysql::Connection;
use hortator_sandbox::Topology;

use super::Contender;
use crate::employees::{self, Dump, SCHEMA};
use crate::extent::Extent;
use crate::load_run::LoadRun;
use crate::nodes::{CLUSTER_SETTINGS, Nodes};
use crate::progress::Observer;
use crate::rounds::{self, Cell, Figures, Measured, Task};
use crate::{Error, convergence, programs, server_copy};

/// The name of the sandbox of a kept server.
pub const KEPT_NAME: &str = "bench-employees";
/// The factor that names the servers.
pub(super) const SERVERS: &str = "servers";
/// Differences in a message.
const DIFFERENCES_LIMIT: usize = 12;

/// Where the sample is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// One server; kept as the sandbox [`KEPT_NAME`], with the last loaded schema, if it `is_kept`.
    Server {
        /// Whether it stays.
        is_kept: bool,
    },
    /// So many nodes with the installed Galera, and one server.
    Cluster(usize),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server { .. } => f.write_str("alone"),
            Self::Cluster(nodes) => write!(f, "G{nodes}"),
        }
    }
}

/// The parameters of the experiment.
#[derive(Debug)]
pub struct Experiment {
    /// Where the sample is loaded.
    pub target: Target,
    /// The contenders to run; those whose program is not installed are left out by name.
    pub contenders: Vec<Contender>,
    /// The dump's size; 1 is all of the sample's rows.
    pub scale: f64,
    /// Connections of `hortator load`; None for its default.
    pub threads: Option<usize>,
    /// This program, to run `load` with.
    pub hortator: PathBuf,
    /// Rounds, folder and end.
    pub extent: Extent,
}

/// The result.
#[derive(Debug)]
pub struct Outcome {
    /// All runs.
    pub measured: Measured,
    /// The versions of the server, the provider and the programs.
    pub versions: Vec<String>,
    /// The contenders that ran.
    pub contenders: Vec<Contender>,
    /// The contenders that did not, with the reason.
    pub left_out: Vec<String>,
    /// The loaded dump.
    pub dump: Option<Dump>,
    /// What every contender has left, compared with the client's load; none before the first comparison.
    pub compared: Option<Compared>,
}

/// What was compared once per contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compared {
    /// Rows of all tables.
    pub rows: u64,
    /// The schema, its tables and views.
    pub definitions: usize,
}

/// The servers, warmed up by the client's load, which gives the expected state.
struct Prepared {
    dump: Dump,
    nodes: Nodes,
    single: Option<Nodes>,
    expected: State,
    /// The same without views.
    expected_tables: State,
}

impl Experiment {
    /// Runs it. The observer hears of each step. A contender that leaves another state than the client has no figure.
    ///
    /// # Errors
    /// When nothing can be measured here, or the folder cannot be made. All other errors stand with the runs.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Outcome, Error> {
        let (contenders, left_out) = self.installed()?;
        self.extent.create_folder()?;
        let tasks = rounds::plan(&[self.cell()], &contenders, self.extent.rounds);
        let mut versions = self.program_versions(&contenders);
        let (mut dump, mut compared) = (None, None);
        let prepare = |_: &Cell, say: &mut dyn FnMut(&str)| {
            let prepared = self.prepare(&contenders, say)?;
            dump = Some(prepared.dump.clone());
            versions.splice(0..0, prepared.nodes.versions()?);
            Ok(prepared)
        };
        let measured = rounds::run_prepared(&tasks, observer, prepare, |task, prepared| {
            let figures = self.measure(task, prepared)?;
            let definitions = prepared.expected.counts().values().sum();
            compared = Some(Compared { rows: prepared.expected.row_count(), definitions });
            Ok(figures)
        });
        self.remove_mydumper_folder()?;
        Ok(Outcome { measured, versions, contenders, left_out, dump, compared })
    }

    pub(super) fn cell(&self) -> Cell {
        rounds::cell(&[(SERVERS, self.target.to_string())])
    }

    /// The contenders that can run here, and a line for each that cannot.
    fn installed(&self) -> Result<(Vec<Contender>, Vec<String>), Error> {
        programs::check_client()?;
        let is_installed = |contender: &Contender| {
            *contender != Contender::Myloader
                || ["mydumper", "myloader"].into_iter().all(|name| programs::version(name).is_some())
        };
        let (found, missing): (Vec<_>, Vec<_>) = self.contenders.iter().copied().partition(is_installed);
        let line = |contender: &Contender| {
            format!("{contender} is left out: mydumper is not installed; on Debian: apt-get install mydumper")
        };
        let left_out: Vec<String> = missing.iter().map(line).collect();
        match found.is_empty() {
            true => Err(Error::Answer(format!("there is nothing to measure: {}", left_out.join("; ")))),
            false => Ok((found, left_out)),
        }
    }

    fn program_versions(&self, contenders: &[Contender]) -> Vec<String> {
        let mut versions: Vec<String> = programs::client_version().into_iter().collect();
        versions.extend(self.hortator.to_str().and_then(programs::version));
        if contenders.contains(&Contender::Myloader) {
            versions.extend(programs::version("myloader"));
        }
        versions
    }

    fn prepare(&self, contenders: &[Contender], say: &mut dyn FnMut(&str)) -> Result<Prepared, Error> {
        say(&format!("dump: generating it, or reusing it, in {}", self.extent.folder.display()));
        let dump = employees::cached(&self.extent.folder, self.scale)?;
        say(&format!("dump: {} rows, {} MB, checksum {:032x}", dump.rows, dump.bytes / 1_000_000, dump.checksum));
        say(&format!("servers ({}): starting", self.target));
        let nodes = match self.target {
            Target::Server { is_kept: true } => Nodes::kept(KEPT_NAME, &self.extent.stop)?,
            Target::Server { is_kept: false } => Nodes::alone(&self.extent.stop)?,
            Target::Cluster(nodes) => Nodes::start(Topology::Galera(nodes), &CLUSTER_SETTINGS, &self.extent.stop)?,
        };
        say("warming up: the client's load gives the expected state");
        self.load(Contender::Client, &dump, &nodes)?;
        let mut connection = nodes.connect(0)?;
        let expected = described(&mut connection)?;
        if contenders.contains(&Contender::Myloader) {
            say("warming up: mydumper's directory for myloader");
            self.dump_for_myloader(&nodes)?;
        }
        drop_views(&mut nodes.connect(0)?)?;
        let expected_tables = described(&mut nodes.connect(0)?)?;
        if contenders.contains(&Contender::ServerCopy) {
            server_copy::move_to_source(&nodes)?;
        }
        let single = match contenders.contains(&Contender::Single) {
            true => {
                let single = Nodes::alone(&self.extent.stop)?;
                self.load(Contender::Single, &dump, &single)?;
                Some(single)
            }
            false => None,
        };
        Ok(Prepared { dump, nodes, single, expected, expected_tables })
    }

    fn measure(&self, task: &Task<Contender>, prepared: &Prepared) -> Result<Figures, Error> {
        self.extent.check_stop()?;
        let contender = task.contender;
        let nodes = match &prepared.single {
            Some(single) if contender == Contender::Single => single,
            _ => &prepared.nodes,
        };
        let rows = prepared.dump.rows;
        let rest = nodes.quiesce_without(SCHEMA)?;
        let run = LoadRun::measure(rest, nodes, || self.load(contender, &prepared.dump, nodes))?;
        convergence::check(nodes, &contender.to_string(), rows, server_copy::loaded_rows)?;
        if task.round == 1 {
            self.compare(contender, nodes, prepared)?;
        }
        Ok(run.figures(rows))
    }

    /// Compares the state of each node with the client's. A node that differs is an error, with rows.
    fn compare(&self, contender: Contender, nodes: &Nodes, prepared: &Prepared) -> Result<(), Error> {
        let is_of_tables = contender.is_of_tables();
        if is_of_tables {
            drop_views(&mut nodes.connect(0)?)?;
        }
        let expected = if is_of_tables { &prepared.expected_tables } else { &prepared.expected };
        for node in 0..nodes.count() {
            let found = described(&mut nodes.connect(node)?)?;
            let mut differences = expected.differences(&found);
            if differences.is_empty() {
                continue;
            }
            // The client loads once more on a server of its own, to find which rows of large tables differ.
            let beside = Nodes::alone(&self.extent.stop)?;
            self.load(Contender::Client, &prepared.dump, &beside)?;
            let rows = expected.differing_rows(&mut beside.connect(0)?, &found, &mut nodes.connect(node)?);
            differences.extend(rows.map_err(Error::server("reading the rows that differ"))?);
            differences.truncate(DIFFERENCES_LIMIT);
            let node = if nodes.count() > 1 { format!(" on node {}", node + 1) } else { String::new() };
            return Err(Error::Answer(format!(
                "{contender} left another state{node} (first: mariadb client, second: {contender}): {}",
                differences.join("; ")
            )));
        }
        Ok(())
    }
}

fn described(connection: &mut Connection) -> Result<State, Error> {
    state::describe(connection, SCHEMA).map_err(Error::server("reading the state"))
}

fn drop_views(connection: &mut Connection) -> Result<(), Error> {
    let statement = format!("DROP VIEW IF EXISTS {SCHEMA}.current_dept_emp, {SCHEMA}.dept_emp_latest_date");
    connection.execute(statement.as_bytes()).map(drop).map_err(Error::server("dropping the views"))
}
