//! Transactions of the dump that hold nothing but rows of one table: a worker applies each as one transaction.
//!
//! ```text
//!   BEGIN, or rows under autocommit=0 ──► held ── COMMIT, or what is left out and commits ──► one chunk for a worker
//!                                          │
//!                                          ├── more than a chunk, of a new table ──► see `large_transaction`
//!                                          └── anything else, too many bytes ──► the main session, as it is written
//! ```
//!
//! Nothing of it is sent before its end is seen, so that the choice is free until then. In the main session, the statements
//! after it would see its rows, and a ROLLBACK would take them back.

use std::sync::Arc;

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use super::journal::Journal;
use super::main_session::IN_TRANSACTION;
use crate::analysis::{StatementInfo, StatementKind, Trait};
use crate::apply::{Atomicity, ChunkStatement, Stopped};
use crate::planner::{PlacedRows, Step};
use crate::session::SessionState;

/// Text of a transaction that is held.
pub(crate) const HELD_BYTES: usize = 32 << 20;
/// A transaction with less text goes to the main session, which sends several of them together, unless its table is new.
pub(crate) const SMALL_BYTES: usize = 64 << 10;

/// The `completion_type` with which COMMIT ends a transaction and does nothing else.
const NO_CHAIN: &[u8] = b"NO_CHAIN";

/// A transaction of the dump of which nothing is sent yet.
#[derive(Debug)]
pub(super) struct RowTransaction {
    /// Its BEGIN; `None` under autocommit=0.
    begin: Option<AnalyzedStatement>,
    /// Its statements; all of one table.
    statements: Vec<AnalyzedStatement>,
    /// Their place; `None` while there are none.
    placed: Option<PlacedRows>,
    session: Arc<SessionState>,
    bytes: usize,
}

/// What a statement is to a transaction that is held.
enum Role {
    /// Rows of it, which are held.
    Rows,
    /// Rows of a large one.
    Part(PlacedRows),
    /// Its end.
    End,
    /// It does nothing.
    Nothing,
    /// What only the main session can do.
    Other,
}

impl Coordinator<'_> {
    /// Whether a COMMIT needs not be sent: all that it ends is held, or it ends nothing.
    pub(super) fn is_commit_of_rows(&self, info: &StatementInfo) -> bool {
        info.commits_transaction()
            && self.completes_plainly()
            && (self.transaction.is_some()
                || self.large.is_open()
                || (self.has_nothing_open() && !self.batch.has_open_block()))
    }

    /// Takes a statement that belongs to such a transaction, or ends it; gives back any other, with all before it sent.
    pub(super) fn take_into_transaction(
        &mut self,
        mut statement: AnalyzedStatement,
    ) -> Result<Option<AnalyzedStatement>, Stopped> {
        match self.role(&mut statement)? {
            Role::Rows => self.hold(statement)?,
            Role::Part(placed) => {
                self.run_batch()?;
                self.add_rows(statement, placed)?;
            }
            Role::Nothing => self.left_out(&statement.info),
            Role::End => {
                self.left_out(&statement.info);
                self.transaction_to_worker()?;
                self.commit_large()?;
                self.build_keys_behind(&statement.info)?;
            }
            Role::Other => {
                self.transaction_to_main()?;
                return Ok(Some(statement));
            }
        }
        Ok(None)
    }

    /// What a statement is to the transaction that is held, or begins.
    fn role(&mut self, statement: &mut AnalyzedStatement) -> Result<Role, Stopped> {
        let is_part = match statement.info.kind {
            StatementKind::Rows(_) if self.large.is_open() => {
                return Ok(match self.next_step(statement)? {
                    Step::Rows(placed) if self.large.takes(&placed) => Role::Part(placed),
                    _ => Role::Other,
                });
            }
            StatementKind::Rows(_) if self.transaction.is_some() || self.may_begin_transaction() => {
                if self.transaction.is_none() {
                    let begin = self.batch.take_begin();
                    self.transaction = Some(RowTransaction::new(begin, self.main.state().clone()));
                }
                return Ok(match self.next_step(statement)? {
                    Step::Rows(placed) if self.joins_transaction(statement, &placed) => Role::Rows,
                    _ => Role::Other,
                });
            }
            StatementKind::Skip if self.transaction.is_some() || self.large.is_open() => {
                let is_left_out = matches!(self.next_step(statement)?, Step::Skip);
                if is_left_out && statement.info.is(Trait::Unlocks) && !self.has_left_out_locks() {
                    // Nothing is locked.
                    return Ok(Role::Nothing);
                }
                is_left_out && (self.large.is_open() || self.ends_for_worker())
            }
            _ => self.is_commit_of_rows(&statement.info) && (self.transaction.is_none() || self.ends_for_worker()),
        };
        Ok(if is_part { Role::End } else { Role::Other })
    }

    /// Holds rows; once more is held than a chunk, all go as chunks if they can.
    fn hold(&mut self, statement: AnalyzedStatement) -> Result<(), Stopped> {
        let Some(transaction) = &mut self.transaction else { return Ok(()) };
        let limit = self.chunk_limits.bytes;
        let was_small = transaction.bytes <= limit;
        transaction.bytes += statement.text.len();
        transaction.statements.push(statement);
        let Some(placed) = transaction.placed.clone().filter(|_| was_small && transaction.bytes > limit) else {
            return Ok(());
        };
        let first = transaction.statements[0].location.clone();
        if !self.can_be_large(&placed, &first)? {
            return Ok(());
        }
        let held = self.transaction.take().map(|transaction| transaction.statements).unwrap_or_default();
        self.begin_large(placed.table().clone(), first, held)
    }

    /// Has the main session run what is held, and go on with a large transaction.
    pub(super) fn transaction_to_main(&mut self) -> Result<(), Stopped> {
        self.large_to_main()?;
        self.held_to_main()
    }

    /// Has the main session run what is held.
    pub(super) fn held_to_main(&mut self) -> Result<(), Stopped> {
        let Some(transaction) = self.transaction.take() else { return Ok(()) };
        if let Some(begin) = transaction.begin {
            self.batch.open_block(begin);
        }
        for mut statement in transaction.statements {
            // The form that it was read by may be another's by now.
            statement.info = self.analyze_anew(&statement.text);
            self.run_in_main(statement, IN_TRANSACTION)?;
        }
        Ok(())
    }

    /// Gives a worker what is held.
    fn transaction_to_worker(&mut self) -> Result<(), Stopped> {
        let Some(RowTransaction { statements, placed: Some(placed), bytes, .. }) = self.transaction.take() else {
            return Ok(());
        };
        self.flush()?;
        let statements: Vec<_> = statements.into_iter().filter_map(AnalyzedStatement::into_rows).collect();
        let bytes = bytes + statements.len() * size_of::<ChunkStatement>();
        let own_state = self.main.state().clone();
        let (placed, session) = self.with_deferred_checks(placed, &own_state);
        let (write_set, chunk) = self.begin_rows(&placed, session, Atomicity::Transaction, statements);
        self.admit(write_set, bytes, chunk)
    }

    /// Whether rows that come now begin a transaction that may be held.
    fn may_begin_transaction(&self) -> bool {
        let begins = match self.batch.has_open_block() {
            true => self.batch.is_only_begun(),
            false => !self.main.status().autocommit(),
        };
        begins && !self.pool.is_forced() && self.completes_plainly() && self.has_nothing_open()
    }

    /// Whether a statement that comes now is by itself, and nothing has to be asked about the session first.
    pub(super) fn is_plainly_between_statements(&self) -> bool {
        self.has_nothing_open()
            && !self.batch.has_open_block()
            && self.main.status().autocommit()
            && !self.main.is_stale()
            && !self.main.has_one_shot_variable()
    }

    /// Whether nothing is open in the main session, sent or gathered.
    fn has_nothing_open(&self) -> bool {
        !self.has_batch() && matches!(self.main.journal, Journal::Idle) && self.main.must_be_serial().is_none()
    }

    /// Whether COMMIT ends a transaction and does nothing else.
    pub(super) fn completes_plainly(&self) -> bool {
        let completion = self.main.state().value("completion_type");
        !self.main.has_one_shot_variable() && (completion.is_empty() || completion.eq_ignore_ascii_case(NO_CHAIN))
    }

    /// Whether what is held is worth a chunk.
    fn ends_for_worker(&self) -> bool {
        self.transaction.as_ref().is_some_and(|transaction| {
            let is_new = |placed: &PlacedRows| self.catalog.new_tables.is_empty(placed.table());
            transaction.bytes >= SMALL_BYTES.min(self.chunk_limits.bytes)
                || transaction.placed.as_ref().is_some_and(is_new)
        })
    }

    /// Whether rows go with those that are held: then they have one place.
    fn joins_transaction(&mut self, statement: &AnalyzedStatement, placed: &PlacedRows) -> bool {
        let Some(mut transaction) = self.transaction.take() else { return false };
        let fits = transaction.bytes + statement.text.len() <= HELD_BYTES;
        let is_same_session = Arc::ptr_eq(&transaction.session, self.main.state());
        let placed = match transaction.placed.take() {
            None => Some(placed.clone()),
            // The server has described the table by now.
            Some(PlacedRows::First(first))
                if let PlacedRows::Known(form, _) = placed
                    && form.name == first.name
                    && form.head == first.head =>
            {
                transaction.statements.iter_mut().try_fold(placed.clone(), |together, earlier| {
                    self.prescan_again(earlier, form);
                    let StatementKind::Rows(rows) = &earlier.info.kind else { return None };
                    let placement = form.place(&rows.values, &transaction.session, false).ok()?;
                    together.with(&PlacedRows::Known(form.clone(), placement))
                })
            }
            Some(before) => before.with(placed),
        };
        let joins = fits && is_same_session && placed.is_some();
        transaction.placed = placed;
        self.transaction = Some(transaction);
        joins
    }
}

impl RowTransaction {
    fn new(begin: Option<AnalyzedStatement>, session: Arc<SessionState>) -> Self {
        Self { begin, statements: Vec::new(), placed: None, session, bytes: 0 }
    }
}
