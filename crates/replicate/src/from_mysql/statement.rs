//! The text of a statement, where MariaDB has another word for the same.

mod of_table;

use std::borrow::Cow;

use hortator_load::lexer::{Dialect, Kind, Token, decode_string, tokens};

use super::Refusal;
use super::collations::{self, Name};
use crate::binlog::statement_dialect;
use crate::statement_text::{Edit, apply, depths, name_collation, name_of, value_at};

/// Ways to log in that MariaDB does not have.
const OWN_PLUGINS: [&[u8]; 2] = [b"caching_sha2_password", b"sha256_password"];

const ACCOUNT: Refusal = Refusal {
    reason: Cow::Borrowed("the password is kept in a form that MariaDB does not have"),
    remedy: "create the account on the target by hand, then `skip` the statement. A rule with match = \"mysql.*\" and skip = \
             true leaves all statements about accounts out",
};

/// How a server of this version reads the text of a statement with these session variables.
pub(super) fn dialect(status: &[u8], source_version: u32) -> Dialect {
    statement_dialect(status, Dialect { mariadb: false, ..Dialect::mariadb(source_version) })
}

/// The text for MariaDB; `None` where it is the same.
///
/// # Errors
/// Why MariaDB cannot run it.
pub(super) fn for_mariadb(
    text: &[u8],
    dialect: &Dialect,
    default_collation: Option<u16>,
) -> Result<Option<Vec<u8>>, Refusal> {
    let all: Vec<Token<'_>> = tokens(text, dialect).collect();
    let mut edits = Vec::new();
    uncover(text, &all, dialect.server_version, &mut edits);
    rename_collations(&all, dialect, &mut edits)?;
    let has_own_plugin = |token: &Token<'_>| match &token.kind {
        Kind::String(raw) => OWN_PLUGINS.contains(&&*decode_string(raw, dialect)),
        Kind::Word(word) => OWN_PLUGINS.contains(word),
        Kind::QuotedIdentifier(name) => OWN_PLUGINS.contains(&&**name),
        _ => false,
    };
    allow_any_way(&all, &mut edits);
    drop_histogram(&all, &mut edits);
    match head(&all) {
        Head::Definition { is_table: false } if only_sets_read_only(&all) => return Ok(Some(NOTHING.to_vec())),
        Head::Account if all.iter().any(has_own_plugin) => return Err(ACCOUNT),
        Head::Definition { is_table } => {
            if let Some(collation) = default_collation.and_then(collations::default_name) {
                name_collation(&all, dialect, "utf8mb4", collation, is_table, &mut edits);
            }
            drop_encryption(&all, dialect, &mut edits);
            if !is_table {
                drop_read_only(&all, &mut edits);
            }
            rename_srid(&all, &mut edits);
            drop_transaction(&all, &mut edits);
            if is_table {
                of_table::edit(&all, dialect, &mut edits);
            }
        }
        Head::Event => rename_replica(&all, &mut edits),
        Head::Account | Head::Other => {}
    }
    Ok(apply(text, edits))
}

/// `CREATE DEFINER = user @host EVENT`.
const HEAD_TOKENS: usize = 7;

/// What a statement is, by its first words.
enum Head {
    /// CREATE or ALTER of a table or a schema.
    Definition {
        is_table: bool,
    },
    Account,
    /// CREATE or ALTER EVENT.
    Event,
    Other,
}

fn head(all: &[Token<'_>]) -> Head {
    let is_either = |token: Option<&Token<'_>>, words: &[&[u8]]| {
        token.is_some_and(|token| words.iter().any(|word| token.is_word(word)))
    };
    let is_verb = is_either(all.first(), &[b"CREATE", b"ALTER"]);
    let second = if is_either(all.get(1), &[b"TEMPORARY"]) { 2 } else { 1 };
    if is_verb && is_either(all.get(second), &[b"TABLE", b"DATABASE", b"SCHEMA"]) {
        Head::Definition { is_table: is_either(all.get(second), &[b"TABLE"]) }
    } else if is_verb && all.iter().take(HEAD_TOKENS).any(|token| token.is_word(b"EVENT")) {
        Head::Event
    } else if is_verb && is_either(all.get(1), &[b"USER"]) || is_either(all.first(), &[b"GRANT", b"SET"]) {
        Head::Account
    } else {
        Head::Other
    }
}

/// Takes the marks of version comments away that the source has executed: MariaDB passes those over that have a version of
/// MySQL's. The marks stand between tokens.
fn uncover(text: &[u8], all: &[Token<'_>], source_version: u32, edits: &mut Vec<Edit>) {
    let ends = std::iter::once(0).chain(all.iter().map(|token| token.end));
    let starts = all.iter().map(|token| token.offset).chain([text.len()]);
    for (mut at, end) in ends.zip(starts) {
        while at < end {
            let rest = &text[at..end];
            let length = if rest.starts_with(b"*/") {
                edits.push(Edit { start: at, end: at + 2, text: " ".to_owned() });
                2
            } else if let Some(length) = executed_opening(rest, source_version) {
                edits.push(Edit { start: at, end: at + length, text: " ".to_owned() });
                length
            } else if rest.starts_with(b"/*") {
                rest.windows(2).skip(2).position(|two| two == b"*/").map_or(rest.len(), |found| found + 4)
            } else if rest.starts_with(b"#") || rest.starts_with(b"--") {
                rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
            } else {
                1
            };
            at += length;
        }
    }
}

/// The length of the mark of a comment that a server of this version executes.
fn executed_opening(text: &[u8], version: u32) -> Option<usize> {
    let digits = text.strip_prefix(b"/*!")?.iter().take(6).take_while(|byte| byte.is_ascii_digit());
    let (count, number) =
        digits.fold((0, 0), |(count, number), digit| (count + 1, number * 10 + u32::from(digit - b'0')));
    match count {
        0..5 => Some(3),
        _ if number <= version => Some(3 + count),
        _ => None,
    }
}

/// Names behind COLLATE.
fn rename_collations(all: &[Token<'_>], dialect: &Dialect, edits: &mut Vec<Edit>) -> Result<(), Refusal> {
    for (index, _) in all.iter().enumerate().filter(|(_, token)| token.is_word(b"COLLATE")) {
        let Some(token) = value_at(all, index + 1) else { continue };
        let Some(found) = name_of(token, dialect) else { continue };
        match collations::name(&found) {
            Name::Same => {}
            Name::Other(text) => edits.push(Edit { start: token.offset, end: token.end, text }),
            Name::None => return Err(collations::refusal(&found)),
        }
    }
    Ok(())
}

/// Takes `ENCRYPTION = 'N'` out, which is what a table of MariaDB is without a word.
fn drop_encryption(all: &[Token<'_>], dialect: &Dialect, edits: &mut Vec<Edit>) {
    for (index, token) in all.iter().enumerate().filter(|(_, token)| token.is_word(b"ENCRYPTION")) {
        let Some(value) = value_at(all, index + 1) else { continue };
        let is_off = matches!(value.kind, Kind::String(_))
            && name_of(value, dialect).is_some_and(|value| value.eq_ignore_ascii_case("n"));
        let has_default = index > 0 && all[index - 1].is_word(b"DEFAULT");
        let start = if has_default { all[index - 1].offset } else { token.offset };
        if is_off {
            edits.push(Edit { start, end: value.end, text: String::new() });
        }
    }
}

/// A statement that does nothing.
const NOTHING: &[u8] = b"DO 0";
/// Most tokens of ALTER DATABASE without options.
const ALTER_SCHEMA_TOKENS: usize = 3;

/// Where the option READ ONLY of a schema stands, which MariaDB does not have: who replicates writes there nevertheless.
fn read_only_at(all: &[Token<'_>]) -> Vec<(usize, usize)> {
    let begins = |at: &usize| all[*at].is_word(b"READ") && all.get(at + 1).is_some_and(|next| next.is_word(b"ONLY"));
    let end = |at: usize| at + 3 + usize::from(all.get(at + 2).is_some_and(|sign| sign.is_symbol(b"=")));
    (0..all.len()).filter(begins).map(|at| (at, end(at).min(all.len()))).collect()
}

/// Whether ALTER DATABASE has no other option.
fn only_sets_read_only(all: &[Token<'_>]) -> bool {
    let options = read_only_at(all);
    let tokens: usize = options.iter().map(|(start, end)| end - start).sum();
    !options.is_empty() && all.len() - tokens <= ALTER_SCHEMA_TOKENS
}

fn drop_read_only(all: &[Token<'_>], edits: &mut Vec<Edit>) {
    for (start, end) in read_only_at(all) {
        edits.push(Edit { start: all[start].offset, end: all[end - 1].end, text: String::new() });
    }
}

/// Of ANALYZE TABLE … UPDATE HISTOGRAM and DROP HISTOGRAM, what MariaDB has is left: statistics of its own.
fn drop_histogram(all: &[Token<'_>], edits: &mut Vec<Edit>) {
    let begins =
        |pair: &[Token<'_>]| (pair[0].is_word(b"UPDATE") || pair[0].is_word(b"DROP")) && pair[1].is_word(b"HISTOGRAM");
    if let [verb, .., last] = all
        && verb.is_word(b"ANALYZE")
        && let Some(at) = all.windows(2).position(begins)
    {
        edits.push(Edit { start: all[at].offset, end: last.end, text: String::new() });
    }
}

/// Types of columns that have a reference system.
const GEOMETRIES: [&[u8]; 9] = [
    b"GEOMETRY",
    b"POINT",
    b"LINESTRING",
    b"POLYGON",
    b"MULTIPOINT",
    b"MULTILINESTRING",
    b"MULTIPOLYGON",
    b"GEOMETRYCOLLECTION",
    b"GEOMCOLLECTION",
];

/// MariaDB's word for the reference system of a geometry, which stands right behind the type.
fn rename_srid(all: &[Token<'_>], edits: &mut Vec<Edit>) {
    for (index, srid) in all.iter().enumerate().filter(|(_, token)| token.is_word(b"SRID")) {
        let Some(Token { kind: Kind::Number(number), end, .. }) = all.get(index + 1) else { continue };
        let is_geometry = |token: &&Token<'_>| GEOMETRIES.iter().any(|name| token.is_word(name));
        let Some(geometry) = all[..index].iter().rev().find(is_geometry) else { continue };
        let text = format!(" REF_SYSTEM_ID={}", String::from_utf8_lossy(number));
        edits.push(Edit { start: geometry.end, end: geometry.end, text });
        edits.push(Edit { start: srid.offset, end: *end, text: String::new() });
    }
}

/// How an event of another server is marked, by the word of older versions.
fn rename_replica(all: &[Token<'_>], edits: &mut Vec<Edit>) {
    let before_body = all.iter().position(|token| token.is_word(b"DO")).unwrap_or(all.len());
    for three in all[..before_body].windows(3) {
        if three[0].is_word(b"DISABLE") && three[1].is_word(b"ON") && three[2].is_word(b"REPLICA") {
            edits.push(Edit::replace(&three[2], "SLAVE"));
        }
    }
}

/// Words behind ALTER, CREATE and DROP of what can say how it is done.
const CHANGED: [&[u8]; 5] = [b"TABLE", b"INDEX", b"UNIQUE", b"FULLTEXT", b"SPATIAL"];
/// How it is done, where MariaDB may not be able to: it refuses then, although MySQL has done it.
const WAYS: [(&[u8], &[&[u8]]); 2] = [(b"ALGORITHM", &[b"INSTANT", b"INPLACE"]), (b"LOCK", &[b"NONE", b"SHARED"])];

/// Lets MariaDB choose how it changes a table, and what it locks meanwhile.
fn allow_any_way(all: &[Token<'_>], edits: &mut Vec<Edit>) {
    let is_either = |index: usize, words: &[&[u8]]| {
        all.get(index).is_some_and(|token| words.iter().any(|word| token.is_word(word)))
    };
    if !is_either(0, &[b"ALTER", b"CREATE", b"DROP"]) || !is_either(1, &CHANGED) {
        return;
    }
    for (index, _) in depths(all).into_iter().enumerate().filter(|(_, depth)| *depth == 0) {
        let Some((_, ways)) = WAYS.iter().find(|(option, _)| all[index].is_word(option)) else { continue };
        let Some(value) = value_at(all, index + 1) else { continue };
        if ways.iter().any(|way| value.is_word(way)) {
            edits.push(Edit::replace(value, "DEFAULT"));
        }
    }
}

/// CREATE TABLE … SELECT says so that rows follow in its transaction.
fn drop_transaction(all: &[Token<'_>], edits: &mut Vec<Edit>) {
    if let [.., start, transaction] = all
        && start.is_word(b"START")
        && transaction.is_word(b"TRANSACTION")
    {
        edits.push(Edit { start: start.offset, end: transaction.end, text: String::new() });
    }
}
