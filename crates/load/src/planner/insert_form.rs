//! What is decided once per form of INSERT (its text up to the values) and then reused for every statement of that form.

use std::sync::Arc;

use hortator_mysql::catalog::{Table, TableKind, TableName};

use super::Reason;
use crate::rows::{InsertHead, InsertVerb, Prescan};
use crate::session::SessionState;

/// A form of INSERT into a known table.
#[derive(Debug)]
pub(crate) struct InsertForm {
    /// What was read of the text.
    pub(crate) head: InsertHead,
    /// The table as keys name it.
    pub(crate) name: TableName,
    /// What the server says of it.
    pub(crate) table: Arc<Table>,
    /// Where the tuples start in the text.
    pub(crate) offset: usize,
    /// Which value of a tuple is the AUTO_INCREMENT column's.
    pub(crate) id_value: Option<usize>,
    /// Positions in [`Table::columns`] of a tuple's values; `None` where the statement names a column that is not there.
    pub(crate) columns: Option<Vec<usize>>,
    /// The AUTO_INCREMENT column is there and the statement leaves it out.
    leaves_id_out: bool,
    /// Why rows that leave some column to its default need the main session.
    left_out: Option<Reason>,
}

/// How one statement's rows are to be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    /// The statements may be sent as typed arrays, and neighbours as one.
    pub(crate) plain: bool,
    /// The server thinks of AUTO_INCREMENT values.
    pub(crate) implicit_id: bool,
    /// After all before it on this table, and before all behind it.
    pub(crate) in_order: bool,
}

impl Placement {
    /// The place of rows that go together with others.
    pub(crate) fn with(&self, other: &Self) -> Self {
        Self {
            plain: self.plain && other.plain,
            implicit_id: self.implicit_id || other.implicit_id,
            in_order: self.in_order || other.in_order,
        }
    }
}

const DRAWS_FROM_SEQUENCE: Reason = "the statement uses a sequence, whose last value belongs to the session";
const READS_SESSION: Reason = "a default value reads the session";

impl InsertForm {
    /// For a table that exists; an error is the reason why its rows need the main session.
    pub(crate) fn new(head: InsertHead, offset: usize, name: TableName, table: Arc<Table>) -> Result<Self, Reason> {
        match table.kind {
            TableKind::Base { .. } => {}
            TableKind::Other => return Err("the statement inserts through a view"),
        }
        if table.has_triggers {
            return Err("triggers of the table may write to other tables");
        }
        if table.columns.iter().any(|column| column.names_variable) {
            // Even where the value is not used: MariaDB keeps the table open with the variables of the session that was
            // the first to open it.
            return Err("a default or computed value has a variable");
        }
        if table.numbers_documents() {
            return Err("the server refuses rows whose FTS_DOC_ID is below that of a committed row");
        }
        let columns = match &head.columns {
            Some(names) => names.iter().map(|name| position(&table, name)).collect::<Option<Vec<_>>>(),
            None => Some((0..table.columns.len()).filter(|&index| !table.columns[index].invisible).collect()),
        };
        let id_column = table.auto_increment();
        let id_value = columns.as_ref().and_then(|columns| columns.iter().position(|&index| Some(index) == id_column));
        let is_given = |index: usize| columns.as_ref().is_some_and(|all| all.contains(&index));
        let left_out =
            table.columns.iter().enumerate().filter(|(index, _)| !is_given(*index)).find_map(|(_, column)| {
                column
                    .draws_from_sequence
                    .then_some(DRAWS_FROM_SEQUENCE)
                    .or_else(|| column.default_reads_session.then_some(READS_SESSION))
            });
        Ok(Self {
            leaves_id_out: id_column.is_some() && id_value.is_none(),
            left_out,
            head,
            name,
            table,
            offset,
            id_value,
            columns,
        })
    }

    /// Whether a statement of this form can do nothing but add its rows.
    pub(crate) fn only_adds(&self) -> bool {
        self.head.verb == InsertVerb::Insert
    }

    /// Whether a statement of this form may take rows away for its own.
    pub(crate) fn replaces(&self) -> bool {
        self.head.verb == InsertVerb::Replace
    }

    /// How the rows of a statement of this form are applied, given what its values hold.
    pub(crate) fn place(&self, values: &Prescan, state: &SessionState, force: bool) -> Result<Placement, Reason> {
        let checks_foreign_keys = state.checks_foreign_keys();
        let replaces = self.replaces();
        if replaces && checks_foreign_keys {
            return Err("REPLACE may delete a row that other rows refer to");
        }
        if let Some(reason) = self.left_out {
            return Err(reason);
        }
        if values.has_default {
            if self.table.columns.iter().any(|column| column.draws_from_sequence) {
                return Err(DRAWS_FROM_SEQUENCE);
            }
            if self.table.columns.iter().any(|column| column.default_reads_session) {
                return Err(READS_SESSION);
            }
        }
        let implicit_id = self.leaves_id_out || values.implicit_id;
        // A statement that fails moves the table's counter, so with rows after failures its place among them counts.
        let counts_through_failures = force && self.table.auto_increment().is_some();
        let in_order = implicit_id
            || counts_through_failures
            || replaces
            || self.head.verb == InsertVerb::InsertIgnore
            || self.table.kind != (TableKind::Base { transactional: true })
            || (checks_foreign_keys && self.table.refers_to_itself());
        let plain = self.head.verb == InsertVerb::Insert
            && !values.has_expression
            && !implicit_id
            && self.columns.is_some()
            && state.strings_travel_as_parameters();
        Ok(Placement { plain, implicit_id, in_order })
    }
}

/// A column by its name, in any case.
fn position(table: &Table, name: &[u8]) -> Option<usize> {
    table.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
}
