//! The main session: the connection that lives through the whole dump, as the client's would, and its state.

mod fresh;
mod locks;
mod own_statements;
mod sending;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use hortator_mysql::{Connection, Error, ExecResult, Flavor, SessionChanges, Status};

use super::analyzed_statement::AnalyzedStatement;
use super::handlers::Handlers;
use super::journal::{Journal, Unrecorded};
use super::left_behind::{self, LeftBehind};
use super::look_ahead::{Analysis, ItemAhead, LookAhead};
use super::rejecting::Rejecting;
use crate::analysis::{FunctionSet, StatementInfo, StatementKind, Trait};
use crate::apply::{Pool, Stopped};
use crate::checkpoint::Checkpoints;
use crate::cluster::Targets;
use crate::lexer::{self, Dialect, Location};
use crate::output::Output;
use crate::planner::Reason;
use crate::progress::Progress;
use crate::report::Failure;
use crate::session::{SessionState, Tracker};
pub(crate) use fresh::FreshSession;

/// Why what stands in a transaction of the dump stays in its session.
pub(crate) const IN_TRANSACTION: Reason = "inside a transaction of the dump";
/// The most that the session stays silent for while others work.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(180);

/// Variables that say when a commit is on disk.
const DURABILITY: [&[u8]; 2] = [b"flush_log_at_trx_commit", b"sync_binlog"];

/// The dump's own session.
pub(super) struct MainSession<'l> {
    pub(super) pool: &'l Pool,
    progress: &'l Progress,
    targets: &'l Targets,
    /// The home that the connection leads to: see [`Targets::is_current`].
    failover_epoch: u64,
    pub(super) connection: Connection,
    /// Reads the stream while the connection waits.
    pub(super) look_ahead: LookAhead,
    /// Where it is recorded what is done; `None` where nothing is.
    pub(super) checkpoints: Option<&'l Checkpoints>,
    pub(super) journal: Journal,
    /// Where statements go that fail; `None` where they go nowhere.
    pub(super) rejecting: Option<Rejecting<'l>>,
    /// What definitions without a record have done.
    pub(super) unrecorded: Unrecorded,
    /// On record is a statement that may have left what only this session has: a load that resumes stops there, so that what
    /// stands behind it needs no intent.
    pub(super) is_bound: bool,
    pub(super) tracker: Tracker,
    output: &'l mut dyn Output,
    server: Dialect,
    /// How text is read in the state in force.
    dialect: Dialect,
    /// A statement has failed that may have changed the state, and the server reports nothing of those. It is read before
    /// the next one, but not before one that asks for the warnings, because reading takes them away.
    is_stale: bool,
    /// What the last statements have changed, as reported, and not yet looked at.
    left_behind: LeftBehind,
    last_ping: Instant,
    /// The server takes no statement as long as this; it stays what it was when the session began.
    packet_limit_bytes: usize,
    has_temporary_tables: bool,
    has_locks: bool,
    /// A statement has run that may have locked tables or the server, and it is not asked yet.
    may_hold_locks: bool,
    /// A transaction may have begun of which the server has not told under autocommit=0: by a savepoint, which its status
    /// leaves out, or by a statement that failed, since an error comes without the status.
    may_have_begun: bool,
    handlers: Handlers,
    in_xa: bool,
    /// The dump has ended its session.
    is_released: bool,
    failures: u64,
    pub(super) is_gone: bool,
}

impl<'l> MainSession<'l> {
    pub(super) fn open(
        pool: &'l Pool,
        progress: &'l Progress,
        targets: &'l Targets,
        mut fresh: FreshSession,
        checkpoints: Option<&'l Checkpoints>,
        functions: FunctionSet,
        output: &'l mut dyn Output,
    ) -> Result<Self, Error> {
        fresh.begin(checkpoints)?;
        let packet_limit_bytes = fresh.packet_limit_bytes();
        let FreshSession { connection, failover_epoch, tracker, .. } = fresh;
        let version = connection.version();
        let server =
            Dialect { mariadb: version.flavor == Flavor::MariaDb, ..Dialect::mariadb(version.comment_number()) };
        let dialect = tracker.state().dialect(server);
        pool.runs_on(0, connection.id());
        Ok(Self {
            pool,
            progress,
            targets,
            failover_epoch,
            connection,
            look_ahead: LookAhead::new(functions),
            checkpoints,
            unrecorded: Unrecorded::default(),
            is_bound: false,
            journal: Journal::default(),
            rejecting: None,
            tracker,
            output,
            server,
            dialect,
            is_stale: false,
            left_behind: LeftBehind::default(),
            last_ping: Instant::now(),
            packet_limit_bytes,
            has_temporary_tables: false,
            has_locks: false,
            may_hold_locks: false,
            may_have_begun: false,
            handlers: Handlers::default(),
            in_xa: false,
            is_released: false,
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

    /// The next item of the stream.
    pub(super) fn next_item(&mut self) -> Option<Result<ItemAhead, lexer::Error>> {
        if !self.look_ahead.has_next() {
            // The input may be silent for long.
            self.write_ends();
        }
        let dialect = self.dialect();
        self.look_ahead.next(dialect)
    }

    /// What a text is and does at this place. `ahead`: what was found of it when it was read ahead.
    pub(super) fn analyze(&self, text: &[u8], ahead: Option<Analysis>) -> Box<StatementInfo> {
        self.look_ahead.analyze(text, self.dialect(), self.tracker.state(), ahead)
    }

    pub(super) fn has_locks(&self) -> bool {
        self.has_locks || self.handlers.are_open()
    }

    /// Why every statement must stay in this session for now.
    pub(super) fn must_be_serial(&self) -> Option<Reason> {
        let status = self.connection.status();
        if self.in_xa || status.in_transaction() || (self.may_have_begun && !status.autocommit()) {
            Some(IN_TRANSACTION)
        } else if self.tracker.has_session_local() {
            Some("a session-local variable is set")
        } else if self.has_temporary_tables {
            Some("the session has temporary tables")
        } else if self.has_locks() {
            Some("tables are locked")
        } else if self.state().null_is_last_number() {
            Some("under sql_auto_is_null, `IS NULL` asks for the number of the last row")
        } else {
            None
        }
    }

    /// Runs a statement and prints its rows; gives the number of rows affected. A statement that fails stops the load,
    /// unless it is forced.
    pub(super) fn run(&mut self, statement: &AnalyzedStatement) -> Result<u64, Stopped> {
        if self.pool.is_interrupted() {
            return Err(Stopped);
        }
        self.output.shape(statement.is_vertical);
        let result = self.send(statement);
        self.handle_result(statement, result)
    }

    /// What comes of a statement that was sent.
    pub(super) fn handle_result(
        &mut self,
        statement: &AnalyzedStatement,
        result: Result<ExecResult, Error>,
    ) -> Result<u64, Stopped> {
        match result {
            // Ended with the load. What came through before that is done.
            Err(_) if self.pool.is_interrupted() => Err(Stopped),
            Ok(done) => self.handle_ran(statement, &done, true).map(|()| done.affected_rows),
            Err(error) => {
                self.may_hold_locks |= locks::may_lock(&statement.info);
                self.is_stale |= left_behind::may_set_variables(&statement.info, &error);
                self.left_behind.has_failed = true;
                self.may_have_begun |= !self.status().autocommit();
                self.has_temporary_tables |= left_behind::may_leave_temporary_tables(&statement.info);
                self.failed(&statement.location, &statement.text, &error)?;
                self.reject(statement, &error).map(|()| 0)
            }
        }
    }

    /// A statement has run. `is_last`: what the server has reported by now is of it, and of those sent together with it.
    pub(super) fn handle_ran(
        &mut self,
        statement: &AnalyzedStatement,
        done: &ExecResult,
        is_last: bool,
    ) -> Result<(), Stopped> {
        self.progress.text_statements.fetch_add(1, Relaxed);
        self.progress.warnings.fetch_add(done.warnings.into(), Relaxed);
        self.note_effects(&statement.info, done.last_insert_id);
        if let Some(checkpoints) = self.checkpoints.filter(|_| sets_durability(statement)) {
            checkpoints.expire_local_journal();
        }
        let changes = if is_last { self.connection.take_session_changes() } else { SessionChanges::default() };
        self.note_changes(&statement.info, &changes)
    }

    /// Takes in what the server has reported of a statement.
    fn note_changes(&mut self, info: &StatementInfo, changes: &SessionChanges) -> Result<(), Stopped> {
        self.tracker.assigned(&info.assignments);
        // SET STATEMENT … FOR: the server reports the old values with the next statement only.
        let restored: &[String] = if info.is(Trait::SetsForOne) { &info.assignments.propagated } else { &[] };
        let is_set = matches!(info.kind, StatementKind::Set);
        // What a SET, a PREPARE or a DROP TEMPORARY changes is known from its words.
        let is_plain_set = matches!(info.kind, StatementKind::Set) && !info.assignments.reads_beyond_session;
        let is_known = is_plain_set
            || matches!(info.kind, StatementKind::Use(_))
            || info.is(Trait::PreparesSession)
            // What it takes away is recorded where it was made.
            || info.is(Trait::DropsTemporary);
        self.left_behind.is_changed |= changes.is_changed && !is_known;
        self.has_temporary_tables |= changes.is_changed && info.is(Trait::MayCreateTemporary);
        self.left_behind.schema |= changes.schema.is_some() || self.is_of_default_schema(info);
        let is_block = info.is(Trait::Compound) || info.is(Trait::SeveralStatements);
        self.is_stale |= is_block;
        // Row events run no triggers. What they have locked, a sequence above all, keeps a question about routines waiting.
        self.left_behind.ran_routines |= !info.is(Trait::AppliesEvents)
            && (info.is(Trait::MayCallFunction)
                || info.is(Trait::WritesRows) && !matches!(info.kind, StatementKind::Rows(_)));
        if Tracker::is_switched_by(&info.assignments) {
            let _ = self.connection.track_session();
            // What else it assigns may be reported no more.
            self.is_stale = true;
        }
        self.apply_changes(changes, restored, is_set)
    }

    /// Whether a statement makes, changes or drops the default schema, or may do so.
    fn is_of_default_schema(&self, info: &StatementInfo) -> bool {
        let is_other = |name: &[u8], default: &[u8]| name.is_ascii() && !name.eq_ignore_ascii_case(default);
        info.is(Trait::OfSchema)
            && !matches!((&info.schema, &self.state().database), (Some(name), Some(default)) if is_other(name, default))
    }

    fn apply_changes(&mut self, changes: &SessionChanges, restored: &[String], is_set: bool) -> Result<(), Stopped> {
        // SET NAMES: MySQL forgets its warnings at any statement of ours, and so all is read before one that does not ask for them.
        let is_reported = |name: &[u8]| changes.variable(name).is_some();
        self.is_stale |=
            !self.server.mariadb && is_reported(b"character_set_connection") && !is_reported(b"collation_connection");
        let before = Arc::clone(self.tracker.state());
        if self.tracker.apply(changes, restored, is_set) {
            // The dump has switched the reports: they go on.
            let _ = self.connection.track_session();
        }
        self.left_behind.schema |= changes.schema.is_some();
        // It disturbs nothing that a SET leaves.
        if is_set && self.tracker.has_unread() && self.tracker.read_unread(&mut self.connection).is_err() {
            self.is_stale = true;
            let _ = self.connection.track_session();
        }
        if !Arc::ptr_eq(&before, self.tracker.state()) {
            self.dialect = self.tracker.state().dialect(self.server);
        }
        Ok(())
    }

    /// What the last statements left behind, once.
    pub(super) fn take_left_behind(&mut self) -> LeftBehind {
        std::mem::take(&mut self.left_behind)
    }

    /// The default schema's collation is this one.
    pub(super) fn set_collation_database(&mut self, collation: Option<Vec<u8>>) {
        self.tracker.set_collation_database(collation);
    }

    /// Has the server hear of the session while others work for it: it ends sessions that are idle for longer than their
    /// `wait_timeout`. A ping is no statement.
    pub(super) fn keep_alive(&mut self) {
        let timeout_s = std::str::from_utf8(self.tracker.state().value("wait_timeout")).ok();
        let timeout_s: u64 = timeout_s.and_then(|value| value.parse().ok()).unwrap_or(1);
        let interval = Duration::from_secs(timeout_s).min(KEEP_ALIVE_INTERVAL) / 3;
        if self.last_ping.elapsed() >= interval {
            // A lost connection is found by the next statement.
            let _ = self.connection.ping();
            self.last_ping = Instant::now();
        }
    }

    /// What ran may have changed variables of which the server reports nothing.
    pub(super) fn state_may_differ(&mut self) {
        self.is_stale = true;
    }

    /// Whether some of its variables are not known.
    pub(super) fn is_stale(&self) -> bool {
        self.is_stale || self.tracker.has_unread()
    }

    /// The session has temporary tables, or may have.
    pub(super) fn has_temporary_tables(&self) -> bool {
        self.has_temporary_tables
    }

    pub(super) fn may_have_temporary_tables(&mut self) {
        self.has_temporary_tables = true;
    }

    /// The server takes no command as long as this, in bytes.
    pub(super) fn packet_limit_bytes(&self) -> usize {
        self.packet_limit_bytes
    }

    /// How the rows of a statement are shown.
    pub(super) fn show_as(&mut self, statement: &AnalyzedStatement) {
        self.output.shape(statement.is_vertical);
    }

    /// What the last statements left behind, as reported so far.
    pub(super) fn left_behind(&self) -> LeftBehind {
        self.left_behind
    }

    /// Whether the server is a node of a Galera cluster.
    pub(super) fn is_on_cluster(&self) -> bool {
        self.targets.info().is_some()
    }

    /// What stands before a statement that may let the server number rows, on a cluster.
    pub(super) fn auto_increment_prefix(&self, info: &StatementInfo) -> Option<&'static [u8]> {
        self.targets.auto_increment_prefix().filter(|_| info.is(Trait::NumbersRows))
    }

    /// Ends this session where the load has moved to another node meanwhile: before anything is recorded as begun.
    pub(super) fn check_writer(&mut self, text: &[u8], location: &Location) -> Result<(), Stopped> {
        if self.targets.is_current(self.failover_epoch) {
            return Ok(());
        }
        let error = self.targets.failed_over_error();
        self.failed(location, text, &error)
    }

    /// Ends the load where the dump has ended its session: the client could send nothing more.
    pub(super) fn check_released(&self, text: &[u8], location: &Location) -> Result<(), Stopped> {
        if !self.is_released {
            return Ok(());
        }
        let message = "the dump has ended its session before this statement, by COMMIT or ROLLBACK with RELEASE; what \
                       stands before it is loaded";
        self.pool.fail(self.pool.position(), Failure::finding(location, text, message.to_owned()), true);
        Err(Stopped)
    }

    /// Takes note of what binds later statements to this session.
    fn note_effects(&mut self, info: &StatementInfo, insert_id: u64) {
        self.end_rejected_transaction(info);
        if info.is(Trait::WritesRows) || info.is(Trait::CommitsTransaction) {
            self.tracker.rows_ran(insert_id);
        }
        if insert_id > 0 {
            // The numbers of earlier statements are not the last any more.
            let _ = self.pool.take_latest_id();
        }
        self.has_temporary_tables |= info.is(Trait::CreatesTemporary);
        if let Some(used) = &info.handler {
            self.handlers.note(used);
        }
        if info.is(Trait::Locks) {
            self.has_locks = true;
        } else if info.is(Trait::Unlocks) {
            self.has_locks = false;
        }
        self.may_hold_locks |= locks::may_lock(info);
        self.may_have_begun = info.is(Trait::OfSavepoint) || (self.may_have_begun && !info.ends_transaction());
        let ends = info.is(Trait::CommitsTransaction) || info.is(Trait::RollsBack);
        self.is_released |=
            info.is(Trait::EndsSession) || (ends && self.state().value("completion_type") == b"RELEASE");
        if info.is(Trait::BeginsXa) {
            self.in_xa = true;
        } else if info.is(Trait::EndsXa) {
            self.in_xa = false;
        }
    }

    fn failed(&mut self, location: &Location, text: &[u8], error: &Error) -> Result<(), Stopped> {
        self.failures += 1;
        let failure = Failure::at(location, text, error);
        if !matches!(error, Error::Server(_) | Error::LocalFile(_)) || error.is_unready() {
            self.end_at(failure, error);
            return Err(Stopped);
        }
        self.pool.fail(self.pool.position(), failure, false);
        if self.pool.is_forced() { Ok(()) } else { Err(Stopped) }
    }

    /// Whether it is recorded what is done.
    pub(super) fn is_recorded(&self) -> bool {
        self.checkpoints.is_some()
    }

    /// Ends the load at this place. Where only the connection is lost, records tell how far it had come.
    pub(super) fn end_at(&mut self, failure: Failure, error: &Error) {
        // A node that is not ready has done nothing, and another may.
        let is_lost = !matches!(error, Error::Server(_) | Error::Unsupported(_)) || error.is_unready();
        if self.checkpoints.is_some() && is_lost {
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
    pub(super) fn has_one_shot_variable(&self) -> bool {
        self.tracker.is_one_shot()
    }

    /// Whether one is set that a question of ours would use up.
    pub(super) fn has_one_shot_for_reads(&self) -> bool {
        self.tracker.is_one_shot_for_reads()
    }

    /// Whether the dump has given the next row that is numbered its number.
    pub(super) fn has_given_number(&self) -> bool {
        self.tracker.has_next_number()
    }

    /// Whether no transaction is open, neither of the dump nor of ours, and the next statement would commit by itself.
    pub(super) fn is_between_transactions(&self) -> bool {
        matches!(self.journal, Journal::Idle) && !self.is_in_dumps_transaction() && !self.is_closed_to_others()
    }

    /// Whether nothing but the dump's own statements can be written now: tables are locked, or an XA transaction is
    /// under way.
    pub(super) fn is_closed_to_others(&self) -> bool {
        self.has_locks() || self.in_xa
    }
}

/// Whether a SET may change what the server has on disk when it confirms a commit.
fn sets_durability(statement: &AnalyzedStatement) -> bool {
    let names = |word: &[u8]| statement.text.windows(word.len()).any(|found| found.eq_ignore_ascii_case(word));
    matches!(statement.info.kind, StatementKind::Set) && DURABILITY.into_iter().any(names)
}
