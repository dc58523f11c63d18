//! The plan for reading a table: its columns, a key to split it by, and its approximate size.

use hortator_mysql::{Connection, Error as ServerError};

use super::ranges::{self, Key};
use super::report::Findings;
use super::snapshot::Connected;
use super::{Error, Options};
use crate::definitions::{Definitions, Kind};
use crate::row_source::{RowSource, exactly};

/// The approximate bytes of a range, which one reader reads at a time.
const RANGE_BYTES: u64 = 16 << 20;
/// The limits for the rows of a range, whatever their size.
const RANGE_ROWS: std::ops::RangeInclusive<u64> = 1_000..=100_000;

/// A table whose rows are compared.
#[derive(Debug)]
pub(super) struct TablePlan {
    /// `schema.table`, as named at the first endpoint.
    pub(super) name: String,
    pub(super) sources: [RowSource; 2],
    /// The key to split by; without a key the table is read in one pass.
    pub(super) key: Option<Key>,
    pub(super) range_rows: u64,
    /// The server's estimate of the rows at the first endpoint.
    pub(super) expected_rows: u64,
}

/// One server's information about a table.
pub(super) struct Facts {
    pub(super) source: RowSource,
    pub(super) keys: Vec<Key>,
    engine: String,
    pub(super) rows: u64,
    row_bytes: u64,
}

/// The tables that both endpoints have and whose rows can be compared.
pub(super) fn plan(
    connected: &mut Connected,
    schemas: &[String; 2],
    first: &Definitions,
    second: &Definitions,
    options: &Options,
    findings: &mut Findings,
) -> Result<Vec<TablePlan>, Error> {
    let mut plans = Vec::new();
    for key in first.keys().filter(|key| key.0.has_rows() && second.contains_key(*key)) {
        let (kind, table) = key;
        if *kind == Kind::Sequence && !options.counters {
            continue;
        }
        let shown = String::from_utf8_lossy(table).into_owned();
        let name = format!("{}.{shown}", schemas[0]);
        let action = format!("reading the columns of {name}");
        let [first, second] = connected.both(&action, |connection, which| {
            facts(connection, schemas[which.index()].as_bytes(), table, *kind, options.row_times)
        })?;
        for engine in [&first.engine, &second.engine] {
            if !engine.eq_ignore_ascii_case("innodb") {
                findings.no_snapshot(engine, &name);
            }
        }
        let Some(source) = second.source.in_order_of(&first.source) else {
            findings.other_columns(&schemas[0], &shown, [&first.source, &second.source]);
            continue;
        };
        let range_rows = first.range_rows();
        plans.push(TablePlan {
            name,
            sources: [first.source, source],
            key: first.keys.into_iter().find(|key| second.keys.contains(key)),
            range_rows: options.range_rows.unwrap_or(range_rows),
            expected_rows: first.rows,
        });
    }
    Ok(plans)
}

impl Facts {
    /// The rows of a range.
    pub(super) fn range_rows(&self) -> u64 {
        (RANGE_BYTES / self.row_bytes.max(1)).clamp(*RANGE_ROWS.start(), *RANGE_ROWS.end())
    }
}

pub(super) fn facts(
    connection: &mut Connection,
    schema: &[u8],
    table: &[u8],
    kind: Kind,
    row_times: bool,
) -> Result<Facts, ServerError> {
    let source = RowSource::of(connection, schema, table, kind, row_times)?;
    let keys = if source.is_versioned || kind == Kind::Sequence {
        // The key of a versioned table does not distinguish its historical rows; a sequence has one row.
        Vec::new()
    } else {
        ranges::keys(connection, schema, table)?
    };
    let query = [
        b"SELECT ENGINE, COALESCE(TABLE_ROWS, 0), COALESCE(AVG_ROW_LENGTH, 0) FROM information_schema.TABLES WHERE "
            .as_slice(),
        &exactly("TABLE_SCHEMA", schema),
        b" AND ",
        &exactly("TABLE_NAME", table),
    ]
    .concat();
    let row = connection.fetch(&query)?.into_iter().next().unwrap_or_default();
    let text = |index: usize| {
        let value = row.get(index).cloned().flatten().unwrap_or_default();
        String::from_utf8_lossy(&value).into_owned()
    };
    // An unreadable estimate counts as none.
    let number = |index: usize| text(index).parse().unwrap_or_default();
    Ok(Facts { source, keys, engine: text(0), rows: number(1), row_bytes: number(2) })
}
