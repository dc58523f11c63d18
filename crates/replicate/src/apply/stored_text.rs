//! Statements whose text is only stored: what it calls and reads, it calls and reads later, wherever it is used.

use hortator_load::lexer::Token;

/// Kinds of what a definition defines. `true`: whatever it has is stored.
const KINDS: [(&[u8], bool); 7] = [
    (b"VIEW", true),
    (b"TRIGGER", true),
    (b"PROCEDURE", true),
    (b"FUNCTION", true),
    (b"PACKAGE", true),
    (b"EVENT", true),
    (b"TABLE", false),
];
/// Words with which ALTER TABLE may compute values of the rows that are there.
const COMPUTED: [&[u8]; 4] = [b"ADD", b"AS", b"CHECK", b"SELECT"];

/// Whether a statement stores its text, and runs nothing of it.
pub(super) fn is_only_stored(all: &[Token<'_>]) -> bool {
    let has_verb = |verb: &[u8]| all.first().is_some_and(|token| token.is_word(verb));
    let (creates, alters) = (has_verb(b"CREATE"), has_verb(b"ALTER"));
    let kind_of = |token: &Token<'_>| KINDS.iter().find(|(kind, _)| token.is_word(kind)).map(|(_, stores)| *stores);
    let Some(stores) = all.iter().skip(1).find_map(kind_of) else { return false };
    let computes = || all.iter().any(|token| COMPUTED.iter().any(|word| token.is_word(word)));
    creates && (stores || rows_index(all).is_none()) || alters && (stores || !computes())
}

/// Where the rows begin that CREATE TABLE brings.
pub(super) fn rows_index(all: &[Token<'_>]) -> Option<usize> {
    // Partitions have VALUES LESS THAN and VALUES IN; columns may be called so.
    let brings = |pair: &[Token<'_>]| {
        let is_values = pair[0].is_word(b"VALUE") || pair[0].is_word(b"VALUES");
        pair[0].is_word(b"SELECT") || is_values && (pair[1].is_symbol(b"(") || pair[1].is_word(b"ROW"))
    };
    all.windows(2).position(brings)
}

#[cfg(test)]
mod tests {
    use hortator_load::lexer::{Dialect, tokens};

    use super::*;

    #[test]
    fn texts_that_are_only_stored() {
        for (text, expected) in [
            ("CREATE OR REPLACE VIEW d.v AS SELECT DATABASE()", true),
            ("CREATE DEFINER=a@b TRIGGER d.t BEFORE INSERT ON d.u FOR EACH ROW SET NEW.a = f()", true),
            ("create function d.f() returns int return g()", true),
            ("ALTER EVENT d.e DO CALL p()", true),
            ("CREATE TABLE d.t (a VARCHAR(9) DEFAULT (DATABASE()))", true),
            ("CREATE TABLE d.t (a INT) PARTITION BY RANGE (a) (PARTITION p VALUES LESS THAN (1))", true),
            ("CREATE TABLE d.t (a INT) PARTITION BY LIST (a) (PARTITION p VALUES IN (1))", true),
            ("ALTER TABLE d.t ALTER a SET DEFAULT (DATABASE())", true),
            ("ALTER TABLE d.t ADD a VARCHAR(9) DEFAULT (DATABASE())", false),
            ("CREATE TABLE d.t SELECT DATABASE()", false),
            ("CREATE TABLE d.t AS VALUES (f())", false),
            ("CREATE TABLE d.t (value INT, n INT DEFAULT (NEXT VALUE FOR s))", true),
            ("INSERT INTO `table` VALUES (f())", false),
            ("INSERT INTO d.t VALUES (DATABASE())", false),
            ("", false),
        ] {
            let all: Vec<_> = tokens(text.as_bytes(), &Dialect::mariadb(u32::MAX)).collect();
            assert_eq!(is_only_stored(&all), expected, "{text}");
        }
    }
}
