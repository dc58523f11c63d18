//! One of several connections: applies the rows of a group, waits for its turn, commits.

use std::sync::Arc;

use hortator_mysql::{ConnectOptions, Connection, Error as ServerError};

use super::group_queue::Turn;
use super::locks::IS_STRICT;
use super::{RowGroup, Shared};
use crate::apply::applier::made_on;
use crate::apply::binlog_statement::BinlogStatement;
use crate::apply::error::Error;
use crate::apply::position_table::PositionTable;
use crate::apply::session::{READ_BYTES, prepare_session};

/// A lock wait ends soon, in seconds: what waits may hold locks of its own that others of the target's users need. The
/// applier, which runs a refused group again, waits as long as the target's settings say.
///
/// The first statement behind a COMMIT or ROLLBACK begins the next transaction.
const SETTINGS: &[u8] = b"SET SESSION innodb_lock_wait_timeout = 1, lock_wait_timeout = 5, autocommit = 0";
/// How long the position may take, which the group before this one has locked while it commits.
const WAITING: &[u8] = b"SET STATEMENT innodb_lock_wait_timeout = 600 FOR ";
/// Gaps between rows are not locked: later rows may go there.
const ISOLATION: &[u8] = b"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";

/// Applies groups until the end.
pub(super) fn run(shared: &Shared, target: &ConnectOptions, table: &PositionTable) {
    let opened = Connection::open(target).and_then(|mut connection| {
        prepare_session(&mut connection)?;
        connection.execute(SETTINGS)?;
        connection.execute(ISOLATION)?;
        connection.execute(READ_BYTES)?;
        Ok(connection)
    });
    let connection = match opened {
        Ok(connection) => connection,
        // The others, or the applier, do its work.
        Err(error) => return shared.change(|state| state.trouble = Some(error.to_string())),
    };
    shared.change(|state| state.connected += 1);
    let mut worker = Worker { connection, table: table.clone(), format: None, server_id: 0 };
    let _disconnects = Disconnects(shared);
    while let Some((seqno, group)) = shared.take(worker.connection.id()) {
        let ended = worker.apply(shared, seqno, &group);
        shared.change(|state| {
            state.under_way.remove(&seqno);
            match ended {
                Ok(Ended::Committed) => state.queue.committed(seqno),
                Ok(Ended::Refused) => state.queue.refused(seqno),
                Ok(Ended::GaveWay) => state.queue.gave_way(seqno),
                Ok(Ended::Over) => {}
                Err(error) => {
                    let doing = format!("applying the transactions that end at {}", group.to);
                    state.error.get_or_insert(Error::Target { doing, error });
                }
            }
        });
    }
}

/// The worker's connection, as it is counted.
struct Disconnects<'a>(&'a Shared);

impl Drop for Disconnects<'_> {
    fn drop(&mut self) {
        self.0.change(|state| state.connected -= 1);
    }
}

struct Worker {
    connection: Connection,
    table: PositionTable,
    /// The format description that the session knows.
    format: Option<Arc<Vec<u8>>>,
    /// The server whose id the session's changes have in the target's log.
    server_id: u32,
}

/// What has become of a group.
enum Ended {
    Committed,
    Refused,
    GaveWay,
    /// It is rolled back, and nothing follows.
    Over,
}

impl Worker {
    /// Errors are those after which the connection is not used any more.
    fn apply(&mut self, shared: &Shared, seqno: hortator_core::Seqno, group: &RowGroup) -> Result<Ended, ServerError> {
        let sent = self.send_rows(group);
        if !self.is_done(sent)? {
            return Ok(Ended::Refused);
        }
        match shared.turn(seqno) {
            Some(Turn::Commit) => {}
            Some(Turn::GiveWay | Turn::Wait) => {
                self.connection.execute(b"ROLLBACK")?;
                return Ok(Ended::GaveWay);
            }
            None => {
                self.connection.execute(b"ROLLBACK")?;
                return Ok(Ended::Over);
            }
        }
        // It waits for the group before it to commit, however long that takes.
        let advance = [WAITING, &self.table.advance(&group.from, &group.to), IS_STRICT].concat();
        let moved = self.connection.execute(&advance);
        let moved = match moved {
            // The group before it has not committed after all, someone else has moved the position, or the target takes rows
            // now that come too early.
            Ok(done) if done.affected_rows != 1 => {
                self.connection.execute(b"ROLLBACK")?;
                return Ok(Ended::Refused);
            }
            moved => moved,
        };
        if !self.is_done(moved.map(drop))? {
            return Ok(Ended::Refused);
        }
        shared.can_follow(seqno);
        let committed = self.connection.execute(b"COMMIT").map(drop);
        Ok(if self.is_done(committed)? { Ended::Committed } else { Ended::Refused })
    }

    fn send_rows(&mut self, group: &RowGroup) -> Result<(), ServerError> {
        if !self.format.as_ref().is_some_and(|known| Arc::ptr_eq(known, &group.format)) {
            let mut statement = BinlogStatement::default();
            statement.push(&group.format);
            self.connection.execute(&statement.take_text())?;
            self.format = Some(group.format.clone());
        }
        let server_id = made_on(&group.transactions);
        if server_id != 0 && server_id != self.server_id {
            self.connection.execute(format!("SET SESSION server_id = {server_id}").as_bytes())?;
            self.server_id = server_id;
        }
        let events = || group.transactions.iter().flat_map(|one| &one.events);
        let mut statement = BinlogStatement::for_events(events());
        events().for_each(|event| statement.push(&event.bytes));
        if !statement.is_empty() {
            self.connection.execute(&statement.take_text())?;
        }
        Ok(())
    }

    /// False: the target has refused it, and it is rolled back.
    fn is_done(&mut self, done: Result<(), ServerError>) -> Result<bool, ServerError> {
        match done {
            Ok(()) => Ok(true),
            Err(ServerError::Server(_)) => self.connection.execute(b"ROLLBACK").map(|_| false),
            Err(error) => Err(error),
        }
    }
}
