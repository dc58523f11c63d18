//! The measurement.

use std::fmt;
use std::path::PathBuf;

use hortator_check::state::{self, State};
use hortator_mysql::Connection;

use super::contender::{self, Contender};
use super::dump::{Dump, SCHEMA};
use crate::deployment::{Deployment, installed};
use crate::equal_settings::EqualSettings;
use crate::extent::Extent;
use crate::load_run::LoadRun;
use crate::nodes::Nodes;
use crate::progress::Observer;
use crate::provider::Durability;
use crate::rounds::{self, Cell, Figures, Measured, Task};
use crate::{Error, convergence};

/// A value of `innodb_autoinc_lock_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// 0: a table lock until the end of each INSERT.
    Traditional,
    /// 1: a table lock for INSERTs that do not say how many rows they have.
    Consecutive,
    /// 2: never a table lock.
    Interleaved,
}

impl LockMode {
    /// All of them.
    pub const ALL: [LockMode; 3] = [LockMode::Traditional, LockMode::Consecutive, LockMode::Interleaved];

    fn value(self) -> &'static str {
        match self {
            LockMode::Traditional => "0",
            LockMode::Consecutive => "1",
            LockMode::Interleaved => "2",
        }
    }
}

impl fmt::Display for LockMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.value())
    }
}

/// What is to be measured.
#[derive(Debug)]
pub struct Experiment {
    /// Rows of the table.
    pub rows: u64,
    /// The servers: one alone, or one node with a provider.
    pub deployments: Vec<Deployment>,
    /// The lock modes. Servers with a provider need the last one, and have no other.
    pub modes: Vec<LockMode>,
    /// Who loads.
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
    /// Versions of servers and providers.
    pub versions: Vec<String>,
    /// Deployments that this machine cannot run, with the reason.
    pub left_out: Vec<String>,
    /// Bytes of data and of secondary indexes for each row, as the server says.
    pub row_bytes: Option<(u64, u64)>,
}

/// The factor that names the servers.
pub(super) const SERVERS: &str = "servers";
/// The factor that names the lock mode.
pub(super) const MODE: &str = "lock_mode";
/// The factor that says whether the column has the attribute.
pub(super) const ATTRIBUTE: &str = "auto_increment";

/// The servers and the dump of a cell, and what the client makes of it.
struct Prepared {
    nodes: Nodes,
    dump: Dump,
    /// Definitions with the next AUTO_INCREMENT value, and rows.
    expected: State,
}

/// With the attribute and without.
pub(super) const ATTRIBUTES: [bool; 2] = [true, false];

/// Servers, the lock mode, and whether the column has the attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CellFactors {
    pub(super) deployment: Deployment,
    pub(super) mode: LockMode,
    pub(super) has_attribute: bool,
}

impl CellFactors {
    pub(super) fn cell(self) -> Cell {
        let attribute = if self.has_attribute { "with" } else { "without" };
        let factors =
            [(SERVERS, self.deployment.to_string()), (MODE, self.mode.to_string()), (ATTRIBUTE, attribute.to_owned())];
        rounds::cell(&factors)
    }
}

impl Experiment {
    /// Runs it. The observer hears of each step. A contender that leaves another state than the client has no figure.
    ///
    /// # Errors
    /// When nothing can be measured here, or the folder cannot be made. All other errors stand with the runs.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Outcome, Error> {
        self.extent.create_folder()?;
        let (deployments, left_out) = installed(&self.deployments)?;
        let cells: Vec<Cell> =
            deployments.iter().flat_map(|deployment| self.factors_of(*deployment)).map(CellFactors::cell).collect();
        let tasks = rounds::plan(&cells, &self.contenders, self.extent.rounds);
        let (mut versions, mut row_bytes, mut settings) = (Vec::new(), None, EqualSettings::default());
        let prepare = |cell: &Cell, say: &mut dyn FnMut(&str)| {
            let prepared = self.prepare(cell, &mut settings, say)?;
            for version in prepared.nodes.versions()? {
                if !versions.contains(&version) {
                    versions.push(version);
                }
            }
            row_bytes = Some(self.row_bytes(&mut prepared.nodes.connect(0)?)?);
            Ok(prepared)
        };
        let measured = rounds::run_prepared(&tasks, observer, prepare, |task, prepared| self.measure(task, prepared));
        Ok(Outcome { measured, versions, left_out, row_bytes })
    }

    /// A server alone with each lock mode; one with a provider with the only one that it takes.
    pub(super) fn factors_of(&self, deployment: Deployment) -> Vec<CellFactors> {
        let is_alone = deployment == Deployment::Alone;
        let modes = self.modes.iter().filter(|mode| is_alone || **mode == LockMode::Interleaved);
        modes
            .flat_map(|mode| ATTRIBUTES.map(|has_attribute| CellFactors { deployment, mode: *mode, has_attribute }))
            .collect()
    }

    /// All of them.
    pub(super) fn all_factors(&self) -> impl Iterator<Item = CellFactors> {
        self.deployments.iter().flat_map(|deployment| self.factors_of(*deployment))
    }

    /// Servers with the cell's mode, warmed up by the client's load, which gives the expected state.
    fn prepare(
        &self,
        wanted: &Cell,
        settings: &mut EqualSettings,
        say: &mut dyn FnMut(&str),
    ) -> Result<Prepared, Error> {
        let found = self.all_factors().find(|factors| factors.cell() == *wanted);
        let factors = found.ok_or_else(|| Error::Answer(format!("no such cell: {wanted:?}")))?;
        let CellFactors { deployment, mode, has_attribute } = factors;
        let with = if has_attribute { "with" } else { "without" };
        say(&format!(
            "{deployment}, lock mode {mode}, {with} AUTO_INCREMENT: the client's load gives the expected state"
        ));
        let dump = Dump::cached(&self.extent.folder, self.rows, has_attribute)?;
        let further = [("innodb_autoinc_lock_mode", mode.value())];
        let nodes = deployment.start_with(Durability::Synced, &further, &self.extent.stop)?;
        settings.check(&deployment.to_string(), &nodes)?;
        let set = text(&mut nodes.connect(0)?, "SELECT @@GLOBAL.innodb_autoinc_lock_mode")?;
        if set != mode.value() {
            return Err(Error::Answer(format!("the server has innodb_autoinc_lock_mode={set}, not {mode}")));
        }
        contender::load(Contender::Client, &dump, &nodes, &self.hortator, &self.extent.folder, &self.extent.stop)?;
        let expected = end_state(&mut nodes.connect(0)?)?;
        Ok(Prepared { nodes, dump, expected })
    }

    fn measure(&self, task: &Task<Contender>, prepared: &Prepared) -> Result<Figures, Error> {
        self.extent.check_stop()?;
        let Prepared { nodes, dump, expected } = prepared;
        let contender = task.contender;
        let load = || {
            contender::load(contender, dump, nodes, &self.hortator, &self.extent.folder, &self.extent.stop).map(Some)
        };
        let run = LoadRun::measure(nodes.quiesce_without(SCHEMA)?, nodes, load)?;
        convergence::check(nodes, &contender.to_string(), dump.rows, |connection| {
            convergence::number(connection, &format!("SELECT COUNT(*) FROM {SCHEMA}.page"))
        })?;
        // Each time: the next value depends on what ran side by side.
        let found = end_state(&mut nodes.connect(0)?)?;
        if let Some(difference) = expected.differences(&found).first() {
            return Err(Error::Answer(format!("{contender} left another state than the client: {difference}")));
        }
        Ok(run.figures(dump.rows))
    }

    /// Data and secondary indexes.
    fn row_bytes(&self, connection: &mut Connection) -> Result<(u64, u64), Error> {
        // Statistics are behind the rows.
        let analyzed = format!("ANALYZE TABLE {SCHEMA}.page");
        connection.fetch(analyzed.as_bytes()).map_err(Error::server("reading the table's size"))?;
        let mut size = |column: &str| {
            let query = format!("SELECT {column} FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{SCHEMA}'");
            Ok::<u64, Error>(text(connection, &query)?.parse().unwrap_or(0) / self.rows.max(1))
        };
        Ok((size("DATA_LENGTH")?, size("INDEX_LENGTH")?))
    }
}

fn end_state(connection: &mut Connection) -> Result<State, Error> {
    state::describe(connection, SCHEMA).map_err(Error::server("reading the state"))
}

fn text(connection: &mut Connection, query: &str) -> Result<String, Error> {
    let rows = connection.fetch(query.as_bytes()).map_err(Error::server(format!("running {query}")))?;
    let value = rows.into_iter().flatten().flatten().next().unwrap_or_default();
    Ok(String::from_utf8_lossy(&value).into_owned())
}
