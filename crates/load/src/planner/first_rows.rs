//! The first rows of a table whose definition is still under way. They get their place before the server can describe the
//! table, so that the tables of a dump are created side by side; how they are sent is decided when the table is there.
//!
//! That is possible where nothing of the table can ask for the main session: this load creates it, with a definition of
//! which `is_plain_definition` holds, it has no triggers yet, and the rows are literals.

use std::sync::Arc;

use hortator_mysql::catalog::{Table, TableName};

use crate::analysis::{FunctionSet, RowNumbers, SessionFacts};
use crate::lexer::Dialect;
use crate::rows::{InsertHead, InsertVerb, Prescan, prescan};
use crate::session::SessionState;

use super::insert_form::{InsertForm, Placement};

/// The most that is placed like this for one table, in bytes: more rows are worth the wait for the table, since others of
/// the same table can go beside them then.
pub(crate) const FIRST_ROWS_LIMIT_BYTES: usize = 256 << 10;

/// A form of INSERT into a table that this load is creating.
#[derive(Debug)]
pub struct FirstRows {
    /// What was read of the text.
    pub(crate) head: InsertHead,
    /// The table as keys name it.
    pub(crate) name: TableName,
    /// The tables that its definition refers to.
    pub(crate) parents: Vec<TableName>,
    /// Which column numbers its rows; `None` where that is not certain, or the table is not of InnoDB.
    pub(crate) row_numbers: Option<RowNumbers>,
}

impl FirstRows {
    /// Whether a statement with these values can do nothing but add its rows, whatever the table is.
    pub(crate) fn takes(&self, values: &Prescan) -> bool {
        self.head.verb == InsertVerb::Insert && values.suffix.is_none() && !values.has_default && !values.has_expression
    }

    /// Whether the rows of a statement go to a table of InnoDB and none of them is numbered, so that nothing need be asked of the
    /// table to send the statement as it is written.
    pub(crate) fn is_unnumbered(&self, text: &[u8], offset: usize, dialect: Dialect) -> bool {
        match self.row_numbers {
            None => false,
            Some(RowNumbers::Nowhere) => true,
            Some(RowNumbers::Column(_)) if self.head.columns.is_some() => false,
            Some(RowNumbers::Column(column)) => {
                let functions = FunctionSet::of_server(None);
                let facts = SessionFacts { dialect, functions: &functions, known_head: None };
                prescan(text, offset, Some(column), &facts).is_ok_and(|values| !values.implicit_id)
            }
        }
    }

    /// The form of INSERT that it is, and how such statements are sent together, each given by its text and the place of its
    /// tuples; `None` for a table that is other than its definition lets expect.
    pub(crate) fn resolve<'s>(
        &self,
        table: &Arc<Table>,
        statements: impl Iterator<Item = (&'s [u8], usize)>,
        session: &SessionState,
        dialect: Dialect,
    ) -> Option<(InsertForm, Placement)> {
        let form = InsertForm::new(self.head.clone(), 0, self.name.clone(), table.clone()).ok()?;
        // None of them calls a function.
        let functions = FunctionSet::of_server(None);
        let facts = SessionFacts { dialect, functions: &functions, known_head: None };
        let mut together = Placement { plain: true, implicit_id: false, in_order: true };
        for (text, offset) in statements {
            let values = prescan(text, offset, form.id_value, &facts).ok()?;
            let placement = form.place(&values, session, false).ok()?;
            together.plain &= placement.plain;
            together.implicit_id |= placement.implicit_id;
        }
        Some((form, together))
    }
}
