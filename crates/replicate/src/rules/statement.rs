//! Statements under the rules.
//!
//! A definition of a known form is rewritten: each name becomes that of the target, with its schema. Of any other statement
//! only its words are known. It runs as it is where no word can be the name of a table that a rule changes, and in the other
//! schema where a rule gives all tables of the default schema another one. Else it is refused: nothing is half rewritten.

use hortator_load::lexer::{Dialect, Token, tokens};
use hortator_mysql::quote_identifier;

use super::cascades;
use super::names::{Definition, Named, definition};
use super::words::{of_words, pairs, refused_for, shown};
use super::{Change, Decision, Rules};

/// What becomes of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rewritten {
    /// It runs as it is.
    AsIs,
    /// It does not run.
    LeftOut,
    /// It runs with another text and another default schema.
    Changed {
        /// The text.
        text: Vec<u8>,
        /// The schema; empty for none.
        schema: Vec<u8>,
    },
    /// Instead of TRUNCATE, the source's own rows are deleted. As for TRUNCATE, foreign keys are not looked at.
    OwnRowsDeleted {
        /// The text.
        text: Vec<u8>,
        /// The default schema; empty for none.
        schema: Vec<u8>,
    },
    /// It cannot be carried over: why, and what to do.
    Refused(String),
}

const TEMPORARY: &str = "a temporary table of statements, and the source has rules: set binlog_format = ROW there. Do not skip it \
                         where a permanent table has its name: the statements behind it would change that";
pub(super) const BY_HAND: &str = "run what it should do on the target by hand, then `skip` it";

/// What becomes of a statement that the source ran with this default schema.
pub(crate) fn rewrite(rules: &Rules, schema: &[u8], text: &[u8], dialect: &Dialect) -> Rewritten {
    if rules.is_empty() {
        return Rewritten::AsIs;
    }
    match (rewrite_by_rules(rules, schema, text, dialect), rules.shown_passed_over()) {
        (Rewritten::Refused(reason), Some(tables)) => Rewritten::Refused(format!(
            "{reason}. Nothing is applied to {tables} before that is copied by itself: if the statement names it, `skip` the \
             statement, do by hand what it does to other tables, and copy the tables again that it moves or makes"
        )),
        (becomes, _) => becomes,
    }
}

fn rewrite_by_rules(rules: &Rules, schema: &[u8], text: &[u8], dialect: &Dialect) -> Rewritten {
    let mut words = tokens(text, dialect).take(4);
    let is = |token: Option<&Token<'_>>, word: &[u8]| token.is_some_and(|token| token.is_word(word));
    let verb = words.next();
    let is_temporary = is(words.find(|word| !word.is_word(b"OR") && !word.is_word(b"REPLACE")).as_ref(), b"TEMPORARY");
    if is_temporary && is(verb.as_ref(), b"CREATE") {
        return Rewritten::Refused(TEMPORARY.to_owned());
    }
    if is_temporary && is(verb.as_ref(), b"DROP") {
        // Those of statements are not created here, and those of rows are not in the log.
        return Rewritten::LeftOut;
    }
    let becomes = match definition(text, dialect) {
        Some(found) if found.is_of_schema => of_schema(rules, schema, text, &found),
        Some(found) => of_tables(rules, schema, text, &found, dialect),
        None => of_words(rules, schema, text, dialect),
    };
    match becomes {
        // The target may have another default schema, or none, where the text names none of its tables.
        Rewritten::AsIs if rules.decide_schema(schema) != Decision::AsIs => {
            Rewritten::Changed { text: text.to_vec(), schema: default_schema(rules, schema) }
        }
        becomes => becomes,
    }
}

/// CREATE, ALTER, DROP DATABASE.
fn of_schema(rules: &Rules, default: &[u8], text: &[u8], found: &Definition) -> Rewritten {
    let named = found.names.first();
    let schema = named.map_or(default, |named| &named.name);
    let destroys = found.change == Change::Drop || found.replaces;
    match rules.decide_schema(schema) {
        Decision::LeaveOut => Rewritten::LeftOut,
        Decision::Apply(rule) if rule.leaves_out(found.change) => Rewritten::LeftOut,
        Decision::Apply(rule) => match rule.to().and_then(|to| rule.tables.map_schema(to, schema)) {
            Some(to) if destroys && (rules.is_shared_schema(&to) || has_apart(rules, schema, rule)) => {
                Rewritten::Refused(format!(
                    "it drops a schema whose tables are in `{}`, with tables of others: {BY_HAND}",
                    String::from_utf8_lossy(&to)
                ))
            }
            Some(to) => {
                let Some(named) = named else { return Rewritten::Changed { text: text.to_vec(), schema: to } };
                let text = [&text[..named.start], &quote_identifier(&to), &text[named.end..]].concat();
                Rewritten::Changed { text, schema: Vec::new() }
            }
            None => Rewritten::AsIs,
        },
        Decision::AsIs if destroys && rules.list.iter().any(|rule| rule.is_elsewhere(schema)) => {
            Rewritten::Refused(format!("it drops a schema of which a rule has put or kept tables elsewhere: {BY_HAND}"))
        }
        Decision::AsIs if destroys && rules.others.iter().any(|to| to.matches_some_of(schema)) => {
            Rewritten::Refused(format!(
                "it drops the schema `{}`, with tables of other sources: {BY_HAND}",
                String::from_utf8_lossy(schema)
            ))
        }
        Decision::AsIs => Rewritten::AsIs,
    }
}

/// Whether other rules put some tables of a schema elsewhere than its own rule.
fn has_apart(rules: &Rules, schema: &[u8], own: &super::Rule) -> bool {
    rules.list.iter().take_while(|rule| *rule != own).any(|rule| rule.is_elsewhere(schema))
}

impl super::Rule {
    /// Whether it gives tables of a schema another name, or keeps them where the source drops them.
    fn is_elsewhere(&self, schema: &[u8]) -> bool {
        self.tables.matches_some_of(schema) && (self.to().is_some() || self.without().has(Change::Drop))
    }
}

/// What becomes of a table's name.
enum Name {
    Stays,
    Gone,
    Becomes(Vec<u8>, Vec<u8>),
}

fn of_tables(rules: &Rules, default: &[u8], text: &[u8], found: &Definition, dialect: &Dialect) -> Rewritten {
    let mut all = Vec::with_capacity(found.names.len());
    let mut conflict = None;
    for named in &found.names {
        let schema = named.schema.as_deref().unwrap_or(default);
        all.push(match rules.decide(schema, &named.name) {
            Decision::AsIs => {
                if !named.is_read {
                    conflict = conflict.or_else(|| objection(rules, None, (schema, &named.name), found, text, dialect));
                }
                Name::Stays
            }
            Decision::LeaveOut => Name::Gone,
            Decision::Apply(rule) if rule.leaves_out(found.change) && !named.is_read => Name::Gone,
            Decision::Apply(rule) => {
                let (schema, table) = rule.name_on_target(schema, &named.name);
                if !named.is_read {
                    let on_target = (&schema[..], &table[..]);
                    conflict = conflict
                        .or_else(|| cascades::objection(rules, rule, on_target, default, found, text, dialect))
                        .or_else(|| objection(rules, rule.source_column(), (&schema, &table), found, text, dialect));
                }
                Name::Becomes(schema, table)
            }
        });
    }
    let written = || found.names.iter().zip(&all).filter(|(named, _)| !named.is_read);
    if all.iter().all(|name| matches!(name, Name::Stays)) {
        return match (conflict, leftover(rules, text, &found.names, dialect)) {
            (Some(reason), _) => Rewritten::Refused(reason),
            (None, Some(name)) => refused_for(&name),
            (None, None) => Rewritten::AsIs,
        };
    }
    if written().all(|(_, name)| matches!(name, Name::Gone)) {
        return Rewritten::LeftOut;
    }
    if !found.is_list && all.iter().any(|name| matches!(name, Name::Gone)) {
        return Rewritten::Refused(format!("it names a table that is left out, and one that is not: {BY_HAND}"));
    }
    if let Some(reason) = conflict {
        return Rewritten::Refused(reason);
    }
    if let Some(name) = leftover(rules, text, &found.names, dialect) {
        return refused_for(&name);
    }
    let on_target = |named: &Named, name: &Name| -> Vec<u8> {
        let (schema, table) = match name {
            Name::Becomes(schema, table) => (&schema[..], &table[..]),
            Name::Stays | Name::Gone => (named.schema.as_deref().unwrap_or(default), &named.name[..]),
        };
        match schema.is_empty() {
            true => quote_identifier(table),
            false => [quote_identifier(schema), b".".to_vec(), quote_identifier(table)].concat(),
        }
    };
    let kept: Vec<(&Named, Vec<u8>)> = found
        .names
        .iter()
        .zip(&all)
        .filter(|(_, name)| !matches!(name, Name::Gone))
        .map(|(named, name)| (named, on_target(named, name)))
        .collect();
    let mut changed = Vec::with_capacity(text.len() + 64);
    if found.is_list {
        let (first, last) = (&found.names[0], &found.names[found.names.len() - 1]);
        changed.extend_from_slice(&text[..first.start]);
        changed.extend_from_slice(&kept.iter().map(|(_, name)| &name[..]).collect::<Vec<_>>().join(&b", "[..]));
        changed.extend_from_slice(&text[last.end..]);
    } else {
        let mut at = 0;
        for (named, name) in &kept {
            changed.extend_from_slice(&text[at..named.start]);
            changed.extend_from_slice(name);
            at = named.end;
        }
        changed.extend_from_slice(&text[at..]);
    }
    let schema = default_schema(rules, default);
    match own_rows(rules, default, found) {
        Some(condition) if found.change == Change::Truncate => {
            Rewritten::OwnRowsDeleted { text: [b"DELETE FROM ".as_slice(), &kept[0].1, &condition].concat(), schema }
        }
        _ => Rewritten::Changed { text: changed, schema },
    }
}

/// Why a change of a table of the target cannot be made as on the source.
fn objection(
    rules: &Rules,
    source_column: Option<&str>,
    (schema, table): (&[u8], &[u8]),
    found: &Definition,
    text: &[u8],
    dialect: &Dialect,
) -> Option<String> {
    let all: Vec<Token<'_>> = tokens(text, dialect).collect();
    let has_word = |wanted: &[u8]| all.iter().any(|token| token.is_word(wanted));
    let name = || format!("{}.{}", String::from_utf8_lossy(schema), String::from_utf8_lossy(table));
    let is_shared = rules.is_shared(schema, table);
    let takes_rows = match found.change {
        Change::Drop => true,
        Change::Truncate => source_column.is_none() || rules.takes_several(schema, table),
        Change::Alter => DROPS_ROWS.iter().any(|words| has_words(&all, words)),
        _ => found.replaces,
    };
    if takes_rows && is_shared {
        return Some(format!(
            "it would take the rows of other sources in {} too: leave such statements out by \
             skip_events = [\"{}\"], or {BY_HAND}",
            name(),
            if found.replaces { "create" } else { found.change.word() }
        ));
    }
    if found.change != Change::Alter {
        return None;
    }
    let moves = found.names.iter().filter(|named| !named.is_read).count() > 1;
    if source_column.is_some()
        && (moves
            || has_column_key(&all)
            || [&b"UNIQUE"[..], b"PRIMARY", b"REFERENCES"].iter().any(|word| has_word(word)))
    {
        return Some(format!(
            "it changes a unique key, a foreign key or the name of {}, which has a source column: {BY_HAND}",
            name()
        ));
    }
    if is_shared && moves {
        return Some(format!("it would put the rows of other sources in {} elsewhere too: {BY_HAND}", name()));
    }
    if is_shared && (has_word(b"FIRST") || has_word(b"AFTER") || drops_column(&all)) {
        return Some(format!(
            "it changes the places of columns of {}, of which other sources may have rows as they were: when all sources \
             have stopped at this change, {BY_HAND} in each of them",
            name()
        ));
    }
    None
}

/// What stands before KEY where that is not the primary key of a column, as in `ADD COLUMN id INT KEY`.
const BEFORE_KEY: [&[u8]; 10] =
    [b"ADD", b"DROP", b"RENAME", b"ALTER", b"FOREIGN", b"UNIQUE", b"FULLTEXT", b"SPATIAL", b"VECTOR", b"BY"];

/// Whether a column's definition makes it the primary key by KEY alone.
fn has_column_key(all: &[Token<'_>]) -> bool {
    all.windows(2).any(|pair| {
        let is_other = pair[0].is_symbol(b",") || pair[0].is_symbol(b"(") || pair[0].is_word(b"LINEAR");
        pair[1].is_word(b"KEY") && !is_other && !BEFORE_KEY.iter().any(|word| pair[0].is_word(word))
    })
}

/// Words of ALTER TABLE that rows go with.
const DROPS_ROWS: [&[&[u8]]; 2] = [&[b"DROP", b"PARTITION"], &[b"TRUNCATE", b"PARTITION"]];

fn has_words(all: &[Token<'_>], words: &[&[u8]]) -> bool {
    all.windows(words.len()).any(|some| some.iter().zip(words).all(|(token, word)| token.is_word(word)))
}

/// What ALTER TABLE drops and that is no column.
const NO_COLUMN: [&[u8]; 9] =
    [b"INDEX", b"KEY", b"PRIMARY", b"FOREIGN", b"CONSTRAINT", b"CHECK", b"PARTITION", b"PERIOD", b"SYSTEM"];

/// Whether ALTER TABLE drops a column; `ALTER COLUMN … DROP DEFAULT` does not.
fn drops_column(all: &[Token<'_>]) -> bool {
    let is_of_column = |pair: &[Token<'_>]| {
        pair[0].is_word(b"DROP") && !pair[1].is_word(b"DEFAULT") && !NO_COLUMN.iter().any(|word| pair[1].is_word(word))
    };
    !all.first().is_some_and(|token| token.is_word(b"DROP")) && all.windows(2).any(is_of_column)
}

/// The rows of this source alone, of a table with a source column.
fn own_rows(rules: &Rules, default: &[u8], found: &Definition) -> Option<Vec<u8>> {
    let named = found.names.first()?;
    let Decision::Apply(rule) = rules.decide(named.schema.as_deref().unwrap_or(default), &named.name) else {
        return None;
    };
    let column = quote_identifier(rule.source_column()?);
    // Under every sql_mode.
    let value: String = rules.source().bytes().map(|byte| format!("{byte:02x}")).collect();
    Some([b" WHERE ".as_slice(), &column, format!(" = X'{value}'").as_bytes()].concat())
}

/// The default schema of a statement whose tables are all named with theirs.
pub(super) fn default_schema(rules: &Rules, default: &[u8]) -> Vec<u8> {
    match rules.decide_schema(default) {
        Decision::LeaveOut => Vec::new(),
        Decision::AsIs => default.to_vec(),
        Decision::Apply(rule) => match rule.to().and_then(|to| rule.tables.map_schema(to, default)) {
            Some(schema) => schema,
            None => default.to_vec(),
        },
    }
}

/// A name that stands elsewhere in a definition, and that a rule changes.
fn leftover(rules: &Rules, text: &[u8], known: &[Named], dialect: &Dialect) -> Option<String> {
    let all: Vec<Token<'_>> = tokens(text, dialect).collect();
    pairs(&all, known).find(|(schema, table)| rules.decide(schema, table) != Decision::AsIs).map(|pair| shown(&pair))
}
