//! INSERT and its relatives, in the forms that dumps have.

use super::script::Script;
use super::tables::{Column, Identity, name};
use super::values::{Kind, quoted, value};

/// An INSERT or REPLACE of one to several rows.
pub fn insert(script: &mut Script, table: usize) -> Vec<u8> {
    let columns: Vec<Column> = script.tables[table].given().cloned().collect();
    let has_generated = script.tables[table].columns.len() != columns.len();
    let identity = script.tables[table].identity;
    // Once a column was added by ALTER TABLE, a list without names no longer fits: that is an error worth having.
    let is_plain = script.spelling.only_literals;
    let named = has_generated || script.dice.chance(if is_plain { 5 } else { 40 });
    let without_id = named && identity == Identity::Counted && script.dice.chance(50);
    let last_is_optional = columns.last().is_some_and(|column| column.optional) || script.dice.chance(3);
    let left_out = named && columns.len() > 1 && last_is_optional && script.dice.chance(25);
    let columns = &columns[..columns.len() - usize::from(left_out)];
    let form = script.dice.weighted(if is_plain { &[94, 2, 2, 2, 0] } else { &[74, 8, 8, 6, 4] });
    let verb = match form {
        1 => "INSERT IGNORE INTO",
        2 => "REPLACE INTO",
        _ => "INSERT INTO",
    };
    let mut text = format!("{verb} {}", name(&script.tables[table].name)).into_bytes();
    if form == 4 && columns.iter().all(|column| column.parent.is_none()) && identity != Identity::None {
        return set_form(script, table, columns, text);
    }
    if named {
        let id = (identity != Identity::None && !without_id).then_some("id");
        let names: Vec<&str> = id.into_iter().chain(columns.iter().map(|column| column.name.as_str())).collect();
        text.extend(format!(" ({})", names.join(", ")).bytes());
    }
    text.extend(b" VALUES ");
    for row in 0..script.dice.below(5) + 1 {
        if row > 0 {
            text.extend(*script.dice.pick(&[&b","[..], b", ", b",\n"]));
        }
        text.push(b'(');
        let mut values: Vec<Vec<u8>> = Vec::new();
        if identity != Identity::None && !without_id {
            values.push(id(script, table));
        } else if without_id {
            count_on(script, table);
        }
        for column in columns {
            values.push(column_value(script, column));
        }
        text.extend(values.join(&b","[..]));
        text.push(b')');
    }
    if form == 3 {
        let column = &columns[0].name;
        text.extend(format!(" ON DUPLICATE KEY UPDATE {column} = VALUES({column})").bytes());
    }
    text
}

fn set_form(script: &mut Script, table: usize, columns: &[Column], mut text: Vec<u8>) -> Vec<u8> {
    text.extend(b" SET id = ");
    text.extend(id(script, table));
    for column in columns {
        text.extend(format!(", {} = ", column.name).bytes());
        text.extend(column_value(script, column));
    }
    text
}

fn column_value(script: &mut Script, column: &Column) -> Vec<u8> {
    let may_be_left_open = column.optional || script.dice.chance(3);
    match column.parent {
        Some(parent) => parent_id(script, parent).into_bytes(),
        None if column.kind == Kind::Fresh => fresh(script).into_bytes(),
        None if may_be_left_open && script.dice.chance(8) => b"NULL".to_vec(),
        None if may_be_left_open && !script.spelling.only_literals && script.dice.chance(5) => b"DEFAULT".to_vec(),
        None => value(&mut script.dice, column.kind, script.spelling),
    }
}

/// The identity of a row: new, or rarely one that is there.
fn id(script: &mut Script, table: usize) -> Vec<u8> {
    let identity = script.tables[table].identity;
    if identity == Identity::Counted && script.dice.chance(if script.spelling.only_literals { 1 } else { 40 }) {
        count_on(script, table);
        return script.dice.pick(&["NULL", "0", "DEFAULT", "NULL"]).as_bytes().to_vec();
    }
    let ids = &script.tables[table].ids;
    let next = ids.iter().max().map_or(1, |id| id + 1);
    let id = if !ids.is_empty() && script.dice.chance(if script.spelling.only_literals { 1 } else { 3 }) {
        *script.dice.pick(&script.tables[table].ids)
    } else {
        next + i64::from(script.dice.chance(10)) * 3
    };
    script.tables[table].ids.push(id);
    script.tables[table].known_ids.push(id);
    match identity {
        Identity::Named => quoted(format!("k{id}").as_bytes(), script.spelling),
        _ if script.dice.chance(5) => format!("'{id}'").into_bytes(),
        _ => id.to_string().into_bytes(),
    }
}

fn fresh(script: &mut Script) -> String {
    let number = script.new_number();
    let number = if script.dice.chance(1) { number.saturating_sub(5) } else { number };
    format!("{number}")
}

/// Takes note of an identity that the server gives.
fn count_on(script: &mut Script, table: usize) {
    let ids = &mut script.tables[table].ids;
    ids.push(ids.iter().max().map_or(1, |id| id + 1));
}

/// A reference to a row of `parent`: mostly one that is there.
pub fn parent_id(script: &mut Script, parent: usize) -> String {
    if script.dice.chance(40) {
        return "NULL".to_owned();
    }
    // Of rows that came just now it is not sure that they are there: they may be in this very statement.
    let ids = script.tables.get(parent).map(|table| table.known_ids.clone()).unwrap_or_default();
    let unsettled = *script.dice.pick(&[0, 4, 4, 8]);
    let settled = &ids[..ids.len().saturating_sub(unsettled)];
    match settled {
        [] if script.dice.chance(98) => "NULL".to_owned(),
        [] => script.dice.below(2000).to_string(),
        _ if script.dice.chance(2) => script.dice.below(2000).to_string(),
        // Rather an old row than a new one: what fails takes its children along.
        _ => script.dice.pick(settled).min(script.dice.pick(settled)).to_string(),
    }
}
