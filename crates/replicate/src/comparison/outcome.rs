//! What the comparison of a table means: a difference, or a definition that has changed meanwhile, or one that rules explain.

use hortator_check::compare::{Difference, Outcome, TableTask, open_session};
use hortator_mysql::ConnectOptions;

use super::listing::{Listed, Listing};
use super::pairing::{PairedTask, SourceTables};
use super::report::{Builder, NotCompared};
use crate::agent::SourceOptions;

/// Said of a table that is another one by now.
const CHANGED: &str = "its definition changed while it was compared: compare it again";

/// The target.
pub(super) struct TargetSide<'t> {
    pub(super) node: &'t ConnectOptions,
    /// Its tables, as they were.
    pub(super) listing: &'t Listing,
}

impl TargetSide<'_> {
    /// Whether it has the table.
    pub(super) fn has(&self, task: &TableTask) -> bool {
        let [schema, table] = [&task.schema, &task.table].map(|name| String::from_utf8_lossy(name));
        self.listing.get(&schema, &table).is_some()
    }
}

/// A source whose tables are compared: its number, and its tables as they were.
pub(super) struct SourceSide<'o> {
    pub(super) index: usize,
    pub(super) options: &'o SourceOptions,
    pub(super) host: &'o ConnectOptions,
    pub(super) tables: SourceTables,
}

/// Takes outcomes into a report.
pub(super) struct Outcomes<'r, 't> {
    target: &'r TargetSide<'t>,
    sources: &'r [SourceSide<'t>],
    report: &'r mut Builder,
}

impl<'r, 't> Outcomes<'r, 't> {
    pub(super) fn new(target: &'r TargetSide<'t>, sources: &'r [SourceSide<'t>], report: &'r mut Builder) -> Self {
        Outcomes { target, sources, report }
    }

    pub(super) fn take(&mut self, task: &PairedTask, found: Outcome) {
        match found {
            Outcome::Compared { rows, difference: None, extra_columns } => {
                if !extra_columns.is_empty() {
                    self.report.extra_columns(&task.task.name(), &extra_columns);
                }
                self.report.table(self.names(&task.task), rows);
            }
            Outcome::Compared { rows, difference: Some(difference), .. } => {
                if self.differs(task, difference) {
                    self.report.table(self.names(&task.task), rows);
                }
            }
            Outcome::OtherColumns(difference) => drop(self.differs(task, difference)),
            Outcome::Unreadable(reason) => {
                let reason = if self.has_changed(&task.task) { CHANGED.to_owned() } else { reason };
                self.not_compared(task, &reason, false);
            }
        }
    }

    /// The target has no such table.
    pub(super) fn missing(&mut self, task: &PairedTask) {
        let difference = Difference {
            schema: String::from_utf8_lossy(&task.task.schema).into_owned(),
            kind: "table".to_owned(),
            name: String::from_utf8_lossy(&task.task.table).into_owned(),
            what: "the target does not have it".to_owned(),
            first: Vec::new(),
            second: Vec::new(),
        };
        self.differs(task, difference);
    }

    /// A connection was lost before it was compared.
    pub(super) fn lost(&mut self, task: &PairedTask, reason: &str) {
        self.not_compared(task, reason, false);
    }

    /// Whether that is a difference indeed.
    fn differs(&mut self, task: &PairedTask, mut difference: Difference) -> bool {
        if self.has_changed(&task.task) {
            self.not_compared(task, CHANGED, false);
            return false;
        }
        if let Some(excuse) = &task.excuse {
            let reason = format!("{excuse}; {}", difference.what.trim_end_matches("; first differing rows:"));
            self.not_compared(task, &reason, true);
            return false;
        }
        difference.what = format!("compared with {}, {}", self.names(&task.task).join(" and "), difference.what);
        self.report.difference(difference);
        true
    }

    fn not_compared(&mut self, task: &PairedTask, reason: &str, is_expected: bool) {
        for part in &task.task.parts {
            let source = self.sources.iter().find(|source| source.index == part.view);
            self.report.not_compared(NotCompared {
                table: task.task.name(),
                source: source.map(|source| source.options.name.clone()).unwrap_or_default(),
                source_table: format!(
                    "{}.{}",
                    String::from_utf8_lossy(&part.schema),
                    String::from_utf8_lossy(&part.table)
                ),
                reason: reason.to_owned(),
                is_expected,
            });
        }
    }

    /// The tables of the sources, as `source: schema.table`.
    fn names(&self, task: &TableTask) -> Vec<String> {
        let name = |part: &hortator_check::compare::Part| {
            let source = self.sources.iter().find(|source| source.index == part.view);
            let source = source.map_or("", |source| source.options.name.as_str());
            format!("{source}: {}.{}", String::from_utf8_lossy(&part.schema), String::from_utf8_lossy(&part.table))
        };
        task.parts.iter().map(name).collect()
    }

    /// Whether a table is not what it was before the snapshots. Who does not answer has not changed it.
    fn has_changed(&self, task: &TableTask) -> bool {
        let is_other = |server: &ConnectOptions, schema: &[u8], table: &[u8], before: &Listing| {
            let (schema, table) = (String::from_utf8_lossy(schema), String::from_utf8_lossy(table));
            let now =
                open_session(server).and_then(|mut connection| Listing::read_one(&mut connection, &schema, &table));
            let before: Option<&Listed> = before.get(&schema, &table);
            now.is_ok_and(|now| now.as_ref() != before)
        };
        let on_source = |part: &hortator_check::compare::Part| {
            self.sources
                .iter()
                .filter(|source| source.index == part.view)
                .any(|source| is_other(source.host, &part.schema, &part.table, &source.tables.listing))
        };
        task.parts.iter().any(on_source) || is_other(self.target.node, &task.schema, &task.table, self.target.listing)
    }
}
