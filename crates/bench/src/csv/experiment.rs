//! The measurement.

use std::fmt;
use std::path::PathBuf;
use std::rc::Rc;

use hortator_check::state::{self, State};

use super::contender::{self, Contender};
use super::rows::{Rows, SCHEMA, TABLE, definition};
use crate::extent::Extent;
use crate::load_run::LoadRun;
use crate::nodes::Nodes;
use crate::progress::Observer;
use crate::quiesce::AtRest;
use crate::rounds::{self, Cell, Figures, Measured, Task};
use crate::{Error, convergence, measure, programs};

/// The factor that names the indexes.
const INDEXES: &str = "secondary_indexes";

/// Secondary indexes of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexes {
    /// The primary key alone, in the order of the rows.
    None,
    /// Three more, on random values.
    Three,
}

impl Indexes {
    /// Both.
    pub const ALL: [Self; 2] = [Self::None, Self::Three];

    pub(super) fn cell(self) -> Cell {
        rounds::cell(&[(INDEXES, self.to_string())])
    }
}

impl fmt::Display for Indexes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Three => "three",
        })
    }
}

/// What is to be measured.
#[derive(Debug)]
pub struct Experiment {
    /// Rows of the file.
    pub rows: u64,
    /// The tables.
    pub indexes: Vec<Indexes>,
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
    /// The versions of the server and of the programs.
    pub versions: Vec<String>,
    /// Size of the file.
    pub bytes: Option<u64>,
}

/// The server, the files, and what LOAD DATA makes of them.
struct Prepared {
    server: Rc<Nodes>,
    rows: Rows,
    indexes: Indexes,
    expected: State,
}

impl Experiment {
    /// Runs it. The observer hears of each step. A contender that leaves another state than LOAD DATA has no figure.
    ///
    /// # Errors
    /// When nothing can be measured here, or the folder cannot be made. All other errors stand with the runs.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Outcome, Error> {
        programs::check_client()?;
        self.extent.create_folder()?;
        let cells: Vec<Cell> = self.indexes.iter().map(|indexes| indexes.cell()).collect();
        let tasks = rounds::plan(&cells, &Contender::ALL, self.extent.rounds);
        let (mut server, mut versions, mut bytes) = (None, Vec::new(), None);
        let prepare = |cell: &Cell, say: &mut dyn FnMut(&str)| {
            say(&format!("rows: writing them, or taking those of before, in {}", self.extent.folder.display()));
            let rows = Rows::cached(&self.extent.folder, self.rows)?;
            let size =
                std::fs::metadata(&rows.whole).map_err(Error::io(format!("reading {}", rows.whole.display())))?;
            bytes = Some(size.len());
            let server = match &server {
                Some(server) => Rc::clone(server),
                None => {
                    say("server: starting");
                    let started = Rc::new(Nodes::alone(&self.extent.stop)?);
                    versions = self.versions(&started)?;
                    Rc::clone(server.insert(started))
                }
            };
            say("warming up: LOAD DATA gives the expected state");
            self.prepare(cell, server, rows)
        };
        let measured = rounds::run_prepared(&tasks, observer, prepare, |task, prepared| self.measure(task, prepared));
        Ok(Outcome { measured, versions, bytes })
    }

    fn versions(&self, server: &Nodes) -> Result<Vec<String>, Error> {
        let mut versions = server.versions()?;
        versions.extend(programs::client_version());
        versions.extend(programs::version("mariadb-import"));
        versions.extend(self.hortator.to_str().and_then(programs::version));
        Ok(versions)
    }

    fn prepare(&self, wanted: &Cell, server: Rc<Nodes>, rows: Rows) -> Result<Prepared, Error> {
        let found = self.indexes.iter().copied().find(|indexes| indexes.cell() == *wanted);
        let indexes = found.ok_or_else(|| Error::Answer(format!("no such cell: {wanted:?}")))?;
        let _rest = set_up(&server, indexes)?;
        self.load(Contender::LoadData, &rows, &server)?;
        let expected = end_state(&server)?;
        if expected.row_count() != rows.count {
            return Err(Error::Answer(format!(
                "LOAD DATA has stored {} of {} rows: there is no state to compare with",
                expected.row_count(),
                rows.count
            )));
        }
        Ok(Prepared { server, rows, indexes, expected })
    }

    fn measure(&self, task: &Task<Contender>, prepared: &Prepared) -> Result<Figures, Error> {
        self.extent.check_stop()?;
        let Prepared { server, rows, indexes, expected } = prepared;
        let contender = task.contender;
        let rest = set_up(server, *indexes)?;
        let run = LoadRun::measure(rest, server, || self.load(contender, rows, server).map(Some))?;
        convergence::check(server, &contender.to_string(), rows.count, |connection| {
            convergence::number(connection, &format!("SELECT COUNT(*) FROM {SCHEMA}.{TABLE}"))
        })?;
        if task.round == 1
            && let Some(difference) = expected.differences(&end_state(server)?).first()
        {
            return Err(Error::Answer(format!("{contender} left another state than LOAD DATA: {difference}")));
        }
        Ok(run.figures(rows.count))
    }

    fn load(&self, contender: Contender, rows: &Rows, server: &Nodes) -> Result<measure::Usage, Error> {
        contender::load(contender, rows, server, &self.hortator, &self.extent.folder, &self.extent.stop)
    }
}

/// An empty table on a server at rest.
fn set_up(server: &Nodes, indexes: Indexes) -> Result<AtRest, Error> {
    let mut connection = server.connect(0)?;
    let statements =
        [format!("DROP DATABASE IF EXISTS {SCHEMA}"), format!("CREATE DATABASE {SCHEMA}"), definition(indexes)];
    for statement in statements {
        connection.execute(statement.as_bytes()).map_err(Error::server("creating the table"))?;
    }
    server.quiesce()
}

fn end_state(server: &Nodes) -> Result<State, Error> {
    state::describe(&mut server.connect(0)?, SCHEMA).map_err(Error::server("reading the state"))
}
