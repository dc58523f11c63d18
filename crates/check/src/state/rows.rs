//! The rows of a table: kept if they are few, hashed if they are many.

use std::ops::ControlFlow;

use hortator_mysql::{Column, Connection, Error, RowSink};

use super::{Kind, Options};
use crate::row_source::{RowSource, hash, query_as_stored, show};

/// A row's values as the server's text; `None` is NULL.
pub(super) type Row = Vec<Option<Vec<u8>>>;

/// A table with more rows is only hashed.
const KEPT_LIMIT_ROWS: u64 = 10_000;
/// A table with more bytes of values is only hashed.
const KEPT_LIMIT_BYTES: usize = 8 << 20;
/// `ER_WRONG_MRG_TABLE`: a MERGE table over tables that are gone or differ. That is what the dump leaves, as rows are.
const WRONG_MERGE_TABLE: u16 = 1168;
/// The number of buckets: rows are assigned by their hash, so that the search for a difference reads only a few of
/// them.
const BUCKETS: usize = 256;
/// A changed row leaves one bucket and enters another; at most two such changes are searched.
const BUCKETS_LOOKED_AT: usize = 4;
/// The maximum number of rows that are read again to show a difference.
const BUCKET_LIMIT_ROWS: usize = 100_000;
/// Rows shown per endpoint.
const SHOWN_ROWS: usize = 3;

/// The content of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Content {
    count: u64,
    /// The wrapping sum of the hashes of each bucket's rows: independent of their order, and changed by an additional
    /// row.
    checksums: Vec<u128>,
    /// All rows, sorted, of a small table.
    kept: Option<Vec<Row>>,
}

impl Content {
    pub(super) fn row_count(&self) -> u64 {
        self.count
    }

    /// A description of the difference, if any.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        if self.differing_buckets(other).is_empty() {
            return None;
        }
        let counts = format!("the first has {} rows, the second {}", self.count, other.count);
        let rows = match (&self.kept, &other.kept) {
            (Some(mine), Some(theirs)) => first_differences(mine, theirs),
            _ => None,
        };
        Some(match rows {
            Some(rows) => format!("{counts}; {rows}"),
            None => format!("{counts}; their hashes differ"),
        })
    }

    /// The first buckets whose rows differ.
    pub(super) fn differing_buckets(&self, other: &Self) -> Vec<usize> {
        let differs = |bucket: &usize| self.checksums[*bucket] != other.checksums[*bucket];
        (0..BUCKETS).filter(differs).take(BUCKETS_LOOKED_AT).collect()
    }
}

/// Reads all rows of a table.
pub(super) fn read(
    connection: &mut Connection,
    schema: &[u8],
    table: &[u8],
    kind: Kind,
    options: Options,
) -> Result<Content, Error> {
    let mut reader = Reader { count: 0, checksums: vec![0; BUCKETS], kept: Some(Vec::new()), kept_bytes: 0 };
    let source = RowSource::of(connection, schema, table, kind, options.row_times);
    match source.and_then(|source| query_as_stored(connection, &source.select(), &mut reader)) {
        Err(Error::Server(error)) if error.code == WRONG_MERGE_TABLE => {
            let _ = reader.row(&[Some(error.to_string().as_bytes())]);
        }
        other => drop(other?),
    }
    let Reader { count, checksums, mut kept, .. } = reader;
    if let Some(rows) = &mut kept {
        rows.sort_unstable();
    }
    Ok(Content { count, checksums, kept })
}

/// Reads the rows of a few buckets, sorted.
pub(super) fn read_buckets(
    connection: &mut Connection,
    schema: &[u8],
    table: &[u8],
    kind: Kind,
    options: Options,
    buckets: &[usize],
) -> Result<Vec<Row>, Error> {
    let mut reader = BucketReader { buckets, rows: Vec::new() };
    let query = RowSource::of(connection, schema, table, kind, options.row_times)?.select();
    query_as_stored(connection, &query, &mut reader)?;
    reader.rows.sort_unstable();
    Ok(reader.rows)
}

/// The first rows of each endpoint that the other lacks (or has less often); both are sorted.
pub(super) fn first_differences(mine: &[Row], theirs: &[Row]) -> Option<String> {
    let (mut only_mine, mut only_theirs) = (Vec::new(), Vec::new());
    let (mut here, mut there) = (mine.iter().peekable(), theirs.iter().peekable());
    while only_mine.len().max(only_theirs.len()) < SHOWN_ROWS {
        match (here.peek(), there.peek()) {
            (None, None) => break,
            (Some(one), Some(other)) if one == other => {
                here.next();
                there.next();
            }
            (Some(one), Some(other)) if one > other => only_theirs.extend(there.next()),
            (Some(_), _) => only_mine.extend(here.next()),
            (None, Some(_)) => only_theirs.extend(there.next()),
        }
    }
    let endpoint = |which: &str, rows: &[&Row]| {
        rows.iter()
            .map(|row| format!("\n  only in the {which}: {}", show(row.iter().map(Option::as_deref))))
            .collect::<String>()
    };
    let found = endpoint("first", &only_mine) + &endpoint("second", &only_theirs);
    (!found.is_empty()).then(|| format!("first differing rows:{found}"))
}

struct Reader {
    count: u64,
    checksums: Vec<u128>,
    kept: Option<Vec<Row>>,
    kept_bytes: usize,
}

impl RowSink for Reader {
    fn columns(&mut self, _: &[Column]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
        let hash = hash(values);
        let sum = &mut self.checksums[bucket(hash)];
        *sum = sum.wrapping_add(hash);
        self.count += 1;
        self.kept_bytes += values.iter().flatten().map(|value| value.len()).sum::<usize>();
        if self.count > KEPT_LIMIT_ROWS || self.kept_bytes > KEPT_LIMIT_BYTES {
            self.kept = None;
        }
        if let Some(kept) = &mut self.kept {
            kept.push(owned(values));
        }
        ControlFlow::Continue(())
    }
}

struct BucketReader<'a> {
    buckets: &'a [usize],
    rows: Vec<Row>,
}

impl RowSink for BucketReader<'_> {
    fn columns(&mut self, _: &[Column]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
        if self.buckets.contains(&bucket(hash(values))) {
            self.rows.push(owned(values));
        }
        if self.rows.len() < BUCKET_LIMIT_ROWS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

fn owned(values: &[Option<&[u8]>]) -> Row {
    values.iter().map(|value| value.map(<[u8]>::to_vec)).collect()
}

fn bucket(hash: u128) -> usize {
    (hash >> 120) as usize % BUCKETS
}

#[cfg(test)]
pub(super) fn content(rows: &[&[Option<&[u8]>]]) -> Content {
    let mut reader = Reader { count: 0, checksums: vec![0; BUCKETS], kept: Some(Vec::new()), kept_bytes: 0 };
    for row in rows {
        let _ = reader.row(row);
    }
    let Reader { count, checksums, mut kept, .. } = reader;
    if let Some(rows) = &mut kept {
        rows.sort_unstable();
    }
    Content { count, checksums, kept }
}
