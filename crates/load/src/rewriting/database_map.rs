//! `--database-map OLD=NEW`: what a dump has in one schema goes into another.
//!
//! A name is changed where the grammar has a schema: in USE and in definitions of schemas, and before the dot of a name that
//! stands where tables, sequences, routines and the like do. Where the name before a dot could be that of a table, the
//! statement is refused. The bodies of views, triggers, routines and events do not change: one that names the schema is
//! refused, and so is dynamic SQL.

use std::fmt;
use std::str::FromStr;

use super::Edit;
use crate::lexer::{Kind, Token};
use crate::planner::Names;
use crate::rows::name;
use crate::selection::{Part, Scope};

/// A schema, and the one that takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseMap {
    from: String,
    to: String,
}

/// Why a text maps no schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` names no two schemas: write OLD=NEW, as in shop=shop_test; backticks can stand around a name, as in a dump"
)]
pub struct DatabaseMapError(String);

impl FromStr for DatabaseMap {
    type Err = DatabaseMapError;

    fn from_str(text: &str) -> Result<Self, DatabaseMapError> {
        let error = || DatabaseMapError(text.to_owned());
        let (from, rest) = leading_schema(text).ok_or_else(error)?;
        let to = rest.strip_prefix('=').ok_or_else(error)?;
        let to = match leading_schema(to).ok_or_else(error)? {
            (name, "") => name,
            // A name without backticks can hold the sign.
            _ if !to.starts_with('`') => to.to_owned(),
            _ => return Err(error()),
        };
        if from.is_empty() || to.is_empty() || from == to { Err(error()) } else { Ok(Self { from, to }) }
    }
}

/// A name up to the next `=`, or in backticks, and what follows it.
fn leading_schema(text: &str) -> Option<(String, &str)> {
    let Some(mut rest) = text.strip_prefix('`') else {
        let end = text.find('=').unwrap_or(text.len());
        return Some((text[..end].to_owned(), &text[end..]));
    };
    let mut name = String::new();
    loop {
        let (part, behind) = rest.split_once('`')?;
        name.push_str(part);
        match behind.strip_prefix('`') {
            // A doubled backtick is one.
            Some(behind) => {
                name.push('`');
                rest = behind;
            }
            None => return Some((name, behind)),
        }
    }
}

impl fmt::Display for DatabaseMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.from, self.to)
    }
}

impl DatabaseMap {
    /// Whether this is the schema that is mapped.
    pub(crate) fn is_of(&self, schema: &[u8], folds: bool) -> bool {
        is_same(&self.from, schema, folds)
    }

    /// Whether this is the schema that takes its place.
    pub(super) fn leads_to(&self, schema: &[u8], folds: bool) -> bool {
        is_same(&self.to, schema, folds)
    }

    /// The schema that takes the place.
    pub(super) fn target(&self) -> &[u8] {
        self.to.as_bytes()
    }

    /// Whether the other maps another schema to the same one.
    pub(super) fn collides_with(&self, other: &Self) -> bool {
        self != other && (self.from == other.from || self.to == other.to)
    }
}

fn is_same(one: &str, other: &[u8], folds: bool) -> bool {
    match std::str::from_utf8(other) {
        Ok(other) if folds => one.to_lowercase() == other.to_lowercase(),
        Ok(other) => one == other,
        Err(_) => false,
    }
}

/// Words behind which a table, or another object of a schema, stands.
const BEFORE_OBJECTS: &[&[u8]] = &[
    b"TABLE",
    b"TABLES",
    b"INTO",
    b"FROM",
    b"JOIN",
    b"STRAIGHT_JOIN",
    b"UPDATE",
    b"REFERENCES",
    b"LIKE",
    b"VIEW",
    b"SEQUENCE",
    b"TRIGGER",
    b"PROCEDURE",
    b"FUNCTION",
    b"EVENT",
    b"PACKAGE",
    b"BODY",
    b"EXISTS",
    b"TO",
    b"INSERT",
    b"REPLACE",
    b"IGNORE",
    b"DELAYED",
    b"LOW_PRIORITY",
    b"HIGH_PRIORITY",
    b"TRUNCATE",
    b"QUICK",
];

/// Functions of sequences, whose first argument is one.
const OF_SEQUENCES: &[&[u8]] = &[b"NEXTVAL", b"LASTVAL", b"SETVAL"];

/// Words behind which a schema stands alone.
const BEFORE_SCHEMAS: &[&[u8]] = &[b"USE", b"DATABASE", b"SCHEMA", b"FROM", b"IN"];

/// The changes of one statement.
///
/// # Errors
/// The reason why it is not certain what to change.
pub(super) fn edits(
    all: &[Token<'_>],
    scope: &Scope,
    maps: &[DatabaseMap],
    names: Names<'_>,
) -> Result<Vec<Edit>, String> {
    let folds = names.folds_case;
    let map_of = |token: &Token<'_>| {
        let name = name(token)?;
        maps.iter().find(|map| map.is_of(&name, folds))
    };
    if let Scope::Anything(reason) = scope {
        return Err(format!("under --database-map, {reason}: remove the statement from the dump"));
    }
    let is_unknown = |token: &Token<'_>| name(token).is_some_and(|name| !name.is_ascii());
    if let Some(map) = maps.iter().find(|map| !map.from.is_ascii())
        && !names.are_utf8
        && all.iter().any(is_unknown)
    {
        return Err(format!(
            "it holds names that are not in UTF-8 (the dump sets another character set), so --database-map={map} cannot be \
             compared with them: remove it from the dump"
        ));
    }
    let mut found = Vec::new();
    let mut change = |token: &Token<'_>, map: &DatabaseMap| {
        found.push((token.offset..token.end, hortator_mysql::quote_identifier(map.target())));
    };
    if let Scope::Schema { .. } = scope {
        let words: [&[u8]; 5] = [b"DATABASE", b"SCHEMA", b"IF", b"NOT", b"EXISTS"];
        let at = all.iter().position(|token| token.is_word(b"DATABASE") || token.is_word(b"SCHEMA"));
        let named = all.iter().skip(at.unwrap_or(0)).find(|token| !words.iter().any(|word| token.is_word(word)));
        if let Some((token, map)) = named.and_then(|token| Some((token, map_of(token)?))) {
            change(token, map);
        }
        return Ok(found);
    }
    let body = body(all, scope);
    let names_in_list = matches!(scope, Scope::Objects { .. } | Scope::Rename(_) | Scope::Locks(_));
    let mut depth = 0_usize;
    for (index, token) in all.iter().enumerate() {
        if token.is_symbol(b"(") {
            depth += 1;
        } else if token.is_symbol(b")") {
            depth = depth.saturating_sub(1);
        }
        let before = |count: usize| index.checked_sub(count).map(|at| &all[at]);
        let is_behind = |words: &[&[u8]]| before(1).is_some_and(|token| words.iter().any(|word| token.is_word(word)));
        let is_symbol = |at: usize, symbol: &[u8]| all.get(at).is_some_and(|token| token.is_symbol(symbol));
        if index >= body && (token.is_word(b"PREPARE") || token.is_word(b"EXECUTE")) && scope_has_body(scope) {
            return Err("under --database-map, its dynamic SQL may name any schema: remove it from the dump".to_owned());
        }
        let Some(map) = map_of(token) else { continue };
        let is_second = before(1).is_some_and(|token| token.is_symbol(b"."));
        if is_second {
            continue;
        }
        let is_qualifier = is_symbol(index + 1, b".");
        let refuse = |what: &str| {
            Err(format!(
                "{what} names the schema `{}`, which --database-map={map} maps: remove it from the dump, or create it by hand",
                map.from
            ))
        };
        if index >= body {
            if is_qualifier || is_behind(BEFORE_SCHEMAS) {
                return refuse("its definition");
            }
            continue;
        }
        if matches!(scope, Scope::Server | Scope::Report(_)) {
            if is_qualifier || is_behind(BEFORE_SCHEMAS) {
                return refuse("the statement");
            }
            continue;
        }
        if !is_qualifier {
            continue;
        }
        let is_three_parts = is_symbol(index + 3, b".");
        let is_called = is_symbol(index + 3, b"(");
        let is_of_sequence = (is_symbol(index.wrapping_sub(1), b"(")
            && before(2).is_some_and(|token| OF_SEQUENCES.iter().any(|word| token.is_word(word))))
            || (is_behind(&[b"FOR"]) && before(2).is_some_and(|token| token.is_word(b"VALUE")));
        let is_in_list = names_in_list && depth == 0 && is_symbol(index.wrapping_sub(1), b",");
        let is_on = names_its_table(scope, all) && depth == 0 && is_behind(&[b"ON"]);
        // `ALTER TABLE a RENAME b`, `ALTER TABLE a RENAME AS b`.
        let is_new_name = matches!(scope, Scope::Rename(_)) && is_behind(&[b"RENAME", b"AS"]);
        let is_certain = is_behind(BEFORE_OBJECTS)
            || is_three_parts
            || is_called
            || is_of_sequence
            || is_in_list
            || is_on
            || is_new_name;
        if !is_certain {
            return Err(format!(
                "`{0}` before a dot may be the schema, which --database-map={map} maps, or a table or an alias of this name: \
                 remove the statement from the dump",
                map.from
            ));
        }
        change(token, map);
    }
    Ok(found)
}

/// Whether a definition has a body that runs later.
fn scope_has_body(scope: &Scope) -> bool {
    match scope {
        Scope::Trigger { .. } | Scope::Objects { part: Part::ViewDefinition, .. } => true,
        Scope::Objects { kind, .. } => *kind != crate::selection::ObjectKind::Relation,
        _ => false,
    }
}

/// Whether ON stands before the table that the statement concerns: CREATE TRIGGER, CREATE INDEX, DROP INDEX.
fn names_its_table(scope: &Scope, all: &[Token<'_>]) -> bool {
    let is_index = || all.iter().take(6).any(|token| token.is_word(b"INDEX"));
    matches!(scope, Scope::Trigger { .. }) || (matches!(scope, Scope::Objects { .. }) && is_index())
}

/// Where the body of a definition begins: behind the name, and behind the table of a trigger. Past the end where there is
/// none.
fn body(all: &[Token<'_>], scope: &Scope) -> usize {
    const KINDS: &[&[u8]] = &[b"VIEW", b"TRIGGER", b"PROCEDURE", b"FUNCTION", b"PACKAGE", b"EVENT"];
    if !scope_has_body(scope) {
        return all.len();
    }
    let last_of_head = match scope {
        Scope::Trigger { table: Some(_), .. } => all.iter().position(|token| token.is_word(b"ON")),
        _ => all.iter().position(|token| KINDS.iter().any(|kind| token.is_word(kind))),
    };
    let Some(mut at) = last_of_head.map(|at| at + 1) else { return 0 };
    while all
        .get(at)
        .is_some_and(|token| [b"BODY".as_slice(), b"IF", b"NOT", b"EXISTS"].iter().any(|word| token.is_word(word)))
    {
        at += 1;
    }
    at + if all.get(at + 1).is_some_and(|token| token.is_symbol(b".")) { 3 } else { 1 }
}

/// The change of an INSERT of literals: `head` are the tokens before the rows.
pub(super) fn edit_of_head(head: &[Token<'_>], maps: &[DatabaseMap], folds: bool) -> Option<Edit> {
    head.iter().zip(head.get(1..)?).find_map(|(token, next)| {
        let name = match &token.kind {
            Kind::Word(_) | Kind::QuotedIdentifier(_) if next.is_symbol(b".") => name(token)?,
            _ => return None,
        };
        let map = maps.iter().find(|map| map.is_of(&name, folds))?;
        Some((token.offset..token.end, hortator_mysql::quote_identifier(map.target())))
    })
}
