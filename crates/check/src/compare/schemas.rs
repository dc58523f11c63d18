//! Which schemas and which definitions in them are compared.

use std::collections::BTreeSet;

use hortator_mysql::{Connection, Error as ServerError};

use super::moment::Connected;
use super::report::Findings;
use super::{Error, Options, Side, Which, is_of_the_server};
use crate::definitions::{Definitions, Kind, without_counter};

/// A schema's name on each side, and whether it is there.
pub(super) struct Pair {
    names: [String; 2],
    is_there: [bool; 2],
}

/// The schemas that are meant, by name.
pub(super) fn pairs(connected: &mut Connected, sides: &[Side; 2], options: &Options) -> Result<Vec<Pair>, Error> {
    let all = connected.both("reading the names of schemas", |connection, _| names(connection))?;
    let wanted: Vec<[String; 2]> = match sides.each_ref().map(|side| side.schema.clone()) {
        [Some(first), Some(second)] => vec![[first, second]],
        [Some(name), None] | [None, Some(name)] => vec![[name.clone(), name]],
        [None, None] if options.databases.is_empty() => {
            let own = all.iter().flatten().filter(|name| !is_of_the_server(name));
            own.cloned().collect::<BTreeSet<_>>().into_iter().map(|name| [name.clone(), name]).collect()
        }
        [None, None] => options.databases.iter().map(|name| [name.clone(), name.clone()]).collect(),
    };
    let pair = |names: [String; 2]| {
        let is_there = Which::BOTH.map(|which| all[which.index()].contains(&names[which.index()]));
        match is_there {
            [false, false] => Err(Error::Neither { what: format!("a schema `{}`", names[0]) }),
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

/// The schema's names if both sides have it; else that is a finding.
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

/// What of a schema's definitions is compared. Names of tables that are found are taken out of `missing`.
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
