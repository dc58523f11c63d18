//! The collation id for the handshake, by the character set's name.

use crate::{Error, Version};

/// Each character set's default collation: the ids of `information_schema.COLLATIONS`.
const DEFAULT_COLLATIONS: [(&str, u8); 38] = [
    ("armscii8", 32),
    ("ascii", 11),
    ("big5", 1),
    ("binary", 63),
    ("cp1250", 26),
    ("cp1251", 51),
    ("cp1256", 57),
    ("cp1257", 59),
    ("cp850", 4),
    ("cp852", 40),
    ("cp866", 36),
    ("cp932", 95),
    ("dec8", 3),
    ("eucjpms", 97),
    ("euckr", 19),
    ("gb18030", 248),
    ("gb2312", 24),
    ("gbk", 28),
    ("geostd8", 92),
    ("greek", 25),
    ("hebrew", 16),
    ("hp8", 6),
    ("keybcs2", 37),
    ("koi8r", 7),
    ("koi8u", 22),
    ("latin1", 8),
    ("latin2", 9),
    ("latin5", 30),
    ("latin7", 41),
    ("macce", 38),
    ("macroman", 39),
    ("sjis", 13),
    ("swe7", 10),
    ("tis620", 18),
    ("ujis", 12),
    ("utf8", 33),
    ("utf8mb3", 33),
    ("utf8mb4", 45),
];

/// Character sets that a server cannot parse statements in: the bytes of ASCII characters differ.
const UNSUPPORTED_CHARSETS: [&str; 4] = ["ucs2", "utf16", "utf16le", "utf32"];

/// MySQL 8.0 changed utf8mb4's default collation to utf8mb4_0900_ai_ci, and its own client uses that.
const MYSQL_8_UTF8MB4: u8 = 255;

/// The id for the character set `name`, case-insensitive.
pub(super) fn collation(name: &str, version: &Version) -> Result<u8, Error> {
    let name = name.to_ascii_lowercase();
    if name == "utf8mb4" && !version.is_mariadb() && version.major >= 8 {
        return Ok(MYSQL_8_UTF8MB4);
    }
    if UNSUPPORTED_CHARSETS.contains(&name.as_str()) {
        let message = format!("the character set {name} cannot be used on a connection: use utf8mb4");
        return Err(Error::Unsupported(message));
    }
    match DEFAULT_COLLATIONS.iter().find(|(known, _)| *known == name) {
        Some((_, id)) => Ok(*id),
        None => Err(Error::Unsupported(format!("unknown character set `{name}`: use utf8mb4"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_any_case_and_the_refused_ones() {
        let mariadb = Version::parse("10.11.19-MariaDB");
        let mysql = Version::parse("8.0.36");
        assert_eq!(collation("UTF8MB4", &mariadb), Ok(45));
        assert_eq!(collation("utf8mb4", &mysql), Ok(255));
        assert_eq!(collation("latin1", &mysql), Ok(8));
        for refused in ["utf16", "UCS2", "klingon", ""] {
            assert!(matches!(collation(refused, &mariadb), Err(Error::Unsupported(_))), "{refused}");
        }
    }
}
