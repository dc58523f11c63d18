//! What a comparison found.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::moment::Moment;
use super::tables::TablePlan;
use super::{Side, Which};
use crate::definitions::{self, Definitions, Kind, What};
use crate::row_source::RowSource;

/// Differences that are kept in words; all are counted.
const LISTED_LIMIT: usize = 1_000;
/// Lines of a definition that are kept for each side.
const LINES_LIMIT: usize = 20;
/// Tables that a remark names.
const NAMED_LIMIT: usize = 5;

/// One thing that is not the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The schema, as the first side names it.
    pub schema: String,
    /// `table`, `view`, `trigger` … as `SHOW CREATE` calls it; `rows` for what a table holds.
    pub kind: String,
    /// Its name; empty for the schema itself.
    pub name: String,
    /// What is different.
    pub what: String,
    /// What only the first has: lines of a definition, or the first rows.
    pub first: Vec<String>,
    /// What only the second has.
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

/// What was read of one table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableRows {
    /// `schema.table`, as the first side names it.
    pub table: String,
    /// Rows of each side.
    pub rows: [u64; 2],
    /// Whether it was cut by a key; else it was read in one pass.
    pub by_key: bool,
    /// How many ranges it was read in.
    pub ranges: u64,
    /// How many of them are not the same.
    pub differing_ranges: u64,
}

/// The result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Whether nothing differs.
    pub same: bool,
    /// Where each side listens.
    pub sides: [String; 2],
    /// Definitions of the first side by kind.
    pub definitions: BTreeMap<String, usize>,
    /// Rows of each side.
    pub rows: [u64; 2],
    /// The tables whose rows were compared, by name.
    pub tables: Vec<TableRows>,
    /// The first differences.
    pub differences: Vec<Difference>,
    /// All of them.
    pub difference_count: u64,
    /// What limits the result.
    pub remarks: Vec<String>,
    /// Seconds.
    pub elapsed_s: f64,
}

/// What is gathered on the way to a [`Report`].
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

    /// Something that only one side has.
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

    /// The definitions that were compared.
    pub(super) fn count(&mut self, definitions: &Definitions) {
        for (kind, _) in definitions.keys() {
            *self.definitions.entry(*kind).or_default() += 1;
        }
    }

    /// Definitions that differ.
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

    /// A table whose rows cannot be compared.
    pub(super) fn other_columns(&mut self, schema: &str, table: &str, sources: [&RowSource; 2]) {
        let [first, second] = sources.map(|source| {
            let labels = source.labels();
            labels.iter().map(|label| String::from_utf8_lossy(label).into_owned()).collect::<Vec<_>>().join(", ")
        });
        self.add(Difference {
            schema: schema.to_owned(),
            kind: "rows".to_owned(),
            name: table.to_owned(),
            what: "not compared, as the tables do not have the same columns".to_owned(),
            first: vec![first],
            second: vec![second],
        });
    }

    /// A table whose rows differ.
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
        let mut what = format!("the first has {here}, the second {there}");
        if ranges > 1 {
            what.push_str(&format!("; {differing} of {ranges} ranges of the key differ"));
        }
        what.push_str(match first.is_empty() && second.is_empty() {
            true => "; they differed when they were read, and no more when they were read again",
            false => "; the first that differ:",
        });
        let kind = "rows".to_owned();
        self.add(Difference { schema: schema.to_owned(), kind, name: name.to_owned(), what, first, second });
    }

    /// A table that was read.
    pub(super) fn table(&mut self, table: TableRows) {
        self.tables.push(table);
    }

    /// A table whose engine knows no snapshots.
    pub(super) fn no_snapshot(&mut self, engine: &str, table: &str) {
        self.no_snapshot.entry(engine.to_owned()).or_default().insert(table.to_owned());
    }

    /// Whether a side's connections see the same.
    pub(super) fn moment(&mut self, which: Which, moment: Moment) {
        let because = match moment {
            Moment::One => return,
            Moment::Disturbed => "it was written to each time while their snapshots began",
            Moment::Untold => "its server does not tell whether it was written to while their snapshots began",
        };
        self.remarks.push(format!(
            "the connections to the {which} side may not all see the same moment: {because}; with --lock, or one thread, \
             they do"
        ));
    }

    pub(super) fn report(mut self, sides: &[Side; 2], elapsed: Duration) -> Report {
        for (engine, tables) in &self.no_snapshot {
            let named: Vec<&str> = tables.iter().take(NAMED_LIMIT).map(String::as_str).collect();
            let more = match tables.len() - named.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            self.remarks.push(format!("no snapshot of {engine} tables, read as they are: {}{more}", named.join(", ")));
        }
        self.tables.sort_by(|one, other| one.table.cmp(&other.table));
        let rows = Which::BOTH.map(|which| self.tables.iter().map(|table| table.rows[which.index()]).sum());
        Report {
            same: self.difference_count == 0,
            sides: sides.each_ref().map(|side| side.connect.address.to_string()),
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

/// The lines that only one of two texts has; where that is none, since only their order differs, all lines.
fn lines(first: &str, second: &str) -> (Vec<String>, Vec<String>) {
    // The comma behind a line depends on whether another follows.
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
