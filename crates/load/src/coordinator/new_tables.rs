//! Tables that this load has created and that hold no row yet.
//!
//! Two things are possible with them that are not with others. Rows can be placed behind their definition before the
//! server has described them ([`crate::planner::first_rows`]). And REPLACE takes nothing away: rows that it could replace
//! ahead of a statement that fails must stand before that statement, and there are none. That still holds for a table that
//! was empty when its first chunk was begun, while no other chunk is begun.

use std::collections::HashMap;

use hortator_mysql::catalog::TableName;

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
    /// The tables that its definition refers to, for a plain definition that the server has not been asked for.
    references: Option<Vec<TableName>>,
}

impl NewTables {
    /// A worker is to create a table. `references` for a plain definition: the tables that it refers to.
    pub(super) fn add(&mut self, name: &TableName, references: Option<Vec<TableName>>) {
        if self.empty.len() >= LIMIT {
            self.empty.clear();
        }
        self.empty.insert(name.clone(), NewTable { references });
    }

    /// The tables that a new table refers to; `None` where the server must describe it before it gets rows.
    pub(super) fn references_of(&self, name: &TableName) -> Option<&Vec<TableName>> {
        self.empty.get(name)?.references.as_ref()
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
            table.references = None;
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
