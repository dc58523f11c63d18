//! Columns of the target that stand at other places than those of the source: rows come without names, by place.

use hortator_mysql::catalog::TableName;

use crate::binlog::TableMap;
use crate::rules::Rules;

/// What is wrong with the places of the target's columns, where the source writes names (binlog_row_metadata = FULL).
/// Columns that nobody sees stand behind all others.
pub(super) fn moved_column(map: &TableMap, there: &[Vec<u8>], table: &TableName, rules: &Rules) -> Option<String> {
    let names = map.column_names();
    if names.is_empty() {
        return None;
    }
    let rule = rules.of_target(&table.schema, &table.table);
    let added = rule.and_then(|rule| rule.source_column()).map(str::as_bytes);
    let is_added = |name: &&Vec<u8>| added.is_some_and(|added| is_same(name, added));
    let there = there.iter().filter(|name| !is_added(name));
    let (index, (here, there)) =
        names.iter().zip(there).enumerate().find(|(_, (here, there))| !is_same(here, there))?;
    Some(format!(
        "column {} of the source's table is `{}`, and that of {table} on the target is `{}`: values would go into other columns. \
         Give the target's table the source's columns in their order, then `resume`",
        index + 1,
        String::from_utf8_lossy(here),
        String::from_utf8_lossy(there)
    ))
}

/// Names of columns do not differ by capital letters.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one == other || String::from_utf8_lossy(one).to_lowercase() == String::from_utf8_lossy(other).to_lowercase()
}
