//! `--definer`: who views, triggers, routines and events run as.

use std::fmt;
use std::str::FromStr;

use super::Edit;
use crate::lexer::{Kind, Token};

/// What takes the place of a DEFINER clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definer {
    /// Nothing: the server takes the account that loads.
    Strip,
    /// CURRENT_USER, which is that account too.
    CurrentUser,
    /// An account.
    Account {
        /// Its user.
        user: String,
        /// Its host.
        host: String,
    },
}

/// Why a text names no definer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no definer: write strip, CURRENT_USER, or USER@HOST as in `app@localhost` or `app@%`")]
pub struct DefinerError(String);

impl FromStr for Definer {
    type Err = DefinerError;

    fn from_str(text: &str) -> Result<Self, DefinerError> {
        if text.eq_ignore_ascii_case("strip") {
            return Ok(Self::Strip);
        }
        if text.eq_ignore_ascii_case("CURRENT_USER") || text.eq_ignore_ascii_case("CURRENT_USER()") {
            return Ok(Self::CurrentUser);
        }
        // A user can have an @ in its name, a host cannot.
        let (user, host) = text.rsplit_once('@').ok_or_else(|| DefinerError(text.to_owned()))?;
        let (user, host) = (unquoted(user), unquoted(host));
        if host.is_empty() || user.is_empty() || host.contains(['`', '\'', '"']) {
            return Err(DefinerError(text.to_owned()));
        }
        Ok(Self::Account { user: user.to_owned(), host: host.to_owned() })
    }
}

impl Definer {
    /// Whether its name has the same bytes in all character sets of a client.
    pub(super) fn is_ascii(&self) -> bool {
        match self {
            Self::Strip | Self::CurrentUser => true,
            Self::Account { user, host } => user.is_ascii() && host.is_ascii(),
        }
    }
}

/// Without the quotes around it.
fn unquoted(name: &str) -> &str {
    let quotes = ['`', '\'', '"'];
    let inside = quotes.iter().find_map(|quote| name.strip_prefix(*quote)?.strip_suffix(*quote));
    inside.unwrap_or(name)
}

impl fmt::Display for Definer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Strip => f.write_str("strip"),
            Self::CurrentUser => f.write_str("CURRENT_USER"),
            Self::Account { user, host } => write!(f, "{user}@{host}"),
        }
    }
}

/// Words at which the clauses before the kind of an object end.
const KINDS: &[&[u8]] =
    &[b"VIEW", b"TRIGGER", b"PROCEDURE", b"FUNCTION", b"PACKAGE", b"EVENT", b"TABLE", b"SEQUENCE", b"USER", b"ROLE"];

/// The change of a statement's DEFINER clause, which stands between CREATE or ALTER and the kind of the object: never in a
/// body.
pub(super) fn edit(all: &[Token<'_>], definer: &Definer) -> Option<Edit> {
    let first = all.first()?;
    if !first.is_word(b"CREATE") && !first.is_word(b"ALTER") {
        return None;
    }
    let head_length = all.iter().position(|token| KINDS.iter().any(|kind| token.is_word(kind)))?;
    let at = all[..head_length].iter().position(|token| token.is_word(b"DEFINER"))?;
    if !all.get(at + 1)?.is_symbol(b"=") {
        return None;
    }
    let end = account_end(all, at + 2)?;
    let replacement = match definer {
        Definer::Strip => Vec::new(),
        Definer::CurrentUser => b"DEFINER=CURRENT_USER".to_vec(),
        Definer::Account { user, host } => {
            let (user, host) = [user, host].map(|name| hortator_mysql::quote_identifier(name.as_bytes())).into();
            [b"DEFINER=".as_slice(), &user, b"@", &host].concat()
        }
    };
    Some((all[at].offset..all[end - 1].end, replacement))
}

/// Where an account ends: `user`, `user@host`, `CURRENT_USER`, `CURRENT_USER()`.
fn account_end(all: &[Token<'_>], at: usize) -> Option<usize> {
    let is = |index: usize, symbol: &[u8]| all.get(index).is_some_and(|token| token.is_symbol(symbol));
    if !matches!(all.get(at)?.kind, Kind::Word(_) | Kind::QuotedIdentifier(_) | Kind::String(_)) {
        return None;
    }
    if is(at + 1, b"(") && is(at + 2, b")") {
        return Some(at + 3);
    }
    if is(at + 1, b"@") {
        return Some(at + 3).filter(|end| *end <= all.len());
    }
    let has_host = matches!(all.get(at + 1).map(|token| &token.kind), Some(Kind::UserVariable(_)));
    Some(at + 1 + usize::from(has_host))
}
