//! Compares two servers, or two schemas: all definitions and all rows.
//!
//! Rows are read from both endpoints and hashed here. (A server that computes hashes better than CRC-32 needs several
//! times the time of sending the rows: docs/verify.md has the figures.) A table with a key is split into key ranges,
//! which several connections read in parallel; for each range, the rows of both endpoints give a count and a sum of
//! their hashes, independent of their order. A table without a key is one range. Where checksums differ, the range is
//! read again to find the first differing rows. Memory does not grow with tables or rows.
//!
//! From the outside in: [`compare`] here, `schemas` (the selection), `tables` (keys and columns), `ranges` (splitting),
//! `workers` (reading), `row_diff` (the differing rows), `snapshot` (the snapshot that all connections to an endpoint
//! share). `views` compares tables in snapshots that the caller has opened, and several tables with one.

mod checksums;
mod error;
mod options;
mod progress;
mod ranges;
mod report;
mod row_diff;
mod schemas;
mod snapshot;
mod tables;
mod views;
mod workers;

use std::collections::BTreeSet;
use std::time::Instant;

pub use error::{Error, Which};
pub use options::{Endpoint, Options, is_system_schema};
pub use progress::Progress;
pub use report::{Difference, Report, TableRows};
pub use snapshot::open_session;
pub use views::{Outcome, Part, TableTask, View, ViewError, compare_views};

use crate::definitions;
use report::Findings;

/// Compares two endpoints. Writes nothing at either; uses sessions of its own.
///
/// # Errors
/// When an endpoint cannot be reached or read, or none of the names in the options exists at either.
pub fn compare(endpoints: &[Endpoint; 2], options: &Options, progress: &Progress) -> Result<Report, Error> {
    let start = Instant::now();
    let mut connected = snapshot::connect(endpoints)?;
    let mut findings = Findings::default();
    let pairs = schemas::pairs(&mut connected, endpoints, options)?;
    let mut plans = Vec::new();
    let mut missing: BTreeSet<String> = options.tables.iter().cloned().collect();
    for pair in &pairs {
        let Some(names) = schemas::in_both(pair, &mut findings) else { continue };
        let any_name = names[0] != names[1];
        let [first, second] = connected.both("reading definitions", |connection, which| {
            let schema = &names[which.index()];
            definitions::prepare_session(connection, schema.as_bytes())?;
            definitions::read(connection, schema.as_bytes(), any_name)
        })?;
        let [first, second] = [first, second].map(|all| schemas::wanted(all, &names, options, &mut missing));
        if options.definitions {
            findings.count(&first);
            findings.definitions(&names[0], definitions::differences(&first, &second));
        }
        if options.rows {
            plans.extend(tables::plan(&mut connected, &names, &first, &second, options, &mut findings)?);
        }
    }
    if let Some(table) = missing.first() {
        return Err(Error::NotFound { what: format!("a table, view or sequence `{table}`") });
    }
    if options.rows {
        workers::compare_rows(endpoints, &mut connected, &plans, options, progress, &mut findings)?;
    }
    Ok(findings.report(endpoints, start.elapsed()))
}
