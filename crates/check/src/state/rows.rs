//! The rows of a table, kept where they are few and hashed where they are many.

use std::ops::ControlFlow;

use xxhash_rust::xxh3::Xxh3;

use super::{Kind, Options};
use hortator_mysql::{Column, Connection, Error, Rows, quote_identifier, quote_string};

/// A row's values as the server's text; `None` is NULL.
pub(super) type Row = Vec<Option<Vec<u8>>>;

/// A table with more rows than this is known by its hashes only.
const KEPT_LIMIT_ROWS: u64 = 10_000;
/// So is one whose values are longer than this together.
const KEPT_LIMIT_BYTES: usize = 8 << 20;
/// Rows are dealt to so many buckets by their hash: a difference is then looked for in a few of them only.
const BUCKETS: usize = 256;
/// A changed row leaves one bucket and enters another; two of those are looked at, at most.
const BUCKETS_LOOKED_AT: usize = 4;
/// Rows that are read again to show a difference, at most.
const BUCKET_LIMIT_ROWS: usize = 100_000;
/// Rows shown of each side.
const SHOWN_ROWS: usize = 3;
/// Bytes shown of each value.
const SHOWN_VALUE_BYTES: usize = 80;

/// What a table holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Content {
    count: u64,
    /// The wrapping sum of the hashes of each bucket's rows: whatever their order, and changed by a row more.
    sums: Vec<u128>,
    /// All rows, sorted, of a small table.
    kept: Option<Vec<Row>>,
}

impl Content {
    pub(super) fn row_count(&self) -> u64 {
        self.count
    }

    /// Says what differs, if anything does.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        if self.differing_buckets(other).is_empty() {
            return None;
        }
        let counts = format!("the first has {}, the second {}", self.count, other.count);
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
        let differs = |bucket: &usize| self.sums[*bucket] != other.sums[*bucket];
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
    let mut reader = Reader { count: 0, sums: vec![0; BUCKETS], kept: Some(Vec::new()), kept_bytes: 0 };
    let query = select(connection, schema, table, kind, options)?;
    query_as_stored(connection, &query, &mut reader)?;
    let Reader { count, sums, mut kept, .. } = reader;
    if let Some(rows) = &mut kept {
        rows.sort_unstable();
    }
    Ok(Content { count, sums, kept })
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
    let query = select(connection, schema, table, kind, options)?;
    query_as_stored(connection, &query, &mut reader)?;
    reader.rows.sort_unstable();
    Ok(reader.rows)
}

/// The first rows of each side that the other lacks (or has less often); both sides are sorted.
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
    let side = |which: &str, rows: &[&Row]| {
        rows.iter().map(|row| format!("\n  only in the {which}: {}", show(row))).collect::<String>()
    };
    let found = side("first", &only_mine) + &side("second", &only_theirs);
    (!found.is_empty()).then(|| format!("the first that differ:{found}"))
}

/// A SELECT of everything that a row of this table is.
fn select(
    connection: &mut Connection,
    schema: &[u8],
    table: &[u8],
    kind: Kind,
    options: Options,
) -> Result<Vec<u8>, Error> {
    let place = [quote_identifier(schema), quote_identifier(table)].join(&b'.');
    if kind == Kind::Sequence {
        return Ok([b"SELECT * FROM ", place.as_slice()].concat());
    }
    let same = |column: &str, name: &[u8]| {
        let name = quote_string(name);
        [column.as_bytes(), b" = ", &name, b" AND BINARY ", column.as_bytes(), b" = ", &name].concat()
    };
    let list = [
        b"SELECT COLUMN_NAME, LOWER(DATA_TYPE), UPPER(COALESCE(GENERATION_EXPRESSION, '')) \
          FROM information_schema.COLUMNS WHERE "
            .as_slice(),
        &same("TABLE_SCHEMA", schema),
        b" AND ",
        &same("TABLE_NAME", table),
        b" ORDER BY ORDINAL_POSITION",
    ]
    .concat();
    let type_query = [
        b"SELECT TABLE_TYPE FROM information_schema.TABLES WHERE ".as_slice(),
        &same("TABLE_SCHEMA", schema),
        b" AND ",
        &same("TABLE_NAME", table),
    ]
    .concat();
    let versioned = connection.fetch(&type_query)? == [[Some(b"SYSTEM VERSIONED".to_vec())]];

    let (mut start, mut end) = (b"ROW_START".to_vec(), b"ROW_END".to_vec());
    let mut by_transaction = false;
    let mut values = Vec::new();
    for column in connection.fetch(&list)? {
        let field = |index: usize| column.get(index).cloned().flatten().unwrap_or_default();
        let name = quote_identifier(field(0));
        match (field(2).as_slice(), field(1).as_slice()) {
            (b"ROW START", _) => start = name,
            (b"ROW END", data_type) => {
                by_transaction = data_type == b"bigint";
                end = name;
            }
            // The text of a FLOAT is rounded to six digits; that of a DOUBLE tells it from every other.
            (_, b"float") => values.push([name.as_slice(), b" + 0e0"].concat()),
            // The empty text is a member's, or that of the error value 0.
            (_, b"enum" | b"set") => {
                values.push([name.as_slice(), b" + 0"].concat());
                values.push(name);
            }
            _ => values.push(name),
        }
    }
    let mut history: &[u8] = b"";
    if versioned {
        history = b" FOR SYSTEM_TIME ALL";
        let forever: &[u8] = if by_transaction { b" = 18446744073709551615" } else { b" > NOW(6)" };
        values.push([end.as_slice(), forever].concat());
        if options.row_times {
            values.extend([start, end]);
        }
    }
    let values = if values.is_empty() { b"1".to_vec() } else { values.join(&b", "[..]) };
    Ok([b"SELECT ", values.as_slice(), b" FROM ", &place, history].concat())
}

/// Runs a query whose values come as they are stored, in no other character set: nothing is lost or made equal.
fn query_as_stored(connection: &mut Connection, query: &[u8], rows: &mut dyn Rows) -> Result<(), Error> {
    connection.execute(b"SET SESSION character_set_results = NULL")?;
    let done = connection.query(query, rows);
    if !done.as_ref().is_err_and(Error::is_lost) {
        connection.execute(b"SET SESSION character_set_results = utf8mb4")?;
    }
    done.map(drop)
}

struct Reader {
    count: u64,
    sums: Vec<u128>,
    kept: Option<Vec<Row>>,
    kept_bytes: usize,
}

impl Rows for Reader {
    fn columns(&mut self, _: &[Column]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
        let hash = hash(values);
        let sum = &mut self.sums[bucket(hash)];
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

impl Rows for BucketReader<'_> {
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

/// A row's hash: each value with its length before it, so that no two rows give the same bytes.
fn hash(values: &[Option<&[u8]>]) -> u128 {
    let mut hash = Xxh3::new();
    for value in values {
        match value {
            None => hash.update(&u64::MAX.to_le_bytes()),
            Some(value) => {
                hash.update(&(value.len() as u64).to_le_bytes());
                hash.update(value);
            }
        }
    }
    hash.digest128()
}

fn show(row: &Row) -> String {
    let values = row.iter().map(|value| match value {
        None => "NULL".to_owned(),
        Some(value) if value.len() > SHOWN_VALUE_BYTES => {
            format!("'{}'… ({} bytes)", value[..SHOWN_VALUE_BYTES].escape_ascii(), value.len())
        }
        Some(value) => format!("'{}'", value.escape_ascii()),
    });
    format!("({})", values.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
pub(super) fn content(rows: &[&[Option<&[u8]>]]) -> Content {
    let mut reader = Reader { count: 0, sums: vec![0; BUCKETS], kept: Some(Vec::new()), kept_bytes: 0 };
    for row in rows {
        let _ = reader.row(row);
    }
    let Reader { count, sums, mut kept, .. } = reader;
    if let Some(rows) = &mut kept {
        rows.sort_unstable();
    }
    Content { count, sums, kept }
}
