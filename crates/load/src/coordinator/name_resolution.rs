//! Which table a name means at the place that the coordinator has come to.

use hortator_mysql::catalog::TableName;

use super::Coordinator;
use crate::statement_kind::NamedTable;

impl Coordinator<'_> {
    /// The full name of a table; `None` where there is no default schema, or the name's bytes are not UTF-8's.
    pub(super) fn resolve(&self, named: &NamedTable) -> Option<TableName> {
        let state = self.main.state();
        let schema = named.schema.clone().or_else(|| state.database.clone())?;
        let is_readable = |name: &[u8]| name.is_ascii() || state.names_are_utf8();
        if !is_readable(&named.table) || !named.schema.as_deref().is_none_or(is_readable) {
            return None;
        }
        let fold = |name: Vec<u8>| if self.folds_case { name.to_ascii_lowercase() } else { name };
        Some(TableName { schema: fold(schema), table: fold(named.table.clone()) })
    }

    pub(super) fn resolve_all(&self, named: &[NamedTable]) -> Option<Vec<TableName>> {
        named.iter().map(|named| self.resolve(named)).collect()
    }
}
