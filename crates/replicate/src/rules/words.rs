//! Statements of no known form: any word may be a table of the default schema.

use hortator_load::lexer::{Dialect, Token, tokens};

use super::names::{Named, name};
use super::statement::{BY_HAND, Rewritten, default_schema};
use super::{Decision, Rule, Rules};

pub(super) fn refused_for(name: &str) -> Rewritten {
    Rewritten::Refused(format!("it may name {name}, which a rule changes, in a way that is not understood: {BY_HAND}"))
}

/// Words behind which a table stands, and no column.
const BEFORE_TABLES: [&[u8]; 7] = [b"INTO", b"FROM", b"JOIN", b"UPDATE", b"TABLE", b"REFERENCES", b"IGNORE"];

/// `schema.table` pairs of a text, outside of the names that are known. A trigger's NEW and OLD are no schemas, unless a table
/// stands there.
pub(super) fn pairs<'t>(all: &'t [Token<'_>], known: &'t [Named]) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> + 't {
    let rows: &[&[u8]] = if creates_trigger(all) { &[b"NEW", b"OLD"] } else { &[] };
    all.windows(3).enumerate().filter_map(move |(at, three)| {
        let [first, dot, second] = three else { return None };
        let is_known = known.iter().any(|named| named.start <= first.offset && second.end <= named.end);
        if is_known || !dot.is_symbol(b".") {
            return None;
        }
        let schema = name(first)?;
        let is_table = BEFORE_TABLES.iter().any(|word| at > 0 && all[at - 1].is_word(word))
            || all.get(at + 3).is_some_and(|next| next.is_symbol(b"."));
        let is_row = !is_table && rows.iter().any(|row| row.eq_ignore_ascii_case(&schema));
        (!is_row).then_some((schema, name(second)?))
    })
}

pub(super) fn shown((schema, table): &(Vec<u8>, Vec<u8>)) -> String {
    format!("{}.{}", String::from_utf8_lossy(schema), String::from_utf8_lossy(table))
}

/// Whether a text has names that are not the same bytes in every character set.
pub(crate) fn has_names_beyond_ascii(text: &[u8], dialect: &Dialect) -> bool {
    tokens(text, dialect).any(|token| name(&token).is_some_and(|name| !name.is_ascii()))
}

/// The first words of statements about accounts. They are changes of the schema `mysql`.
const ACCOUNTS: &[&[&str]] = &[
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

/// The first words of statements that name no table.
const WITHOUT_TABLES: &[&[&str]] = &[
    &["SAVEPOINT"],
    &["RELEASE", "SAVEPOINT"],
    &["ROLLBACK", "TO"],
    &["FLUSH", "PRIVILEGES"],
    &["FLUSH", "STATUS"],
    &["FLUSH", "HOSTS"],
    &["FLUSH", "USER_RESOURCES"],
];

/// Kinds of what is defined; whether it is a text that is kept, so that the statement changes no row.
const KINDS: [(&str, bool); 11] = [
    ("VIEW", true),
    ("TRIGGER", true),
    ("PROCEDURE", true),
    ("FUNCTION", true),
    ("PACKAGE", true),
    ("EVENT", true),
    ("TABLE", false),
    ("INDEX", false),
    ("SEQUENCE", false),
    ("DATABASE", false),
    ("SCHEMA", false),
];

/// The schema and the table that stand for all accounts.
const ACCOUNTS_TABLE: (&[u8], &[u8]) = (b"mysql", b"user");

fn begins_with(all: &[Token<'_>], heads: &[&[&str]]) -> bool {
    let begins = |words: &&[&str]| {
        words.iter().enumerate().all(|(at, word)| all.get(at).is_some_and(|token| token.is_word(word.as_bytes())))
    };
    heads.iter().any(begins)
}

fn has_word(all: &[Token<'_>], at: usize, word: &str) -> bool {
    all.get(at).is_some_and(|token| token.is_word(word.as_bytes()))
}

/// The place behind words that may stand there.
fn behind(all: &[Token<'_>], mut at: usize, words: &[&str]) -> usize {
    while words.iter().any(|word| has_word(all, at, word)) {
        at += 1;
    }
    at
}

/// Whether `schema.` does not stand before a name.
fn is_unqualified(all: &[Token<'_>], at: usize) -> bool {
    !all.get(at + 1).is_some_and(|token| token.is_symbol(b"."))
}

fn creates_trigger(all: &[Token<'_>]) -> bool {
    let is_kind = |token: &&Token<'_>| KINDS.iter().any(|(kind, _)| token.is_word(kind.as_bytes()));
    let kind = all.iter().skip(1).find(is_kind);
    has_word(all, 0, "CREATE") && kind.is_some_and(|kind| kind.is_word(b"TRIGGER"))
}

/// Where the name stands of a view, trigger, routine or event that is defined.
fn stored_object(all: &[Token<'_>]) -> Option<usize> {
    if !["CREATE", "ALTER", "DROP"].iter().any(|word| has_word(all, 0, word)) {
        return None;
    }
    let kind_at = |(at, token): (usize, &Token<'_>)| {
        let kind = KINDS.iter().find(|(word, _)| token.is_word(word.as_bytes()))?;
        Some((at, kind.1))
    };
    let (at, is_text) = all.iter().enumerate().skip(1).find_map(kind_at)?;
    is_text.then(|| behind(all, at + 1, &["BODY", "IF", "NOT", "EXISTS"]))
}

/// Whether only tables of the default schema are changed, whichever are read.
fn writes_default_schema(all: &[Token<'_>]) -> bool {
    if let Some(at) = stored_object(all) {
        return is_unqualified(all, at);
    }
    let is_insert = has_word(all, 0, "INSERT") || has_word(all, 0, "REPLACE");
    let at = behind(all, 1, &["LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "IGNORE", "INTO"]);
    is_insert && is_unqualified(all, at) || pairs(all, &[]).next().is_none()
}

/// Whether no row is changed or deleted that another source may have made.
fn spares_rows(all: &[Token<'_>]) -> bool {
    let has = |word: &str| all.iter().any(|token| token.is_word(word.as_bytes()));
    stored_object(all).is_some()
        || begins_with(all, ACCOUNTS)
        || has_word(all, 0, "INSERT") && !has("DUPLICATE") && !has("SELECT")
}

/// GRANT or REVOKE on a table of the default schema, or on all of them.
fn is_on_default_schema(all: &[Token<'_>]) -> bool {
    let Some(on) = all.iter().position(|token| token.is_word(b"ON")) else { return false };
    let is_grant = has_word(all, 0, "GRANT") || has_word(all, 0, "REVOKE");
    let at = behind(all, on + 1, &["TABLE", "FUNCTION", "PROCEDURE", "PACKAGE", "BODY"]);
    is_grant && is_unqualified(all, at)
}

/// What becomes of such a statement.
pub(super) fn of_words(rules: &Rules, default: &[u8], text: &[u8], dialect: &Dialect) -> Rewritten {
    let all: Vec<Token<'_>> = tokens(text, dialect).collect();
    let is_about_accounts = begins_with(&all, ACCOUNTS);
    let in_schema = |schema| Rewritten::Changed { text: text.to_vec(), schema };
    if is_about_accounts && rules.decide(ACCOUNTS_TABLE.0, ACCOUNTS_TABLE.1) == Decision::LeaveOut {
        return Rewritten::LeftOut;
    }
    if begins_with(&all, WITHOUT_TABLES) {
        return in_schema(Vec::new());
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
    if let Some(reason) = shared_rows(rules, default, &all, &names) {
        return Rewritten::Refused(reason);
    }
    if is_about_accounts && !is_on_default_schema(&all) {
        return in_schema(Vec::new());
    }
    if default.is_empty() || names.iter().all(|table| rules.decide(default, table) == Decision::AsIs) {
        return Rewritten::AsIs;
    }
    let whole = rules.decide_schema(default);
    let differs = names.iter().find(|table| rules.decide(default, table) != whole);
    match (whole, differs) {
        (_, Some(table)) => refused_for(&shown(&(default.to_vec(), table.clone()))),
        (Decision::LeaveOut, None) if writes_default_schema(&all) => Rewritten::LeftOut,
        (Decision::LeaveOut, None) => Rewritten::Refused(format!(
            "the tables of its default schema `{}` are left out, and it may change others: {BY_HAND}",
            String::from_utf8_lossy(default)
        )),
        (Decision::Apply(rule), None) if rule.keeps_tables(stored_object(&all).is_some()) => {
            in_schema(default_schema(rules, default))
        }
        (Decision::Apply(rule), None) => Rewritten::Refused(format!(
            "the rule for {} changes more than the schema, and this statement cannot be rewritten: {BY_HAND}",
            rule.tables
        )),
        (Decision::AsIs, None) => Rewritten::AsIs,
    }
}

/// Why a statement is not applied: it may change rows that are not of this source, in a table without a source column.
fn shared_rows(rules: &Rules, default: &[u8], all: &[Token<'_>], names: &[Vec<u8>]) -> Option<String> {
    if spares_rows(all) {
        return None;
    }
    let shared = |schema: &[u8], table: &[u8]| {
        let on_target = rules.name_on_target(schema, table);
        on_target.filter(|(schema, table)| rules.is_shared(schema, table))
    };
    // Which of the words is the table is not known.
    let in_default = names.iter().filter(|_| !default.is_empty()).find_map(|name| shared(default, name));
    let in_default = in_default.map(|(schema, _)| format!("{}.*", String::from_utf8_lossy(&schema)));
    let name = in_default
        .or_else(|| pairs(all, &[]).find_map(|(schema, table)| shared(&schema, &table)).map(|pair| shown(&pair)))?;
    Some(format!("it may change the rows of other sources in {name} too: {BY_HAND}"))
}

impl Rule {
    /// Whether a statement needs no more than another default schema. Changes that are left out are changes of rows and
    /// tables: a text that is kept is none.
    fn keeps_tables(&self, is_text: bool) -> bool {
        let keeps_names = self.to().is_none_or(|to| self.tables.keeps_tables(to));
        keeps_names && self.source_column().is_none() && (is_text || self.without().is_empty())
    }
}
