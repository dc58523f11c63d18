//! Reads the checkpoints of a load along with its stream.

use std::collections::VecDeque;

use hortator_mysql::{Connection, Error, Row};

use super::statements::Statements;
use super::{Checkpoint, RecoveryHint, Span, State};

/// Checkpoints per page.
const PAGE_RECORDS: usize = 1000;

/// The checkpoints of one load in stream order.
#[derive(Debug)]
pub struct CheckpointReader {
    connection: Connection,
    statements: Statements,
    load_id: u64,
    page: VecDeque<Checkpoint>,
    /// The first statement of the last checkpoint that was read.
    read_to: u64,
    is_over: bool,
}

impl CheckpointReader {
    pub(super) fn new(connection: Connection, statements: Statements, load_id: u64) -> Self {
        Self { connection, statements, load_id, page: VecDeque::new(), read_to: 0, is_over: false }
    }

    /// The checkpoint that a statement belongs to. Call it with ascending statement numbers.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn of(&mut self, ordinal: u64) -> Result<Option<&Checkpoint>, Error> {
        loop {
            while self.page.front().is_some_and(|checkpoint| checkpoint.span.last < ordinal) {
                self.page.pop_front();
            }
            if !self.page.is_empty() || self.is_over {
                break;
            }
            self.read_page()?;
        }
        Ok(self.page.front().filter(|checkpoint| checkpoint.span.first <= ordinal))
    }

    /// Whether this statement or one behind it has a checkpoint. Call it with ascending statement numbers. An error comes again
    /// with the next statement, and counts as one that has.
    pub fn reaches(&mut self, ordinal: u64) -> bool {
        self.of(ordinal).is_err() || self.has_more()
    }

    /// The first intents, as they were when the load was resumed.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn intents(&mut self) -> Result<Vec<Checkpoint>, Error> {
        let rows = self.connection.fetch(&self.statements.intents(self.load_id, PAGE_RECORDS))?;
        Ok(rows.iter().filter_map(read_checkpoint).collect())
    }

    /// Marks the current checkpoint, an intent, as applied for its other statements.
    pub fn mark_applied(&mut self) {
        if let Some(checkpoint) = self.page.front_mut() {
            checkpoint.state = State::Applied;
        }
    }

    /// Discards the current checkpoint, an intent that had no effect: its statements have no checkpoint.
    pub fn discard_current(&mut self) {
        self.page.pop_front();
    }

    /// Whether there are checkpoints after the current one.
    #[must_use]
    pub fn has_more(&self) -> bool {
        !self.page.is_empty() || !self.is_over
    }

    fn read_page(&mut self) -> Result<(), Error> {
        let rows = self.connection.fetch(&self.statements.page(self.load_id, self.read_to, PAGE_RECORDS))?;
        self.is_over = rows.len() < PAGE_RECORDS;
        for row in &rows {
            let found = read_checkpoint(row).ok_or_else(|| {
                Error::Unsupported(format!("load {}: a checkpoint is damaged: {row:?}", self.load_id))
            })?;
            self.page.push_back(found);
        }
        self.read_to = self.page.back().map_or(self.read_to, |checkpoint| checkpoint.span.first);
        Ok(())
    }
}

fn read_checkpoint(row: &Row) -> Option<Checkpoint> {
    let text = |column: usize| Some(String::from_utf8_lossy(row.get(column)?.as_deref()?).into_owned());
    let number = |column: usize| -> Option<u64> { text(column)?.parse().ok() };
    Some(Checkpoint {
        span: Span {
            first: number(0)?,
            last: number(1)?,
            digest: u128::from_str_radix(&text(2)?, 16).ok()?,
            file: text(7)?,
            line: number(8)?,
            byte: number(9)?,
            end_byte: number(10)?,
        },
        state: State::from_number(number(3)?)?,
        table: text(4)?,
        rows: number(5)?,
        last_id: number(11)?,
        recovery_hint: RecoveryHint::from_text(&text(6)?),
    })
}
