//! A worker: one connection that applies chunks, each in a transaction that is replayed whole when it must be.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use hortator_core::{Key, Seqno};
use hortator_mysql::{ConnectOptions, Connection, Done, Error};

use super::chunk::{Chunk, RowTarget, Work};
use super::pool::{Pool, Turn};
use super::road::{Road, Way, is_in_transaction};
use crate::progress::Progress;
use crate::report::Failure;
use crate::session::Taken;

/// Times that a chunk is replayed after deadlocks, lock waits and lost connections before that counts as failed.
const REPLAYS_LIMIT: u32 = 30;
/// How long a lost server is tried for.
const RECONNECT_LIMIT: Duration = Duration::from_secs(20);
/// Between two tries to connect, and before a replay.
const PAUSE: Duration = Duration::from_millis(200);
/// How long a chunk that is ready to commit waits before it looks whether its locks hold up an earlier one.
const TURN_PATIENCE: Duration = Duration::from_millis(500);
/// How often it may find that out by waiting alone, where the server does not tell who waits for whom.
const BLIND_TURNS: u32 = 20;

/// One of the connections that apply chunks.
#[derive(Debug)]
pub struct Worker<'l> {
    pool: &'l Pool,
    progress: &'l Progress,
    options: &'l ConnectOptions,
    /// From 1; 0 is the main session.
    number: usize,
    link: Option<Link>,
    road: Road,
    /// See [`Road::new`].
    piece_rows: Option<usize>,
}

#[derive(Debug)]
struct Link {
    connection: Connection,
    taken: Taken,
}

/// What a chunk's statements did, counted once they are committed.
#[derive(Debug, Default)]
struct Sent {
    rows: u64,
    warnings: u64,
    by_array: u64,
    as_written: u64,
}

impl Sent {
    fn add(&mut self, done: &Done, way: Way, statements: u64) {
        self.rows += done.affected_rows;
        self.warnings += u64::from(done.warnings);
        match way {
            Way::Typed => self.by_array += statements,
            Way::Text => self.as_written += statements,
        }
    }

    fn count(&self, target: &RowTarget, progress: &Progress) {
        progress.loaded(&target.table.name, self.rows);
        progress.warnings.fetch_add(self.warnings, Relaxed);
        progress.by_array.fetch_add(self.by_array, Relaxed);
        progress.as_written.fetch_add(self.as_written, Relaxed);
    }
}

/// What became of one attempt at a chunk.
enum Attempt {
    /// All that was to be done is committed.
    Done,
    /// Rolled back: to be applied again from its first statement.
    Replay(Error),
    /// Rolled back, because an earlier chunk waits for its locks: apply again when it is its turn.
    GiveWay,
    /// Rolled back: applied again, statement by statement.
    Unmerge,
    /// Rolled back: not to be done any more.
    Void,
}

impl<'l> Worker<'l> {
    /// A worker that connects when it gets its first chunk.
    #[must_use]
    pub fn new(number: usize, pool: &'l Pool, progress: &'l Progress, options: &'l ConnectOptions) -> Self {
        Self { pool, progress, options, number, link: None, road: Road::default(), piece_rows: None }
    }

    /// Sends rows by prepared statements of so many rows, even where the server takes arrays.
    #[must_use]
    pub fn with_piece_rows(self, piece_rows: Option<usize>) -> Self {
        Self { piece_rows, ..self }
    }

    /// Applies chunks until there are no more.
    pub fn run(mut self) {
        while let Some((seqno, chunk)) = self.pool.take() {
            self.progress.at(self.number, &chunk);
            match &chunk.work {
                Work::Rows { target, lane } => self.rows(seqno, &chunk, target, *lane),
                Work::Definition => self.definition(seqno, &chunk),
            }
            self.progress.idle(self.number);
            self.progress.chunk_ended(&chunk);
            self.pool.complete(seqno, chunk.lane());
        }
    }

    fn rows(&mut self, seqno: Seqno, chunk: &Chunk, target: &RowTarget, lane: Option<Key>) {
        let transactional =
            matches!(target.table.kind, hortator_mysql::catalog::TableKind::Base { transactional: true });
        let mut merge = true;
        let mut in_turn = false;
        let mut replays = 0;
        let mut lost: Option<Error> = None;
        loop {
            if in_turn
                && let Some(lane) = lane
                && !self.wait_for_turn(seqno, lane)
            {
                return;
            }
            let attempt = if transactional {
                self.transaction(seqno, chunk, target, lane, merge)
            } else {
                self.one_by_one(seqno, chunk, target)
            };
            match attempt {
                Attempt::Done | Attempt::Void => return,
                Attempt::Unmerge => merge = false,
                Attempt::GiveWay => {
                    self.progress.replays.fetch_add(1, Relaxed);
                    in_turn = true;
                }
                Attempt::Replay(_) if self.pool.is_interrupted() => return,
                Attempt::Replay(error) => {
                    self.progress.replays.fetch_add(1, Relaxed);
                    replays += 1;
                    let may_pass = error.is_transient() || error.is_lost();
                    let may_replay = transactional && may_pass && replays <= REPLAYS_LIMIT;
                    if !may_replay {
                        // Not one statement's failure, but the whole chunk's: going on would leave its rows out.
                        let failure = Failure::after_loss(&chunk.statements[0], &error, lost.as_ref());
                        return self.pool.fail(seqno, failure, true);
                    }
                    if error.is_lost() {
                        lost = Some(error);
                    }
                    // The sole holder of the turn cannot be in conflict with its own kind again.
                    in_turn = replays > 1;
                    std::thread::sleep(PAUSE.min(Duration::from_millis(10) * replays));
                }
            }
        }
    }

    /// Waits for the turn however long it takes; false when the chunk is not to be done any more.
    fn wait_for_turn(&self, seqno: Seqno, lane: Key) -> bool {
        while self.pool.await_turn(seqno, lane, TURN_PATIENCE) == Turn::NotYet {
            if self.pool.is_void_at(seqno) {
                return false;
            }
        }
        !self.pool.is_void_at(seqno)
    }

    /// One attempt at a chunk as a transaction.
    fn transaction(
        &mut self,
        seqno: Seqno,
        chunk: &Chunk,
        target: &RowTarget,
        lane: Option<Key>,
        merge: bool,
    ) -> Attempt {
        let force = self.pool.is_forced();
        let began_in_turn = lane.is_none_or(|lane| self.pool.await_turn(seqno, lane, Duration::ZERO) == Turn::Mine);
        let mut failures = Vec::new();
        let mut sent = Sent::default();
        let mut last_id = 0;
        let outcome = self.on_connection(chunk, |connection, road, pool| {
            connection.execute(b"START TRANSACTION")?;
            if target.implicit_id {
                connection.execute(b"SET last_insert_id = 0")?;
            }
            let mut at = 0;
            while let Some(statement) = chunk.statements.get(at) {
                if pool.is_void_at(seqno) {
                    return Ok(Some(Attempt::Void));
                }
                let together = if merge { road.mergeable(connection, &chunk.statements[at..], target) } else { 1 };
                if together > 1 {
                    let group = &chunk.statements[at..at + together];
                    let Some(done) = road.send_merged(connection, group, target, &chunk.dialect)? else {
                        return Ok(Some(Attempt::Unmerge));
                    };
                    sent.add(&done, Way::Typed, together as u64);
                } else {
                    match road.send(connection, statement, target, &chunk.dialect) {
                        Ok((done, way)) => sent.add(&done, way, 1),
                        Err(error @ Error::Server(_)) if !error.is_transient() => {
                            if pool.is_interrupted() {
                                return Ok(Some(Attempt::Void));
                            }
                            if !is_in_transaction(connection)? {
                                // The server has rolled back more than the statement.
                                return Err(error);
                            }
                            failures.push(Failure::new(statement, &error));
                            if !force {
                                break;
                            }
                        }
                        Err(error) => return Err(error),
                    }
                }
                at += together;
            }
            if target.implicit_id {
                last_id = number(connection, b"SELECT LAST_INSERT_ID()")?;
            }
            Ok(None)
        });
        match outcome {
            Ok(None) => {}
            Ok(Some(attempt)) => return self.rolled_back(attempt),
            Err(error) => return self.rolled_back(Attempt::Replay(error)),
        }
        if !failures.is_empty() && !began_in_turn {
            // Rows that stand before may not have been there yet: only in its turn is a failure the one to tell.
            return self.rolled_back(Attempt::GiveWay);
        }
        if let Some(lane) = lane
            && let Some(attempt) = self.enter(seqno, lane)
        {
            return self.rolled_back(attempt);
        }
        if self.pool.is_void_at(seqno) {
            return self.rolled_back(Attempt::Void);
        }
        if let Err(error) = self.commit() {
            return match error {
                Error::Server(_) if self.pool.is_interrupted() => self.rolled_back(Attempt::Void),
                Error::Server(_) if error.is_transient() => self.rolled_back(Attempt::Replay(error)),
                Error::Server(_) => {
                    self.pool.fail(seqno, Failure::of_commit(chunk, &error), true);
                    self.rolled_back(Attempt::Done)
                }
                _ => {
                    self.link = None;
                    self.pool.fail(seqno, Failure::ambiguous_commit(chunk, &error), true);
                    Attempt::Done
                }
            };
        }
        sent.count(target, self.progress);
        if last_id > 0 {
            self.pool.generated_id(seqno, last_id);
        }
        for failure in failures {
            self.pool.fail(seqno, failure, false);
        }
        Attempt::Done
    }

    /// Statements on a table that cannot roll back: each stands for itself, and none is sent twice.
    fn one_by_one(&mut self, seqno: Seqno, chunk: &Chunk, target: &RowTarget) -> Attempt {
        let mut sent = Sent::default();
        let mut failed = None;
        let mut last_id = 0;
        let mut failures = Vec::new();
        let force = self.pool.is_forced();
        let outcome = self.on_connection(chunk, |connection, _, pool| {
            if target.implicit_id {
                connection.execute(b"SET last_insert_id = 0")?;
            }
            for statement in &chunk.statements {
                if pool.is_void_at(seqno) {
                    break;
                }
                match connection.execute(&statement.text) {
                    Ok(done) => sent.add(&done, Way::Text, 1),
                    Err(Error::Server(_)) if pool.is_interrupted() => break,
                    Err(error @ Error::Server(_)) => {
                        failures.push(Failure::new(statement, &error));
                        if !force {
                            break;
                        }
                    }
                    Err(error) => {
                        failed = Some(Failure::new(statement, &error));
                        return Err(error);
                    }
                }
            }
            if target.implicit_id {
                last_id = number(connection, b"SELECT LAST_INSERT_ID()")?;
            }
            Ok(())
        });
        sent.count(target, self.progress);
        if last_id > 0 {
            self.pool.generated_id(seqno, last_id);
        }
        for failure in failures {
            self.pool.fail(seqno, failure, false);
        }
        if let Err(error) = outcome
            && !self.pool.is_interrupted()
        {
            let failure = failed.unwrap_or_else(|| Failure::new(&chunk.statements[0], &error));
            self.pool.fail(seqno, failure, true);
        }
        Attempt::Done
    }

    /// A statement that commits by itself. A deadlock leaves nothing of it; a lost connection leaves that open.
    fn definition(&mut self, seqno: Seqno, chunk: &Chunk) {
        for statement in &chunk.statements {
            let mut replays = 0;
            loop {
                match self.on_connection(chunk, |connection, _, _| connection.execute(&statement.text)) {
                    Ok(_) => {
                        self.progress.as_written.fetch_add(1, Relaxed);
                        break;
                    }
                    Err(_) if self.pool.is_interrupted() => return,
                    Err(error) if error.is_transient() && replays < REPLAYS_LIMIT => {
                        replays += 1;
                        self.progress.replays.fetch_add(1, Relaxed);
                        std::thread::sleep(PAUSE);
                    }
                    Err(error) => {
                        self.pool.fail(seqno, Failure::new(statement, &error), !is_of_server(&error));
                        break;
                    }
                }
            }
        }
    }

    /// Waits for the turn to commit, with the transaction open; what to do instead of committing, if anything.
    fn enter(&mut self, seqno: Seqno, lane: Key) -> Option<Attempt> {
        let mut waited = 0;
        while self.pool.await_turn(seqno, lane, TURN_PATIENCE) == Turn::NotYet {
            waited += 1;
            if self.pool.is_void_at(seqno) {
                return Some(Attempt::Void);
            }
            match self.holds_up_another() {
                Ok(holds) if holds.unwrap_or(waited >= BLIND_TURNS) => return Some(Attempt::GiveWay),
                Ok(_) => {}
                Err(error) => return Some(Attempt::Replay(error)),
            }
        }
        None
    }

    /// Whether another transaction waits for this one's locks; `None` where the server does not say.
    fn holds_up_another(&mut self) -> Result<Option<bool>, Error> {
        let Some(link) = &mut self.link else { return Ok(Some(false)) };
        let waits = link.connection.fetch(
            b"SELECT 1 FROM information_schema.INNODB_LOCK_WAITS w \
              JOIN information_schema.INNODB_TRX t ON t.trx_id = w.blocking_trx_id \
              WHERE t.trx_mysql_thread_id = CONNECTION_ID() LIMIT 1",
        );
        match waits {
            Ok(rows) => Ok(Some(!rows.is_empty())),
            Err(Error::Server(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Runs `work` on a connection that has the chunk's session state.
    fn on_connection<T>(
        &mut self,
        chunk: &Chunk,
        work: impl FnOnce(&mut Connection, &mut Road, &Pool) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.link.is_none() {
            let mut connection = self.connect()?;
            self.road = Road::new(number(&mut connection, b"SELECT @@max_allowed_packet")?, self.piece_rows);
            self.link = Some(Link { connection, taken: Taken::default() });
        }
        let link = self.link.as_mut().expect("set just above");
        self.pool.runs_on(self.number, link.connection.id());
        let result = match link.taken.bring_to(&chunk.session, &mut link.connection) {
            Ok(changed) => {
                let forgotten = if changed { self.road.forget(&mut link.connection) } else { Ok(()) };
                forgotten.and_then(|()| work(&mut link.connection, &mut self.road, self.pool))
            }
            Err(error) => Err(error),
        };
        self.pool.runs_on(self.number, 0);
        if let Err(error) = &result
            && !is_of_server(error)
        {
            self.link = None;
        }
        result
    }

    /// Connects, patiently: a server that was killed may be back in a moment.
    fn connect(&self) -> Result<Connection, Error> {
        let start = Instant::now();
        loop {
            match crate::session::open_for_long(self.options) {
                Ok(connection) => return Ok(connection),
                Err(error) => {
                    let passing = matches!(error, Error::Connect { .. } | Error::Lost { .. });
                    if !passing || start.elapsed() > RECONNECT_LIMIT || self.pool.is_interrupted() {
                        return Err(error);
                    }
                    std::thread::sleep(PAUSE);
                }
            }
        }
    }

    fn commit(&mut self) -> Result<(), Error> {
        match &mut self.link {
            Some(link) => link.connection.execute(b"COMMIT").map(drop),
            None => Ok(()),
        }
    }

    /// Rolls back what is open; a connection that cannot do even that is given up, and the server rolls back.
    fn rolled_back(&mut self, attempt: Attempt) -> Attempt {
        if let Some(link) = &mut self.link
            && link.connection.execute(b"ROLLBACK").is_err()
        {
            self.link = None;
        }
        attempt
    }
}

/// The number that a query gives; 0 for none.
fn number(connection: &mut Connection, query: &[u8]) -> Result<u64, Error> {
    let rows = connection.fetch(query)?;
    let value = rows.first().and_then(|row| row.first()?.as_deref());
    Ok(value.and_then(|value| std::str::from_utf8(value).ok()?.parse().ok()).unwrap_or(0))
}

/// Whether the server itself refused: the connection is good, and the refusal is the statement's own.
fn is_of_server(error: &Error) -> bool {
    matches!(error, Error::Server(_))
}
