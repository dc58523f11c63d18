//! The first rows of a table whose definition is still under way. They get their place before the server can describe the
//! table, so that the tables of a dump are created side by side; how they are sent is decided when the table is there.
//!
//! That is possible where nothing of the table can ask for the main session: this load creates it, with a definition of
//! which `is_plain_definition` holds, it has no triggers yet, and the rows are literals.

use std::sync::Arc;

use hortator_mysql::catalog::{Table, TableKind, TableName};

use crate::analysis::{FunctionSet, SessionFacts};
use crate::lexer::Dialect;
use crate::rows::{InsertHead, InsertVerb, Prescan, prescan};
use crate::session::SessionState;

use super::insert_form::InsertForm;

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
}

/// How rows are sent to a table that is there by now.
#[derive(Debug)]
pub(crate) struct Sending {
    /// The table.
    pub(crate) table: Arc<Table>,
    /// See `InsertForm::columns`.
    pub(crate) columns: Option<Vec<usize>>,
    /// See `Placement::plain`.
    pub(crate) plain: bool,
    /// See `Placement::implicit_id`.
    pub(crate) implicit_id: bool,
}

impl FirstRows {
    /// Whether a statement with these values can do nothing but add its rows, whatever the table is.
    pub(crate) fn takes(&self, values: &Prescan) -> bool {
        self.head.verb == InsertVerb::Insert && values.suffix.is_none() && !values.has_default && !values.has_expression
    }

    /// How the statements are sent, each given by its text and the place of its tuples. Without a table, or with one that
    /// is other than its definition lets expect: as they are written.
    pub(crate) fn sending<'s>(
        &self,
        table: Option<Table>,
        statements: impl Iterator<Item = (&'s [u8], usize)>,
        session: &SessionState,
        dialect: Dialect,
    ) -> Sending {
        let table = Arc::new(table.unwrap_or_else(|| missing(&self.name)));
        let as_written = || Sending {
            table: table.clone(),
            columns: None,
            plain: false,
            implicit_id: table.auto_increment().is_some(),
        };
        let Ok(form) = InsertForm::new(self.head.clone(), 0, self.name.clone(), table.clone()) else {
            return as_written();
        };
        // None of them calls a function.
        let functions = FunctionSet::of_server(None);
        let facts = SessionFacts { dialect, functions: &functions, known_head: None };
        let (mut plain, mut implicit_id) = (true, false);
        for (text, offset) in statements {
            let values = prescan(text, offset, form.id_value, &facts).ok();
            let Some(Ok(placement)) = values.map(|values| form.place(&values, session, false)) else {
                return as_written();
            };
            plain &= placement.plain;
            implicit_id |= placement.implicit_id;
        }
        Sending { columns: form.columns, plain, implicit_id, table }
    }
}

/// For rows that the server will refuse.
fn missing(name: &TableName) -> Table {
    Table {
        name: name.clone(),
        kind: TableKind::Base { transactional: true },
        engine: Vec::new(),
        merge_children: None,
        columns: Vec::new(),
        parents: Vec::new(),
        has_triggers: false,
        versioned: false,
        partitioned: false,
    }
}
