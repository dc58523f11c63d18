//! The queries for violating rows.
//!
//! The server does the comparisons, in the columns' own types and collations: values are equal here if they are equal
//! when it checks a row.

use hortator_mysql::catalog::TableName;
use hortator_mysql::quote_identifier;

use super::declared::{ForeignKey, UniqueKey};
use super::key_ranges::KeyRange;

/// The result to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// The first rows, up to this number.
    First(usize),
    /// The number of rows.
    Count,
}

/// Rows of the child without a parent. A join, because servers execute NOT EXISTS with a copy of the parent's key.
pub(super) fn orphans(key: &ForeignKey, primary_key: &[Vec<u8>], key_range: &KeyRange, read: Read) -> Vec<u8> {
    let mut query = b"SELECT ".to_vec();
    select(&mut query, &key.columns, primary_key, read);
    query.extend_from_slice(b" FROM ");
    query.extend(table(&key.child));
    query.extend_from_slice(b" c LEFT JOIN ");
    query.extend(table(&key.parent));
    query.extend_from_slice(b" p ON ");
    let pairs = key.columns.iter().zip(&key.parent_columns);
    let equal: Vec<Vec<u8>> =
        pairs.map(|(column, parent)| [&of(b"p", parent)[..], b" = ", &of(b"c", column)].concat()).collect();
    query.extend(equal.join(&b" AND "[..]));
    query.extend_from_slice(b" WHERE ");
    for column in &key.columns {
        query.extend(of(b"c", column));
        query.extend_from_slice(b" IS NOT NULL AND ");
    }
    let first = of(b"c", key.columns.first().map_or(&b""[..], Vec::as_slice));
    for (bound, sign) in [(key_range.from, ">="), (key_range.to, "<")] {
        if let Some(bound) = bound {
            query.extend_from_slice(&first);
            query.extend_from_slice(format!(" {sign} {bound} AND ").as_bytes());
        }
    }
    // Equal to a value, so not NULL if the parent exists.
    query.extend(of(b"p", key.parent_columns.first().map_or(&b""[..], Vec::as_slice)));
    query.extend_from_slice(b" IS NULL");
    limit(&mut query, read);
    query
}

/// Values of a unique key that more than one row has, with the number of rows.
pub(super) fn duplicates(key: &UniqueKey, read: Read) -> Vec<u8> {
    let values: Vec<Vec<u8>> = key
        .columns
        .iter()
        .map(|(column, part)| match part {
            Some(length) => [b"LEFT(", &of(b"c", column)[..], b", ", length.to_string().as_bytes(), b")"].concat(),
            None => of(b"c", column),
        })
        .collect();
    let list = values.join(&b", "[..]);
    let mut query = b"SELECT ".to_vec();
    let counts = read == Read::Count;
    if counts {
        query.extend_from_slice(b"COALESCE(SUM(n), 0) FROM (SELECT COUNT(*) n");
    } else {
        query.extend_from_slice(&list);
        query.extend_from_slice(b", COUNT(*)");
    }
    query.extend_from_slice(b" FROM ");
    query.extend(table(&key.table));
    query.extend_from_slice(b" c WHERE ");
    let not_null: Vec<Vec<u8>> =
        key.columns.iter().map(|(column, _)| [&of(b"c", column)[..], b" IS NOT NULL"].concat()).collect();
    query.extend(not_null.join(&b" AND "[..]));
    query.extend_from_slice(b" GROUP BY ");
    query.extend_from_slice(&list);
    query.extend_from_slice(b" HAVING COUNT(*) > 1");
    if counts {
        query.extend_from_slice(b") d");
    }
    limit(&mut query, read);
    query
}

fn select(query: &mut Vec<u8>, columns: &[Vec<u8>], primary_key: &[Vec<u8>], read: Read) {
    if read == Read::Count {
        return query.extend_from_slice(b"COUNT(*)");
    }
    let all: Vec<Vec<u8>> = columns.iter().chain(primary_key).map(|column| of(b"c", column)).collect();
    query.extend(all.join(&b", "[..]));
}

fn limit(query: &mut Vec<u8>, read: Read) {
    if let Read::First(rows) = read {
        query.extend_from_slice(format!(" LIMIT {rows}").as_bytes());
    }
}

pub(super) fn table(name: &TableName) -> Vec<u8> {
    [&quote_identifier(&name.schema)[..], b".", &quote_identifier(&name.table)].concat()
}

fn of(alias: &[u8], column: &[u8]) -> Vec<u8> {
    [alias, b".", &quote_identifier(column)].concat()
}
