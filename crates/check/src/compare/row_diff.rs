//! Finds the differing rows of a range: reads it again, first the hashes, then the few rows to show.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use hortator_mysql::{Column, Connection, RowSink};

use super::checksums::{Checksums, bucket};
use super::ranges::Range;
use super::snapshot::{Connected, run_both};
use super::tables::TablePlan;
use super::{Error, Which};
use crate::row_source::{hash, show_value};

/// The maximum number of hashes per endpoint. Of a range with more rows only one bucket is compared.
const HASHES_LIMIT: usize = 1 << 20;
/// Rows shown per endpoint.
pub(super) const SHOWN_ROWS: usize = 3;

/// Adds the first rows that only the first endpoint has, and those that only the second has (or has more often).
pub(super) fn rows(
    plan: &TablePlan,
    range: &Range,
    checksums: &[Checksums; 2],
    (first, second): (&mut Connection, &mut Connection),
    connected: &Connected,
    shown: &mut [Vec<String>; 2],
) -> Result<(), Error> {
    let labels = plan.sources[0].labels();
    rows_read_by(&labels, checksums, shown, |[here, there]| {
        let read = |connection: &mut Connection, which: Which, reader: &mut dyn SendRows| {
            let query = range.select_in_order(&plan.sources[which.index()], plan.key.as_ref());
            let done = connection.query(&query, reader.rows());
            done.map(drop)
                .map_err(|error| connected.error(which, &format!("finding the differing rows of {}", plan.name), error))
        };
        let [here, there] = run_both(|| read(first, Which::First, here), || read(second, Which::Second, there));
        here.and(there)
    })
}

/// The same with a function that reads the range at both endpoints.
pub(super) fn rows_read_by<E>(
    labels: &[Vec<u8>],
    checksums: &[Checksums; 2],
    shown: &mut [Vec<String>; 2],
    mut read: impl FnMut([&mut dyn SendRows; 2]) -> Result<(), E>,
) -> Result<(), E> {
    let is_large = checksums.iter().any(|checksums| checksums.rows > HASHES_LIMIT as u64);
    let bucket = if is_large { checksums[0].first_difference(&checksums[1]) } else { None };
    let (mut here, mut there) = (Hashes { bucket, kept: Vec::new() }, Hashes { bucket, kept: Vec::new() });
    read([&mut here, &mut there])?;
    let (only_here, only_there) = (lacking(&here.kept, &there.kept), lacking(&there.kept, &here.kept));
    drop((here, there));

    let labels: Vec<String> = labels.iter().map(|label| lossy(label)).collect();
    let (mut here, mut there) = (Shown::new(only_here, &labels), Shown::new(only_there, &labels));
    read([&mut here, &mut there])?;
    for (shown, found) in shown.iter_mut().zip([here.shown, there.shown]) {
        shown.extend(found);
        shown.truncate(SHOWN_ROWS);
    }
    Ok(())
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The first hashes that occur in `mine` more often than in `theirs`, in the order of `mine`, each with its surplus.
fn lacking(mine: &[u128], theirs: &[u128]) -> HashMap<u128, usize> {
    let mut surplus: HashMap<u128, i64> = HashMap::new();
    for hash in mine {
        *surplus.entry(*hash).or_default() += 1;
    }
    for hash in theirs {
        // A second call with exchanged arguments finds the others.
        if let Some(count) = surplus.get_mut(hash) {
            *count -= 1;
        }
    }
    let mut first = HashMap::new();
    let mut seen = HashSet::new();
    let mut left = SHOWN_ROWS;
    for hash in mine {
        let count = surplus.get(hash).copied().unwrap_or_default();
        if left > 0 && count > 0 && seen.insert(*hash) {
            let shown = left.min(usize::try_from(count).unwrap_or(left));
            first.insert(*hash, shown);
            left -= shown;
        }
    }
    first
}

/// Readers that may be handed to another thread.
pub(super) trait SendRows: Send {
    fn rows(&mut self) -> &mut dyn RowSink;
}

/// Collects the hashes of rows in order.
struct Hashes {
    /// The one bucket to compare; `None` for all.
    bucket: Option<usize>,
    kept: Vec<u128>,
}

impl SendRows for Hashes {
    fn rows(&mut self) -> &mut dyn RowSink {
        self
    }
}

impl RowSink for Hashes {
    fn columns(&mut self, _: &[Column]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
        let hash = hash(values);
        if self.bucket.is_none_or(|wanted| wanted == bucket(hash)) {
            self.kept.push(hash);
        }
        if self.kept.len() < HASHES_LIMIT { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// Collects the wanted rows as text.
struct Shown<'a> {
    wanted: HashMap<u128, usize>,
    labels: &'a [String],
    shown: Vec<String>,
}

impl<'a> Shown<'a> {
    fn new(wanted: HashMap<u128, usize>, labels: &'a [String]) -> Self {
        Self { wanted, labels, shown: Vec::new() }
    }
}

impl SendRows for Shown<'_> {
    fn rows(&mut self) -> &mut dyn RowSink {
        self
    }
}

impl RowSink for Shown<'_> {
    fn columns(&mut self, _: &[Column]) -> ControlFlow<()> {
        if self.wanted.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
        if let Some(left) = self.wanted.get_mut(&hash(values)).filter(|left| **left > 0) {
            *left -= 1;
            let labels = self.labels.iter().map(Some).chain(std::iter::repeat(None));
            let values = values.iter().zip(labels).map(|(value, label)| match label {
                Some(label) if !label.is_empty() => format!("{label} = {}", show_value(*value)),
                _ => show_value(*value),
            });
            self.shown.push(format!("({})", values.collect::<Vec<_>>().join(", ")));
        }
        if self.wanted.values().any(|left| *left > 0) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}
