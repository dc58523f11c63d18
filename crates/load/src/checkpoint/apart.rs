//! Checkpoints that stand in no transaction: in the local journal where there is one, else on the server.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use hortator_mysql::{Connection, Error, Row};

use super::load_registry::text;
use super::local_journal::{self, Anchor, LocalJournal, LostJournal, Next, Open, SERVER_FACTS, ServerFacts};
use super::statements::Statements;
use super::{Checkpoint, Checkpoints};

/// Text of one statement that writes checkpoints.
const STATEMENT_BYTES: usize = 128 << 10;

/// How often it is looked whether the local journal is in use.
const KEEP_INTERVAL: Duration = Duration::from_millis(500);

/// How often a transaction is sent again after a conflict with another node's write.
const REPLAYS_LIMIT: u32 = 10;

impl Checkpoints {
    /// Records an intent, outside of any transaction.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn begin_apart(&self, checkpoint: &Checkpoint) -> Result<(), Error> {
        if self.begin_locally(checkpoint)? {
            return Ok(());
        }
        self.on_internal_connection(|checkpoints, internal| checkpoints.write(internal, checkpoint).map(drop))
    }

    /// Marks an intent as applied, in the same way. `text`: of its only statement. What is not `is_durable` may be lost with
    /// the server until its next commit: then this is one.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn close_apart(&self, checkpoint: &Checkpoint, text: Option<&[u8]>, is_durable: bool) -> Result<(), Error> {
        let is_local = match is_durable {
            true => self.close_locally(checkpoint, text)?,
            false => self.close_with_server(checkpoint)?,
        };
        if is_local {
            return Ok(());
        }
        self.on_internal_connection(|checkpoints, internal| checkpoints.close(internal, checkpoint).map(drop))
    }

    /// The same for a statement behind which the next intent is likely to come at once: until then, or until
    /// [`Checkpoints::write_ends`], its end is in memory only.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn close_with_next(&self, checkpoint: &Checkpoint, text: &[u8], is_durable: bool) -> Result<(), Error> {
        if is_durable {
            let mut local = self.local();
            if local.has_begun(checkpoint.span.first) {
                let ended = local.end_with_next(checkpoint, Some(text));
                return ended.or_else(|error| self.give_up(&mut local, &error));
            }
        }
        self.close_apart(checkpoint, Some(text), is_durable)
    }

    /// Writes the ends that wait for the next intent. Where that fails, so does the next intent.
    pub fn write_ends(&self) {
        let _ = self.local().write_ends();
    }

    /// Takes an intent back, in the same way.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn retract_apart(&self, first: u64) -> Result<(), Error> {
        if self.retract_locally(first)? {
            return Ok(());
        }
        self.on_internal_connection(|checkpoints, internal| checkpoints.retract(internal, first).map(drop))
    }

    /// Records an intent in the local journal; false where it is to be recorded on the server.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn begin_locally(&self, checkpoint: &Checkpoint) -> Result<bool, Error> {
        let mut local = self.local();
        match self.next_locally(&mut local, checkpoint.span.first)? {
            Next::Server => return Ok(false),
            Next::Append | Next::Check => {}
            Next::Renew => {
                if !self.renew(&mut local, checkpoint)? {
                    return Ok(false);
                }
            }
        }
        match local.begin(checkpoint) {
            Ok(()) => Ok(true),
            Err(error) => self.give_up(&mut local, &error).map(|()| false),
        }
    }

    /// Marks an intent as applied, if it is in the local journal.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn close_locally(&self, checkpoint: &Checkpoint, text: Option<&[u8]>) -> Result<bool, Error> {
        let mut local = self.local();
        if !local.has_begun(checkpoint.span.first) {
            return Ok(false);
        }
        let ended = local.end(checkpoint, text);
        ended.or_else(|error| self.give_up(&mut local, &error)).map(|()| true)
    }

    /// Marks an intent as applied, on the server, if it is in the local journal.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn close_with_server(&self, checkpoint: &Checkpoint) -> Result<bool, Error> {
        let mut local = self.local();
        let Some(begun) = local.replace(checkpoint) else { return Ok(false) };
        let renewed = self.renew(&mut local, checkpoint);
        match renewed.and_then(|is_renewed| if is_renewed { Ok(()) } else { self.settle_locked(&mut local) }) {
            Ok(()) => Ok(true),
            Err(error) => {
                // It may be lost with the server.
                local.replace(&begun);
                Err(error)
            }
        }
    }

    /// Takes an intent back, if it is in the local journal.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn retract_locally(&self, first: u64) -> Result<bool, Error> {
        let mut local = self.local();
        if !local.has_begun(first) {
            return Ok(false);
        }
        let retracted = local.retract(first);
        retracted.or_else(|error| self.give_up(&mut local, &error)).map(|()| true)
    }

    /// Something ran that is not on record, and not on the server's disk: the next intent brings it there.
    pub fn expire_local_journal(&self) {
        self.local().expire();
    }

    /// Writes all of the local journal to the server, and ends it.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn settle(&self) -> Result<(), Error> {
        self.settle_locked(&mut self.local())
    }

    /// Writes the local journal to the server whenever no statement has gone to it for a while, until the other end of the
    /// channel is dropped.
    pub fn keep_local_journal(&self, until: &Receiver<()>) {
        while until.recv_timeout(KEEP_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            let mut local = self.local();
            let _ = local.write_ends();
            // Only where the connection is there: waiting for a server that is gone would hold up the end of the load.
            if local.is_idle() && self.has_internal_connection() {
                // What does not get there stays in the file, and the next statement or the end of the load tries again.
                let _ = self.settle_once(&mut local);
            }
        }
    }

    /// The load ends and cannot reach the server: the local journal stays, on disk.
    pub(super) fn close_local_journal(&self) {
        self.local().close();
    }

    /// Why the load has given up its local journal, if it has.
    #[must_use]
    pub fn local_journal_given_up(&self) -> Option<String> {
        self.local().given_up().map(str::to_owned)
    }

    /// What an earlier run has recorded in a local journal that cannot be used.
    #[must_use]
    pub fn lost_journal(&self) -> Option<&LostJournal> {
        self.lost.as_ref()
    }

    pub(super) fn local(&self) -> MutexGuard<'_, LocalJournal> {
        self.local.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the intent of a statement goes; asks the server where that is due.
    pub(super) fn next_locally(&self, local: &mut LocalJournal, first: u64) -> Result<Next, Error> {
        let next = local.next(first);
        if next != Next::Check {
            return Ok(next);
        }
        let facts = self.with_internal_connection(Self::server_facts)?;
        if !facts.is_durable {
            return Ok(Next::Renew);
        }
        check_server(local.open(), &facts)?;
        local.checked();
        Ok(Next::Append)
    }

    /// Brings all of the local journal to the server and begins a new file, for statements from this one on. False where
    /// there is to be none.
    fn renew(&self, local: &mut LocalJournal, from: &Checkpoint) -> Result<bool, Error> {
        self.register_locked(local)?;
        // The server takes its time.
        let _ = local.write_ends();
        let facts = self.with_internal_connection(Self::server_facts)?;
        if !facts.is_durable {
            self.settle_locked(local)?;
            local.give_up(None);
            return Ok(false);
        }
        let new = match local.create(from, &facts.server) {
            Ok(Some(new)) => new,
            Ok(None) => return Ok(false),
            Err(error) => return self.give_up(local, &error).map(|()| false),
        };
        let Some(anchor) = new.anchor.to_text() else {
            // The server could not name the file.
            new.remove();
            self.settle_locked(local)?;
            local.give_up(None);
            return Ok(false);
        };
        // If it fails, the server may name either file: both stay, and nothing more goes to the old one.
        local.expire();
        let written = self.with_internal_connection(|checkpoints, internal| {
            check_server(local.open(), &facts)?;
            let set = checkpoints.statements.set_anchor(checkpoints.load_id, &new.anchor.from, &anchor);
            checkpoints.write_all(internal, local.open(), After::Anchor(set))
        });
        match written {
            Ok(()) => local.renewed(Some(new)),
            Err(error @ Error::Server(_)) => {
                new.remove();
                return Err(error);
            }
            Err(error) => return Err(error),
        }
        Ok(true)
    }

    /// The file cannot be written: everything goes to the server.
    pub(super) fn give_up(&self, local: &mut LocalJournal, error: &std::io::Error) -> Result<(), Error> {
        local.give_up(Some(format!("cannot write the local journal: {error}")));
        self.settle_locked(local)
    }

    fn settle_locked(&self, local: &mut LocalJournal) -> Result<(), Error> {
        // The connection may have been lost before. Writing all of it twice is as good as once.
        let may_be_stale = self.has_internal_connection();
        match self.settle_once(local) {
            Err(error) if error.is_lost() && may_be_stale => self.settle_once(local),
            settled => settled,
        }
    }

    fn settle_once(&self, local: &mut LocalJournal) -> Result<(), Error> {
        if local.open().is_none() {
            return Ok(());
        }
        self.register_locked(local)?;
        let _ = local.write_ends();
        local.expire();
        self.with_internal_connection(|checkpoints, internal| {
            check_server(local.open(), &checkpoints.server_facts(internal)?)?;
            checkpoints.write_all(internal, local.open(), After::NoAnchor)
        })?;
        local.renewed(None);
        Ok(())
    }

    fn write_all(&self, internal: &mut Connection, open: Option<&Open>, after: After) -> Result<(), Error> {
        let checkpoints: Vec<Checkpoint> = open.into_iter().flat_map(Open::checkpoints).collect();
        write_all(internal, &self.statements, self.load_id, checkpoints.iter(), after)
    }

    fn server_facts(&self, internal: &mut Connection) -> Result<ServerFacts, Error> {
        server_facts(internal, self.targets.info().is_some())
    }
}

/// What the row of the load says behind that.
enum After {
    /// Which file there is: set by this statement.
    Anchor(Vec<u8>),
    /// That there is none.
    NoAnchor,
}

fn server_facts(connection: &mut Connection, is_cluster: bool) -> Result<ServerFacts, Error> {
    let rows = connection.fetch(SERVER_FACTS.as_bytes())?;
    let row = rows.first().cloned().unwrap_or_default();
    Ok(ServerFacts::new(&text(&row, 0), &text(&row, 1), &text(&row, 2), &text(&row, 3), is_cluster))
}

/// What the file says is of another server, such as one that a replica has replaced.
fn check_server(open: Option<&Open>, facts: &ServerFacts) -> Result<(), Error> {
    match open.map(|open| &open.anchor).and_then(|anchor| anchor.other_server(&facts.server)) {
        Some(reason) => Err(Error::Unsupported(format!("the local journal cannot be used: {reason}"))),
        None => Ok(()),
    }
}

/// Writes checkpoints, and which file there is: all of it or nothing.
fn write_all<'c>(
    connection: &mut Connection,
    statements: &Statements,
    load_id: u64,
    checkpoints: impl Iterator<Item = &'c Checkpoint>,
    after: After,
) -> Result<(), Error> {
    let mut all = statements.replace(load_id, checkpoints, STATEMENT_BYTES);
    match after {
        After::Anchor(set) => all.push(set),
        After::NoAnchor => all.push(statements.clear_anchor(load_id)),
    }
    let mut replays = 0;
    loop {
        match in_transaction(connection, &all) {
            Err(error) if error.is_transient() && replays < REPLAYS_LIMIT => {
                replays += 1;
                connection.execute(b"ROLLBACK")?;
            }
            outcome => return outcome,
        }
    }
}

fn in_transaction(connection: &mut Connection, statements: &[Vec<u8>]) -> Result<(), Error> {
    if let [only] = statements {
        return connection.execute(only).map(drop);
    }
    connection.execute(b"START TRANSACTION")?;
    for statement in statements {
        connection.execute(statement)?;
    }
    connection.execute(b"COMMIT").map(drop)
}

/// Brings what an earlier run has recorded in a local journal to the server, if it has; gives what of it is lost.
pub(super) fn adopt(
    connection: &mut Connection,
    statements: &Statements,
    load_id: u64,
    folder: Option<&Path>,
    is_cluster: bool,
) -> Result<Option<LostJournal>, Error> {
    let Some(anchor) = anchor(connection, statements, load_id)? else { return Ok(None) };
    let facts = server_facts(connection, is_cluster)?;
    let found = local_journal::read(&anchor, folder);
    let found = found.and_then(|found| anchor.other_server(&facts.server).map_or(Ok(found), Err));
    match found {
        Ok(checkpoints) => {
            local_journal::mark_on_server(&anchor);
            write_all(connection, statements, load_id, checkpoints.iter(), After::NoAnchor)?;
            local_journal::remove(&anchor);
            Ok(None)
        }
        Err(reason) => {
            let reason = format!("{}, which cannot be used: {reason}", anchor.describe());
            Ok(Some(LostJournal { from: anchor.from.ordinal, reason }))
        }
    }
}

/// The row that names the file of a load.
pub(super) fn anchor(
    connection: &mut Connection,
    statements: &Statements,
    load_id: u64,
) -> Result<Option<Anchor>, Error> {
    read_anchor(load_id, &connection.fetch(&statements.anchor(load_id))?)
}

/// The row of that kind among these, of which there is one at most.
pub(super) fn read_anchor(load_id: u64, rows: &[Row]) -> Result<Option<Anchor>, Error> {
    let Some(row) = rows.first() else { return Ok(None) };
    let damaged = || Error::Unsupported(format!("load {load_id}: the row of its local journal is damaged: {row:?}"));
    let ordinal = text(row, 0).parse().map_err(|_| damaged())?;
    let line = text(row, 2).parse().map_err(|_| damaged())?;
    let from = local_journal::Beginning { ordinal, file: text(row, 1), line };
    Anchor::from_text(load_id, &text(row, 3), from).map(Some).ok_or_else(damaged)
}
