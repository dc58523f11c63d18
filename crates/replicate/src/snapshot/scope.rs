//! What of a source is copied: everything, or some tables by themselves.

use hortator_mysql::catalog::TableName;

/// What is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Everything.
    All,
    /// What becomes these tables of the target, and the triggers on it.
    Tables(Vec<TableName>),
}

impl Scope {
    /// Whether it has everything.
    pub(super) fn is_all(&self) -> bool {
        *self == Scope::All
    }

    /// Whether it has what becomes this table of the target.
    pub(super) fn has(&self, schema: &[u8], table: &[u8]) -> bool {
        match self {
            Scope::All => true,
            Scope::Tables(tables) => tables.iter().any(|name| name.schema == schema && name.table == table),
        }
    }

    /// Whether something of it comes into this schema of the target.
    pub(super) fn has_schema(&self, schema: &[u8]) -> bool {
        match self {
            Scope::All => true,
            Scope::Tables(tables) => tables.iter().any(|name| name.schema == schema),
        }
    }
}
