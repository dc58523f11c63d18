//! How far each source is applied: a row in the target, written in the transaction of the rows.

use std::collections::HashSet;
use std::fmt;

use hortator_load::checkpoint::RecoveryHint;
use hortator_mysql::{Connection, Error, quote_identifier, quote_string};

use super::definition::Begun;
use super::temporary_tables::TemporaryTables;
use crate::binlog::{Content, Event, GtidState};
use crate::snapshot::{RECORD_TABLE, STAGED_TABLE, STAGING};
use crate::transaction::LogPosition;

/// The table's name.
const TABLE: &str = "replicate_positions";

/// Tables of Hortator's own in the target.
const OWN_TABLES: [&str; 3] = [TABLE, RECORD_TABLE, STAGED_TABLE];

const REPLACE: &[u8] = b"REPLACE INTO ";
const UPDATE: &[u8] = b"UPDATE ";
const DELETE: &[u8] = b"DELETE FROM ";
/// What stands before the name of such a table in a statement that changes its rows, or its definition.
const CHANGES: [&[u8]; 9] = [
    REPLACE,
    UPDATE,
    DELETE,
    b"INSERT INTO ",
    b"INSERT IGNORE INTO ",
    b"CREATE TABLE ",
    CREATE_IF_MISSING,
    b"ALTER TABLE ",
    b"DROP TABLE IF EXISTS ",
];
const CREATE_IF_MISSING: &[u8] = b"CREATE TABLE IF NOT EXISTS ";
const CREATE_SCHEMA: &[u8] = b"CREATE DATABASE IF NOT EXISTS ";

/// How far a source is applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourcePosition {
    /// Behind the last transaction.
    pub position: LogPosition,
    /// The transactions up to there, by their ids.
    pub gtid: GtidState,
    /// What had begun behind `position`, cannot be rolled back, and is not known to have ended.
    pub begun: Option<Begun>,
    /// Temporary tables that are open behind `position`.
    pub temporary: TemporaryTables,
}

impl fmt::Display for SourcePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LogPosition { file, position } = &self.position;
        match (file.is_empty(), self.gtid.is_empty()) {
            (true, _) => write!(f, "GTID position {}", self.gtid),
            (false, true) => write!(f, "{}:{position}", String::from_utf8_lossy(file)),
            (false, false) => {
                write!(f, "{}:{position} (GTID position {})", String::from_utf8_lossy(file), self.gtid)
            }
        }
    }
}

/// The table of positions.
#[derive(Clone, Debug)]
pub struct PositionTable {
    schema: String,
    /// Quoted schema and name.
    table: Vec<u8>,
    /// The same of all tables of Hortator's own, and how the names begin of those in which it keeps rows for a while.
    own_tables: Vec<Vec<u8>>,
    /// The source's name, as a literal.
    source: Vec<u8>,
}

impl PositionTable {
    /// Makes the table if it is not there.
    ///
    /// # Errors
    /// As for any statement.
    pub fn create(connection: &mut Connection, schema: &str, source: &str) -> Result<PositionTable, Error> {
        let table = [quote_identifier(schema), b".".to_vec(), quote_identifier(TABLE)].concat();
        connection.execute(&[CREATE_SCHEMA, &quote_identifier(schema)].concat())?;
        let columns = b" (source VARBINARY(255) NOT NULL PRIMARY KEY, file VARBINARY(512) NOT NULL, \
            position BIGINT UNSIGNED NOT NULL, gtid MEDIUMBLOB NOT NULL, begun LONGBLOB, before_it BLOB, temporary LONGBLOB) ENGINE=InnoDB";
        connection.execute(&[CREATE_IF_MISSING, &table, columns].concat())?;
        // One of an earlier version has no such column.
        if let Err(Error::Server(_)) =
            connection.fetch(&[b"SELECT temporary FROM ".as_slice(), &table, b" LIMIT 0"].concat())
        {
            connection.execute(
                &[b"ALTER TABLE ".as_slice(), &table, b" ADD COLUMN IF NOT EXISTS temporary LONGBLOB"].concat(),
            )?;
        }
        // Sets of MySQL's GTIDs can be longer than an earlier version had room for.
        let narrow = b"SELECT 1 FROM information_schema.COLUMNS WHERE COLUMN_NAME = 'gtid' AND DATA_TYPE = 'blob' \
            AND TABLE_NAME = 'replicate_positions' AND TABLE_SCHEMA = ";
        if !connection.fetch(&[narrow.as_slice(), &quote_string(schema)].concat())?.is_empty() {
            connection.execute(&[b"ALTER TABLE ".as_slice(), &table, b" MODIFY gtid MEDIUMBLOB NOT NULL"].concat())?;
        }
        let own_tables = own_tables(schema);
        Ok(PositionTable { schema: schema.to_owned(), table, own_tables, source: literal(source.as_bytes()) })
    }

    /// The schema that it is in.
    pub(super) fn schema(&self) -> &str {
        &self.schema
    }

    /// How far the source is applied; `None` before its first transaction.
    ///
    /// # Errors
    /// As for any statement.
    pub fn read(&self, connection: &mut Connection) -> Result<Option<SourcePosition>, Error> {
        let query = [
            b"SELECT file, position, gtid, begun, before_it, temporary FROM ".as_slice(),
            &self.table,
            b" WHERE source = ",
            &self.source,
            // A connection of an agent that was killed may still be about to commit.
            b" FOR UPDATE",
        ]
        .concat();
        let Some(row) = connection.fetch(&query)?.into_iter().next() else { return Ok(None) };
        let mut values = row.into_iter();
        let mut next = || values.next().flatten();
        let file = next().unwrap_or_default();
        let text = |value: Option<Vec<u8>>| String::from_utf8_lossy(&value.unwrap_or_default()).into_owned();
        let invalid = |found: String| Error::Unsupported(format!("the recorded position cannot be read: {found}"));
        let position = text(next());
        let position = position.parse().map_err(|_| invalid(format!("`{position}` is no position in a file")))?;
        let gtid_text = text(next());
        let gtid: GtidState = gtid_text.parse().map_err(invalid)?;
        let begun = next();
        let before = RecoveryHint::from_text(&text(next()));
        let begun = begun.map(|text| Begun { text, before });
        let temporary = TemporaryTables::from_text(&text(next())).map_err(invalid)?;
        let found = SourcePosition { position: LogPosition { file, position }, gtid, begun, temporary };
        if found.gtid.to_string() != gtid_text {
            // A person has written it: positions are compared as texts.
            connection.execute(&self.write(&found))?;
        }
        Ok(Some(found))
    }

    /// Takes out what is about such a table, which a source has that is a target itself: it is about its sources.
    pub(super) fn strip(&self, events: &mut Vec<Event>) {
        let is_own = |event: &Event| matches!(&event.content, Content::Query(query) if self.is_written_by(&query.text));
        if events.iter().any(is_own) {
            let mut kept: Vec<Event> = Vec::with_capacity(events.len());
            for event in events.drain(..) {
                if !is_own(&event) {
                    kept.push(event);
                    continue;
                }
                while kept.last().is_some_and(is_value) {
                    kept.pop();
                }
            }
            *events = kept;
        }
        let mut own = HashSet::new();
        for event in events.iter() {
            match &event.content {
                Content::TableMap(map)
                    if map.schema == self.schema.as_bytes()
                        && (OWN_TABLES.iter().any(|own| own.as_bytes() == map.table)
                            || map.table.starts_with(STAGING.as_bytes())) =>
                {
                    own.insert(map.table_id);
                }
                _ => {}
            }
        }
        if !own.is_empty() {
            events.retain(|event| match &event.content {
                Content::TableMap(map) => !own.contains(&map.table_id),
                Content::Rows(rows) => !own.contains(&rows.table_id),
                _ => true,
            });
        }
    }

    /// Whether a statement is about such a table, as another agent writes it for which its target is our source: rows where its
    /// account may not set the format of its log.
    pub(super) fn is_written_by(&self, text: &[u8]) -> bool {
        if text.strip_prefix(CREATE_SCHEMA).is_some_and(|rest| rest == quote_identifier(&self.schema)) {
            return true;
        }
        let mut named = CHANGES.iter().filter_map(|change| text.strip_prefix(*change));
        let is_alone = |rest: &[u8]| !text.starts_with(b"DROP") || !rest.contains(&b',');
        named.any(|rest| self.own_tables.iter().any(|table| rest.starts_with(table)) && is_alone(rest))
    }

    /// The statement that moves the position, which changes one row: none where the position on record is another one by now.
    pub(super) fn advance(&self, from: &SourcePosition, to: &SourcePosition) -> Vec<u8> {
        let fields = |at: &SourcePosition, separator: &str| {
            [
                b"file = ".as_slice(),
                &literal(&at.position.file),
                separator.as_bytes(),
                format!("position = {}", at.position.position).as_bytes(),
                separator.as_bytes(),
                b"gtid = ",
                &literal(at.gtid.to_string().as_bytes()),
            ]
            .concat()
        };
        [
            UPDATE,
            &self.table,
            b" SET ",
            &fields(to, ", "),
            b", begun = NULL, before_it = NULL, temporary = ",
            &temporary(to),
            b" WHERE source = ",
            &self.source,
            b" AND ",
            &fields(from, " AND "),
        ]
        .concat()
    }

    /// The statement that forgets the position.
    pub(crate) fn forget(&self) -> Vec<u8> {
        [DELETE, &self.table, b" WHERE source = ", &self.source].concat()
    }

    /// The statement that records a position, whatever is on record.
    #[must_use]
    pub fn write(&self, at: &SourcePosition) -> Vec<u8> {
        let (begun, before) = match &at.begun {
            Some(begun) => (literal(&begun.text), literal(begun.before.to_text().as_bytes())),
            None => (b"NULL".to_vec(), b"NULL".to_vec()),
        };
        [
            REPLACE,
            &self.table,
            b" (source, file, position, gtid, begun, before_it, temporary) VALUES (",
            &self.source,
            b", ",
            &literal(&at.position.file),
            format!(", {}, ", at.position.position).as_bytes(),
            &literal(at.gtid.to_string().as_bytes()),
            b", ",
            &begun,
            b", ",
            &before,
            b", ",
            &temporary(at),
            b")",
        ]
        .concat()
    }
}

/// Whether it is a value for the statement behind it.
fn is_value(event: &Event) -> bool {
    matches!(event.content, Content::IntVar { .. } | Content::Rand { .. } | Content::UserVariable(_))
}

fn own_tables(schema: &str) -> Vec<Vec<u8>> {
    let named = |name: &str| [quote_identifier(schema), quote_identifier(name)].join(&b'.');
    let mut staged = named(STAGING);
    // It goes on.
    staged.pop();
    OWN_TABLES.iter().map(|name| named(name)).chain([staged]).collect()
}

fn temporary(at: &SourcePosition) -> Vec<u8> {
    match at.temporary.is_empty() {
        true => b"NULL".to_vec(),
        false => literal(at.temporary.to_text().as_bytes()),
    }
}

/// A text that means the same under every SQL mode and character set: those of the source's last statement are in force.
pub(crate) fn literal(text: &[u8]) -> Vec<u8> {
    if text.is_empty() {
        // Not `''`: sql_mode may take that for NULL.
        return b"REPEAT('x', 0)".to_vec();
    }
    text.iter().fold(b"0x".to_vec(), |mut literal, byte| {
        literal.extend_from_slice(format!("{byte:02x}").as_bytes());
        literal
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_about_positions() {
        let own = |name| [quote_identifier("hortator"), quote_identifier(name)].join(&b'.');
        let table = PositionTable {
            schema: "hortator".to_owned(),
            table: own(TABLE),
            own_tables: own_tables("hortator"),
            source: literal(b"a"),
        };
        let at = SourcePosition::default();
        for text in [table.write(&at), table.advance(&at, &at), table.forget()] {
            assert!(table.is_written_by(&text), "{}", String::from_utf8_lossy(&text));
        }
        for (text, expected) in [
            ("INSERT IGNORE INTO `hortator`.`replicate_copied_objects` VALUES (1)", true),
            ("CREATE DATABASE IF NOT EXISTS `hortator`", true),
            ("CREATE TABLE IF NOT EXISTS `hortator`.`replicate_positions` (source INT)", true),
            ("CREATE TABLE `hortator`.`replicate_staged_0_1` LIKE `d`.`t`", true),
            ("INSERT INTO `hortator`.`replicate_staged_0_1` VALUES (1)", true),
            ("DROP TABLE IF EXISTS `hortator`.`replicate_staged_0_1` /* generated by server */", true),
            ("DROP TABLE IF EXISTS `hortator`.`replicate_staged_0_1`,`d`.`t` /* generated by server */", false),
            ("CREATE DATABASE IF NOT EXISTS `hortator2`", false),
            ("CREATE TABLE `hortator`.`other` (id INT)", false),
            ("DELETE FROM `hortator`.`other`", false),
            ("DELETE FROM `shop`.`replicate_positions`", false),
            ("SELECT 1 FROM `hortator`.`replicate_positions`", false),
        ] {
            assert_eq!(table.is_written_by(text.as_bytes()), expected, "{text}");
        }
    }
}
