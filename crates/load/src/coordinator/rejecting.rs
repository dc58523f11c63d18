//! Statements of the main session that fail in a forced load go to the file of `--reject`, before they count as done.

use hortator_mysql::catalog::TableName;
use hortator_mysql::{Error, quote_identifier};

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use super::journal::RowEffects;
use super::main_session::MainSession;
use crate::analysis::{StatementInfo, StatementKind, Trait};
use crate::apply::{CatalogConnection, Stopped};
use crate::rejects::{Rejected, Rejects, Repeat, SOME_STAYED, Written, remaining_rows, repeat_of};
use crate::report::Failure;

/// What it takes to keep them.
#[derive(Debug)]
pub(super) struct Rejecting<'l> {
    rejects: &'l Rejects,
    catalog: &'l CatalogConnection,
    /// The rows of a table that cannot roll back, before the statement that runs next.
    before: Option<(TableName, u64)>,
    /// That statement may leave rows where it fails.
    keeps_rows: bool,
    /// Written of the transaction of the dump that is open.
    in_transaction: Written,
}

impl<'l> Rejecting<'l> {
    pub(super) fn new(rejects: &'l Rejects, catalog: &'l CatalogConnection) -> Self {
        Self { rejects, catalog, before: None, keeps_rows: false, in_transaction: Written::default() }
    }

    /// The rows of a table; `None` where that is not known.
    fn count(&self, table: &TableName) -> Option<u64> {
        let place = [quote_identifier(&table.schema), quote_identifier(&table.table)].join(&b'.');
        let rows = self.catalog.lock().fetch(&[b"SELECT COUNT(*) FROM ".as_slice(), &place].concat()).ok()?;
        std::str::from_utf8(rows.first()?.first()?.as_deref()?).ok()?.parse().ok()
    }
}

impl Coordinator<'_> {
    /// A statement is to run that may leave rows where it fails. How many rows its table has tells later which have stayed. A
    /// table that this session has locked answers no other one, and a question opens a table, which may decide what its
    /// defaults are.
    pub(super) fn count_before_rows(
        &mut self,
        statement: &AnalyzedStatement,
        table: Option<&TableName>,
        effects: &RowEffects,
    ) {
        let is_free = !self.main.has_locks() && !self.main.may_hold_locks();
        let is_rows = matches!(statement.info.kind, StatementKind::Rows(_));
        let can_be_asked = |name: &&TableName| {
            let known = self.catalog.remembered(name).flatten();
            known.is_some_and(|known| !known.columns.iter().any(|column| column.fixed_at_open))
        };
        let table = table.filter(|_| is_free && is_rows && effects.is_non_transactional).filter(can_be_asked);
        if let Some(rejecting) = &mut self.main.rejecting {
            rejecting.keeps_rows = effects.is_non_transactional || effects.names_other_engines;
            let before = table.and_then(|table| Some((table.clone(), rejecting.count(table)?)));
            rejecting.before = before;
        }
    }
}

impl MainSession<'_> {
    /// What runs next leaves nothing where it fails.
    pub(super) fn all_rows_roll_back(&mut self) {
        if let Some(rejecting) = &mut self.rejecting {
            (rejecting.before, rejecting.keeps_rows) = (None, false);
        }
    }

    /// A statement has failed, and the load goes on.
    pub(super) fn reject(&mut self, statement: &AnalyzedStatement, error: &Error) -> Result<(), Stopped> {
        let dialect = self.dialect();
        let has_own_clock = self.tracker.has_session_local();
        let is_within = self.is_in_dumps_transaction();
        let Some(rejecting) = &mut self.rejecting else { return Ok(()) };
        let AnalyzedStatement { text, location, info, .. } = statement;
        let failure = Failure::at(location, text, error);
        let mut repeat = repeat_of(text, info, &dialect, has_own_clock);
        let mut rest = None;
        if let Some((table, before)) = rejecting.before.take()
            && let StatementKind::Rows(rows) = &info.kind
        {
            let kept = rejecting.count(&table).and_then(|now| now.checked_sub(before));
            rest = kept.and_then(|kept| remaining_rows(text, rows.offset, &dialect, kept));
        }
        if rejecting.keeps_rows && rest.is_none() && repeat == Repeat::AsWritten {
            repeat = Repeat::WithNote(SOME_STAYED);
        }
        let rejected = Rejected {
            ordinal: location.ordinal,
            text: rest.as_deref().unwrap_or(text),
            failure: &failure,
            session: self.tracker.state(),
            dialect,
            repeat,
        };
        match rejecting.rejects.append(&[rejected]) {
            // Of a table that cannot roll back, no rows would go with the transaction.
            Ok(written) if is_within && !rejecting.keeps_rows => rejecting.in_transaction.add(written),
            Ok(_) => {}
            Err(error) => {
                // The statement must not be recorded as done.
                self.is_gone = true;
                let failure = Failure::finding(location, text, error.to_string());
                self.pool.fail(self.pool.position(), failure, true);
                return Err(Stopped);
            }
        }
        Ok(())
    }

    /// A statement is passed over as done by an earlier run.
    pub(super) fn settle_rejected(&self, ordinal: u64) {
        if let Some(rejecting) = &self.rejecting {
            rejecting.rejects.settle(ordinal);
        }
    }

    /// What failed in a transaction that the dump rolls back would be rolled back too.
    pub(super) fn end_rejected_transaction(&mut self, info: &StatementInfo) {
        let Some(rejecting) = &mut self.rejecting else { return };
        let is_rolled_back = info.is(Trait::RollsBack) && !info.is(Trait::OfSavepoint);
        if !is_rolled_back && !info.ends_transaction() {
            return;
        }
        let written = std::mem::take(&mut rejecting.in_transaction);
        if is_rolled_back && let Err(error) = rejecting.rejects.withdraw(written) {
            self.pool.fail(self.pool.position(), Failure::of_load(error.to_string()), true);
        }
    }
}
