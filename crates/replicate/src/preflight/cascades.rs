//! Foreign keys of the target that change rows which a rule keeps as they are.

use hortator_mysql::Connection;

use super::{Finding, Severity};
use crate::agent::AgentOptions;
use crate::query::texts;
use crate::rules::{CASCADES, Cascade, Change, Rules};

const QUERY: &[u8] =
    b"SELECT CONSTRAINT_NAME, CONSTRAINT_SCHEMA, TABLE_NAME, UNIQUE_CONSTRAINT_SCHEMA, REFERENCED_TABLE_NAME, \
    DELETE_RULE, UPDATE_RULE FROM information_schema.REFERENTIAL_CONSTRAINTS ORDER BY 2, 3, 1";

/// Looks for them. A target that cannot be asked is said elsewhere.
pub(super) fn check(options: &AgentOptions) -> Vec<Finding> {
    let keeps_rows = |rules: &Rules| rules.leave_out_some(Change::Delete) || rules.leave_out_some(Change::Update);
    if !options.sources.iter().any(|source| keeps_rows(&source.rules)) {
        return Vec::new();
    }
    let mut connections = options.target.iter().filter_map(|node| Connection::open(node).ok());
    let Some(keys) = connections.next().and_then(|mut target| texts(&mut target, QUERY).ok()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for source in &options.sources {
        for key in &keys {
            let Some(text) = objection(&source.rules, key) else { continue };
            found.push(Finding { source: Some(source.name.clone()), severity: Severity::Warning, text });
        }
    }
    found
}

/// What a foreign key does to rows of a source that its rules keep.
fn objection(rules: &Rules, key: &[String]) -> Option<String> {
    let [name, schema, table, parent_schema, parent, on_delete, on_update] = key else { return None };
    let keeps = |schema: &str, table: &str, change: Change| {
        rules.of_target(schema.as_bytes(), table.as_bytes()).is_some_and(|rule| rule.leaves_out(change))
    };
    let has = |cascade: &&Cascade| {
        let action = if cascade.parent == Change::Delete { on_delete } else { on_update };
        action.starts_with(cascade.words[2])
            && keeps(schema, table, cascade.own)
            && !keeps(parent_schema, parent, cascade.parent)
    };
    let Cascade { own, parent: change, verb, .. } = CASCADES.iter().find(has)?;
    let action = if *change == Change::Delete { format!("DELETE {on_delete}") } else { format!("UPDATE {on_update}") };
    Some(format!(
        "the foreign key {name} of {schema}.{table} on the target {verb} its rows with those of {parent_schema}.{parent} (ON \
         {action}), and a rule leaves {} out: drop the foreign key on the target",
        own.word()
    ))
}
