//! Which statements the server has on disk when it confirms them, where it has every commit there.
//!
//! Only sequences are an exception: the server writes what CREATE SEQUENCE, ALTER SEQUENCE, SETVAL and NEXT VALUE change to
//! its log, and brings that to the disk with a later commit (seen with 10.11: `Innodb_lsn_flushed` behind each kind of
//! DDL). A definition may copy a sequence (LIKE), and whatever reads a view may draw from one. Words are looked for
//! anywhere in the text: one too many makes a statement slower, never wrong.

use super::{StatementInfo, Trait};

/// A word to look for, and its rarest letter: every statement of the main session is searched.
struct Word {
    letters: &'static [u8],
    rarest: usize,
}

const fn word(letters: &'static [u8], rarest: usize) -> Word {
    Word { letters, rarest }
}

/// Words of statements that may change a sequence.
const SEQUENCES: &[Word] = &[word(b"SEQUENCE", 2), word(b"NEXT", 2), word(b"SETVAL", 3), word(b"SELECT", 4)];
const LIKE: &[Word] = &[word(b"LIKE", 2)];

/// Whether the text of a definition of a table, or of anything else, changes no sequence.
pub(crate) fn is_durable_ddl(text: &[u8]) -> bool {
    !has_any(text, LIKE) && !has_any(text, SEQUENCES)
}

/// Whether a statement that commits by itself changes no sequence. `is_of_plain_table`: it writes rows of a base table on
/// which nothing fires and whose defaults draw from no sequence, or copies the definition of a base table.
pub(crate) fn is_durable(text: &[u8], info: &StatementInfo, is_of_plain_table: bool) -> bool {
    let may_call = [Trait::MayCallFunction, Trait::MayDoAnything, Trait::SeveralStatements, Trait::Compound];
    if may_call.into_iter().any(|found| info.is(found)) {
        return false;
    }
    match &info.ddl_target {
        Some(_) if info.copies.is_some() && is_of_plain_table => !has_any(text, SEQUENCES),
        Some(_) => is_durable_ddl(text),
        None => is_of_plain_table && !has_any(text, SEQUENCES),
    }
}

fn has_any(text: &[u8], words: &[Word]) -> bool {
    words.iter().any(|Word { letters, rarest }| {
        let letter = letters[*rarest];
        let is_here = |at: usize| {
            let found = at.checked_sub(*rarest).and_then(|begin| text.get(begin..begin + letters.len()));
            found.is_some_and(|found| found.eq_ignore_ascii_case(letters))
        };
        memchr::memchr2_iter(letter, letter.to_ascii_lowercase(), text).any(is_here)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_sequences() {
        for text in ["CREATE TABLE t (a INT)", "DROP USER u", "ALTER TABLE t ADD b INT", "RENAME TABLE a TO b"] {
            assert!(is_durable_ddl(text.as_bytes()), "{text}");
        }
        for text in [
            "create sequence s",
            "CREATE TABLE t LIKE s",
            "CREATE TABLE t (a INT DEFAULT (NEXT VALUE FOR s))",
            "CREATE TABLE t AS SELECT 1",
            "CREATE TABLE t (next_not_cached_value BIGINT) Sequence=1",
        ] {
            assert!(!is_durable_ddl(text.as_bytes()), "{text}");
        }
    }
}
