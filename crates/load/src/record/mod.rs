//! Progress records: which statements of the stream are in the database, kept in the database itself.
//!
//! Every chunk of rows commits together with one row of the table `chunks`, in its own transaction, so that the rows are
//! there exactly if the record is: for tables without a primary key too, and however the load, the server or the machine
//! ended. What commits by itself (definitions, rows of engines that cannot roll back) is bracketed: a record says that
//! it has begun, with what its outcome can be found out from, and is closed behind it.
//!
//! A load that goes on reads its stream from the beginning, runs what only concerns the session again, and passes over
//! what is recorded, once its text is seen to be the same by its hash.
//!
//! ```text
//!   loads   one row for each load that has not ended well: its input, since when
//!   chunks  one row for each run of statements: its place, its hash, begun or done, its rows
//! ```
//!
//! Sessions of a load hold a user lock each (`GET_LOCK`), named by load and number. The server gives it back when it has
//! ended the session and rolled back what was open: so a replay on a new connection begins after the old one is over.
//!
//! This room writes and reads records. What is recorded, and when, is the producer's and the workers' business.

mod entry;
mod error;
mod identity;
mod outcome;
mod recorded;
mod registry;
mod repeatable;
mod statements;
mod subject;
mod volatile;

use std::sync::{Arc, Mutex, PoisonError};

use hortator_mysql::{Connection, ExecResult};

use crate::cluster::{Targets, Visit};

pub use entry::{COUNTERS_LIMIT, Digest, Entry, Note, Span, State, digest};
pub use error::Error;
pub use identity::Identity;
pub use outcome::{Outcome, changes_rows, fingerprint, names_other_engines, outcome};
pub use recorded::Recorded;
pub use registry::{Interrupted, forget, interrupted};
use statements::Statements;
pub use volatile::LostRows;

/// The schema that records are kept in, unless another is named.
pub const SCHEMA: &str = "hortator";

/// How long a session of the same number may take to end before its successor gives up, in seconds.
const LOCK_PATIENCE_S: u32 = 60;

/// The main session's number; workers have theirs from 1, and 0 is the records' own connection.
pub const MAIN_SESSION: usize = 1000;

/// What a load does about records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keep {
    /// None are kept; the load cannot be gone on with.
    No,
    /// They are kept in this schema. Where that is not possible the load goes without, and says so.
    Where {
        /// The schema's name.
        schema: String,
        /// Whether the load may go without.
        is_optional: bool,
    },
}

/// Which load is begun or gone on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// From the beginning.
    Afresh,
    /// Where the interrupted load of the same input ended.
    Resume,
    /// Where this load ended, whatever is known of its input.
    ResumeId(u64),
}

/// The records of one load.
#[derive(Debug)]
pub struct Records {
    load_id: u64,
    statements: Statements,
    targets: Arc<Targets>,
    /// For what cannot be written by the connection that does the work; holds the lock of number 0.
    own: Mutex<Option<Visit>>,
}

impl Records {
    /// Makes the schema where it is missing, and begins a load or finds the one to go on with. `threads` is the number
    /// of workers.
    ///
    /// # Errors
    /// [`Error`]: no rights, nothing to resume, another process is at it.
    pub fn open(
        targets: &Arc<Targets>,
        schema: &str,
        identity: &Identity,
        threads: usize,
        start: Start,
    ) -> Result<Self, Error> {
        let statements = Statements::new(schema);
        let mut visit = targets.connect_apart(&|| false)?;
        let connection = &mut visit.connection;
        registry::prepare(connection)?;
        let load_id = match start {
            Start::Afresh => registry::begin(connection, &statements, identity, threads)?,
            Start::Resume => registry::find(connection, &statements, identity)?,
            Start::ResumeId(id) => registry::find_id(connection, &statements, id, Some(identity))?,
        };
        if start != Start::Afresh {
            registry::take_over(connection, &statements, load_id, threads)?;
        }
        Ok(Self { load_id, statements, targets: Arc::clone(targets), own: Mutex::new(Some(visit)) })
    }

    /// The load's number, as `--status` shows it.
    #[must_use]
    pub fn load_id(&self) -> u64 {
        self.load_id
    }

    /// The schema's name.
    #[must_use]
    pub fn schema(&self) -> &str {
        self.statements.schema()
    }

    /// Takes the lock of a session; waits until the server has ended the one that held it before.
    ///
    /// # Errors
    /// When that one does not end, in words; or what the server says.
    pub fn claim(&self, connection: &mut Connection, number: usize) -> Result<(), hortator_mysql::Error> {
        registry::claim(connection, self.load_id, number, LOCK_PATIENCE_S).map_err(|error| match error {
            Error::Server(error) => error,
            other => hortator_mysql::Error::Unsupported(other.to_string()),
        })
    }

    /// Writes a record with the connection that does the work, within its transaction or, outside of one, at once. A
    /// duplicate key (1062) means that it is there already.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn write(&self, connection: &mut Connection, entry: &Entry) -> Result<ExecResult, hortator_mysql::Error> {
        connection.execute(&self.statements.insert(self.load_id, entry))
    }

    /// Closes a record that says "begun", likewise. No row affected means that it was closed before.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn close(&self, connection: &mut Connection, entry: &Entry) -> Result<ExecResult, hortator_mysql::Error> {
        connection.execute(&self.statements.close(self.load_id, entry))
    }

    /// Takes a record away with the connection that does the work: what it says has begun had no effect.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn retract(&self, connection: &mut Connection, first: u64) -> Result<ExecResult, hortator_mysql::Error> {
        connection.execute(&self.statements.retract(self.load_id, first))
    }

    /// Runs one of the above on a connection of the records' own, at once.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn apart<T>(
        &self,
        work: impl FnOnce(&Self, &mut Connection) -> Result<T, hortator_mysql::Error>,
    ) -> Result<T, hortator_mysql::Error> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if own.as_ref().is_some_and(|visit| !self.targets.is_current(visit.moves)) {
            *own = None;
        }
        let Visit { connection, .. } = match &mut *own {
            Some(visit) => visit,
            none => {
                let mut visit = self.connect()?;
                self.claim(&mut visit.connection, 0)?;
                none.insert(visit)
            }
        };
        let result = work(self, connection);
        let is_lost =
            |error: &hortator_mysql::Error| !matches!(error, hortator_mysql::Error::Server(_)) || error.is_unready();
        if result.as_ref().is_err_and(is_lost) {
            *own = None;
        }
        result
    }

    /// Whether a chunk that begins with this statement is recorded as done, asked after its COMMIT went unanswered. The
    /// session that sent it is over: its successor has its lock.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn is_done(&self, connection: &mut Connection, first: u64) -> Result<bool, hortator_mysql::Error> {
        Ok(!connection.fetch(&self.statements.look_up(self.load_id, first))?.is_empty())
    }

    /// All that is recorded, in the stream's order, read bit by bit.
    ///
    /// # Errors
    /// When there is no connection.
    pub fn recorded(&self) -> Result<Recorded, hortator_mysql::Error> {
        Ok(Recorded::new(self.connect()?.connection, self.statements.clone(), self.load_id))
    }

    fn connect(&self) -> Result<Visit, hortator_mysql::Error> {
        let mut visit = self.targets.connect_apart(&|| false)?;
        registry::prepare(&mut visit.connection)?;
        Ok(visit)
    }

    /// Rows that are recorded as loaded, by table.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn rows_by_table(&self) -> Result<Vec<(String, u64)>, hortator_mysql::Error> {
        self.apart(|records, connection| registry::rows_by_table(connection, &records.statements, records.load_id))
    }

    /// The first table of which rows are on record and gone nevertheless.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn lost_rows(&self) -> Result<Option<LostRows>, hortator_mysql::Error> {
        self.apart(|records, connection| volatile::lost_rows(connection, &records.statements, records.load_id))
    }

    /// How many records there are of what is done.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn done(&self) -> Result<u64, hortator_mysql::Error> {
        self.apart(|records, connection| registry::done(connection, &records.statements, records.load_id))
    }

    /// Takes note of checks that are deferred from now on, one bit for each kind; gives those of the load so far and these.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn defer(&self, checks: u8) -> Result<u8, hortator_mysql::Error> {
        self.apart(|records, connection| registry::defer(connection, &records.statements, records.load_id, checks))
    }

    /// The load has ended. Its records go, unless it is to be gone on with and anything is recorded; the schema goes
    /// with its last load. Gives whether the load can be gone on with.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn end(&self, is_complete: bool) -> Result<bool, hortator_mysql::Error> {
        self.apart(|records, connection| registry::end(connection, &records.statements, records.load_id, is_complete))
    }
}
