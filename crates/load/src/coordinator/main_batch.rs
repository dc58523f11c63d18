//! Writes of rows that the main session runs together: gathered while nothing else is under way.

use hortator_mysql::catalog::TableName;

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use super::journal::{Asked, BatchStatement};
use crate::analysis::{JournalMode, StatementKind, Trait};
use crate::apply::Stopped;
use crate::lexer::Dialect;

/// Text of a batch; a statement that would bring it above begins a new one.
const BATCH_BYTES: usize = 256 << 10;
/// What may be sent with a statement: the settings it needs, and what separates it from the next.
const BESIDE_BYTES: usize = 128;
/// Statements of a batch.
const BATCH_STATEMENTS: usize = 500;

/// The statements that are gathered.
#[derive(Debug, Default)]
pub(super) struct MainBatch {
    statements: Vec<BatchStatement>,
    bytes: usize,
    /// How their text is read; one for all.
    dialect: Option<Dialect>,
}

impl Coordinator<'_> {
    /// Whether a statement may be sent together with others: it writes rows, returns none, asks nothing of the statement
    /// before it, and nothing acts on it alone.
    pub(super) fn can_batch(&self, statement: &AnalyzedStatement) -> bool {
        let info = &statement.info;
        matches!(info.kind, StatementKind::Rows(_) | StatementKind::Write { .. })
            && info.journal == JournalMode::Rows
            && !info.is(Trait::ReturnsRows)
            && !info.is(Trait::MayCallFunction)
            && info.diagnostics.is_none()
            && statement.location.ordinal != 0
            && !self.main.has_one_shot_variable()
            && !self.main.is_closed_to_others()
            && self.main.journal.takes_batches()
            && !has_open_end(&statement.text)
            && statement.text.len() + BESIDE_BYTES <= self.batch_packet_bytes()
    }

    /// What a batch's packet may hold, so that what is sent along cannot bring it above what the server takes.
    fn batch_packet_bytes(&self) -> usize {
        self.main.packet_limit_bytes() / 2
    }

    /// Adds a statement to the batch. The first waits for all before it.
    pub(super) fn add_to_batch(&mut self, statement: AnalyzedStatement) -> Result<(), Stopped> {
        let bytes = statement.text.len() + BESIDE_BYTES;
        let dialect = self.main.dialect();
        let limit_bytes = BATCH_BYTES.min(self.batch_packet_bytes());
        let is_full = self.batch.bytes + bytes > limit_bytes || self.batch.statements.len() >= BATCH_STATEMENTS;
        if is_full || self.batch.dialect != Some(dialect) {
            self.run_batch()?;
        }
        if self.batch.statements.is_empty() {
            self.finish()?;
            self.main.check_writer(&statement.text, &statement.location)?;
            self.main.take_latest_id(&statement.location)?;
        }
        let table = self.written_table(&statement.info);
        let effects = self.row_effects(&statement.info, table.as_ref(), &statement.location)?;
        self.note_constraints(&statement)?;
        if effects.is_non_transactional || effects.names_other_engines || effects.must_stand_alone {
            self.run_batch()?;
            return self.run_exclusive(&statement, Asked::No);
        }
        let may_change_session = effects.may_change_session;
        self.batch.bytes += bytes;
        self.batch.dialect = Some(dialect);
        self.batch.statements.push(BatchStatement { statement, effects, table });
        if may_change_session { self.run_batch() } else { Ok(()) }
    }

    /// The counters of a table that are known from a statement of the same batch: those before the first of them.
    pub(super) fn batch_counters(&self, name: &TableName) -> Option<Vec<(TableName, u64)>> {
        let same = self.batch.statements.iter().find(|item| item.table.as_ref() == Some(name))?;
        Some(same.effects.counters.clone())
    }

    /// Whether anything is gathered.
    pub(super) fn has_batch(&self) -> bool {
        !self.batch.statements.is_empty()
    }

    /// Runs what is gathered.
    pub(super) fn run_batch(&mut self) -> Result<(), Stopped> {
        let mut statements = std::mem::take(&mut self.batch).statements;
        while !statements.is_empty() {
            let location = statements[0].statement.location.clone();
            let rows = self.main.run_batch(&statements)?;
            let tried = rows.len().min(statements.len());
            let is_mariadb = self.main.dialect().mariadb;
            for (item, rows) in statements.drain(..tried).zip(rows) {
                if let Some(name) = &item.table {
                    self.affected(name, rows);
                    self.expect_rows(&item.statement);
                    self.catalog.got_rows_in_main(name, &item.statement.info, is_mariadb);
                }
            }
            self.count_committed();
            self.look_after_main(&location)?;
        }
        Ok(())
    }
}

/// Whether a text may end inside of a comment, which would take the next statement in.
fn has_open_end(text: &[u8]) -> bool {
    memchr::memmem::find(text, b"/*").is_some()
}
