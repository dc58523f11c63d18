//! Runs of INSERTs: what holds for one INSERT of literals holds for the next one of its form, which needs no plan of its own.
//!
//! ```text
//!   N     planned, joins the open chunk: the run begins
//!   N+1   of the same form, with values of the same kind: joins it too, and so on
//!   …     another statement, other values, a full chunk, RUN_LIMIT: the run ends, and the statement is planned as any
//! ```
//!
//! Nothing else happens to the load between two statements of a run, so all that was looked at for the first is as it was. Only
//! what comes from outside (a pause, another writer) has to wait for the end of the run. The statement that came last is
//! held as any other, and joins the chunk when the next one has come.

use std::sync::Arc;

use super::Coordinator;
use super::insert_forms::KnownForm;
use crate::analysis::{SessionFacts, StatementKind};
use crate::apply::ChunkStatement;
use crate::lexer::{Statement, Terminator};
use crate::planner::PlacedRows;
use crate::rows::{Prescan, prescan};

/// Statements of a run.
const RUN_LIMIT: u32 = 64;

/// What the statements of a run have in common.
#[derive(Debug)]
pub(super) struct RowRun {
    known: Arc<KnownForm>,
    /// What their values hold, whatever their number.
    values: Prescan,
    /// What the open chunk may hold at most.
    limit_bytes: usize,
    limit_rows: u64,
    /// How many more there may be.
    left: u32,
}

/// What values hold, whatever their number.
fn kind_of(values: Prescan) -> Prescan {
    Prescan { rows: 0, ..values }
}

impl Coordinator<'_> {
    /// Rows with these values have joined the open chunk: the next ones may follow without a plan of their own.
    pub(super) fn begin_run(&mut self, placed: &PlacedRows, values: Prescan, limit_bytes: usize, limit_rows: u64) {
        let PlacedRows::Known(form, _) = placed else { return };
        let is_alone = self.resume.is_none() && self.transaction.is_none() && !self.large.is_open();
        let known = self.main.look_ahead.known.as_ref().filter(|known| Arc::ptr_eq(&known.form, form));
        if let Some(known) = known.filter(|_| is_alone && self.filter.is_idle()) {
            let (known, values) = (Arc::clone(known), kind_of(values));
            self.run = Some(RowRun { known, values, limit_bytes, limit_rows, left: RUN_LIMIT });
        }
    }

    /// Takes a statement that continues the run; gives back any other, which ends the run.
    pub(super) fn continue_run(&mut self, statement: Statement) -> Option<Statement> {
        let values = self.run.as_ref().and_then(|run| self.next_of_run(run, &statement.text));
        let (Some(values), Some(run), Some(held), Some(open)) =
            (values, &mut self.run, &mut self.held.statement, &mut self.open)
        else {
            self.run = None;
            return Some(statement);
        };
        let StatementKind::Rows(rows) = &mut held.info.kind else { return Some(statement) };
        run.left -= 1;
        self.progress.statement_read(&statement.text);
        let before = ChunkStatement {
            tuples: Some(rows.offset),
            text: std::mem::replace(&mut held.text, statement.text),
            location: std::mem::replace(&mut held.location, statement.location),
        };
        open.push(before, std::mem::replace(&mut rows.values, values).rows);
        held.is_vertical = statement.terminator == Terminator::GoVertical;
        None
    }

    /// What the values of a text hold that continues the run, if the statement that is held may join the open chunk.
    fn next_of_run(&self, run: &RowRun, text: &[u8]) -> Option<Prescan> {
        let RowRun { known, .. } = run;
        let is_next = run.left > 0 && self.held.behind.is_empty() && self.sets.is_empty() && !self.has_batch();
        let held = self.held.statement.as_ref().filter(|_| is_next)?;
        let StatementKind::Rows(rows) = &held.info.kind else { return None };
        let is_of_run = |text: &[u8]| text.starts_with(&known.text);
        let is_current = self.main.look_ahead.known.as_ref().is_some_and(|current| Arc::ptr_eq(current, known))
            && Arc::ptr_eq(&known.session, self.main.state());
        let joins = rows.head.is_none()
            && rows.offset == known.form.offset
            && kind_of(rows.values) == run.values
            && is_of_run(&held.text);
        let open = self.open.as_ref()?;
        let has_room = open.has_room(held.text.len(), rows.values.rows, run.limit_bytes, run.limit_rows);
        if !is_current || !joins || !has_room || !is_of_run(text) {
            return None;
        }
        let facts = SessionFacts {
            dialect: self.main.dialect(),
            functions: self.main.look_ahead.functions(),
            known_head: None,
        };
        prescan(text, known.form.offset, known.form.id_value, &facts).ok().filter(|values| values.suffix.is_none())
    }
}
