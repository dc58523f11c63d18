//! Splits a large table into key ranges, so that several connections can validate it.

use hortator_mysql::{Connection, Error, quote_identifier};

use super::declared::{ForeignKey, table_condition};
use super::queries::table;

/// Tables with at least this many rows, by the server's estimate, are split.
const LARGE_ROWS: u64 = 200_000;
/// Ranges per connection: values are never spread evenly, and a fast connection takes another range.
const RANGES_PER_CONNECTION: i128 = 4;

/// A range of values of a constraint's first column; an open end has no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyRange {
    /// The first value.
    pub(super) from: Option<i128>,
    /// The value after the last.
    pub(super) to: Option<i128>,
}

impl KeyRange {
    /// All rows.
    pub(super) const WHOLE: Self = Self { from: None, to: None };
}

/// The ranges for validating the rows of the child. Split by the constraint's own first column, if it holds integers:
/// the server keeps an index that begins with it, and a range of the child then refers to the same range of the parent.
pub(super) fn key_ranges(
    connection: &mut Connection,
    key: &ForeignKey,
    threads: usize,
) -> Result<Vec<KeyRange>, Error> {
    let Some(column) = key.columns.first() else { return Ok(vec![KeyRange::WHOLE]) };
    let columns = connection.fetch(
        &[
            b"SELECT LOWER(DATA_TYPE) FROM information_schema.COLUMNS WHERE ",
            &table_condition(&key.child)[..],
            b" AND COLUMN_NAME = ",
            &hortator_mysql::quote_string(column),
        ]
        .concat(),
    )?;
    let is_whole = columns.iter().flatten().flatten().any(|kind| kind.ends_with(b"int"));
    let rows = connection.fetch(
        &[b"SELECT TABLE_ROWS FROM information_schema.TABLES WHERE ", &table_condition(&key.child)[..]].concat(),
    )?;
    let is_large =
        rows.iter().flatten().flatten().any(|rows| number(rows).is_some_and(|rows| rows >= LARGE_ROWS.into()));
    if threads < 2 || !is_whole || !is_large {
        return Ok(vec![KeyRange::WHOLE]);
    }
    let name = quote_identifier(column);
    let ends =
        connection.fetch(&[b"SELECT MIN(", &name[..], b"), MAX(", &name, b") FROM ", &table(&key.child)].concat())?;
    let mut ends = ends.iter().flatten().map(|end| end.as_deref().and_then(number));
    match (ends.next().flatten(), ends.next().flatten()) {
        (Some(first), Some(last)) => Ok(split(first, last, threads as i128 * RANGES_PER_CONNECTION)),
        _ => Ok(vec![KeyRange::WHOLE]),
    }
}

/// At most `count` ranges that cover all values from `first` to `last`, and with open ends also new values.
fn split(first: i128, last: i128, count: i128) -> Vec<KeyRange> {
    let step = ((last - first) / count.max(1) + 1).max(1);
    let mut bounds: Vec<Option<i128>> = vec![None];
    let mut at = first + step;
    while at <= last {
        bounds.push(Some(at));
        at += step;
    }
    bounds.push(None);
    bounds.windows(2).map(|ends| KeyRange { from: ends[0], to: ends[1] }).collect()
}

fn number(digits: &[u8]) -> Option<i128> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests;
