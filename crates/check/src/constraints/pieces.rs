//! Where the rows of a large table are cut, so that several connections can look through them.

use hortator_mysql::{Connection, Error, quote_identifier};

use super::declared::{ForeignKey, place};
use super::queries::table;

/// Rows, as the server estimates them, from which on a table is cut.
const LARGE_ROWS: u64 = 200_000;
/// Pieces for each connection: values are never spread evenly, and who is done early takes another.
const PIECES_PER_CONNECTION: i128 = 4;

/// A range of values of a constraint's first column; without an end, to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// The first value.
    pub(super) from: Option<i128>,
    /// The value behind the last.
    pub(super) to: Option<i128>,
}

impl Piece {
    /// All rows.
    pub(super) const WHOLE: Self = Self { from: None, to: None };
}

/// The pieces in which rows of the child are looked through. Cut by the constraint's own first column, where that holds
/// whole numbers: the server keeps an index that begins with it, and a piece of the child then meets a piece of the parent.
pub(super) fn pieces(connection: &mut Connection, key: &ForeignKey, threads: usize) -> Result<Vec<Piece>, Error> {
    let Some(column) = key.columns.first() else { return Ok(vec![Piece::WHOLE]) };
    let columns = connection.fetch(
        &[
            b"SELECT LOWER(DATA_TYPE) FROM information_schema.COLUMNS WHERE ",
            &place(&key.child)[..],
            b" AND COLUMN_NAME = ",
            &hortator_mysql::quote_string(column),
        ]
        .concat(),
    )?;
    let is_whole = columns.iter().flatten().flatten().any(|kind| kind.ends_with(b"int"));
    let rows = connection
        .fetch(&[b"SELECT TABLE_ROWS FROM information_schema.TABLES WHERE ", &place(&key.child)[..]].concat())?;
    let is_large =
        rows.iter().flatten().flatten().any(|rows| number(rows).is_some_and(|rows| rows >= LARGE_ROWS.into()));
    if threads < 2 || !is_whole || !is_large {
        return Ok(vec![Piece::WHOLE]);
    }
    let name = quote_identifier(column);
    let ends =
        connection.fetch(&[b"SELECT MIN(", &name[..], b"), MAX(", &name, b") FROM ", &table(&key.child)].concat())?;
    let mut ends = ends.iter().flatten().map(|end| end.as_deref().and_then(number));
    match (ends.next().flatten(), ends.next().flatten()) {
        (Some(first), Some(last)) => Ok(cut(first, last, threads as i128 * PIECES_PER_CONNECTION)),
        _ => Ok(vec![Piece::WHOLE]),
    }
}

/// At most `count` pieces that have every value from `first` to `last`, and with open ends what comes meanwhile.
fn cut(first: i128, last: i128, count: i128) -> Vec<Piece> {
    let step = ((last - first) / count.max(1) + 1).max(1);
    let mut bounds: Vec<Option<i128>> = vec![None];
    let mut at = first + step;
    while at <= last {
        bounds.push(Some(at));
        at += step;
    }
    bounds.push(None);
    bounds.windows(2).map(|ends| Piece { from: ends[0], to: ends[1] }).collect()
}

fn number(digits: &[u8]) -> Option<i128> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests;
