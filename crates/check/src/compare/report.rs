//! The result of a comparison.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::snapshot::Snapshot;
use super::tables::TablePlan;
use super::{Endpoint, Which};
use crate::definitions::{self, Definitions, Kind, What};
use crate::row_source::RowSource;

/// The number of differences that are described; all are counted.
const LISTED_LIMIT: usize = 1_000;
/// The number of lines of a definition that are kept per endpoint.
const LINES_LIMIT: usize = 20;
/// The number of tables that a remark names.
const NAMED_LIMIT: usize = 5;

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The schema's name at the first endpoint.
    pub schema: String,
    /// `table`, `view`, `trigger` … as in `SHOW CREATE`; `rows` for the rows of a table.
    pub kind: String,
    /// Its name; empty for the schema itself.
    pub name: String,
    /// A description of the difference.
    pub what: String,
    /// Content that only the first endpoint has: lines of a definition, or the first rows.
    pub first: Vec<String>,
    /// Content that only the second endpoint has.
    pub second: Vec<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { schema, kind, name, what, first, second } = self;
        let of = if kind == "rows" { " of" } else { "" };
        let dot = if name.is_empty() { "" } else { "." };
        write!(f, "{kind}{of} {schema}{dot}{name}: {what}")?;
        first.iter().try_for_each(|line| write!(f, "\n  only in the first:  {line}"))?;
        second.iter().try_for_each(|line| write!(f, "\n  only in the second: {line}"))
    }
}

/// The comparison of one table's rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableRows {
    /// `schema.table`, as named at the first endpoint.
    pub table: String,
    /// Rows at each endpoint.
    pub rows: [u64; 2],
    /// Whether the table was split by a key; otherwise it was read in one pass.
    pub by_key: bool,
    /// The number of ranges.
    pub ranges: u64,
    /// The number of ranges that differ.
    pub differing_ranges: u64,
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Whether there is no difference.
    pub same: bool,
    /// The address of each endpoint.
    pub endpoints: [String; 2],
    /// Definitions of the first endpoint by kind.
    pub definitions: BTreeMap<String, usize>,
    /// Rows at each endpoint.
    pub rows: [u64; 2],
    /// The tables whose rows were compared, by name.
    pub tables: Vec<TableRows>,
    /// The first differences.
    pub differences: Vec<Difference>,
    /// The number of all differences.
    pub difference_count: u64,
    /// Limits of the result.
    pub remarks: Vec<String>,
    /// The elapsed time in seconds.
    pub elapsed_s: f64,
}

/// The findings for a [`Report`].
#[derive(Default)]
pub(super) struct Findings {
    definitions: BTreeMap<Kind, usize>,
    tables: Vec<TableRows>,
    differences: Vec<Difference>,
    difference_count: u64,
    remarks: Vec<String>,
    no_snapshot: BTreeMap<String, BTreeSet<String>>,
}

impl Findings {
    fn add(&mut self, difference: Difference) {
        self.difference_count += 1;
        if self.differences.len() < LISTED_LIMIT {
            self.differences.push(difference);
        }
    }

    /// An object that only one endpoint has.
    pub(super) fn only(&mut self, which: Which, schema: &str, kind: &str, name: &str) {
        self.add(Difference {
            schema: schema.to_owned(),
            kind: kind.to_owned(),
            name: name.to_owned(),
            what: format!("only the {which} has it"),
            first: Vec::new(),
            second: Vec::new(),
        });
    }

    /// Counts compared definitions.
    pub(super) fn count(&mut self, definitions: &Definitions) {
        for (kind, _) in definitions.keys() {
            *self.definitions.entry(*kind).or_default() += 1;
        }
    }

    /// Adds differing definitions.
    pub(super) fn definitions(&mut self, schema: &str, found: Vec<definitions::Difference>) {
        for definitions::Difference { kind, name, what } in found {
            let (kind, name) = (kind.to_string(), String::from_utf8_lossy(&name).into_owned());
            match what {
                What::OnlyFirst => self.only(Which::First, schema, &kind, &name),
                What::OnlySecond => self.only(Which::Second, schema, &kind, &name),
                What::Differs { column, first, second } => {
                    let (only_first, only_second) = lines(&first, &second);
                    self.add(Difference {
                        schema: schema.to_owned(),
                        kind,
                        name,
                        what: format!("{column} differs"),
                        first: only_first,
                        second: only_second,
                    });
                }
            }
        }
    }

    /// Adds a table whose rows cannot be compared.
    pub(super) fn other_columns(&mut self, schema: &str, table: &str, sources: [&RowSource; 2]) {
        let [first, second] = sources.map(|source| {
            let labels = source.labels();
            labels.iter().map(|label| String::from_utf8_lossy(label).into_owned()).collect::<Vec<_>>().join(", ")
        });
        self.add(Difference {
            schema: schema.to_owned(),
            kind: "rows".to_owned(),
            name: table.to_owned(),
            what: "not compared, because the tables do not have the same columns".to_owned(),
            first: vec![first],
            second: vec![second],
        });
    }

    /// Adds a table whose rows differ.
    pub(super) fn rows(
        &mut self,
        plan: &TablePlan,
        rows: [u64; 2],
        differing: u64,
        ranges: u64,
        [first, second]: [Vec<String>; 2],
    ) {
        let (schema, name) = plan.name.split_once('.').unwrap_or(("", &plan.name));
        let [here, there] = rows;
        let mut what = format!("the first has {here} rows, the second {there}");
        if ranges > 1 {
            what.push_str(&format!("; {differing} of {ranges} ranges of the key differ"));
        }
        what.push_str(match first.is_empty() && second.is_empty() {
            true => "; they differed at first, but not when they were read again",
            false => "; first differing rows:",
        });
        let kind = "rows".to_owned();
        self.add(Difference { schema: schema.to_owned(), kind, name: name.to_owned(), what, first, second });
    }

    /// Adds a compared table.
    pub(super) fn table(&mut self, table: TableRows) {
        self.tables.push(table);
    }

    /// Adds a table whose engine has no snapshots.
    pub(super) fn no_snapshot(&mut self, engine: &str, table: &str) {
        self.no_snapshot.entry(engine.to_owned()).or_default().insert(table.to_owned());
    }

    /// Adds a remark if the connections to an endpoint may see different snapshots.
    pub(super) fn snapshot(&mut self, which: Which, snapshot: Snapshot) {
        let reason = match snapshot {
            Snapshot::Consistent => return,
            Snapshot::Inconsistent => "there was a write at each attempt to open their snapshots",
            Snapshot::Unknown => "the server does not report concurrent writes",
        };
        self.remarks.push(format!(
            "the connections to the {which} endpoint may see different snapshots: {reason}. Use --lock or one thread \
             to avoid this"
        ));
    }

    pub(super) fn report(mut self, endpoints: &[Endpoint; 2], elapsed: Duration) -> Report {
        for (engine, tables) in &self.no_snapshot {
            let named: Vec<&str> = tables.iter().take(NAMED_LIMIT).map(String::as_str).collect();
            let more = match tables.len() - named.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            self.remarks.push(format!(
                "{engine} tables have no snapshot, their current rows were read: {}{more}",
                named.join(", ")
            ));
        }
        self.tables.sort_by(|one, other| one.table.cmp(&other.table));
        let rows = Which::BOTH.map(|which| self.tables.iter().map(|table| table.rows[which.index()]).sum());
        Report {
            same: self.difference_count == 0,
            endpoints: endpoints.each_ref().map(|endpoint| endpoint.connect.address.to_string()),
            definitions: self.definitions.into_iter().map(|(kind, count)| (kind.to_string(), count)).collect(),
            rows,
            tables: self.tables,
            differences: self.differences,
            difference_count: self.difference_count,
            remarks: self.remarks,
            elapsed_s: elapsed.as_secs_f64(),
        }
    }
}

/// The lines that only one of two texts has; if there are none, because only the order differs, all lines.
fn lines(first: &str, second: &str) -> (Vec<String>, Vec<String>) {
    // The comma at the end of a line depends on whether another line follows.
    let all = |text: &str| text.lines().map(|line| line.trim().trim_end_matches(',').to_owned()).collect::<Vec<_>>();
    let (here, there) = (all(first), all(second));
    let only = |mine: &[String], theirs: &[String]| -> Vec<String> {
        let theirs: HashSet<&String> = theirs.iter().collect();
        mine.iter().filter(|line| !theirs.contains(line)).take(LINES_LIMIT).cloned().collect()
    };
    let (only_here, only_there) = (only(&here, &there), only(&there, &here));
    if only_here.is_empty() && only_there.is_empty() {
        return (vec![first.to_owned()], vec![second.to_owned()]);
    }
    (only_here, only_there)
}
