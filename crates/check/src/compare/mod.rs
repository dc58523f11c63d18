//! Two servers, or two schemas, held against each other: what is defined in them and every row.
//!
//! Rows are read from both sides and hashed here. (A server that hashes them itself with anything that is not a mere
//! CRC-32 spends several times what it spends on handing them out: docs/verify.md has the figures.) A table with a key is
//! cut into ranges of it, which several connections read side by side; of each range, both sides' rows give a count and a
//! sum of their hashes, whatever their order. A table without a key is one range. Where sums differ, the range is read
//! again to find the first rows that differ. Memory does not grow with tables or rows.
//!
//! From the outside in: [`compare`] here, `schemas` (which ones), `tables` (keys and columns), `ranges` (cutting),
//! `workers` (reading), `differing` (which rows), `moment` (the snapshot that all connections of a side share).

mod differing;
mod error;
mod moment;
mod options;
mod progress;
mod ranges;
mod report;
mod schemas;
mod sums;
mod tables;
mod workers;

use std::collections::BTreeSet;
use std::time::Instant;

pub use error::{Error, Which};
pub use options::{Options, Side, is_of_the_server};
pub use progress::Progress;
pub use report::{Difference, Report, TableRows};

use crate::definitions;
use report::Findings;

/// Compares two sides. Nothing is written on either; the sessions are this function's own.
///
/// # Errors
/// When a side cannot be reached or read to the end, or nothing of what the options name is on either.
pub fn compare(sides: &[Side; 2], options: &Options, progress: &Progress) -> Result<Report, Error> {
    let start = Instant::now();
    let mut connected = moment::connect(sides)?;
    let mut findings = Findings::default();
    let pairs = schemas::pairs(&mut connected, sides, options)?;
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
        return Err(Error::Neither { what: format!("a table, view or sequence `{table}`") });
    }
    if options.rows {
        workers::compare_rows(sides, &mut connected, &plans, options, progress, &mut findings)?;
    }
    Ok(findings.report(sides, start.elapsed()))
}
