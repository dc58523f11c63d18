//! Tables that this load has created and that hold no row yet.
//!
//! Two things are possible with them that are not with others. Rows can be placed behind their definition before the
//! server has described them ([`crate::planner::first_rows`]). And REPLACE takes nothing away: rows that it could replace
//! ahead of a statement that fails must stand before that statement, and there are none. That still holds for a table that
//! was empty when its first chunk was begun, while no other chunk is begun.

use std::collections::HashMap;

use hortator_mysql::catalog::TableName;

use crate::analysis::RowNumbers;

/// Tables remembered; beyond that all are forgotten, and are like any others.
const LIMIT: usize = 10_000;

/// The new tables of a load.
#[derive(Debug, Default)]
pub(crate) struct NewTables {
    empty: HashMap<TableName, NewTable>,
    /// The table that all chunks are of since it was empty.
    filling: Option<TableName>,
}

#[derive(Debug)]
struct NewTable {
    /// What is known by a plain definition that the server has not been asked for.
    definition: Option<NewDefinition>,
}

/// What the text of a plain definition says.
#[derive(Clone, Debug)]
pub(super) struct NewDefinition {
    /// The tables that it refers to.
    pub(super) references: Vec<TableName>,
    /// Which column numbers its rows; `None` where that is not certain, or the table is not of InnoDB.
    pub(super) row_numbers: Option<RowNumbers>,
}

impl NewTables {
    /// A table is to be created. `definition`: of a plain one.
    pub(super) fn add(&mut self, name: &TableName, definition: Option<NewDefinition>) {
        if self.empty.len() >= LIMIT {
            self.empty.clear();
        }
        self.empty.insert(name.clone(), NewTable { definition });
    }

    /// The definition of a new table; `None` where the server must describe it before it gets rows.
    pub(super) fn definition_of(&self, name: &TableName) -> Option<&NewDefinition> {
        self.empty.get(name)?.definition.as_ref()
    }

    /// Whether a table is new and has got no rows.
    pub(super) fn is_empty(&self, name: &TableName) -> bool {
        self.empty.contains_key(name)
    }

    /// Whether REPLACE takes nothing away from a table that the client would leave.
    pub(super) fn may_replace(&self, name: &TableName) -> bool {
        self.empty.contains_key(name) || self.filling.as_ref() == Some(name)
    }

    /// The server has described a table.
    pub(super) fn described(&mut self, name: &TableName) {
        if let Some(table) = self.empty.get_mut(name) {
            table.definition = None;
        }
    }

    /// A chunk is begun: rows of this table, or (`None`) a definition.
    pub(super) fn begin_chunk(&mut self, table: Option<&TableName>) {
        if self.filling.as_ref() != table {
            self.filling = None;
        }
    }

    /// A chunk with rows of this table takes no more. Returns whether the table was new and had no rows.
    pub(super) fn fill(&mut self, name: &TableName) -> bool {
        let was_empty = self.empty.remove(name).is_some();
        if was_empty {
            self.filling = Some(name.clone());
        }
        was_empty
    }

    /// A table is gone, or may be another.
    pub(super) fn remove(&mut self, name: &TableName) {
        self.empty.remove(name);
        self.begin_chunk(None);
    }

    /// Any table may have rows, or be gone.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
