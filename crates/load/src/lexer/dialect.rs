//! What decides how the bytes of one statement are read: the target's version, the SQL mode, the character set.
//! And the one table of rules for version comments.

use super::charset::Charset;

/// How a target reads the text of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The target's version as version comments write it: 101119 for MariaDB 10.11.19, 80036 for MySQL 8.0.36.
    pub server_version: u32,
    /// MariaDB, not MySQL.
    pub mariadb: bool,
    /// SQL mode NO_BACKSLASH_ESCAPES: a backslash in a string is a backslash.
    pub no_backslash_escapes: bool,
    /// SQL mode ANSI_QUOTES: `"…"` is a name.
    pub ansi_quotes: bool,
    /// SQL mode MSSQL of MariaDB: `[…]` is a name, too, and `]]` in it a bracket.
    pub brackets: bool,
    /// The connection's character set.
    pub charset: Charset,
}

impl Dialect {
    /// A MariaDB of this version (as in version comments) with the default SQL mode and an ASCII-safe character set.
    pub fn mariadb(server_version: u32) -> Dialect {
        Dialect {
            server_version,
            mariadb: true,
            no_backslash_escapes: false,
            ansi_quotes: false,
            brackets: false,
            charset: Charset::AsciiSafe,
        }
    }

    /// Reads the beginning of a comment, `text` starting at its `/*`.
    ///
    /// MariaDB manual, "Comment Syntax": `/*!NNNNN` runs where the server is that version or newer, but MariaDB skips
    /// 50700 to 99999, which are MySQL's; `/*M!` runs on MariaDB only. Five digits, or six.
    pub(crate) fn comment_opening(&self, text: &[u8]) -> CommentOpening {
        let (marker_length, of_mariadb) = match text.get(2..) {
            Some([b'!', ..]) => (3, false),
            Some([b'M', b'!', ..]) => (4, true),
            _ => return CommentOpening::Plain,
        };
        if of_mariadb && !self.mariadb {
            return CommentOpening::Plain;
        }
        let digits = text[marker_length..].iter().take(6).take_while(|byte| byte.is_ascii_digit()).count();
        // MySQL before 8.0 reads five digits and takes the sixth for content.
        let digits = if self.mariadb || self.server_version >= 80_000 { digits } else { digits.min(5) };
        if digits < 5 {
            return CommentOpening::Executed { length: marker_length };
        }
        let version = text[marker_length..marker_length + digits]
            .iter()
            .fold(0u32, |version, digit| version * 10 + u32::from(digit - b'0'));
        let of_mysql = self.mariadb && !of_mariadb && (50_700..=99_999).contains(&version);
        if version <= self.server_version && !of_mysql {
            CommentOpening::Executed { length: marker_length + digits }
        } else {
            CommentOpening::Skipped
        }
    }
}

/// What a target makes of a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommentOpening {
    /// Nothing: it ends at the first `*/`.
    Plain,
    /// A version comment that this target skips; comments within it are skipped whole.
    Skipped,
    /// Its content is part of the statement and starts after `length` bytes.
    Executed { length: usize },
}
