//! What a MySQL source writes, made what a MariaDB server writes: the target knows no other.
//!
//! ```text
//!   rows         JSON as text, no partial updates          binlog/mysql/for_mariadb.rs
//!   collations   those of MySQL 8, by name and number
//!   session      the session state of a statement
//!   statement    the text of a statement
//!   definition   what SHOW CREATE prints, for a copy
//!   members      ENUM and SET columns in CONVERT TO CHARACTER SET   member_conversion.rs
//! ```
//!
//! A statement that MariaDB cannot have an equal of is marked as refused: it stops its source when its turn comes, and can be
//! passed over. What is not known here runs as it stands, and the target says what is wrong with it.

mod collations;
mod definition;
mod member_conversion;
mod session;
mod statement;

use std::borrow::Cow;

use crate::binlog::{Content, Event, FormatDescription, JsonTables, UserValue};

pub(crate) use collations::is_needed as needs_newer_target;
pub(crate) use definition::{Session, definition, without_unenforced_checks};
pub(crate) use member_conversion::{Column, MemberConversion};

/// Why MariaDB cannot have something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}: {remedy}")]
pub(crate) struct Refusal {
    /// What it does not have.
    pub(crate) reason: Cow<'static, str>,
    /// What to do about a statement of the log.
    remedy: &'static str,
}

/// Makes events those of MariaDB, in the order of the log.
#[derive(Debug, Default)]
pub(crate) struct FromMySql {
    /// Of the events that follow, without checksums; none for a source that is MariaDB.
    plain: Option<FormatDescription>,
    /// Those that the source has written.
    checksum_bytes: usize,
    tables: JsonTables,
}

impl FromMySql {
    /// Makes an event one of MariaDB.
    ///
    /// # Errors
    /// Why that is not possible: it is damaged, or values are missing in it.
    pub(crate) fn event(&mut self, event: Event, is_within_payload: bool) -> Result<Event, String> {
        if let Content::Format(format) = &event.content {
            self.checksum_bytes = format.checksum_bytes();
            self.plain = (!format.is_mariadb()).then(|| format.clone().without_checksums());
            self.tables = JsonTables::default();
        }
        let Some(plain) = &self.plain else { return Ok(event) };
        // The whole of a payload has one.
        let checksum_bytes = if is_within_payload { 0 } else { self.checksum_bytes };
        let mut event = event.for_mariadb(checksum_bytes, plain, &mut self.tables)?;
        match &mut event.content {
            Content::Query(query) => {
                let (status, default_collation) = match session::for_mariadb(&query.status_variables) {
                    Ok(found) => found,
                    Err(reason) => {
                        query.refused = Some(reason);
                        return Ok(event);
                    }
                };
                let version = version_number(&plain.server_version);
                let dialect = statement::dialect(&query.status_variables, version);
                let text = statement::for_mariadb(&query.text, &dialect, default_collation);
                query.status_variables = status;
                match text {
                    Ok(Some(text)) => query.text = text,
                    Ok(None) => {}
                    Err(refusal) => query.refused = Some(refusal.to_string()),
                }
            }
            Content::UserVariable(variable) => {
                if let Some(UserValue::Text(_, id)) = &mut variable.value {
                    // Where there is none, the target says so.
                    *id = collations::number(*id).unwrap_or(*id);
                }
            }
            _ => {}
        }
        Ok(event)
    }
}

/// A version as comments name it: 90704 for `9.7.4-2`.
fn version_number(version: &str) -> u32 {
    let mut numbers = version.split(|letter: char| !letter.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0u32);
    next() * 10_000 + next() * 100 + next()
}

#[cfg(test)]
mod tests;
