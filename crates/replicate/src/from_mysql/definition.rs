//! What SHOW CREATE prints on a MySQL server, as MariaDB makes the same.

use hortator_load::lexer::{Charset, Dialect, Token, tokens};

use super::collations::{self, Name};
use super::{Refusal, statement};
use crate::statement_text::depths;

/// The collation of `CHARSET=utf8mb4` in what SHOW CREATE prints.
const DEFAULT_COLLATION: u16 = 255;
const TRUNCATES: &str = "TIME_TRUNCATE_FRACTIONAL";
const ROUNDS: &str = "TIME_ROUND_FRACTIONAL";

/// The session in which a routine, a view, a trigger or an event was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Session {
    /// `sql_mode`.
    pub(crate) sql_mode: String,
    /// `character_set_client`.
    pub(crate) charset: String,
    /// `collation_connection`.
    pub(crate) collation: String,
}

impl Session {
    /// The same on MariaDB.
    ///
    /// # Errors
    /// A collation that it does not have.
    pub(crate) fn for_mariadb(&self) -> Result<Session, Refusal> {
        let collation = match collations::name(&self.collation) {
            Name::Same => self.collation.clone(),
            Name::Other(name) => name,
            Name::None => return Err(collations::refusal(&self.collation)),
        };
        let modes = self.sql_mode.split(',').filter(|mode| !mode.is_empty());
        // MariaDB cuts fractions of seconds off where it is not told to round; MySQL the other way round.
        let rounds = (!modes.clone().any(|mode| mode == TRUNCATES)).then_some(ROUNDS);
        let modes: Vec<&str> = modes.filter(|mode| *mode != TRUNCATES).chain(rounds).collect();
        Ok(Session { sql_mode: modes.join(","), charset: self.charset.clone(), collation })
    }

    fn dialect(&self, source_version: u32) -> Dialect {
        let has = |wanted: &str| self.sql_mode.split(',').any(|mode| mode == wanted);
        Dialect {
            server_version: source_version,
            mariadb: false,
            no_backslash_escapes: has("NO_BACKSLASH_ESCAPES"),
            ansi_quotes: has("ANSI_QUOTES"),
            brackets: false,
            charset: Charset::from_name(if self.charset.is_empty() { b"utf8mb4" } else { self.charset.as_bytes() }),
        }
    }
}

/// The text for MariaDB.
///
/// # Errors
/// Why MariaDB cannot have the same.
pub(crate) fn definition(text: &[u8], session: &Session, source_version: u32) -> Result<Vec<u8>, Refusal> {
    let found = statement::for_mariadb(text, &session.dialect(source_version), Some(DEFAULT_COLLATION))?;
    Ok(found.unwrap_or_else(|| text.to_vec()))
}

/// CREATE TABLE without the CHECK constraints that are NOT ENFORCED, which MariaDB does not have and which check nothing: the
/// text, and the names of those that were in it.
pub(crate) fn without_unenforced_checks(text: &[u8], source_version: u32) -> (Vec<u8>, Vec<String>) {
    let all: Vec<Token<'_>> = tokens(text, &Session::default().dialect(source_version)).collect();
    let depths = depths(&all);
    let (mut kept, mut names, mut at) = (Vec::new(), Vec::new(), 0);
    // Where the item begins whose tokens come: at its comma.
    let mut begin = 0;
    for (index, token) in all.iter().enumerate() {
        if depths[index] != 1 {
            continue;
        }
        if token.is_symbol(b",") {
            begin = index;
        }
        let is_end = all
            .get(index + 1)
            .is_none_or(|next| depths[index + 1] == 0 || next.is_symbol(b",") && depths[index + 1] == 1);
        let is_unenforced = token.is_word(b"ENFORCED") && all[index - 1].is_word(b"NOT");
        // In what SHOW CREATE prints they stand behind the columns, each an item with a name.
        if is_end && is_unenforced && all[begin].is_symbol(b",") && all[begin + 1].is_word(b"CONSTRAINT") {
            kept.extend_from_slice(&text[at..all[begin].offset]);
            at = token.end + text[token.end..].windows(2).position(|two| two == b"*/").map_or(0, |found| found + 2);
            names.push(String::from_utf8_lossy(&text[all[begin + 2].offset..all[begin + 2].end]).into_owned());
        }
    }
    kept.extend_from_slice(&text[at..]);
    (kept, names)
}
