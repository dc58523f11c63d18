//! How the source has read the text of a statement: what its session variables say of quotes, escapes and characters.

use hortator_load::lexer::{Charset, Dialect};

use super::fields::Fields;

/// Bits of `sql_mode` in events.
const ANSI_QUOTES: u64 = 1 << 2;
const MSSQL: u64 = 1 << 10;
const NO_BACKSLASH_ESCAPES: u64 = 1 << 20;

/// Character sets in which what looks like ASCII can be the second byte of a letter, by the numbers of their collations.
const UNSAFE_CHARSETS: [(&[u8], &[u16]); 6] = [
    (b"big5", &[1, 84]),
    (b"sjis", &[13, 88]),
    (b"euckr", &[19, 85]),
    (b"gbk", &[28, 87]),
    (b"cp932", &[95, 96]),
    (b"gb18030", &[248, 249, 250]),
];
/// Added to a number: the same collation of MariaDB without padding.
const NO_PAD: u16 = 1024;

/// Variables of a fixed length, and their bytes.
const FIXED: [(u8, usize); 7] = [(0, 4), (3, 4), (7, 2), (9, 8), (10, 4), (13, 3), (16, 1)];

/// How a statement with these session variables was read, by a server whose own part of the answer is `server`.
pub(crate) fn statement_dialect(status: &[u8], server: Dialect) -> Dialect {
    let (sql_mode, collation) = sql_mode_and_charset(status);
    let is_it = |ids: &[u16]| ids.contains(&collation) || server.mariadb && ids.contains(&(collation & !NO_PAD));
    let charset = UNSAFE_CHARSETS.iter().find(|(_, ids)| is_it(ids)).map_or(&b"utf8mb4"[..], |row| row.0);
    Dialect {
        no_backslash_escapes: sql_mode & NO_BACKSLASH_ESCAPES != 0,
        ansi_quotes: sql_mode & ANSI_QUOTES != 0,
        brackets: server.mariadb && sql_mode & MSSQL != 0,
        charset: Charset::from_name(charset),
        ..server
    }
}

/// `sql_mode` and the number that stands for `character_set_client`; zeros where a statement has none.
fn sql_mode_and_charset(status: &[u8]) -> (u64, u16) {
    let mut fields = Fields(status);
    let mut mode = 0;
    // Both stand before what has another form.
    while let Ok(kind) = fields.u8("") {
        let done = match kind {
            1 => fields.u64("").map(|found| mode = found),
            2 => fields.short_text("").and_then(|_| fields.zero("")),
            4 => return (mode, fields.u16("").unwrap_or_default()),
            6 => fields.short_text("").map(drop),
            other => match FIXED.iter().find(|(kind, _)| *kind == other) {
                Some((_, bytes)) => fields.bytes(*bytes, "").map(drop),
                None => break,
            },
        };
        if done.is_err() {
            break;
        }
    }
    (mode, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_and_character_sets() {
        let status = |mode: u64, collation: u16| {
            let mode = [&[0, 0, 0, 0, 0, 1][..], &mode.to_le_bytes(), b"\x06\x03std"].concat();
            [&mode[..], &[3, 1, 0, 1, 0, 4], &collation.to_le_bytes(), &[8, 0, 8, 0]].concat()
        };
        let mariadb = Dialect::mariadb(u32::MAX);
        let mysql = Dialect { mariadb: false, ..mariadb };
        for (server, mode, collation, expected) in [
            (mariadb, 0, 45, mariadb),
            (
                mariadb,
                NO_BACKSLASH_ESCAPES,
                28,
                Dialect { no_backslash_escapes: true, charset: Charset::Gbk, ..mariadb },
            ),
            (
                mariadb,
                MSSQL | ANSI_QUOTES,
                1112,
                Dialect { brackets: true, ansi_quotes: true, charset: Charset::Sjis, ..mariadb },
            ),
            (mysql, MSSQL, 249, Dialect { charset: Charset::Gb18030, ..mysql }),
        ] {
            assert_eq!(statement_dialect(&status(mode, collation), server), expected);
        }
        assert_eq!(statement_dialect(b"", mariadb), mariadb);
        // As MySQL 9.7.4 writes those of CREATE TABLE.
        let status = b"\x00\0\0\0\0\x01\x20\0\xa0\x45\0\0\0\0\x06\x03std\x04\xff\0\xff\0\xff\0\x0c\x01d\0";
        assert_eq!(sql_mode_and_charset(status), (0x45a0_0020, 255));
    }
}
