//! The plan for one comparison: columns in one order, and a key that sorts the rows of all tables.

use hortator_mysql::Connection;

use super::read::Unread;
use super::{TableTask, View};
use crate::compare::ranges::Key;
use crate::compare::tables::{Facts, facts};
use crate::definitions::Kind;
use crate::row_source::RowSource;

/// The rows of one table, and the key to split them by; without a key they are read in one pass.
#[derive(Debug)]
pub(super) struct PlannedRows {
    pub(super) source: RowSource,
    pub(super) key: Option<Key>,
}

/// A comparison.
#[derive(Debug)]
pub(super) struct TablePlan {
    /// With the number of the view.
    pub(super) parts: Vec<(usize, PlannedRows)>,
    pub(super) second: PlannedRows,
    pub(super) labels: Vec<Vec<u8>>,
    pub(super) extra_columns: Vec<String>,
    pub(super) range_rows: u64,
    /// The first views' estimate.
    pub(super) expected_rows: u64,
}

impl TablePlan {
    pub(super) fn is_by_key(&self) -> bool {
        self.second.key.is_some()
    }
}

/// What planning has found.
pub(super) enum Planned {
    Plan(Box<TablePlan>),
    /// The columns of both sides.
    OtherColumns([Vec<String>; 2]),
    /// What is not there.
    Missing(String),
}

pub(super) fn plan(
    firsts: &mut [View],
    second: &mut View,
    task: &TableTask,
    range_rows: Option<u64>,
) -> Result<Planned, Unread> {
    let ask = |connection: &mut Connection, view: Option<usize>, schema: &[u8], table: &[u8]| {
        facts(connection, schema, table, Kind::Table, false).map_err(|error| Unread { view, error })
    };
    let mut parts: Vec<(usize, Facts)> = Vec::new();
    for part in &task.parts {
        let Some(view) = firsts.get_mut(part.view) else { continue };
        parts.push((part.view, ask(&mut view.guide, Some(part.view), &part.schema, &part.table)?));
    }
    let mut there = ask(&mut second.guide, None, &task.schema, &task.table)?;
    if let Some((column, text)) = &task.marked {
        let Some(marked) = there.source.marked_by(column, text) else {
            return Ok(Planned::Missing(format!("{} has no column `{column}` on the target", task.name())));
        };
        there.source = marked;
        there.keys = there.keys.into_iter().map(|key| key.without(column)).collect();
    }
    let Some((_, first)) = parts.first() else {
        return Ok(Planned::Missing(format!("no source has {}", task.name())));
    };
    let reference = first.source.clone();
    let other = |source: &RowSource| Planned::OtherColumns([names(&reference), names(source)]);
    let key = first.keys.iter().find(|key| {
        let has_it = |facts: &Facts| facts.keys.iter().any(|other| other.has_columns_of(key));
        parts.iter().all(|(_, facts)| has_it(facts)) && has_it(&there)
    });
    let of_key = |keys: Vec<Key>| keys.into_iter().find(|own| key.is_some_and(|key| own.has_columns_of(key)));
    let (range, expected_rows) = (first.range_rows(), parts.iter().map(|(_, facts)| facts.rows).sum());
    let Some((source, extra)) = there.source.with_columns_of(&reference) else { return Ok(other(&there.source)) };
    let second = PlannedRows { source, key: of_key(there.keys) };
    let mut planned = Vec::new();
    for (view, facts) in &parts {
        let Some(source) = facts.source.in_order_of(&reference) else { return Ok(other(&facts.source)) };
        planned.push((*view, PlannedRows { source, key: of_key(facts.keys.clone()) }));
    }
    Ok(Planned::Plan(Box::new(TablePlan {
        parts: planned,
        second,
        labels: reference.labels(),
        extra_columns: extra.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect(),
        range_rows: range_rows.unwrap_or(range),
        expected_rows,
    })))
}

fn names(source: &RowSource) -> Vec<String> {
    let labels = source.labels();
    vec![labels.iter().map(|label| String::from_utf8_lossy(label).into_owned()).collect::<Vec<_>>().join(", ")]
}
