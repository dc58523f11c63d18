//! How far the source is applied: in the session, and on record in the target.

use std::time::{Duration, Instant};

use super::Applier;
use crate::apply::error::Error;
use crate::apply::position_table::SourcePosition;
use crate::binlog::GtidState;
use crate::transaction::Transaction;

/// How long a position that only passes over transactions may be without a record.
const RECORD_INTERVAL: Duration = Duration::from_secs(60);

impl Applier {
    /// Records where the source starts, in one transaction with the statements by which its copy is whole.
    ///
    /// # Errors
    /// What the target refuses. It may be done where the connection is lost.
    pub fn start_behind_copy(&mut self, start: SourcePosition, ends: &[Vec<u8>]) -> Result<(), Error> {
        let write = self.table.write(&start);
        let statements = [b"START TRANSACTION".as_slice(), &write].into_iter().chain(ends.iter().map(Vec::as_slice));
        for statement in statements.chain([b"COMMIT".as_slice()]) {
            self.execute(statement, "the end of the copy")?;
        }
        self.recorded(start, 0);
        Ok(())
    }

    /// Ends the copy of some tables, by these statements, where the position on record is the one up to which the others are
    /// applied.
    ///
    /// # Errors
    /// What the target refuses, and that something else has moved the position. It may be done where the connection is lost.
    pub fn end_copy_of_tables(&mut self, ends: &[Vec<u8>]) -> Result<(), Error> {
        let place = "the end of the copy";
        self.record()?;
        self.execute(b"START TRANSACTION", place)?;
        let found = self.table.read(&mut self.connection).map_err(|error| self.failed(error, place))?;
        let is_same = |found: &SourcePosition| {
            let at = self.on_record.as_ref();
            at.is_some_and(|at| (&at.position, &at.gtid) == (&found.position, &found.gtid))
        };
        if !found.as_ref().is_some_and(is_same) {
            self.execute(b"ROLLBACK", place)?;
            return Err(Error::Moved { name: self.source.clone() });
        }
        for statement in ends {
            self.execute(statement, place)?;
        }
        self.execute(b"COMMIT", place)
    }

    /// Records where the source starts.
    ///
    /// # Errors
    /// What the target refuses.
    pub fn start_at(&mut self, start: SourcePosition) -> Result<(), Error> {
        self.execute(&self.table.write(&start), "the start")?;
        self.recorded(start, 0);
        Ok(())
    }

    /// The GTID position of the place that is on record without one. It is recorded with what comes next.
    pub fn complete_position(&mut self, gtid: GtidState) {
        if let Some(at) = &mut self.committed {
            at.gtid = gtid;
        }
    }

    /// Where the source goes on: by the place in its log, while the position on record has no GTID.
    #[must_use]
    pub fn log_start(&self) -> SourcePosition {
        let at = self.committed.clone().unwrap_or_default();
        let is_by_place = |on_record: &SourcePosition| on_record.gtid.is_empty() && on_record.position == at.position;
        let gtid = if self.on_record.as_ref().is_some_and(is_by_place) { GtidState::default() } else { at.gtid };
        SourcePosition { gtid, ..at }
    }

    /// Behind what is committed and this transaction. Nothing else is taken.
    pub(super) fn position_behind(&self, transaction: &Transaction) -> SourcePosition {
        let mut gtid = self.committed.as_ref().map(|at| at.gtid.clone()).unwrap_or_default();
        transaction.advance(&mut gtid);
        let mut temporary = self.temporary.open.clone();
        temporary.advance(&transaction.events);
        SourcePosition { position: transaction.position.clone(), gtid, begun: None, temporary }
    }

    /// Moves the position over a transaction of which nothing is to be applied. It is recorded with what comes next, or when
    /// it has not been for a while: two servers that replicate each other would pass the record of it on for ever.
    pub(super) fn advance(&mut self, transaction: &Transaction) -> Result<(), Error> {
        self.committed = Some(self.position_behind(transaction));
        self.transactions += 1;
        if self.unrecorded_since.get_or_insert_with(Instant::now).elapsed() >= RECORD_INTERVAL {
            self.record()?;
        }
        Ok(())
    }

    /// Takes note of a position that is on record, so many transactions behind the last one.
    pub(super) fn recorded(&mut self, at: SourcePosition, transactions: u64) {
        self.on_record = Some(at.clone());
        self.committed = Some(at);
        self.transactions += transactions;
        self.unrecorded_since = None;
    }

    /// Moves the position on record, in the transaction that is open or by itself.
    pub(super) fn move_to(&mut self, to: &SourcePosition, place: &str) -> Result<(), Error> {
        self.use_charset_for_positions(place)?;
        let Some(from) = &self.on_record else { return self.execute(&self.table.write(to), place) };
        let is_same = (&to.position, &to.gtid) == (&from.position, &from.gtid);
        let done = self.connection.execute(&self.table.advance(from, to));
        match done {
            Ok(done) if done.affected_rows == 1 || is_same => Ok(()),
            // Nothing of this transaction may stay.
            Ok(_) => {
                self.execute(b"ROLLBACK", place)?;
                Err(Error::Moved { name: self.source.clone() })
            }
            Err(error) => Err(self.failed(error, place)),
        }
    }

    /// Records the position between two transactions. While a large one is open there is nothing to record: that would be
    /// part of it.
    ///
    /// # Errors
    /// What the target refuses.
    pub fn record_between(&mut self) -> Result<(), Error> {
        if self.is_within { Ok(()) } else { self.record() }
    }

    /// Records the position, if that is still to be done.
    ///
    /// # Errors
    /// What the target refuses.
    pub fn record(&mut self) -> Result<(), Error> {
        if let (Some(_), Some(at)) = (self.unrecorded_since.take(), &self.committed) {
            let at = at.clone();
            if !self.is_within {
                self.restore_autocommit()?;
            }
            self.move_to(&at, "the position")?;
            self.on_record = Some(at);
        }
        Ok(())
    }
}
