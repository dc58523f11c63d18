//! The measurement.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hortator_check::state::{self, State};
use hortator_mysql::Connection;

use super::contender::{self, Contender};
use super::dump::{Dump, SCHEMA};
use crate::rounds::{self, Cell, Figures, Measured, Task};
use crate::server::Server;
use crate::{Error, measure};

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
    /// The lock modes.
    pub modes: Vec<LockMode>,
    /// Who loads.
    pub contenders: Vec<Contender>,
    /// How often each contender loads each dump.
    pub rounds: usize,
    /// This program.
    pub hortator: PathBuf,
    /// Where dumps and logs go; the dumps stay for later experiments.
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
    /// Bytes of data and of secondary indexes for each row, as the server says.
    pub row_bytes: Option<(u64, u64)>,
}

/// The factor that names the lock mode.
pub(super) const MODE: &str = "lock_mode";
/// The factor that says whether the column has the attribute.
pub(super) const ATTRIBUTE: &str = "auto_increment";
/// From the start of the loader to its end.
pub(super) const WALL: &str = "wall_s";
/// Rows of the table for each second of it.
pub(super) const RATE: &str = "rows_per_s";
/// The server's CPU time for each second of it.
pub(super) const CORES: &str = "server_cores";
/// CPU time of the loader.
pub(super) const LOADER_CPU: &str = "loader_cpu_s";
/// CPU time of everything else on the machine.
pub(super) const OTHER_CPU: &str = "other_cpu_s";

/// The server and the dump of a cell, and what the client makes of it.
struct Prepared {
    server: Server,
    dump: Dump,
    /// Definitions with the next AUTO_INCREMENT value, and rows.
    expected: State,
}

/// With the attribute and without.
pub(super) const ATTRIBUTES: [bool; 2] = [true, false];

pub(super) fn cell(mode: LockMode, is_auto_increment: bool) -> Cell {
    let attribute = if is_auto_increment { "with" } else { "without" };
    rounds::cell(&[(MODE, mode.to_string()), (ATTRIBUTE, attribute.to_owned())])
}

impl Experiment {
    /// Runs it; `say` takes a line for each step. A contender that leaves another state than the client has no figure.
    ///
    /// # Errors
    /// When the folder cannot be made. All other errors stand with the runs.
    pub fn run(&self, say: &mut dyn FnMut(&str)) -> Result<Outcome, Error> {
        std::fs::create_dir_all(&self.folder).map_err(Error::io(format!("creating {}", self.folder.display())))?;
        let cells: Vec<Cell> = self.cells().map(|(mode, attribute)| cell(mode, attribute)).collect();
        let tasks = rounds::plan(&cells, &self.contenders, self.rounds);
        let (mut version, mut row_bytes) = (String::new(), None);
        let prepare = |cell: &Cell, say: &mut dyn FnMut(&str)| {
            let prepared = self.prepare(cell, say)?;
            let mut connection = prepared.server.connect()?;
            version = format!("MariaDB {}", text(&mut connection, "SELECT VERSION()")?);
            row_bytes = Some(self.row_bytes(&mut connection)?);
            Ok(prepared)
        };
        let measured = rounds::run_prepared(&tasks, say, prepare, |task, prepared| self.measure(task, prepared));
        Ok(Outcome { measured, version, row_bytes })
    }

    fn cells(&self) -> impl Iterator<Item = (LockMode, bool)> {
        self.modes.iter().flat_map(|mode| ATTRIBUTES.map(|attribute| (*mode, attribute)))
    }

    /// A server with the cell's mode, warmed up by the client's load, which gives the expected state.
    fn prepare(&self, wanted: &Cell, say: &mut dyn FnMut(&str)) -> Result<Prepared, Error> {
        let found = self.cells().find(|(mode, attribute)| cell(*mode, *attribute) == *wanted);
        let (mode, attribute) = found.ok_or_else(|| Error::Answer(format!("no such cell: {wanted:?}")))?;
        let with = if attribute { "with" } else { "without" };
        say(&format!("lock mode {mode}, {with} AUTO_INCREMENT: the client's load gives the expected state"));
        let dump = Dump::cached(&self.folder, self.rows, attribute)?;
        let server = Server::with_settings(&[("innodb_autoinc_lock_mode", mode.value())], Arc::clone(&self.stop))?;
        let mut connection = server.connect()?;
        let set = text(&mut connection, "SELECT @@GLOBAL.innodb_autoinc_lock_mode")?;
        if set != mode.value() {
            return Err(Error::Answer(format!("the server has innodb_autoinc_lock_mode={set}, not {mode}")));
        }
        contender::load(Contender::Client, &dump, &server, &self.hortator, &self.folder, &self.stop)?;
        let expected = end_state(&mut connection)?;
        Ok(Prepared { server, dump, expected })
    }

    fn measure(&self, task: &Task<Contender>, prepared: &Prepared) -> Result<Figures, Error> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let Prepared { server, dump, expected } = prepared;
        server.quiesce_without(SCHEMA)?;
        let machine = || measure::machine_cpu_time().map_err(Error::io("reading the machine's CPU time"));
        let (before, all_before) = (server.cpu_time()?, machine()?);
        let (wall, loader_cpu) =
            contender::load(task.contender, dump, server, &self.hortator, &self.folder, &self.stop)?;
        let server_cpu = server.cpu_time()?.saturating_sub(before);
        let other_cpu = machine()?.saturating_sub(all_before).saturating_sub(server_cpu + loader_cpu);
        let found = end_state(&mut server.connect()?)?;
        if let Some(difference) = expected.differences(&found).first() {
            return Err(Error::Answer(format!("{} left another state than the client: {difference}", task.contender)));
        }
        let seconds = wall.as_secs_f64();
        let figures = [
            (WALL, seconds),
            (RATE, dump.rows as f64 / seconds),
            (CORES, server_cpu.as_secs_f64() / seconds),
            (LOADER_CPU, loader_cpu.as_secs_f64()),
            (OTHER_CPU, other_cpu.as_secs_f64()),
        ];
        Ok(figures.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
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
