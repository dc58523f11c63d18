//! Locks that the dump's session may hold without the text of a statement telling: those that a text from a variable takes,
//! or a routine. Nothing else could be written under them, so that the session is asked.

use hortator_mysql::quote_identifier;

use super::MainSession;
use crate::analysis::{StatementInfo, Trait};
use crate::apply::Stopped;
use crate::coordinator::found_rows;
use crate::coordinator::journal::Journal;
use crate::lexer::Location;

/// What the server says to a statement that would write, in a session that holds locks: LOCK TABLES, FLUSH TABLES WITH
/// READ LOCK, BACKUP STAGE.
const LOCKED: [u16; 3] = [1100, 1223, 4145];

/// Whether a statement may lock tables or the server without its text telling. Whether a CALL may is known of the routines.
pub(super) fn may_lock(info: &StatementInfo) -> bool {
    info.is(Trait::MayDoAnything) && !info.is(Trait::RunsRoutine)
}

impl MainSession<'_> {
    /// A routine comes that may lock tables or the server.
    pub(in crate::coordinator) fn may_lock(&mut self) {
        self.may_hold_locks = true;
    }

    /// Asks whether the session holds locks, if a statement may have taken some. Locks end a transaction, so that none is
    /// held while one is open that began before them; the question would begin one under autocommit=0.
    pub(super) fn find_locks(&mut self, location: &Location) -> Result<(), Stopped> {
        let is_between = self.status().autocommit() && !self.status().in_transaction() && !self.has_one_shot_variable();
        if !self.may_hold_locks || !is_between || self.is_closed_to_others() {
            return Ok(());
        }
        self.may_hold_locks = false;
        let rows = found_rows::read(&mut self.connection).unwrap_or(0);
        self.has_locks = self.holds_locks();
        if self.has_locks && self.is_bound && matches!(self.journal, Journal::Idle) {
            self.journal = Journal::unrecorded_section(location);
        }
        // A connection that is lost is found by the next statement.
        let _ = found_rows::restore(&mut self.connection, rows);
        drop(self.connection.take_session_changes());
        Ok(())
    }

    /// Whether a statement may have locked tables or the server, and it is not asked yet.
    pub(in crate::coordinator) fn may_hold_locks(&self) -> bool {
        self.may_hold_locks
    }

    /// Whether the session may hold locks that are in the way of a record, and does.
    pub(in crate::coordinator) fn is_locking_records(&mut self) -> bool {
        self.has_locks |= self.may_hold_locks && self.holds_locks();
        self.has_locks
    }

    /// Whether the server would refuse a write because of locks of this session.
    fn holds_locks(&mut self) -> bool {
        let table = match self.checkpoints {
            Some(checkpoints) => [&quote_identifier(checkpoints.schema().as_bytes())[..], b".`chunks`"].concat(),
            None => b"`mysql`.`db`".to_vec(),
        };
        let answer = self.connection.fetch(&[b"SELECT 1 FROM ".as_slice(), &table, b" LIMIT 0 FOR UPDATE"].concat());
        matches!(answer, Err(error) if error.code().is_some_and(|code| LOCKED.contains(&code)))
    }
}
