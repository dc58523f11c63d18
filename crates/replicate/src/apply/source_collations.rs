//! The collations that a source takes where a statement names only a character set: `character_set_collations` of MariaDB.
//!
//! A target that has the variable gets the source's value. Another one would create tables of other collations: there they
//! are named in CREATE and ALTER of tables and schemas. Other statements run with the target's default.

use hortator_load::lexer::{Dialect, Kind, Token, tokens};

use super::collations::Collations;
use super::type_places::TypePlaces;
use crate::statement_text::{apply, is_charset, name_collation, name_of};

/// The first MariaDB that has the variable.
pub(super) const SINCE: u32 = 110_201;

/// Character sets by the number of their default collation, and the numbers of what the source takes instead.
pub(super) type Numbers = Vec<(u32, u32)>;

/// The value of the variable.
///
/// # Errors
/// A collation that the target does not have.
pub(super) fn value(numbers: &Numbers, collations: &Collations) -> Result<String, String> {
    let name = |id: u32| collations.names(id).ok_or_else(|| format!("the target has no collation of the number {id}"));
    let pair = |(default, taken): &(u32, u32)| Ok(format!("{}={}", name(*default)?.0, name(*taken)?.1));
    let pairs: Result<Vec<String>, String> = numbers.iter().map(pair).collect();
    pairs.map(|pairs| pairs.join(","))
}

/// A character set, and the collation that the source takes for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    charset: String,
    /// The target's name of it, where it has one.
    collation: Option<String>,
}

/// Those that are not what the target takes.
pub(super) fn of_target(numbers: &Numbers, collations: &Collations) -> Vec<Taken> {
    let differs = numbers.iter().filter(|(default, taken)| default != taken);
    let named = |(default, taken): &(u32, u32)| {
        let charset = collations.names(*default)?.0.to_owned();
        Some(Taken { charset, collation: collations.names(*taken).map(|(_, name)| name.to_owned()) })
    };
    differs.filter_map(named).collect()
}

/// Words before TABLE, DATABASE or SCHEMA.
const BEFORE_KIND: [&[u8]; 5] = [b"OR", b"REPLACE", b"TEMPORARY", b"ONLINE", b"IGNORE"];
/// Types of the character set utf8mb3.
const NATIONAL: [&[u8]; 3] = [b"NCHAR", b"NVARCHAR", b"NATIONAL"];

/// The text of a definition with these collations named; `None` where it is the same.
///
/// # Errors
/// Why that cannot be done.
pub(super) fn named(text: &[u8], dialect: &Dialect, taken: &[Taken]) -> Result<Option<Vec<u8>>, String> {
    let all: Vec<Token<'_>> = tokens(text, dialect).collect();
    let Some(is_table) = definition(&all) else { return Ok(None) };
    if let Some(taken) = taken.iter().find(|taken| has_place_without_name(&all, dialect, &taken.charset)) {
        return Err(refusal(taken));
    }
    let mut edits = Vec::new();
    for taken in taken {
        let before = edits.len();
        let collation = taken.collation.as_deref().unwrap_or_default();
        name_collation(&all, dialect, &taken.charset, collation, is_table, &mut edits);
        if edits.len() > before && taken.collation.is_none() {
            return Err(refusal(taken));
        }
    }
    Ok(apply(text, edits))
}

/// Whether it is CREATE or ALTER of a table; none for other statements than those and CREATE or ALTER of a schema.
fn definition(all: &[Token<'_>]) -> Option<bool> {
    let verb = all.first()?;
    let is_verb = verb.is_word(b"CREATE") || verb.is_word(b"ALTER");
    let kind = all[1..].iter().find(|token| !BEFORE_KIND.iter().any(|word| token.is_word(word)))?;
    let is_table = kind.is_word(b"TABLE");
    (is_verb && (is_table || kind.is_word(b"DATABASE") || kind.is_word(b"SCHEMA"))).then_some(is_table)
}

/// Whether a column gets the default collation of a character set where none can be named: by its type, or as the result of
/// an expression.
fn has_place_without_name(all: &[Token<'_>], dialect: &Dialect, charset: &str) -> bool {
    let places = TypePlaces::of(all);
    let is_it = |token: Option<&Token<'_>>| {
        token.and_then(|token| name_of(token, dialect)).is_some_and(|name| is_charset(&name, charset))
    };
    all.iter().enumerate().any(|(index, token)| {
        let is_of_type = |words: &[&[u8]]| words.iter().any(|word| token.is_word(word));
        if charset == "utf8mb3" && is_of_type(&NATIONAL) && places.begins(index)
            || charset == "ucs2" && is_of_type(&[b"UNICODE"]) && places.is_behind(index)
        {
            return true;
        }
        let of_expression = match &token.kind {
            _ if [b"USING".as_slice(), b"CHARSET", b"SET"].iter().any(|word| token.is_word(word)) => {
                is_it(all.get(index + 1))
            }
            Kind::Word([b'_', name @ ..]) => std::str::from_utf8(name).is_ok_and(|name| is_charset(name, charset)),
            Kind::String([b'N' | b'n', ..]) => charset == "utf8mb3",
            _ => false,
        };
        index > places.select && of_expression
    })
}

fn refusal(taken: &Taken) -> String {
    let collation = taken.collation.as_deref().unwrap_or("a collation that the target does not have");
    format!(
        "by its character_set_collations the source takes {collation} where the statement names the character set {}, and \
         the target does not know this variable: run it on the target by hand with the collation named, then `skip` it",
        taken.charset
    )
}

#[cfg(test)]
mod tests {
    use hortator_load::lexer::Charset;

    use super::*;

    fn check(text: &str, expected: &str) {
        let taken = |charset: &str, collation: &str| Taken {
            charset: charset.to_owned(),
            collation: (!collation.is_empty()).then(|| collation.to_owned()),
        };
        let taken = [taken("utf8mb4", "four"), taken("utf8mb3", "three"), taken("ucs2", "two"), taken("utf32", "")];
        let dialect = Dialect {
            server_version: 101_119,
            mariadb: true,
            no_backslash_escapes: false,
            ansi_quotes: false,
            brackets: false,
            charset: Charset::from_name(b"utf8mb4"),
        };
        let found = named(text.as_bytes(), &dialect, &taken);
        let shown = match found {
            Ok(None) => "the same".to_owned(),
            Ok(Some(text)) => String::from_utf8(text).unwrap(),
            Err(reason) => reason.split(':').next().unwrap().rsplit("takes ").next().unwrap().to_owned(),
        };
        assert!(shown.starts_with(expected) && (shown == expected || expected.contains(" where")), "{text}: {shown}");
    }

    #[test]
    fn collations_are_named() {
        for (text, expected) in [
            ("CREATE TABLE t (a INT, b TEXT)", "the same"),
            (
                "CREATE TABLE t (a CHAR(3) CHARACTER SET utf8mb4)",
                "CREATE TABLE t (a CHAR(3) CHARACTER SET utf8mb4 COLLATE four)",
            ),
            (
                "CREATE OR REPLACE TEMPORARY TABLE t (a TEXT CHARSET utf8, b TEXT CHARSET utf8mb4 COLLATE x) CHARSET=latin1",
                "CREATE OR REPLACE TEMPORARY TABLE t (a TEXT CHARSET utf8 COLLATE three, b TEXT CHARSET utf8mb4 COLLATE x) \
                 CHARSET=latin1",
            ),
            ("CREATE DATABASE d CHARACTER SET = 'utf8mb4'", "CREATE DATABASE d CHARACTER SET = 'utf8mb4' COLLATE four"),
            (
                "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4",
                "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4 COLLATE four",
            ),
            ("ALTER TABLE t CHARSET utf8mb4 COLLATE x, ADD a INT", "the same"),
            ("CREATE TABLE t (a CHAR CHAR SET utf8mb4)", "CREATE TABLE t (a CHAR CHAR SET utf8mb4 COLLATE four)"),
            (
                "CREATE TABLE t (a TEXT CHARSET utf8mb4 COLLATE DEFAULT) CHAR SET=utf8 COLLATE=DEFAULT",
                "CREATE TABLE t (a TEXT CHARSET utf8mb4 COLLATE four) CHAR SET=utf8 COLLATE=three",
            ),
            ("CREATE TABLE t (a TEXT CHARACTER SET utf8mb4 BINARY, b TEXT BINARY CHARACTER SET utf8mb4)", "the same"),
            (
                "CREATE TABLE t (a CHAR(3) CHARACTER SET utf8mb4 DEFAULT (BINARY 'x'), b BINARY(3)) CHARSET=utf8mb4",
                "CREATE TABLE t (a CHAR(3) CHARACTER SET utf8mb4 COLLATE four DEFAULT (BINARY 'x'), b BINARY(3)) \
                 CHARSET=utf8mb4 COLLATE four",
            ),
            ("CREATE TABLE t (a TEXT CHARSET utf32 BINARY)", "the same"),
            ("CREATE TABLE t (a TEXT CHARSET utf32 COLLATE x)", "the same"),
            ("CREATE TABLE t (a TEXT CHARSET utf32)", "a collation that the target does not have where"),
            ("CREATE TABLE t (a NCHAR(3))", "three where"),
            ("CREATE TABLE t (a CHAR(3) UNICODE)", "two where"),
            ("CREATE TABLE t (a INT, nchar NATIONAL CHARACTER VARYING(3))", "three where"),
            ("ALTER TABLE t ADD COLUMN IF NOT EXISTS a NVARCHAR(3)", "three where"),
            ("ALTER TABLE t ADD (a INT, b NCHAR)", "three where"),
            ("ALTER TABLE t MODIFY a NCHAR(3)", "three where"),
            ("ALTER TABLE t CHANGE COLUMN a b NCHAR(3)", "three where"),
            ("ALTER TABLE t CHANGE `nchar` `nchar` CHARACTER VARYING (3) BINARY UNICODE", "two where"),
            ("CREATE TABLE t (a TEXT UNICODE)", "two where"),
            ("CREATE TABLE t (a LONG VARCHAR UNICODE, b ENUM('x') UNICODE)", "two where"),
            ("CREATE TABLE t AS SELECT CAST(a AS NCHAR(3)) FROM x", "three where"),
            ("CREATE TABLE t AS SELECT CONVERT(LEFT(a, 2), CHAR(3) UNICODE) FROM x", "two where"),
            ("CREATE TABLE t AS SELECT unicode, a AS nchar, CONCAT(a, national) FROM x", "the same"),
            ("CREATE TABLE nchar (unicode VARCHAR(20), nvarchar INT, national INT)", "the same"),
            ("CREATE TABLE IF NOT EXISTS unicode (a INT, KEY nchar (a, national), INDEX unicode (a))", "the same"),
            ("CREATE TABLE t (a INT, UNIQUE nchar (a), CONSTRAINT national CHECK (nchar < unicode))", "the same"),
            (
                "CREATE TABLE t (unicode INT, a INT AS (unicode + nchar.unicode) STORED, b INT CHECK (b > unicode))",
                "the same",
            ),
            ("ALTER TABLE t ADD nchar INT, ADD COLUMN national INT, MODIFY COLUMN unicode INT FIRST", "the same"),
            ("ALTER TABLE t CHANGE COLUMN unicode nchar INT AFTER national, CHANGE a unicode INT", "the same"),
            ("ALTER TABLE t RENAME COLUMN nchar TO unicode, DROP COLUMN unicode, ADD KEY k (a, nchar)", "the same"),
            ("CREATE TABLE t (LIKE nchar)", "the same"),
            ("CREATE TABLE t (a CHAR(3) DEFAULT _utf8mb4'x')", "the same"),
            ("CREATE TABLE t AS SELECT _utf8mb4'x'", "four where"),
            ("CREATE TABLE t AS SELECT _latin1'x'", "the same"),
            ("CREATE TABLE t AS SELECT CONVERT(a USING utf8mb4) FROM x", "four where"),
            ("CREATE TABLE t AS SELECT CAST(a AS CHAR CHARACTER SET utf8mb4) FROM x", "four where"),
            ("CREATE PROCEDURE p() CREATE TABLE t (a TEXT CHARSET utf8mb4)", "the same"),
            ("INSERT INTO t VALUES (_utf8mb4'x')", "the same"),
        ] {
            check(text, expected);
        }
    }
}
