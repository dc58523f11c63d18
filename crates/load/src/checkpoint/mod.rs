//! Checkpoints: which statements of the stream the database has, stored in the database itself.
//!
//! Every chunk of rows commits together with its checkpoint, one row of the table `chunks`, in one transaction. So the
//! database has either both or neither, also for tables without a primary key, and after any crash of the load, the server
//! or the machine. A statement that commits implicitly (DDL, rows of engines without transactions) has an intent: a
//! checkpoint that the load writes before the statement, with a hint for recovery, and marks as applied after it. These may
//! be kept in a file of the loader's machine, which costs less: see the module `local_journal`.
//!
//! A resumed load reads its stream from the beginning, runs statements again that only change the session, and skips
//! statements with a checkpoint after it has compared their hashes.
//!
//! ```text
//!   chunks  row 0 of each load that is running or interrupted: its input, its start, its local journal
//!           one row for each run of statements: position, hash, state, rows
//!   deferred_keys   one row for each table whose keys are dropped, to be built after its rows
//! ```
//!
//! Each session of a load holds a user lock (`GET_LOCK`), named after load and session number. The server releases it after
//! it has ended the session and rolled back its transaction: so a replay on a new connection starts after the old session
//! has ended.
//!
//! This module writes and reads checkpoints. Coordinator and workers decide what has a checkpoint, and when.

mod apart;
mod deferred_keys;
mod entry;
mod error;
mod identity;
mod interrupted;
mod load_registry;
mod local_journal;
mod local_record;
mod memory_tables;
mod outcome;
mod reader;
mod session_locks;
mod statements;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use hortator_mysql::catalog::TableName;
use hortator_mysql::error::{LOCK_NOWAIT, LOCK_WAIT_TIMEOUT, PARSE_ERROR};
use hortator_mysql::{Connection, ExecResult};

use crate::cluster::{Targets, WriterConnection};

pub use entry::{COUNTERS_LIMIT, Checkpoint, Digest, LargeTransactionBegin, RecoveryHint, Span, State, digest};
pub use error::Error;
pub use identity::Identity;
pub use interrupted::{Interrupted, MissingKeysOf, interrupted};
pub use load_registry::{Discarded, discard};
use local_journal::LocalJournal;
pub use local_journal::LostJournal;
use local_record::RecordFacts;
pub use memory_tables::LostRows;
pub use outcome::{Outcome, drop_sequence, fingerprint, fingerprint_unseen, outcome};
pub use reader::CheckpointReader;
pub use statements::LastId;
use statements::Statements;

/// The default schema of the checkpoints.
pub const SCHEMA: &str = "hortator";

/// How long the internal connection waits for locks that the dump's session may hold, in seconds.
const DUMP_LOCK_TIMEOUT_S: u32 = 2;

/// The number of the main session; workers have numbers from 1, and 0 is the internal connection for checkpoints.
pub const MAIN_SESSION: usize = 1000;

/// The number of the first of the sessions that drop and build keys.
pub(crate) const KEY_SESSION: usize = 1001;

/// Whether a load writes checkpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckpointMode {
    /// No checkpoints: the load cannot be resumed.
    Disabled,
    /// Checkpoints in this schema.
    Enabled {
        /// The schema's name.
        schema: String,
        /// Whether the load runs without checkpoints, with a warning, if it cannot write them.
        is_optional: bool,
    },
}

/// Which load to start or resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// A new load.
    New,
    /// The interrupted load of the same input.
    Resume,
    /// The load with this ID, whatever its input.
    ResumeId(u64),
}

/// Why rows are taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenBack {
    /// The load has failed: their statements are to be run again.
    Undone,
    /// The dump says so: their statements are done.
    ByDump,
}

/// The checkpoints of one load.
#[derive(Debug)]
pub struct Checkpoints {
    load_id: u64,
    statements: Statements,
    targets: Arc<Targets>,
    /// For checkpoints that the connection of the statement cannot write; holds the lock of number 0.
    internal: Mutex<Option<WriterConnection>>,
    /// The ID of that connection.
    internal_id: AtomicU32,
    /// It does not wait long for locks of tables.
    limits_lock_waits: AtomicBool,
    /// For those that stand in no transaction. Who waits for the internal connection may hold it, and not the other way round.
    local: Mutex<LocalJournal>,
    /// Else the local journal has a local record, and the server has nothing.
    is_on_server: AtomicBool,
    /// Of a load that begins with a local record: see [`Checkpoints::own_names`].
    own_names: Vec<Vec<u8>>,
    /// What an earlier run has recorded in a local journal that cannot be used.
    lost: Option<LostJournal>,
    /// No earlier run has recorded anything.
    is_new: bool,
    /// Keys may be on record as missing.
    has_keys_record: AtomicBool,
}

impl Checkpoints {
    /// Starts a load, on record on the server or with a local record, or finds the load to resume. Creates the schema if it
    /// is missing and needed. `threads` is the number of workers. `journal_folder`: where the load may keep a local journal, and
    /// where that of an earlier run may be. `may_be_local`: a new load may begin with a local record.
    ///
    /// # Errors
    /// [`Error`]: no rights, nothing to resume, the load is still running.
    pub fn open(
        targets: &Arc<Targets>,
        schema: &str,
        identity: &Identity,
        threads: usize,
        start: Start,
        journal_folder: Option<&Path>,
        may_be_local: bool,
    ) -> Result<Self, Error> {
        let statements = Statements::new(schema);
        let mut writer = targets.connect_internal(&|| false)?;
        let connection = &mut writer.connection;
        load_registry::prepare(connection)?;
        let is_new = start == Start::New;
        let is_cluster = targets.info().is_some();
        let asked = journal_folder.map_or(Ok(None), |_| local_record::facts(connection, &statements, is_cluster))?;
        let mut begun = None;
        let mut _imported = Vec::new();
        if let Some(facts) = &asked {
            if is_new {
                local_record::discard_same(connection, &statements, facts, identity, journal_folder)?;
            } else {
                _imported = local_record::import(connection, &statements, facts, identity, start, journal_folder)?;
            }
            if is_new && may_be_local {
                begun = local_record::begin(connection, &statements, facts, identity, threads, journal_folder)?;
            }
        }
        let load_id = match (&begun, start) {
            (Some(local), _) => local.load_id(),
            (None, Start::New) => load_registry::begin(connection, &statements, identity, threads)?,
            (None, Start::Resume) => load_registry::find(connection, &statements, identity).map_err(|error| {
                let facts = asked.as_ref().filter(|_| matches!(error, Error::Nothing { .. }));
                let other = |facts| local_record::with_other_options(&statements, facts, identity, journal_folder);
                facts.and_then(other).unwrap_or(error)
            })?,
            (None, Start::ResumeId(id)) => load_registry::find_id(connection, &statements, id, Some(identity))?,
        };
        if !is_new {
            load_registry::take_over(connection, &statements, load_id, threads)?;
        }
        let lost = match is_new {
            true => None,
            false => apart::adopt(connection, &statements, load_id, journal_folder, is_cluster)?,
        };
        let is_on_server = begun.is_none();
        // Beside what is lost, there is no room for another.
        let local = begun.unwrap_or_else(|| LocalJournal::new(load_id, journal_folder.filter(|_| lost.is_none())));
        let internal_id = AtomicU32::new(writer.connection.id());
        Ok(Self {
            load_id,
            statements,
            targets: Arc::clone(targets),
            internal: Mutex::new(Some(writer)),
            internal_id,
            limits_lock_waits: AtomicBool::new(false),
            local: Mutex::new(local),
            is_on_server: AtomicBool::new(is_on_server),
            own_names: asked.filter(|_| !is_on_server).map_or_else(Vec::new, RecordFacts::own_names),
            lost,
            is_new,
            has_keys_record: AtomicBool::new(!is_new),
        })
    }

    /// The ID of the load, as `--status` shows it.
    #[must_use]
    pub fn load_id(&self) -> u64 {
        self.load_id
    }

    /// The schema's name.
    #[must_use]
    pub fn schema(&self) -> &str {
        self.statements.schema()
    }

    /// Writes a checkpoint over the connection of the statement, within its transaction if there is one. A duplicate key
    /// (1062) means that the checkpoint exists.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn write(
        &self,
        connection: &mut Connection,
        checkpoint: &Checkpoint,
    ) -> Result<ExecResult, hortator_mysql::Error> {
        self.register()?;
        connection.execute(&self.statements.insert(self.load_id, checkpoint, LastId::Known))
    }

    /// Marks an intent as applied, in the same way. No affected row means that it was already marked.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn close(
        &self,
        connection: &mut Connection,
        checkpoint: &Checkpoint,
    ) -> Result<ExecResult, hortator_mysql::Error> {
        self.register()?;
        connection.execute(&self.statements.close(self.load_id, checkpoint, LastId::Known))
    }

    /// Closes a checkpoint where it is recorded as begun, else writes it.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn close_or_write(
        &self,
        connection: &mut Connection,
        checkpoint: &Checkpoint,
    ) -> Result<ExecResult, hortator_mysql::Error> {
        match self.close(connection, checkpoint)? {
            ExecResult { affected_rows: 0, .. } => self.write(connection, checkpoint),
            closed => Ok(closed),
        }
    }

    /// The statement of [`Self::write`], to be sent together with others.
    #[must_use]
    pub fn write_statement(&self, checkpoint: &Checkpoint, last_id: LastId) -> Vec<u8> {
        debug_assert!(self.is_on_server(), "the session that sends it cannot put the load on record");
        self.statements.insert(self.load_id, checkpoint, last_id)
    }

    /// The statement of [`Self::close`], to be sent together with others.
    #[must_use]
    pub fn close_statement(&self, checkpoint: &Checkpoint, last_id: LastId) -> Vec<u8> {
        debug_assert!(self.is_on_server(), "the session that sends it cannot put the load on record");
        self.statements.close(self.load_id, checkpoint, last_id)
    }

    /// # Errors
    /// What the server or the connection says.
    pub fn retract(&self, connection: &mut Connection, first: u64) -> Result<ExecResult, hortator_mysql::Error> {
        self.register()?;
        connection.execute(&self.statements.retract(self.load_id, first))
    }

    /// The statement that takes the mark off the first chunk of a large transaction, `first` being the number of its first
    /// statement: once that is committed, the large transaction is.
    #[must_use]
    pub fn unmark_statement(&self, first: u64) -> Vec<u8> {
        debug_assert!(self.is_on_server(), "the session that sends it cannot put the load on record");
        self.statements.unmark(self.load_id, first)
    }

    /// Whether the first chunk of a large transaction is still marked: the dump has not committed it.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn is_marked(&self, connection: &mut Connection, first: u64) -> Result<bool, hortator_mysql::Error> {
        self.register()?;
        Ok(!connection.fetch(&self.statements.marked(self.load_id, first))?.is_empty())
    }

    /// Whether a transaction is open that has taken that mark off.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn is_held(&self, connection: &mut Connection, first: u64) -> Result<bool, hortator_mysql::Error> {
        let mut question = self.statements.marked(self.load_id, first);
        question.extend_from_slice(b" FOR UPDATE NOWAIT");
        match connection.fetch(&question) {
            Ok(_) => Ok(false),
            Err(error) if matches!(error.code(), Some(LOCK_WAIT_TIMEOUT | LOCK_NOWAIT | PARSE_ERROR)) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// The rows of a transaction of the dump are taken back: all of this table, from its first statement on.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn take_back(
        &self,
        connection: &mut Connection,
        table: &TableName,
        first: u64,
        taken_back: TakenBack,
    ) -> Result<ExecResult, hortator_mysql::Error> {
        self.register()?;
        connection.execute(&self.statements.take_back(self.load_id, &table.to_string(), first, taken_back))
    }

    /// The ID of the connection on which the load writes its own records.
    #[must_use]
    pub fn internal_connection_id(&self) -> u32 {
        self.internal_id.load(Relaxed)
    }

    /// Whether the internal connection is open, as far as is known.
    fn has_internal_connection(&self) -> bool {
        self.internal.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Whether the internal connection gives up soon where a lock of tables or of the server is in the way.
    pub fn limit_lock_waits(&self, is_limited: bool) {
        self.limits_lock_waits.store(is_limited, Relaxed);
    }

    /// Runs one of the above on the internal connection, outside of any transaction.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn on_internal_connection<T>(
        &self,
        work: impl FnOnce(&Self, &mut Connection) -> Result<T, hortator_mysql::Error>,
    ) -> Result<T, hortator_mysql::Error> {
        self.register()?;
        self.with_internal_connection(work)
    }

    /// Opens the internal connection, if it is not open.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn open_internal_connection(&self) -> Result<(), hortator_mysql::Error> {
        self.with_internal_connection(|_, _| Ok(()))
    }

    /// Runs something on the internal connection that needs no tables of ours, or makes them.
    fn with_internal_connection<T>(
        &self,
        work: impl FnOnce(&Self, &mut Connection) -> Result<T, hortator_mysql::Error>,
    ) -> Result<T, hortator_mysql::Error> {
        let mut internal = self.internal.lock().unwrap_or_else(PoisonError::into_inner);
        if internal.as_ref().is_some_and(|writer| !self.targets.is_current(writer.failover_epoch)) {
            *internal = None;
        }
        let WriterConnection { connection, .. } = match &mut *internal {
            Some(writer) => writer,
            none => {
                let mut writer = self.connect()?;
                self.claim(&mut writer.connection, 0)?;
                self.internal_id.store(writer.connection.id(), Relaxed);
                none.insert(writer)
            }
        };
        let is_limited = self.limits_lock_waits.load(Relaxed);
        let limited = match is_limited {
            true => connection
                .execute(format!("SET SESSION lock_wait_timeout = {DUMP_LOCK_TIMEOUT_S}").as_bytes())
                .map(drop),
            false => Ok(()),
        };
        let mut result = limited.and_then(|()| work(self, connection));
        if is_limited && !matches!(result, Err(ref error) if !matches!(error, hortator_mysql::Error::Server(_))) {
            let reset = connection.execute(b"SET SESSION lock_wait_timeout = DEFAULT");
            result = result.and_then(|done| reset.map(|_| done));
        }
        let is_lost =
            |error: &hortator_mysql::Error| !matches!(error, hortator_mysql::Error::Server(_)) || error.is_unready();
        if result.as_ref().is_err_and(is_lost) {
            *internal = None;
        }
        result
    }

    /// Whether the chunk that starts with this statement is applied. For a COMMIT without an answer, whose session has ended.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn is_applied(&self, connection: &mut Connection, first: u64) -> Result<bool, hortator_mysql::Error> {
        self.register()?;
        Ok(!connection.fetch(&self.statements.look_up(self.load_id, first))?.is_empty())
    }

    /// A reader of all checkpoints in stream order, which reads page by page.
    ///
    /// # Errors
    /// When there is no connection.
    pub fn reader(&self) -> Result<CheckpointReader, hortator_mysql::Error> {
        Ok(CheckpointReader::new(self.connect()?.connection, self.statements.clone(), self.load_id))
    }

    fn connect(&self) -> Result<WriterConnection, hortator_mysql::Error> {
        let mut writer = self.targets.connect_internal(&|| false)?;
        load_registry::prepare(&mut writer.connection)?;
        Ok(writer)
    }

    /// Rows that the checkpoints record as loaded, by table.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn rows_by_table(&self) -> Result<Vec<(String, u64)>, hortator_mysql::Error> {
        self.on_internal_connection(|checkpoints, connection| {
            load_registry::rows_by_table(connection, &checkpoints.statements, checkpoints.load_id)
        })
    }

    /// The first table that has lost recorded rows.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn lost_rows(&self) -> Result<Option<LostRows>, hortator_mysql::Error> {
        self.on_internal_connection(|checkpoints, connection| {
            memory_tables::lost_rows(connection, &checkpoints.statements, checkpoints.load_id)
        })
    }

    /// The number of applied checkpoints.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn count_applied(&self) -> Result<u64, hortator_mysql::Error> {
        self.on_internal_connection(|checkpoints, connection| {
            load_registry::count_applied(connection, &checkpoints.statements, checkpoints.load_id)
        })
    }

    /// Records deferred checks, one bit for each kind; returns the bits of the whole load.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn defer(&self, checks: u8) -> Result<u8, hortator_mysql::Error> {
        if self.is_new && checks == 0 {
            return Ok(0);
        }
        self.on_internal_connection(|checkpoints, connection| {
            load_registry::defer(connection, &checkpoints.statements, checkpoints.load_id, checks)
        })
    }

    /// The load has ended. Discards its checkpoints, unless the load is incomplete and has any; drops the schema with the
    /// last load. Returns whether the load can be resumed.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn end(&self, is_complete: bool) -> Result<bool, hortator_mysql::Error> {
        if self.end_locally(is_complete) {
            return Ok(false);
        }
        if !is_complete && let Err(error) = self.settle() {
            self.close_local_journal();
            return Err(error);
        }
        let are_keys_missing = !self.missing_keys()?.is_empty();
        self.on_internal_connection(|checkpoints, connection| {
            load_registry::end(connection, &checkpoints.statements, checkpoints.load_id, is_complete, are_keys_missing)
        })
    }
}
