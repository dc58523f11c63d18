//! The selection of schemas, and of definitions in them.

use std::collections::BTreeSet;

use hortator_mysql::{Connection, Error as ServerError};

use super::report::Findings;
use super::snapshot::Connected;
use super::{Endpoint, Error, Options, Which, is_system_schema};
use crate::definitions::{Definitions, Kind, without_counter};

/// A schema's name at each endpoint, and whether it exists there.
pub(super) struct Pair {
    names: [String; 2],
    is_there: [bool; 2],
}

/// The selected schemas, by name.
pub(super) fn pairs(
    connected: &mut Connected,
    endpoints: &[Endpoint; 2],
    options: &Options,
) -> Result<Vec<Pair>, Error> {
    let all = connected.both("reading the names of schemas", |connection, _| names(connection))?;
    let wanted: Vec<[String; 2]> = match endpoints.each_ref().map(|endpoint| endpoint.schema.clone()) {
        [Some(first), Some(second)] => vec![[first, second]],
        [Some(name), None] | [None, Some(name)] => vec![[name.clone(), name]],
        [None, None] if options.databases.is_empty() => {
            let own = all.iter().flatten().filter(|name| !is_system_schema(name));
            own.cloned().collect::<BTreeSet<_>>().into_iter().map(|name| [name.clone(), name]).collect()
        }
        [None, None] => options.databases.iter().map(|name| [name.clone(), name.clone()]).collect(),
    };
    let pair = |names: [String; 2]| {
        let is_there = Which::BOTH.map(|which| all[which.index()].contains(&names[which.index()]));
        match is_there {
            [false, false] => Err(Error::NotFound { what: format!("a schema `{}`", names[0]) }),
            _ => Ok(Pair { names, is_there }),
        }
    };
    wanted.into_iter().map(pair).collect()
}

fn names(connection: &mut Connection) -> Result<Vec<String>, ServerError> {
    let rows = connection.fetch(b"SELECT SCHEMA_NAME FROM information_schema.SCHEMATA")?;
    let names = rows.into_iter().filter_map(|row| row.into_iter().next().flatten());
    Ok(names.map(|name| String::from_utf8_lossy(&name).into_owned()).collect())
}

/// The schema's names if both endpoints have it; otherwise adds a finding.
pub(super) fn in_both(pair: &Pair, findings: &mut Findings) -> Option<[String; 2]> {
    match pair.is_there {
        [true, true] => Some(pair.names.clone()),
        [is_first, _] => {
            let which = if is_first { Which::First } else { Which::Second };
            findings.only(which, &pair.names[which.index()], "schema", "");
            None
        }
    }
}

/// The selected definitions of a schema. Removes found tables from `missing`.
pub(super) fn wanted(
    mut all: Definitions,
    names: &[String; 2],
    options: &Options,
    missing: &mut BTreeSet<String>,
) -> Definitions {
    if !options.tables.is_empty() {
        all.retain(|(kind, name), definition| {
            let table = match kind {
                Kind::Table | Kind::Sequence | Kind::View => String::from_utf8_lossy(name),
                Kind::Trigger => match definition.get(b"EVENT_OBJECT_TABLE".as_slice()) {
                    Some(Some(table)) => String::from_utf8_lossy(table),
                    _ => return false,
                },
                _ => return false,
            };
            let is_it = |wanted: &&String| {
                **wanted == table
                    || names.iter().any(|schema| wanted.strip_prefix(schema.as_str()) == Some(&format!(".{table}")))
            };
            let found: Vec<&String> = options.tables.iter().filter(is_it).collect();
            if *kind != Kind::Trigger {
                missing.retain(|name| !found.contains(&name));
            }
            !found.is_empty()
        });
    }
    if !options.counters {
        for ((kind, _), definition) in &mut all {
            if *kind == Kind::Table {
                definition.values_mut().flatten().for_each(|text| *text = without_counter(text));
            }
        }
    }
    all
}
