//! ALTER TABLE … CONVERT TO CHARACTER SET, by which MariaDB loses values that MySQL may have kept.
//!
//! Both servers give ENUM and SET columns the new character set and leave the bytes of their members as they are: in the new
//! one these are other letters or none (seen with MySQL 9.7.4 and MariaDB 10.11.19). MariaDB copies the values by their letters:
//! they become `''`, with an error only if `sql_mode` is strict. So does MySQL where it copies the table. Where no other column
//! needs a conversion, it changes the table in place and keeps the numbers of the values: a further ALTER TABLE can bring them
//! back. The log does not say which of the two it has done.
//!
//! Members that the statement itself lists (MODIFY, CHANGE) are converted by both. So are those of MODIFY without CONVERT TO.

use hortator_load::lexer::{Dialect, Token, tokens};

use crate::statement_text::{depths, name_of, value_at};

/// What MySQL calls UTF-8, by the bytes of the longest letter.
const UTF8: [(&str, usize); 3] = [("utf8", 3), ("utf8mb3", 3), ("utf8mb4", 4)];
/// Character sets that have other bytes for letters of ASCII.
const NOT_ASCII: [&str; 5] = ["ucs2", "utf16", "utf16le", "utf32", "swe7"];
/// The first byte of a letter of four bytes in UTF-8, or a larger one.
const FIRST_OF_FOUR: u8 = 0xf0;
/// What changes a column in ALTER TABLE, and says how it is afterwards.
const CHANGES: [&[u8]; 3] = [b"MODIFY", b"CHANGE", b"DROP"];

/// A statement that converts all columns of a table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MemberConversion {
    /// The table, as the text names it.
    pub(crate) table: Vec<u8>,
    /// The character set; `None` for the default one.
    charset: Option<String>,
    /// Columns that the statement also changes in another way.
    changed: Vec<String>,
}

/// A column of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// As SHOW COLUMNS has it, in UTF-8.
    pub(crate) column_type: String,
    /// Empty for columns that have none.
    pub(crate) collation: String,
}

impl MemberConversion {
    /// Reads a statement; `None` for one that converts nothing.
    pub(crate) fn of(text: &[u8], dialect: &Dialect) -> Option<MemberConversion> {
        let all: Vec<Token<'_>> = tokens(text, dialect).collect();
        if !all.first()?.is_word(b"ALTER") {
            return None;
        }
        let name = behind_if_exists(&all, all.iter().position(|token| token.is_word(b"TABLE"))? + 1);
        let has_schema = all.get(name + 1).is_some_and(|dot| dot.is_symbol(b"."));
        let last = if has_schema { name + 2 } else { name };
        let table = text.get(all.get(name)?.offset..all.get(last)?.end)?.to_vec();
        let depths = depths(&all);
        let is = |index: usize, words: &[&[u8]]| {
            all.get(index).is_some_and(|token| words.iter().any(|word| token.is_word(word)))
        };
        let outside = || (last + 1..all.len()).filter(|index| depths[*index] == 0);
        let convert = outside().find(|index| is(*index, &[b"CONVERT"]) && is(*index + 1, &[b"TO"]))?;
        let words = if is(convert + 2, &[b"CHARSET"]) { 1 } else { 2 };
        let value = value_at(&all, convert + 2 + words).filter(|value| !value.is_word(b"DEFAULT"));
        let changed = outside().filter(|index| is(*index, &CHANGES)).filter_map(|index| {
            let column = if is(index + 1, &[b"COLUMN"]) { index + 2 } else { index + 1 };
            name_of(all.get(behind_if_exists(&all, column))?, dialect)
        });
        Some(MemberConversion {
            table,
            charset: value.and_then(|value| name_of(value, dialect)).map(|name| name.to_ascii_lowercase()),
            changed: changed.collect(),
        })
    }

    /// Whether members of a column would stay as they are, and be other bytes in the new character set.
    pub(crate) fn breaks(&self, column: &Column) -> bool {
        let kind = column.column_type.to_ascii_lowercase();
        let is_of_members = kind.starts_with("enum(") || kind.starts_with("set(");
        is_of_members
            && !self.changed.iter().any(|name| name.eq_ignore_ascii_case(&column.name))
            && has_other_bytes(&column.column_type, column.charset(), self.charset.as_deref())
    }
}

impl Column {
    /// The first word of its collation.
    fn charset(&self) -> &str {
        self.collation.split('_').next().unwrap_or_default()
    }
}

/// Whether a text may be other bytes in another character set. `to` is none where that is not known.
fn has_other_bytes(text: &str, from: &str, to: Option<&str>) -> bool {
    let longest = |name: &str| UTF8.iter().find(|(utf8, _)| *utf8 == name).map(|(_, bytes)| *bytes);
    let is_beyond_ascii = |name: &str| NOT_ASCII.contains(&name);
    match to {
        Some(to) if to == from => false,
        Some(to) => match (longest(from), longest(to)) {
            (Some(_), Some(bytes)) => bytes == 3 && text.bytes().any(|byte| byte >= FIRST_OF_FOUR),
            _ => !text.is_ascii() || is_beyond_ascii(from) || is_beyond_ascii(to),
        },
        None => !text.is_ascii() || is_beyond_ascii(from),
    }
}

/// Passes over IF EXISTS.
fn behind_if_exists(all: &[Token<'_>], index: usize) -> usize {
    let is_it =
        matches!(all.get(index..index + 2), Some([first, second]) if first.is_word(b"IF") && second.is_word(b"EXISTS"));
    if is_it { index + 2 } else { index }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversion(text: &str) -> Option<MemberConversion> {
        MemberConversion::of(text.as_bytes(), &Dialect::mariadb(u32::MAX))
    }

    fn column(name: &str, column_type: &str, collation: &str) -> Column {
        Column { name: name.to_owned(), column_type: column_type.to_owned(), collation: collation.to_owned() }
    }

    #[test]
    fn statements_that_convert_all_columns() {
        for (text, expected) in [
            ("ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4", Some(("t", Some("utf8mb4")))),
            (
                "alter table `d`.`a b` add x int, convert to charset 'UTF8MB4' collate utf8mb4_bin",
                Some(("`d`.`a b`", Some("utf8mb4"))),
            ),
            ("/* c */ ALTER TABLE IF EXISTS d . t CONVERT TO CHAR SET latin1", Some(("d . t", Some("latin1")))),
            ("ALTER ONLINE TABLE t CONVERT TO CHARACTER SET = utf8mb3", Some(("t", Some("utf8mb3")))),
            ("ALTER TABLE t CONVERT TO CHARACTER SET DEFAULT", Some(("t", None))),
            ("ALTER TABLE t DEFAULT CHARACTER SET utf8mb4", None),
            ("ALTER TABLE t MODIFY e ENUM('ö') CHARACTER SET utf8mb4", None),
            ("ALTER TABLE t COMMENT 'CONVERT TO CHARACTER SET utf8mb4'", None),
            ("ALTER TABLE t ADD g TEXT AS (CONVERT(e USING utf8mb4))", None),
            ("ALTER TABLE convert RENAME TO x", None),
            ("CREATE TABLE t (convert INT)", None),
            ("ALTER TABLE", None),
            ("", None),
        ] {
            let found = conversion(text).map(|found| (String::from_utf8(found.table).unwrap(), found.charset));
            let expected = expected.map(|(table, charset)| (table.to_owned(), charset.map(str::to_owned)));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn members_that_are_other_bytes_afterwards() {
        for (column_type, collation, charset, expected) in [
            ("enum('a','ö')", "latin1_swedish_ci", "utf8mb4", true),
            ("set('a','ö')", "latin1_bin", "utf8mb4", true),
            ("ENUM('ö')", "utf8mb4_general_ci", "latin1", true),
            ("enum('a','b')", "latin1_swedish_ci", "utf8mb4", false),
            ("varchar(20)", "latin1_swedish_ci", "utf8mb4", false),
            ("enum('ö')", "latin1_swedish_ci", "latin1", false),
            ("enum('ö')", "utf8mb3_general_ci", "utf8mb4", false),
            ("enum('ö')", "utf8mb4_general_ci", "utf8", false),
            ("enum('😀')", "utf8mb4_general_ci", "utf8", true),
            ("enum('a')", "latin1_swedish_ci", "utf16", true),
            ("enum('a')", "utf16_general_ci", "utf8mb4", true),
            ("enum('ö')", "latin1_swedish_ci", "DEFAULT", true),
            ("enum('a')", "latin1_swedish_ci", "DEFAULT", false),
        ] {
            let found = conversion(&format!("ALTER TABLE t CONVERT TO CHARACTER SET {charset}")).unwrap();
            assert_eq!(
                found.breaks(&column("e", column_type, collation)),
                expected,
                "{column_type} {collation} {charset}"
            );
        }
    }

    #[test]
    fn columns_that_the_statement_lists_are_converted() {
        let text = "ALTER TABLE t MODIFY e ENUM('ö'), CHANGE COLUMN `F` f2 SET('ö'), DROP IF EXISTS g, ADD COLUMN i INT, CONVERT TO CHARACTER SET utf8mb4";
        let found = conversion(text).unwrap();
        for (name, expected) in [("e", false), ("f", false), ("g", false), ("h", true), ("i", true)] {
            assert_eq!(found.breaks(&column(name, "enum('ö')", "latin1_swedish_ci")), expected, "{name}");
        }
    }
}
