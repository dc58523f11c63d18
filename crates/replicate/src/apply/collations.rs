//! The target's collations by number: events name them so.

use std::collections::HashMap;

use hortator_mysql::{Connection, Error};

/// Names of character sets and collations.
#[derive(Debug, Default)]
pub struct Collations(HashMap<u32, (String, String)>);

/// The server has no such column, or no such table.
const UNKNOWN: [u16; 2] = [1054, 1109];

impl Collations {
    /// Asks a server.
    ///
    /// # Errors
    /// As for any statement.
    pub fn of_server(connection: &mut Connection) -> Result<Collations, Error> {
        let query = b"SELECT ID, CHARACTER_SET_NAME, FULL_COLLATION_NAME FROM \
            information_schema.COLLATION_CHARACTER_SET_APPLICABILITY";
        // Before MariaDB 10.10, and in MySQL, a collation belongs to one character set.
        let old = b"SELECT ID, CHARACTER_SET_NAME, COLLATION_NAME FROM information_schema.COLLATIONS";
        let rows = match connection.fetch(query) {
            Err(Error::Server(error)) if UNKNOWN.contains(&error.code) => connection.fetch(old)?,
            answer => answer?,
        };
        let text = |value: Option<Vec<u8>>| String::from_utf8(value?).ok();
        let named = rows.into_iter().filter_map(|row| {
            let mut values = row.into_iter().map(text);
            let id = values.next()??.parse().ok()?;
            Some((id, (values.next()??, values.next()??)))
        });
        Ok(Collations(named.collect()))
    }

    /// Character set and collation of a number.
    #[must_use]
    pub fn names(&self, id: u32) -> Option<(&str, &str)> {
        self.0.get(&id).map(|(charset, collation)| (charset.as_str(), collation.as_str()))
    }
}
