//! The unit of work that a worker gets: consecutive statements that are applied and committed together.

use std::sync::Arc;

use hortator_core::Key;
use hortator_mysql::catalog::{Table, TableName};

use crate::analysis::StatementInfo;
use crate::checkpoint::LargeTransactionBegin;
use crate::deferred_keys::Origin;
use crate::lexer::{Dialect, Location};
use crate::planner::first_rows::FirstRows;
use crate::session::SessionState;

/// One statement of the dump, as it is sent.
#[derive(Clone, Debug)]
pub struct ChunkStatement {
    /// Its bytes.
    pub text: Vec<u8>,
    /// Where it stands in the dump.
    pub location: Location,
    /// For an INSERT: where its tuples start in the text.
    pub tuples: Option<usize>,
}

/// The table that a chunk's rows go to, and how.
#[derive(Debug)]
pub struct RowTarget {
    /// What the server says of the table.
    pub table: Arc<Table>,
    /// Positions in [`Table::columns`] of a tuple's values; `None` where the statement names a column that is not there.
    pub columns: Option<Vec<usize>>,
    /// The binary protocol may send the statements, and merge neighbours.
    pub plain: bool,
    /// The server generates AUTO_INCREMENT values.
    pub implicit_id: bool,
}

impl RowTarget {
    /// Whether it makes no difference to the rows if they come by several statements instead of one: nothing in them is
    /// taken from the time at which their statement runs.
    #[must_use]
    pub fn is_divisible(&self) -> bool {
        let given = |index: &usize| self.columns.as_ref().is_some_and(|columns| columns.contains(index));
        let columns = self.table.columns.iter().enumerate();
        !self.table.versioned && columns.filter(|(index, _)| !given(index)).all(|(_, column)| !column.default_varies)
    }
}

/// What a chunk does.
#[derive(Clone, Debug)]
pub enum Work {
    /// Rows for one table. With a `commit_queue`, other chunks of the table may run in parallel; they commit in order.
    Rows {
        /// The table and its columns.
        target: Arc<RowTarget>,
        /// The table's commit order.
        commit_queue: Option<Key>,
        /// What stays where a statement fails.
        atomicity: Atomicity,
    },
    /// The first rows of a table whose definition stands before them: in order, and as [`Work::Rows`] once the table is there.
    FirstRows {
        /// What is known of them without the table.
        form: Arc<FirstRows>,
        /// As of [`Work::Rows`].
        atomicity: Atomicity,
        /// The table has no rows before these: no earlier chunk has any.
        is_empty_before: bool,
    },
    /// One statement that changes a table's definition and commits by itself; or several that add keys to one table, which
    /// go as one where the server takes that.
    Definition {
        /// What is known of the first statement.
        info: Arc<StatementInfo>,
        /// It creates one table, which is not there: so nobody has to look.
        creates_absent: bool,
    },
    /// The keys of a table that can be built after its rows are dropped.
    DropKeys {
        /// The table.
        table: TableName,
        /// Whose it is.
        origin: Origin,
    },
    /// They are built.
    BuildKeys(TableName),
}

/// What becomes of a chunk of rows when one of its statements fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomicity {
    /// The statements before it stay.
    Statement,
    /// Nothing stays: the chunk is a transaction of the dump.
    Transaction,
    /// The statements before it stay, until the whole transaction of the dump is taken back.
    PartOf(LargeTransactionBegin),
}

/// Consecutive statements with what it takes to apply them on any connection.
#[derive(Debug)]
pub struct Chunk {
    /// What they do.
    pub work: Work,
    /// The session state at their place.
    pub session: Arc<SessionState>,
    /// How their text is read.
    pub dialect: Dialect,
    /// The statements, in order; never empty.
    pub statements: Vec<ChunkStatement>,
}

impl Chunk {
    /// Bytes of its statements' text.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        self.statements.iter().map(|statement| statement.text.len()).sum()
    }

    /// One of its statements by itself.
    #[must_use]
    pub fn of_one(&self, statement: &ChunkStatement) -> Self {
        Self {
            work: self.work.clone(),
            session: self.session.clone(),
            dialect: self.dialect,
            statements: vec![statement.clone()],
        }
    }

    /// Whether it is a transaction of the dump.
    #[must_use]
    pub fn is_transaction(&self) -> bool {
        matches!(
            self.work,
            Work::Rows { atomicity: Atomicity::Transaction, .. }
                | Work::FirstRows { atomicity: Atomicity::Transaction, .. }
        )
    }

    /// The beginning of the transaction of the dump that it is a part of.
    #[must_use]
    pub fn transaction_begin(&self) -> Option<LargeTransactionBegin> {
        match self.work {
            Work::Rows { atomicity: Atomicity::PartOf(begin), .. }
            | Work::FirstRows { atomicity: Atomicity::PartOf(begin), .. } => Some(begin),
            _ => None,
        }
    }

    /// The commit queue of the chunk.
    #[must_use]
    pub fn commit_queue(&self) -> Option<Key> {
        match self.work {
            Work::Rows { commit_queue, .. } => commit_queue,
            Work::FirstRows { .. } | Work::Definition { .. } | Work::DropKeys { .. } | Work::BuildKeys(_) => None,
        }
    }
}
