//! One attempt at a chunk as a transaction, up to its commit in the table's order.

use std::time::Duration;

use hortator_core::{Key, Seqno};
use hortator_mysql::Error;

use super::journal::Begun;
use super::{Attempt, Sent, TURN_PATIENCE, Worker, number};
use crate::apply::chunk::{Chunk, RowTarget};
use crate::apply::lock_waits::holds_up_another;
use crate::apply::pool::Turn;
use crate::apply::road::{Way, is_in_transaction, rolled_back_by_server};
use crate::report::Failure;

/// How often a chunk that is ready to commit may find out by waiting alone whether its locks hold up an earlier one,
/// where the server does not tell who waits for whom.
const BLIND_TURNS: u32 = 20;

impl Worker<'_> {
    /// One attempt at a chunk as a transaction.
    pub(super) fn transaction(
        &mut self,
        seqno: Seqno,
        chunk: &Chunk,
        target: &RowTarget,
        lane: Option<Key>,
        merge: bool,
        begun: &mut Begun,
    ) -> Attempt {
        let force = self.pool.is_forced();
        let began_in_turn = lane.is_none_or(|lane| self.pool.await_turn(seqno, lane, Duration::ZERO) == Turn::Mine);
        let mut failures = Vec::new();
        let mut sent = Sent::default();
        let mut last_id = 0;
        let checkpoints = self.checkpoints;
        // Statements that are committed if this attempt is: those before the first that failed.
        let mut covered = 0;
        let outcome = self.on_connection(chunk, |connection, road, pool| {
            if target.implicit_id {
                begun.counter(connection, checkpoints, chunk, target)?;
            }
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
                covered = at;
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
        if self.link.as_ref().is_some_and(|link| !link.connection.status().in_transaction()) {
            // What is gone is not to be committed, whoever took it away.
            return self.rolled_back(Attempt::Replay(rolled_back_by_server()));
        }
        sent.last_id = last_id;
        sent.failed = if force { failures.len() as u64 } else { 0 };
        match self.write_record(chunk, covered, &sent, begun) {
            Ok(true) => {}
            // An earlier attempt has been committed after all.
            Ok(false) => {
                self.rolled_back(Attempt::Done);
                sent.count(target, self.progress);
                return Attempt::Done;
            }
            Err(error) if error.is_lost() || error.is_transient() => return self.rolled_back(Attempt::Replay(error)),
            Err(error) => {
                self.pool.fail(seqno, Failure::of_record_error(&chunk.statements[0], &error), true);
                return self.rolled_back(Attempt::Done);
            }
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
                    match self.was_committed(chunk, covered) {
                        Ok(Some(true)) => {
                            sent.count(target, self.progress);
                            Attempt::Done
                        }
                        Ok(Some(false)) => Attempt::Replay(error),
                        Ok(None) | Err(_) => {
                            self.pool.fail(seqno, Failure::ambiguous_commit(chunk, &error), true);
                            Attempt::Done
                        }
                    }
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
        self.link.as_mut().map_or(Ok(Some(false)), |link| holds_up_another(&mut link.connection))
    }
}
