//! Tables whose columns stand at other places on the target than on their source: rows come without names, by place.

use std::collections::BTreeMap;

use hortator_mysql::{ConnectOptions, Connection, Error};

use super::{Finding, Severity};
use crate::agent::{AgentOptions, SourceOptions};
use crate::query::texts;
use crate::rules::Rules;
use crate::snapshot::SYSTEM_SCHEMAS;

/// How many tables a finding names.
const NAMES_LIMIT: usize = 3;

/// The names of columns by table.
type Columns = BTreeMap<(String, String), Vec<String>>;

/// Looks for them. Who cannot be asked is said elsewhere.
pub(super) fn check(options: &AgentOptions) -> Vec<Finding> {
    let Some(there) = ask(&options.target) else { return Vec::new() };
    let finding = |source: &SourceOptions| {
        let found = moved(&ask(&source.hosts)?, &there, &source.rules);
        let (shown, more) = (found.iter().take(NAMES_LIMIT), found.len().saturating_sub(NAMES_LIMIT));
        let shown = shown.cloned().collect::<Vec<_>>().join("; ");
        let more = if more == 0 { String::new() } else { format!("; and {more} more") };
        let text = format!(
            "tables of the target have other columns than those of the source: {shown}{more}. Rows come by the places of columns: if \
             that is no change that is still to come, give the target's tables the source's columns in their order. With \
             binlog_row_metadata = FULL on the source, such a table stops it"
        );
        let finding = Finding { source: Some(source.name.clone()), severity: Severity::Warning, text };
        (!found.is_empty()).then_some(finding)
    };
    options.sources.iter().filter_map(finding).collect()
}

/// The tables whose columns are not the first ones of the target's table.
fn moved(here: &Columns, there: &Columns, rules: &Rules) -> Vec<String> {
    let mut found = Vec::new();
    for ((schema, table), columns) in here {
        let Some((to_schema, to_table)) = rules.name_on_target(schema.as_bytes(), table.as_bytes()) else { continue };
        let name = [to_schema, to_table].map(|name| String::from_utf8_lossy(&name).into_owned());
        let [to_schema, to_table] = &name;
        let Some(others) = there.get(&(to_schema.clone(), to_table.clone())) else { continue };
        let rule = rules.of_target(to_schema.as_bytes(), to_table.as_bytes());
        let added = rule.and_then(|rule| rule.source_column());
        let is_own = |column: &&String| added.is_none_or(|added| column.to_lowercase() != added.to_lowercase());
        let others: Vec<&String> = others.iter().filter(is_own).collect();
        let is_same = |(one, other): (&String, &&String)| one.to_lowercase() == other.to_lowercase();
        if others.len() < columns.len() || !columns.iter().zip(&others).all(is_same) {
            let others = others.into_iter().cloned().collect::<Vec<_>>().join(", ");
            found.push(format!("{} ({others}; the source has {})", name.join("."), columns.join(", ")));
        }
    }
    found
}

fn ask(hosts: &[ConnectOptions]) -> Option<Columns> {
    let mut connections = hosts.iter().filter_map(|host| Connection::open(host).ok());
    columns(&mut connections.next()?).ok()
}

fn columns(connection: &mut Connection) -> Result<Columns, Error> {
    // The columns of the widest table fit.
    connection.execute(b"SET SESSION group_concat_max_len = 4194304")?;
    let query = format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, GROUP_CONCAT(COLUMN_NAME ORDER BY ORDINAL_POSITION SEPARATOR '\\n') FROM \
         information_schema.COLUMNS JOIN information_schema.TABLES USING (TABLE_SCHEMA, TABLE_NAME) \
         WHERE TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') AND TABLE_SCHEMA NOT IN {SYSTEM_SCHEMAS} GROUP BY 1, 2"
    );
    let table = |row: Vec<String>| {
        let [schema, table, columns] = <[String; 3]>::try_from(row).ok()?;
        Some(((schema, table), columns.lines().map(str::to_owned).collect()))
    };
    Ok(texts(connection, query.as_bytes())?.into_iter().filter_map(table).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Changes, Effect, Rule};

    fn columns(tables: &[(&str, &str)]) -> Columns {
        let named = |(name, columns): &(&str, &str)| {
            let (schema, table) = name.split_once('.').unwrap();
            ((schema.to_owned(), table.to_owned()), columns.split(' ').map(str::to_owned).collect())
        };
        tables.iter().map(named).collect()
    }

    #[test]
    fn tables_with_other_columns() {
        let effect = Effect::Apply {
            to: Some("a.*".parse().unwrap()),
            without: Changes::default(),
            source_column: Some("shard".to_owned()),
        };
        let rule = Rule { tables: "shop.*".parse().unwrap(), effect };
        let rules = Rules::new("s", vec![rule]);
        for (here, there, expected) in [
            (("d.t", "id a b"), ("d.t", "id a b"), None),
            (("d.t", "id a b"), ("d.t", "ID A b more"), None),
            (("d.t", "id a b"), ("d.u", "id"), None),
            (("d.t", "id a b"), ("d.t", "id b c"), Some("d.t (id, b, c; the source has id, a, b)")),
            (("d.t", "id a b"), ("d.t", "id a"), Some("d.t (id, a; the source has id, a, b)")),
            (("shop.t", "id a"), ("a.t", "id shard a"), None),
            (("shop.t", "id a"), ("a.t", "shard a id"), Some("a.t (a, id; the source has id, a)")),
        ] {
            let found = moved(&columns(&[here]), &columns(&[there]), &rules);
            assert_eq!(found, expected.map(str::to_owned).into_iter().collect::<Vec<_>>(), "{here:?} {there:?}");
        }
    }
}
