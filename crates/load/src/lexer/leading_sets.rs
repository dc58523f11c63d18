//! The SET statements that a file begins with.

use super::dialect::Dialect;
use super::token::{Kind, tokens};

/// How far into a file they are looked for.
pub(super) const LEADING_SETS_LIMIT_BYTES: usize = 16 << 10;

/// The length of the SET statements that `text` begins with, with their semicolons, if one of them sets `sql_mode`.
pub(super) fn leading_sets_of_mode(text: &[u8], dialect: &Dialect) -> Option<usize> {
    let mut rest = tokens(text, dialect);
    let (mut length, mut sets_mode) = (0, false);
    while rest.next().is_some_and(|token| token.is_word(b"SET")) {
        let mut names_mode = false;
        let end = rest.find(|token| {
            names_mode |= match token.kind {
                Kind::Word(name) => name.eq_ignore_ascii_case(b"sql_mode"),
                Kind::SystemVariable(name) => name.to_ascii_lowercase().ends_with(b"sql_mode"),
                _ => false,
            };
            token.is_symbol(b";")
        });
        let Some(end) = end else { break };
        length = end.end;
        sets_mode |= names_mode;
    }
    sets_mode.then_some(length)
}

#[test]
fn the_sets_before_the_first_other_statement() {
    let found = |text: &str| leading_sets_of_mode(text.as_bytes(), &Dialect::mariadb(110_800));
    let head = "/*!40101 SET NAMES binary*/;\n/*!40014 SET FOREIGN_KEY_CHECKS=0*/;\n/*!40101 SET SQL_MODE='A;B'*/;";
    assert_eq!(found(&format!("{head}\nINSERT INTO `t` VALUES(1);\nSET sql_mode='';\n")), Some(head.len()));
    let session = "-- a comment\nset @@session.sql_mode = '';";
    assert_eq!(found(&format!("{session} SELECT 1;")), Some(session.len()));
    for text in
        ["", "INSERT INTO t VALUES (1); SET sql_mode='';", "SET NAMES binary; SELECT 'sql_mode';", "SET sql_mode=''"]
    {
        assert_eq!(found(text), None, "{text}");
    }
}
