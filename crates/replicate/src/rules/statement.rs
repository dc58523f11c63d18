//! Statements under the rules.
//!
//! A definition of a known form is rewritten: each name becomes that of the target, with its schema. Of any other statement
//! only its words are known. It runs as it is where no word can be the name of a table that a rule changes, and in the other
//! schema where a rule gives all tables of the default schema another one. Else it is refused: nothing is half rewritten.

use hortator_load::lexer::{Dialect, Token, tokens};
use hortator_mysql::quote_identifier;

use super::names::{Definition, Named, definition, name};
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
    /// It cannot be carried over: why, and what to do.
    Refused(String),
}

const BY_HAND: &str = "run what it should do on the target by hand, then `skip` it";

/// What becomes of a statement that the source ran with this default schema.
pub(crate) fn rewrite(rules: &Rules, schema: &[u8], text: &[u8], dialect: &Dialect) -> Rewritten {
    if rules.is_empty() {
        return Rewritten::AsIs;
    }
    let mut words = tokens(text, dialect);
    let is = |token: Option<Token<'_>>, word: &[u8]| token.is_some_and(|token| token.is_word(word));
    if is(words.next(), b"DROP") && is(words.next(), b"TEMPORARY") {
        // Those of statements are not created here, and those of rows are not in the log.
        return Rewritten::LeftOut;
    }
    match definition(text, dialect) {
        Some(found) if found.is_of_schema => of_schema(rules, text, &found),
        Some(found) => of_tables(rules, schema, text, &found, dialect),
        None => of_words(rules, schema, text, dialect),
    }
}

/// CREATE, ALTER, DROP DATABASE.
fn of_schema(rules: &Rules, text: &[u8], found: &Definition) -> Rewritten {
    let Some(named) = found.names.first() else { return Rewritten::AsIs };
    let schema = &named.name;
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
                // Several schemas may become one.
                let exists: &[u8] = match found.change == Change::Create && !found.has_if && !found.replaces {
                    true => b"IF NOT EXISTS ",
                    false => b"",
                };
                let text = [&text[..named.start], exists, &quote_identifier(&to), &text[named.end..]].concat();
                Rewritten::Changed { text, schema: Vec::new() }
            }
            None => Rewritten::AsIs,
        },
        Decision::AsIs if destroys && rules.list.iter().any(|rule| rule.is_elsewhere(schema)) => {
            Rewritten::Refused(format!("it drops a schema of which a rule has put tables elsewhere: {BY_HAND}"))
        }
        Decision::AsIs => Rewritten::AsIs,
    }
}

/// Whether other rules put some tables of a schema elsewhere than its own rule.
fn has_apart(rules: &Rules, schema: &[u8], own: &super::Rule) -> bool {
    rules.list.iter().take_while(|rule| *rule != own).any(|rule| rule.is_elsewhere(schema))
}

impl super::Rule {
    /// Whether it gives tables of a schema another name.
    fn is_elsewhere(&self, schema: &[u8]) -> bool {
        self.tables.matches_some_of(schema) && self.to().is_some()
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
            Decision::AsIs => Name::Stays,
            Decision::LeaveOut => Name::Gone,
            Decision::Apply(rule) if rule.leaves_out(found.change) && !named.is_read => Name::Gone,
            Decision::Apply(rule) => {
                let (schema, table) = rule.name_on_target(schema, &named.name);
                if !named.is_read {
                    conflict = conflict.or_else(|| objection(rules, rule, (&schema, &table), found, text, dialect));
                }
                Name::Becomes(schema, table)
            }
        });
    }
    let written = || found.names.iter().zip(&all).filter(|(named, _)| !named.is_read);
    if all.iter().all(|name| matches!(name, Name::Stays)) {
        return match leftover(rules, text, &found.names, dialect) {
            Some(name) => refused_for(&name),
            None => Rewritten::AsIs,
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
    if let (Change::Truncate, Some(condition)) = (found.change, own_rows(rules, default, found)) {
        changed = [b"DELETE FROM ".as_slice(), &kept[0].1, &condition].concat();
    }
    Rewritten::Changed { text: changed, schema: default_schema(rules, default) }
}

/// Why a change of a table of the target cannot be made as on the source.
fn objection(
    rules: &Rules,
    rule: &super::Rule,
    (schema, table): (&[u8], &[u8]),
    found: &Definition,
    text: &[u8],
    dialect: &Dialect,
) -> Option<String> {
    let has_word = |wanted: &[u8]| tokens(text, dialect).any(|token| token.is_word(wanted));
    let name = || format!("{}.{}", String::from_utf8_lossy(schema), String::from_utf8_lossy(table));
    let destroys = found.change == Change::Drop || found.replaces;
    let empties = found.change == Change::Truncate && rule.source_column().is_none();
    if (destroys || empties) && rules.is_shared(schema, table) {
        return Some(format!(
            "it would take the rows of other sources in {} too: leave such statements out by \
             skip_events = [\"{}\"], or {BY_HAND}",
            name(),
            if found.replaces { "create" } else { found.change.word() }
        ));
    }
    if rule.source_column().is_some() && found.change == Change::Alter {
        let has_key = [&b"UNIQUE"[..], b"PRIMARY"].iter().any(|word| has_word(word));
        let moves = found.names.iter().filter(|named| !named.is_read).count() > 1;
        if has_key || moves {
            return Some(format!(
                "it changes a unique key or the name of {}, which has a source column: {BY_HAND}",
                name()
            ));
        }
    }
    None
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
fn default_schema(rules: &Rules, default: &[u8]) -> Vec<u8> {
    match rules.decide_schema(default) {
        Decision::LeaveOut => Vec::new(),
        Decision::AsIs => default.to_vec(),
        Decision::Apply(rule) => match rule.to().and_then(|to| rule.tables.map_schema(to, default)) {
            Some(schema) => schema,
            None => default.to_vec(),
        },
    }
}

fn refused_for(name: &str) -> Rewritten {
    Rewritten::Refused(format!("it may name {name}, which a rule changes, in a way that is not understood: {BY_HAND}"))
}

/// `schema.table` pairs of a text, outside of the names that are known.
fn pairs<'t>(all: &'t [Token<'_>], known: &'t [Named]) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> + 't {
    all.windows(3).filter_map(move |three| {
        let [first, dot, second] = three else { return None };
        let is_known = known.iter().any(|named| named.start <= first.offset && second.end <= named.end);
        (!is_known && dot.is_symbol(b".")).then_some((name(first)?, name(second)?))
    })
}

/// A name that stands elsewhere in a definition, and that a rule changes.
fn leftover(rules: &Rules, text: &[u8], known: &[Named], dialect: &Dialect) -> Option<String> {
    let all: Vec<Token<'_>> = tokens(text, dialect).collect();
    pairs(&all, known).find(|(schema, table)| rules.decide(schema, table) != Decision::AsIs).map(|pair| shown(&pair))
}

fn shown((schema, table): &(Vec<u8>, Vec<u8>)) -> String {
    format!("{}.{}", String::from_utf8_lossy(schema), String::from_utf8_lossy(table))
}

/// The first words of statements about accounts. They are changes of the schema `mysql`.
const ACCOUNTS: [&[&str]; 12] = [
    &["GRANT"],
    &["REVOKE"],
    &["CREATE", "USER"],
    &["CREATE", "OR", "REPLACE", "USER"],
    &["CREATE", "ROLE"],
    &["CREATE", "OR", "REPLACE", "ROLE"],
    &["ALTER", "USER"],
    &["DROP", "USER"],
    &["DROP", "ROLE"],
    &["RENAME", "USER"],
    &["SET", "PASSWORD"],
    &["SET", "DEFAULT", "ROLE"],
];

/// The schema and the table that stand for all accounts.
const ACCOUNTS_TABLE: (&[u8], &[u8]) = (b"mysql", b"user");

fn is_about_accounts(all: &[Token<'_>]) -> bool {
    let begins = |words: &&[&str]| {
        words.iter().enumerate().all(|(at, word)| all.get(at).is_some_and(|token| token.is_word(word.as_bytes())))
    };
    ACCOUNTS.iter().any(begins)
}

/// A statement of no known form: any word may be a table of the default schema.
fn of_words(rules: &Rules, default: &[u8], text: &[u8], dialect: &Dialect) -> Rewritten {
    let all: Vec<Token<'_>> = tokens(text, dialect).collect();
    if is_about_accounts(&all) && rules.decide(ACCOUNTS_TABLE.0, ACCOUNTS_TABLE.1) == Decision::LeaveOut {
        return Rewritten::LeftOut;
    }
    if let Some(pair) = pairs(&all, &[]).find(|(schema, table)| rules.decide(schema, table) != Decision::AsIs) {
        return refused_for(&shown(&pair));
    }
    // A schema by itself: GRANT … ON shop.*, SHOW … FROM shop.
    let names: Vec<Vec<u8>> = all.iter().filter_map(name).collect();
    let all_of = all.windows(3).find_map(|three| {
        let is_all = three[1].is_symbol(b".") && three[2].is_symbol(b"*");
        let schema = name(&three[0]).filter(|_| is_all)?;
        rules.list.iter().any(|rule| rule.tables.matches_some_of(&schema) && !rule.changes_nothing()).then_some(schema)
    });
    if let Some(schema) = all_of {
        return refused_for(&format!("{}.*", String::from_utf8_lossy(&schema)));
    }
    if default.is_empty()
        || is_about_accounts(&all)
        || names.iter().all(|table| rules.decide(default, table) == Decision::AsIs)
    {
        return Rewritten::AsIs;
    }
    let whole = rules.decide_schema(default);
    let differs = names.iter().find(|table| rules.decide(default, table) != whole);
    match (whole, differs) {
        (_, Some(table)) => refused_for(&shown(&(default.to_vec(), table.clone()))),
        (Decision::LeaveOut, None) => Rewritten::LeftOut,
        (Decision::Apply(rule), None) => match rule.to() {
            Some(to) if rule.keeps_rows_alone() && rule.tables.keeps_tables(to) => {
                Rewritten::Changed { text: text.to_vec(), schema: default_schema(rules, default) }
            }
            _ => Rewritten::Refused(format!(
                "the rule for {} changes more than the schema, and this statement cannot be rewritten: {BY_HAND}",
                rule.tables
            )),
        },
        (Decision::AsIs, None) => Rewritten::AsIs,
    }
}

impl super::Rule {
    /// Whether it changes names at most.
    fn keeps_rows_alone(&self) -> bool {
        self.source_column().is_none() && self.without().is_empty()
    }
}
