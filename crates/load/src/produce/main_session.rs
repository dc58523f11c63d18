//! The main session: the connection that lives through the whole dump, as the client's would, and its state.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use hortator_mysql::{Connection, Error, ExecResult, Flavor, Status};

use super::handlers::Handlers;
use super::recording::Recording;
use super::rows_plan::Reason;
use crate::apply::{Pool, Stopped, check_packet};
use crate::class::parts;
use crate::cluster::{Targets, Visit};
use crate::lexer::{Dialect, Location, tokens};
use crate::output::Output;
use crate::progress::Progress;
use crate::record::{MAIN_SESSION, Records};
use crate::report::Failure;
use crate::session::{Assignments, SessionState, Tracker};

/// How long a node that takes no statements is waited for, and how often it is asked.
const UNREADY_LIMIT: Duration = Duration::from_secs(20);
const UNREADY_PAUSE: Duration = Duration::from_millis(200);

/// The dump's own session.
pub(super) struct MainSession<'l> {
    pool: &'l Pool,
    progress: &'l Progress,
    targets: &'l Targets,
    /// The home that the connection leads to: see [`Targets::is_current`].
    moves: u64,
    pub(super) connection: Connection,
    /// Where it is recorded what is done; `None` where nothing is.
    pub(super) records: Option<&'l Records>,
    pub(super) recording: Recording,
    tracker: Tracker,
    output: &'l mut dyn Output,
    server: Dialect,
    /// How text is read in the state in force.
    dialect: Dialect,
    /// A statement has run that may have changed the state; it is read again before the next one, but not before one
    /// that asks for the warnings, because reading takes them away.
    is_stale: bool,
    /// The server takes no statement as long as this; it stays what it was when the session began.
    packet_limit_bytes: usize,
    has_temporary_tables: bool,
    has_locks: bool,
    handlers: Handlers,
    in_xa: bool,
    failures: u64,
    is_gone: bool,
}

impl<'l> MainSession<'l> {
    pub(super) fn open(
        pool: &'l Pool,
        progress: &'l Progress,
        targets: &'l Targets,
        records: Option<&'l Records>,
        output: &'l mut dyn Output,
    ) -> Result<Self, Error> {
        let Visit { mut connection, moves, autocommits } = targets.connect(&|| pool.is_interrupted())?;
        if let Some(records) = records {
            records.claim(&mut connection, MAIN_SESSION)?;
        }
        if !autocommits {
            // As the client would find it: all is one transaction until the dump says COMMIT.
            connection.execute(b"SET SESSION autocommit = 0")?;
        }
        connection.enable_multi_statements()?;
        let version = connection.version();
        let server =
            Dialect { mariadb: version.flavor == Flavor::MariaDb, ..Dialect::mariadb(version.comment_number()) };
        let packet_limit_bytes = packet_limit_bytes(&mut connection)?;
        let tracker = Tracker::new(&mut connection)?;
        let dialect = tracker.state().dialect(server);
        pool.runs_on(0, connection.id());
        Ok(Self {
            pool,
            progress,
            targets,
            moves,
            connection,
            records,
            recording: Recording::default(),
            tracker,
            output,
            server,
            dialect,
            is_stale: false,
            packet_limit_bytes,
            has_temporary_tables: false,
            has_locks: false,
            handlers: Handlers::default(),
            in_xa: false,
            failures: 0,
            is_gone: false,
        })
    }

    pub(super) fn state(&self) -> &Arc<SessionState> {
        self.tracker.state()
    }

    pub(super) fn dialect(&self) -> Dialect {
        Dialect { no_backslash_escapes: self.connection.status().no_backslash_escapes(), ..self.dialect }
    }

    pub(super) fn has_locks(&self) -> bool {
        self.has_locks || self.handlers.are_open()
    }

    /// Why every statement must stay in this session for now.
    pub(super) fn must_be_serial(&self) -> Option<Reason> {
        let status = self.connection.status();
        if self.in_xa || status.in_transaction() || !status.autocommit() {
            Some("inside a transaction of the dump's own")
        } else if self.tracker.is_pinned() {
            Some("a session variable is set that acts on this session only")
        } else if self.has_temporary_tables {
            Some("temporary tables belong to their session")
        } else if self.has_locks() {
            Some("tables are locked")
        } else {
            None
        }
    }

    /// How the rows of what runs next are shown.
    pub(super) fn shape(&mut self, is_vertical: bool) {
        self.output.shape(is_vertical);
    }

    /// Runs a statement and prints its rows; gives the number of rows affected. A statement that fails stops the load,
    /// unless it is forced.
    pub(super) fn run(&mut self, text: &[u8], location: &Location) -> Result<u64, Stopped> {
        if self.pool.is_interrupted() {
            return Err(Stopped);
        }
        let result = self.send(text);
        self.took(text, location, result)
    }

    /// What comes of a statement that was sent.
    pub(super) fn took(
        &mut self,
        text: &[u8],
        location: &Location,
        result: Result<ExecResult, Error>,
    ) -> Result<u64, Stopped> {
        match result {
            // Ended with the load. What came through before that is done.
            Err(_) if self.pool.is_interrupted() => Err(Stopped),
            Ok(done) => {
                self.progress.as_written.fetch_add(1, Relaxed);
                self.progress.warnings.fetch_add(done.warnings.into(), Relaxed);
                self.note(text);
                Ok(done.affected_rows)
            }
            Err(error) => self.failed(location, text, &error).map(|()| 0),
        }
    }

    /// Sends a statement, patiently: a node that takes none may be back in its cluster in a moment.
    pub(super) fn send(&mut self, text: &[u8]) -> Result<ExecResult, Error> {
        let start = Instant::now();
        let prefix = self.targets.numbering().filter(|_| may_number_rows(text, &self.dialect));
        let prefixed = prefix.map(|prefix| [prefix, text].concat());
        check_packet(prefixed.as_deref().unwrap_or(text).len(), self.packet_limit_bytes)?;
        loop {
            if !self.targets.is_current(self.moves) {
                return Err(self.targets.left_behind());
            }
            match self.connection.query(prefixed.as_deref().unwrap_or(text), self.output) {
                Err(error) if error.is_unready() && start.elapsed() < UNREADY_LIMIT && !self.pool.is_interrupted() => {
                    std::thread::sleep(UNREADY_PAUSE);
                }
                outcome => return outcome,
            }
        }
    }

    /// Ends this session where the load has moved to another node meanwhile: before anything is recorded as begun.
    pub(super) fn stay_at_home(&mut self, text: &[u8], location: &Location) -> Result<(), Stopped> {
        if self.targets.is_current(self.moves) {
            return Ok(());
        }
        let error = self.targets.left_behind();
        self.failed(location, text, &error)
    }

    /// Takes note of what binds later statements to this session.
    fn note(&mut self, text: &[u8]) {
        for part in parts(text, &self.dialect) {
            self.note_one(part);
        }
    }

    fn note_one(&mut self, text: &[u8]) {
        let mut words = tokens(text, &self.dialect);
        let Some(first) = words.next() else { return };
        let second = words.next();
        let second_is = |word: &[u8]| second.as_ref().is_some_and(|token| token.is_word(word));
        if first.is_word(b"INSERT") || first.is_word(b"REPLACE") || first.is_word(b"COMMIT") {
            self.tracker.rows_ran();
        }
        // A routine may leave anything behind in its session: temporary tables, variables.
        self.has_temporary_tables |= first.is_word(b"CALL") || first.is_word(b"EXECUTE");
        self.handlers.note(text, &self.dialect);
        self.has_locks |= first.is_word(b"BACKUP");
        if first.is_word(b"CREATE") {
            self.has_temporary_tables |= second_is(b"TEMPORARY")
                || (second_is(b"OR") && words.nth(1).is_some_and(|token| token.is_word(b"TEMPORARY")));
        } else if first.is_word(b"LOCK") {
            self.has_locks = true;
        } else if first.is_word(b"UNLOCK") {
            self.has_locks = false;
        } else if first.is_word(b"FLUSH") {
            self.has_locks |= words.any(|token| token.is_word(b"LOCK") || token.is_word(b"EXPORT"));
        } else if first.is_word(b"XA") {
            self.in_xa = !(second_is(b"COMMIT") || second_is(b"ROLLBACK") || second_is(b"RECOVER"));
        }
    }

    fn failed(&mut self, location: &Location, text: &[u8], error: &Error) -> Result<(), Stopped> {
        self.failures += 1;
        let failure = Failure::at(location, text, error);
        if !matches!(error, Error::Server(_)) || error.is_unready() {
            self.end_at(failure, error);
            return Err(Stopped);
        }
        self.pool.fail(self.pool.position(), failure, false);
        if self.pool.is_forced() { Ok(()) } else { Err(Stopped) }
    }

    /// Ends the dump's transaction.
    pub(super) fn commit(&mut self, location: &Location) -> Result<(), Stopped> {
        self.write_pending(location)?;
        self.run(b"COMMIT", location).map(drop)
    }

    /// Whether there is such a schema; asked with this session's own words for its name.
    pub(super) fn has_schema(&mut self, name: &[u8], location: &Location) -> Result<bool, Stopped> {
        let query = [b"SHOW CREATE DATABASE ".as_slice(), &hortator_mysql::quote_identifier(name)].concat();
        match self.connection.fetch(&query) {
            Ok(_) => Ok(true),
            Err(Error::Server(_)) => Ok(false),
            Err(error) => self.failed(location, b"", &error).map(|()| false),
        }
    }

    /// Whether it is recorded what is done.
    pub(super) fn is_recorded(&self) -> bool {
        self.records.is_some()
    }

    /// Ends the load at this place. Where only the connection is lost, records tell how far it had come.
    pub(super) fn end_at(&mut self, failure: Failure, error: &Error) {
        // A node that is not ready has done nothing, and another may.
        let is_lost = !matches!(error, Error::Server(_) | Error::Unsupported(_)) || error.is_unready();
        if self.records.is_some() && is_lost {
            self.is_gone = true;
            self.pool.fail_lost(self.pool.position(), failure);
        } else {
            self.pool.fail(self.pool.position(), failure, true);
        }
    }

    /// What the server last said of the session.
    pub(super) fn status(&self) -> Status {
        self.connection.status()
    }

    /// How many statements have failed here.
    pub(super) fn failures(&self) -> u64 {
        self.failures
    }

    /// Whether the connection is lost.
    pub(super) fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// A transaction is replayed.
    pub(super) fn replays(&self) {
        self.progress.replays.fetch_add(1, Relaxed);
    }

    /// Whether the load was ended from outside.
    pub(super) fn is_interrupted(&self) -> bool {
        self.pool.is_interrupted()
    }

    pub(super) fn is_forced(&self) -> bool {
        self.pool.is_forced()
    }

    /// Whether a variable is set that acts on the next statement only.
    pub(super) fn acts_on_next(&self) -> bool {
        self.tracker.pins_next()
    }

    /// Whether nothing but the dump's own statements can be written now: tables are locked, or an XA transaction is
    /// under way.
    pub(super) fn is_closed_to_others(&self) -> bool {
        self.has_locks() || self.in_xa
    }

    pub(super) fn use_database(&mut self, database: &[u8], location: &Location) -> Result<(), Stopped> {
        if let Err(error) = self.connection.select_db(database) {
            self.failed(location, &[b"use ", database].concat(), &error)?;
        }
        self.refresh(location)
    }

    /// Whether a SET touches a variable that was not followed so far.
    pub(super) fn is_new(&self, assignments: &Assignments) -> bool {
        self.tracker.is_new(assignments)
    }

    /// A SET has run.
    pub(super) fn assigned(&mut self, assignments: &Assignments, location: &Location) -> Result<(), Stopped> {
        let read = self.tracker.assigned(assignments, &mut self.connection);
        self.state_read(read, location)
    }

    /// A statement has run that may have changed the session's state in passing.
    pub(super) fn state_may_differ(&mut self) {
        self.is_stale = true;
    }

    /// Whether the state may have changed since it was read.
    pub(super) fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// Reads the session's state again, if it may have changed.
    pub(super) fn sync(&mut self, location: &Location) -> Result<(), Stopped> {
        if self.is_stale { self.refresh(location) } else { Ok(()) }
    }

    /// Reads the session's state again.
    pub(super) fn refresh(&mut self, location: &Location) -> Result<(), Stopped> {
        let read = self.tracker.refresh(&mut self.connection);
        self.state_read(read, location)
    }

    fn state_read(&mut self, read: Result<(), Error>, location: &Location) -> Result<(), Stopped> {
        self.dialect = self.tracker.state().dialect(self.server);
        self.is_stale = false;
        match read {
            // Some states of a session answer no SELECT, such as a prepared XA transaction: nothing has changed then.
            Ok(()) | Err(Error::Server(_)) => Ok(()),
            Err(error) => self.failed(location, b"", &error),
        }
    }

    /// Makes LAST_INSERT_ID() what it would be, had the workers' statements run here.
    pub(super) fn take_latest_id(&mut self, location: &Location) -> Result<(), Stopped> {
        let Some(id) = self.pool.take_latest_id() else { return Ok(()) };
        match self.connection.execute(format!("SET last_insert_id = {id}").as_bytes()) {
            Ok(_) => Ok(()),
            Err(error) => self.failed(location, b"", &error),
        }
    }
}

fn packet_limit_bytes(connection: &mut Connection) -> Result<usize, Error> {
    let rows = connection.fetch(b"SELECT @@max_allowed_packet")?;
    let value = rows.first().and_then(|row| row.first()?.as_deref());
    Ok(value.and_then(|value| std::str::from_utf8(value).ok()?.parse().ok()).unwrap_or(usize::MAX))
}

/// Whether a statement may let the server number rows; UPDATE and DELETE may by what fires on them.
fn may_number_rows(text: &[u8], dialect: &Dialect) -> bool {
    const WORDS: [&[u8]; 7] = [b"CALL", b"DELETE", b"EXECUTE", b"INSERT", b"LOAD", b"REPLACE", b"UPDATE"];
    let mut words = tokens(text, dialect);
    let Some(first) = words.next() else { return false };
    // CREATE [OR REPLACE] [TEMPORARY] TABLE … SELECT
    let creates_table = || first.is_word(b"CREATE") && words.take(4).any(|word| word.is_word(b"TABLE"));
    WORDS.iter().any(|word| first.is_word(word)) || creates_table()
}
