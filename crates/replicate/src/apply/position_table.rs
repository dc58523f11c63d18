//! How far each source is applied: a row in the target, written in the transaction of the rows.

use hortator_mysql::{Connection, Error, quote_identifier, quote_string};

use crate::transaction::LogPosition;

/// Tables of Hortator's own in the target.
const TABLE: &str = "replicate_positions";

/// How far a source is applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourcePosition {
    /// Behind the last transaction.
    pub position: LogPosition,
    /// MariaDB: its GTID.
    pub gtid: String,
    /// A statement that commits by itself had begun behind `position`, and is not known to have ended: its text.
    pub begun: Option<Vec<u8>>,
}

/// The table of positions.
#[derive(Clone, Debug)]
pub struct PositionTable {
    /// Quoted schema and name.
    table: Vec<u8>,
    /// Quoted name of the source.
    source: Vec<u8>,
}

impl PositionTable {
    /// Makes the table if it is not there.
    ///
    /// # Errors
    /// As for any statement.
    pub fn create(connection: &mut Connection, schema: &str, source: &str) -> Result<PositionTable, Error> {
        let table = [quote_identifier(schema), b".".to_vec(), quote_identifier(TABLE)].concat();
        connection.execute(&[b"CREATE DATABASE IF NOT EXISTS ".as_slice(), &quote_identifier(schema)].concat())?;
        let columns = b" (source VARBINARY(255) NOT NULL PRIMARY KEY, file VARBINARY(512) NOT NULL, \
            position BIGINT UNSIGNED NOT NULL, gtid VARBINARY(1024) NOT NULL, begun LONGBLOB) ENGINE=InnoDB";
        connection.execute(&[b"CREATE TABLE IF NOT EXISTS ".as_slice(), &table, columns].concat())?;
        Ok(PositionTable { table, source: quote_string(source) })
    }

    /// How far the source is applied; `None` before its first transaction.
    ///
    /// # Errors
    /// As for any statement.
    pub fn read(&self, connection: &mut Connection) -> Result<Option<SourcePosition>, Error> {
        let query =
            [b"SELECT file, position, gtid, begun FROM ".as_slice(), &self.table, b" WHERE source = ", &self.source]
                .concat();
        let row = connection.fetch(&query)?.into_iter().next();
        Ok(row.map(|row| {
            let mut values = row.into_iter();
            let mut next = || values.next().flatten();
            let file = next().unwrap_or_default();
            let position = next().and_then(|text| String::from_utf8(text).ok()?.parse().ok()).unwrap_or_default();
            let gtid = String::from_utf8_lossy(&next().unwrap_or_default()).into_owned();
            SourcePosition { position: LogPosition { file, position }, gtid, begun: next() }
        }))
    }

    /// The statement that records a position.
    #[must_use]
    pub fn write(&self, at: &SourcePosition) -> Vec<u8> {
        let begun = at.begun.as_deref().map_or_else(|| b"NULL".to_vec(), quote_string);
        [
            b"REPLACE INTO ".as_slice(),
            &self.table,
            b" (source, file, position, gtid, begun) VALUES (",
            &self.source,
            b", ",
            &quote_string(&at.position.file),
            format!(", {}, ", at.position.position).as_bytes(),
            &quote_string(&at.gtid),
            b", ",
            &begun,
            b")",
        ]
        .concat()
    }
}
