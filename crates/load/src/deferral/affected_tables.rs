//! The tables that a load changed, for the choice of the constraints to validate.

use std::collections::BTreeSet;

use hortator_check::constraints::Scope;
use hortator_mysql::catalog::TableName;

use super::report::RowsWere;

/// Most tables in the set; beyond that, the load validates all constraints of their schemas.
const TABLES_LIMIT: usize = 100_000;

/// The tables that a load changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct AffectedTables {
    scope: Scope,
    with_rows: BTreeSet<TableName>,
    /// The load validates all constraints of the affected schemas.
    anything: bool,
    /// What the dump's own session checked.
    foreign_keys: Seen,
    unique_keys: Seen,
}

/// Whether rows were sent with checks on, and with checks off.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    on: bool,
    off: bool,
}

impl Seen {
    fn add(&mut self, is_on: bool) {
        self.on |= is_on;
        self.off |= !is_on;
    }

    fn rows_were(self) -> RowsWere {
        match (self.on, self.off) {
            (true, true) => RowsWere::Both,
            (true, false) => RowsWere::Checked,
            (false, true) => RowsWere::Unchecked,
            (false, false) => RowsWere::None,
        }
    }
}

impl AffectedTables {
    pub(super) fn rows(
        &mut self,
        table: &TableName,
        checks_foreign_keys: bool,
        checks_unique_keys: bool,
        replaces: bool,
    ) {
        self.foreign_keys.add(checks_foreign_keys);
        self.unique_keys.add(checks_unique_keys);
        if !self.with_rows.contains(table) {
            self.with_rows.insert(table.clone());
            self.add(table, false);
        }
        if replaces && !checks_foreign_keys {
            // Rows that others refer to may be gone.
            self.add(table, true);
        }
    }

    pub(super) fn defined(&mut self, tables: &[TableName], checks_foreign_keys: bool) {
        // With checks on, the server refused violations.
        if !checks_foreign_keys {
            for table in tables {
                self.add(table, false);
                self.add(table, true);
            }
        }
    }

    pub(super) fn anything(&mut self, schema: Option<&[u8]>) {
        self.anything = true;
        self.scope.schemas.extend(schema.map(<[u8]>::to_vec));
    }

    fn add(&mut self, table: &TableName, as_parent: bool) {
        let tables = if as_parent { &mut self.scope.to } else { &mut self.scope.of };
        if !tables.contains(table) {
            tables.insert(table.clone());
        }
        if self.scope.of.len() + self.scope.to.len() > TABLES_LIMIT {
            let of = std::mem::take(&mut self.scope.of);
            let tables = of.into_iter().chain(std::mem::take(&mut self.scope.to));
            self.scope.schemas.extend(tables.map(|table| table.schema));
        }
    }

    /// The foreign keys to validate.
    pub(super) fn foreign_keys(&self) -> Scope {
        let mut scope = self.scope.clone();
        if self.anything {
            let tables = scope.of.iter().chain(&scope.to);
            let schemas: BTreeSet<Vec<u8>> = tables.map(|table| table.schema.clone()).collect();
            scope.schemas.extend(schemas);
        }
        scope
    }

    /// The tables whose unique keys to validate.
    pub(super) fn unique_keys(&self) -> Scope {
        Scope { of: self.with_rows.clone(), ..Scope::default() }
    }

    /// Whether the dump had foreign keys checked while rows went in.
    pub(super) fn foreign_keys_were(&self) -> RowsWere {
        self.foreign_keys.rows_were()
    }

    /// The same of unique keys.
    pub(super) fn unique_keys_were(&self) -> RowsWere {
        self.unique_keys.rows_were()
    }
}
