//! What is decided once per form of INSERT (its text up to the rows) and then reused for every statement of that form.

use std::sync::Arc;

use hortator_mysql::catalog::{Table, TableKind, TableName};

use crate::apply::RowTarget;
use crate::rows::{InsertHead, InsertVerb, Prescan};
use crate::session::SessionState;

/// A form of INSERT into a known table.
#[derive(Debug)]
pub(super) struct RowsPlan {
    /// The table as keys name it.
    pub(super) name: TableName,
    /// What the server says of it.
    pub(super) table: Arc<Table>,
    /// Where the tuples start in the text.
    pub(super) offset: usize,
    /// Which value of a tuple is the AUTO_INCREMENT column's.
    pub(super) id_value: Option<usize>,
    verb: InsertVerb,
    columns: Option<Vec<usize>>,
    /// The AUTO_INCREMENT column is there and the statement leaves it out.
    leaves_id_out: bool,
    /// Some column that the statement leaves out draws its value from a sequence.
    leaves_sequence_out: bool,
    /// The targets handed out, by what differs between statements of this form.
    targets: Vec<Arc<RowTarget>>,
}

/// Why rows must go through the main session.
pub(super) type Reason = &'static str;

/// How one statement's rows are to be applied.
pub(super) struct Placement {
    /// Shared by all statements that may stand in one chunk.
    pub(super) target: Arc<RowTarget>,
    /// After all before it on this table, and before all behind it.
    pub(super) in_order: bool,
}

impl RowsPlan {
    /// For a table that exists; an error is the reason why its rows need the main session.
    pub(super) fn new(head: &InsertHead, offset: usize, name: TableName, table: Arc<Table>) -> Result<Self, Reason> {
        match table.kind {
            TableKind::Base { .. } => {}
            TableKind::Other => return Err("the statement inserts through a view"),
        }
        if table.has_triggers {
            return Err("triggers of the table may write to other tables");
        }
        let columns = match &head.columns {
            Some(names) => names.iter().map(|name| position(&table, name)).collect::<Option<Vec<_>>>(),
            None => Some((0..table.columns.len()).filter(|&index| !table.columns[index].invisible).collect()),
        };
        let id_column = table.auto_increment();
        let id_value = columns.as_ref().and_then(|columns| columns.iter().position(|&index| Some(index) == id_column));
        Ok(Self {
            leaves_id_out: id_column.is_some() && id_value.is_none(),
            leaves_sequence_out: table.columns.iter().enumerate().any(|(index, column)| {
                column.draws_from_sequence && !columns.as_ref().is_some_and(|all| all.contains(&index))
            }),
            name,
            table,
            offset,
            id_value,
            verb: head.verb,
            columns,
            targets: Vec::new(),
        })
    }

    /// Whether a statement of this form can do nothing but add its rows.
    pub(super) fn only_adds(&self) -> bool {
        self.verb == InsertVerb::Insert
    }

    /// Whether a statement of this form may take rows away for its own.
    pub(super) fn replaces(&self) -> bool {
        self.verb == InsertVerb::Replace
    }

    /// Where a statement of this form belongs, given what its rows hold.
    pub(super) fn place(&mut self, prescan: &Prescan, state: &SessionState, force: bool) -> Result<Placement, Reason> {
        if prescan.has_suffix {
            return Err("the clause after the rows may read other rows");
        }
        let checks_foreign_keys = state.checks_foreign_keys();
        let replaces = self.verb == InsertVerb::Replace;
        if replaces && checks_foreign_keys {
            return Err("REPLACE may delete a row that other rows refer to");
        }
        let may_draw = prescan.has_default && self.table.columns.iter().any(|column| column.draws_from_sequence);
        if self.leaves_sequence_out || may_draw {
            return Err("the statement uses a sequence, whose last value belongs to the session");
        }
        let implicit_id = self.leaves_id_out || prescan.implicit_id;
        // A statement that fails moves the table's counter, so with rows after failures its place among them counts.
        let counts_through_failures = force && self.table.auto_increment().is_some();
        let in_order = implicit_id
            || counts_through_failures
            || replaces
            || self.verb == InsertVerb::InsertIgnore
            || self.table.kind != (TableKind::Base { transactional: true })
            || (checks_foreign_keys && self.table.refers_to_itself());
        let plain = self.verb == InsertVerb::Insert
            && !prescan.has_expression
            && !implicit_id
            && self.columns.is_some()
            && state.strings_travel_as_parameters();
        let same = |target: &&Arc<RowTarget>| target.plain == plain && target.implicit_id == implicit_id;
        let target = match self.targets.iter().find(same) {
            Some(target) => target.clone(),
            None => {
                let columns = self.columns.clone();
                let target = Arc::new(RowTarget { table: self.table.clone(), columns, plain, implicit_id });
                self.targets.push(target.clone());
                target
            }
        };
        Ok(Placement { target, in_order })
    }
}

/// A column by its name, in any case.
fn position(table: &Table, name: &[u8]) -> Option<usize> {
    table.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
}
