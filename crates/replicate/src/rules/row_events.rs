//! Rows under the rules: table maps with other names, rows that are left out, a column more.
//!
//! A statement's table maps stand before its rows, and the last of its rows say that it ends. Where those are left out, the
//! ones before them say it.

use std::collections::HashMap;

use hortator_mysql::catalog::TableName;

use super::{Change, Changes, Decision, Rule, Rules};
use crate::binlog::{AddedColumn, ColumnFormat, Content, Event, FormatDescription, TableMap};

/// Tables of a transaction that are kept in mind; a server gives them numbers anew from time to time.
const TABLES_LIMIT: usize = 100_000;

/// What becomes of the rows of the tables that are open.
#[derive(Debug, Default)]
pub(crate) struct RowRules {
    /// By the number of the table.
    tables: HashMap<u64, RowDecision>,
}

#[derive(Debug)]
enum RowDecision {
    LeaveOut,
    Apply { without: Changes, added: Option<(AddedColumn, Vec<ColumnFormat>)> },
}

/// A statement under way.
#[derive(Debug, Default)]
struct Statement {
    /// Where its table maps begin among what is kept; none where that was earlier.
    start: Option<usize>,
    /// Its last rows that are kept.
    last_rows: Option<usize>,
    /// Rows have come.
    has_rows: bool,
}

impl RowRules {
    /// The tables of the target whose source column must be known for these events, and its name.
    pub(crate) fn source_columns(rules: &Rules, events: &[Event]) -> Vec<(TableName, String)> {
        let mut found: Vec<(TableName, String)> = Vec::new();
        for event in events {
            let Content::TableMap(map) = &event.content else { continue };
            let Decision::Apply(rule) = rules.decide(&map.schema, &map.table) else { continue };
            if let Some(column) = rule.source_column() {
                let named = (name_on_target(rule, map), column.to_owned());
                if !found.contains(&named) {
                    found.push(named);
                }
            }
        }
        found
    }

    /// Makes events those of the target. `columns` are the source columns that [`RowRules::source_columns`] asks for.
    ///
    /// # Errors
    /// Rows that cannot be read, in words.
    pub(crate) fn apply(
        &mut self,
        rules: &Rules,
        events: &mut Vec<Event>,
        format: &FormatDescription,
        columns: &HashMap<TableName, AddedColumn>,
    ) -> Result<(), String> {
        let mut kept: Vec<Event> = Vec::with_capacity(events.len());
        let mut statement = Statement::default();
        for mut event in events.drain(..) {
            match &event.content {
                Content::TableMap(_) => {
                    if statement.has_rows || statement.start.is_none() {
                        statement = Statement { start: Some(kept.len()), ..Statement::default() };
                        if self.tables.len() >= TABLES_LIMIT {
                            self.tables.clear();
                        }
                    }
                    if self.take_map(rules, &mut event, format, columns)? {
                        kept.push(event);
                    }
                }
                Content::Rows(rows) => {
                    let (table_id, ends, change) = (rows.table_id, rows.ends_statement, Change::of_rows(rows.form));
                    statement.has_rows = true;
                    match self.tables.get(&table_id) {
                        Some(RowDecision::Apply { without, added }) if !without.has(change) => {
                            if let Some((column, formats)) = added {
                                event.add_column_to_rows(column, formats, format)?;
                            }
                            statement.last_rows = Some(kept.len());
                            kept.push(event);
                        }
                        Some(_) if ends => match (statement.last_rows, statement.start) {
                            (Some(last), _) => kept[last].end_statement(format),
                            // Nothing of it is left.
                            (None, Some(start)) => kept.truncate(start),
                            (None, None) => {}
                        },
                        Some(_) => {}
                        None => return Err(format!("rows of a table {table_id} without a table map")),
                    }
                    if ends {
                        statement = Statement::default();
                    }
                }
                _ => kept.push(event),
            }
        }
        *events = kept;
        Ok(())
    }

    /// Takes note of a table; gives whether its map is kept.
    fn take_map(
        &mut self,
        rules: &Rules,
        event: &mut Event,
        format: &FormatDescription,
        columns: &HashMap<TableName, AddedColumn>,
    ) -> Result<bool, String> {
        let Content::TableMap(map) = &event.content else { return Ok(true) };
        let table_id = map.table_id;
        let decision = match rules.decide(&map.schema, &map.table) {
            Decision::AsIs => RowDecision::Apply { without: Changes::default(), added: None },
            Decision::LeaveOut => RowDecision::LeaveOut,
            Decision::Apply(rule) => {
                let name = name_on_target(rule, map);
                if (&name.schema, &name.table) != (&map.schema, &map.table) {
                    event.rename_table(&name.schema, &name.table, format);
                }
                let column = rule.source_column().and_then(|_| columns.get(&name));
                let added = match column {
                    Some(column) => Some((column.clone(), event.add_column_to_map(column, format)?)),
                    None => None,
                };
                RowDecision::Apply { without: rule.without(), added }
            }
        };
        let is_kept = !matches!(decision, RowDecision::LeaveOut);
        self.tables.insert(table_id, decision);
        Ok(is_kept)
    }
}

fn name_on_target(rule: &Rule, map: &TableMap) -> TableName {
    let (schema, table) = rule.name_on_target(&map.schema, &map.table);
    TableName { schema, table }
}
