//! Sources that start with a copy: rights, tables that are locked, names that the target has already.

use std::collections::HashSet;

use hortator_mysql::{Connection, Error, quote_identifier};

use super::findings::{Finding, Severity, listed};
use crate::agent::{AgentOptions, SourceOptions};
use crate::config::Start;
use crate::query::{first_column, texts};
use crate::rules::{Rules, Sharing};
use crate::snapshot::{SYSTEM_SCHEMAS, has_record, missing_rights, non_transactional_tables};

/// What is known of a source that is to be copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct CopyFacts {
    grants: Vec<String>,
    /// Tables and views as `schema.table`, by their names on the target.
    tables: Vec<String>,
    /// Those without a snapshot.
    locked: Vec<String>,
}

/// What was found. A server that cannot be reached is told of elsewhere.
pub(super) fn check(options: &AgentOptions) -> Vec<Finding> {
    let copied = |source: &&SourceOptions| source.start == Start::Snapshot;
    let sources: Vec<&SourceOptions> = options.sources.iter().filter(copied).collect();
    if sources.is_empty() {
        return Vec::new();
    }
    let Some(mut target) = options.target.iter().find_map(|node| Connection::open(node).ok()) else {
        return Vec::new();
    };
    let Ok(there) = tables(&mut target, &options.schema) else { return Vec::new() };
    let there: HashSet<String> = there.into_iter().map(|names| names.join(".")).collect();
    let mut found = Vec::new();
    for source in sources {
        // A copy that is done, or that has begun.
        if has_position(&mut target, options, &source.name)
            || has_record(&mut target, &options.schema, &source.name).unwrap_or(true)
        {
            continue;
        }
        let ask = |host| facts(&mut Connection::open(host).ok()?, &options.schema, &source.rules).ok();
        let facts = source.hosts.iter().find_map(ask);
        let Some(facts) = facts else { continue };
        let texts = findings(&facts, &there);
        found.extend(texts.into_iter().map(|(severity, text)| Finding {
            source: Some(source.name.clone()),
            severity,
            text,
        }));
    }
    found
}

fn has_position(target: &mut Connection, options: &AgentOptions, name: &str) -> bool {
    let query =
        [b"SELECT source FROM ".as_slice(), &quote_identifier(&options.schema), b".replicate_positions"].concat();
    first_column(target, &query).is_ok_and(|sources| sources.iter().any(|source| source == name))
}

fn facts(source: &mut Connection, positions: &str, rules: &Rules) -> Result<CopyFacts, Error> {
    let on_target = |[schema, table]: [String; 2]| {
        // What several sources share may be there.
        if rules.sharing(schema.as_bytes(), table.as_bytes()) != Sharing::Own {
            return None;
        }
        let (schema, table) = rules.name_on_target(schema.as_bytes(), table.as_bytes())?;
        Some([schema, table].map(|name| String::from_utf8_lossy(&name).into_owned()).join("."))
    };
    let is_copied = |[schema, table]: &[String; 2]| {
        schema != positions && rules.name_on_target(schema.as_bytes(), table.as_bytes()).is_some()
    };
    let locked = non_transactional_tables(source)?.into_iter().filter(is_copied);
    let locked = locked.map(|names| names.join(".")).collect();
    Ok(CopyFacts {
        grants: first_column(source, b"SHOW GRANTS")?,
        tables: tables(source, positions)?.into_iter().filter_map(on_target).collect(),
        locked,
    })
}

/// Tables and views, by schema and name.
fn tables(server: &mut Connection, positions: &str) -> Result<Vec<[String; 2]>, Error> {
    let query = format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN {SYSTEM_SCHEMAS} ORDER BY 1, 2"
    );
    let rows = texts(server, query.as_bytes())?.into_iter().filter_map(|row| <[String; 2]>::try_from(row).ok());
    Ok(rows.filter(|[schema, _]| schema != positions).collect())
}

fn findings(facts: &CopyFacts, there: &HashSet<String>) -> Vec<(Severity, String)> {
    let mut found = Vec::new();
    let missing = missing_rights(&facts.grants, !facts.locked.is_empty());
    if !missing.is_empty() {
        let text = format!("the account may not read all that is copied: GRANT {} ON *.* TO it", missing.join(", "));
        found.push((Severity::Problem, text));
    }
    let taken: Vec<String> = facts.tables.iter().filter(|table| there.contains(*table)).cloned().collect();
    if !taken.is_empty() {
        let text = format!(
            "the target has these already, and a copy leaves alone what is there: {}. Drop or rename them on the target",
            listed(&taken)
        );
        found.push((Severity::Problem, text));
    }
    if !facts.locked.is_empty() {
        let text = format!(
            "tables whose engine has no snapshot are locked on the source while they are copied, and cannot be written \
             meanwhile: {}",
            listed(&facts.locked)
        );
        found.push((Severity::Warning, text));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found() {
        let good = CopyFacts {
            grants: vec!["GRANT ALL PRIVILEGES ON *.* TO `r`@`%`".to_owned()],
            tables: vec!["d.t".to_owned()],
            locked: Vec::new(),
        };
        let there = HashSet::from(["d.u".to_owned()]);
        assert_eq!(findings(&good, &there), []);
        for (facts, severity, said) in [
            (CopyFacts { grants: Vec::new(), ..good.clone() }, Severity::Problem, "the account may not read"),
            (CopyFacts { tables: vec!["d.u".to_owned()], ..good.clone() }, Severity::Problem, "the target has these"),
            (CopyFacts { locked: vec!["d.t".to_owned()], ..good.clone() }, Severity::Warning, "tables whose engine"),
        ] {
            let found = findings(&facts, &there);
            assert!(found.len() == 1 && found[0].0 == severity && found[0].1.starts_with(said), "{said}: {found:?}");
        }
    }
}
