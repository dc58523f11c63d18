//! Rows that are copied, and that nothing tells apart from those of other sources once they are among them.
//!
//! ```text
//!   copy ──► staging table, in the schema of positions                            a copy that ends early drops it
//!               │ the copy is whole: the source's position, and what is to be moved, in one transaction
//!               ▼
//!            the table with rows of all sources: so many rows at a time, with the number of the last one in the same
//!            transaction. A crash loses nothing, and nothing is moved twice
//! ```
//!
//! The source's log is applied when all are moved.

use hortator_mysql::{ConnectOptions, Connection, Error as ServerError, quote_identifier};

use super::copy::{Monitor, Wanted};
use super::definitions::{OPTIONAL_SESSION, SESSION};
use super::destination::{Destination, ROW_NUMBER};
use super::inventory::Table;
use super::row_text::{BEGIN_HISTORY, CopiedColumn, END_HISTORY};
use super::{CopyStatus, Error};
use crate::apply::literal;
use crate::query::{first_value, texts};

/// The table of staging tables, in the schema of positions.
pub(crate) const STAGED_TABLE: &str = "replicate_staged_tables";
/// What is moved in one transaction: rows,
const CHUNK_ROWS: u64 = 20_000;
/// and about so many bytes.
const CHUNK_BYTES: u64 = 8 << 20;
/// The table was never made.
const NO_TABLE: [u16; 2] = [1049, 1146];
const DUPLICATE: u16 = 1062;

/// Whether rows of the source are yet to be moved.
pub(super) fn has_staged(connection: &mut Connection, schema: &str, source: &str) -> Result<bool, Error> {
    let table = [quote_identifier(schema), quote_identifier(STAGED_TABLE)].join(&b'.');
    let query =
        [b"SELECT 1 FROM ".as_slice(), &table, b" WHERE source = ", &literal(source.as_bytes()), b" LIMIT 1"].concat();
    match texts(connection, &query) {
        Err(ServerError::Server(error)) if NO_TABLE.contains(&error.code) => Ok(false),
        rows => Ok(!rows.map_err(Error::target("looking for rows to move"))?.is_empty()),
    }
}

/// Rows that are to be moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StagedTable {
    /// The staging table's name.
    staging: Vec<u8>,
    /// Where they go, for a message.
    shown: String,
    /// The statement, up to the numbers.
    insert: Vec<u8>,
    /// Rows of a transaction.
    chunk_rows: u64,
    has_history: bool,
    /// The number of the last row that is moved.
    moved: u64,
}

impl StagedTable {
    /// For a table of which so many rows, with so many bytes of text, are in its staging table. None: it has no such table.
    pub(super) fn of(table: &Table, source: &str, (rows, bytes): (u64, u64)) -> Option<StagedTable> {
        let Destination::Staged { staging, column } = &table.destination else { return None };
        let mut names: Vec<Vec<u8>> = table.columns.iter().map(|column| column.name().to_vec()).collect();
        let mut values = names.clone();
        if let Some(column) = column {
            names.insert(0, quote_identifier(column));
            values.insert(0, [b"_utf8mb4 ".as_slice(), &literal(source.as_bytes())].concat());
        }
        let insert = [
            b"INSERT INTO ".as_slice(),
            &table.target.quoted(),
            b" (",
            &names.join(&b", "[..]),
            b") SELECT ",
            &values.join(&b", "[..]),
            b" FROM ",
            &staging.quoted(),
            format!(" WHERE {ROW_NUMBER} BETWEEN ").as_bytes(),
        ]
        .concat();
        let row_bytes = bytes.checked_div(rows).unwrap_or(0).max(1);
        Some(StagedTable {
            staging: staging.name.clone(),
            shown: table.target.shown(),
            insert,
            chunk_rows: (CHUNK_BYTES / row_bytes).clamp(1, CHUNK_ROWS),
            has_history: table.has_history,
            moved: 0,
        })
    }

    /// The statement that puts it on record.
    pub(super) fn record(&self, positions: &str, source: &str) -> Vec<u8> {
        let values = [
            literal(source.as_bytes()),
            literal(&self.staging),
            literal(self.shown.as_bytes()),
            literal(&self.insert),
            self.chunk_rows.to_string().into_bytes(),
            u8::from(self.has_history).to_string().into_bytes(),
        ];
        [
            b"REPLACE INTO ".as_slice(),
            &quoted(positions, STAGED_TABLE.as_bytes()),
            b" (source, staging, shown, statement, chunk_rows, has_history, moved) VALUES (",
            &values.join(&b", "[..]),
            b", 0)",
        ]
        .concat()
    }
}

/// Makes the table of staging tables where it is not there.
pub(super) fn create_table(connection: &mut Connection, positions: &str) -> Result<(), Error> {
    let create = [
        b"CREATE TABLE IF NOT EXISTS ".as_slice(),
        &quoted(positions, STAGED_TABLE.as_bytes()),
        b" (source VARBINARY(255) NOT NULL, staging VARBINARY(64) NOT NULL, shown VARBINARY(600) NOT NULL, \
           statement LONGBLOB NOT NULL, chunk_rows BIGINT UNSIGNED NOT NULL, has_history BOOL NOT NULL, \
           moved BIGINT UNSIGNED NOT NULL, PRIMARY KEY (source, staging)) ENGINE=InnoDB",
    ]
    .concat();
    connection.execute(&create).map(drop).map_err(Error::target("making the record of the copy"))
}

/// The statement that makes an empty staging table with these columns of a table.
pub(super) fn create_staging(table: &Table, staging: &[u8]) -> Vec<u8> {
    let names: Vec<&[u8]> = table.columns.iter().map(CopiedColumn::name).collect();
    let names = if names.is_empty() { b"1 AS none".to_vec() } else { names.join(&b", "[..]) };
    [
        b"CREATE TABLE ".as_slice(),
        staging,
        format!(" ({ROW_NUMBER} BIGINT UNSIGNED NOT NULL PRIMARY KEY) ENGINE=InnoDB SELECT ").as_bytes(),
        &names,
        b" FROM ",
        &table.target.quoted(),
        b" LIMIT 0",
    ]
    .concat()
}

/// Moves what a copy of this source has left in staging tables. False: it shall end before all is moved.
///
/// # Errors
/// See [`Error`]. What is moved stays, and the next call goes on.
pub(crate) fn move_staged(
    target: &ConnectOptions,
    positions: &str,
    source: &str,
    monitor: &dyn Monitor,
) -> Result<bool, Error> {
    let mut mover = Mover { connection: open(target)?, positions, source };
    let staged = mover.list()?;
    let mut status = CopyStatus { tables: staged.len() as u64, ..CopyStatus::default() };
    for mut table in staged {
        let last = mover.last_row(&table)?;
        while table.moved < last {
            monitor.note(status);
            match monitor.wanted() {
                Wanted::End => return Ok(false),
                Wanted::Hold => std::thread::sleep(std::time::Duration::from_millis(100)),
                Wanted::Run => {
                    let end = last.min(table.moved + table.chunk_rows);
                    status.rows += mover.chunk(&mut table, end)?;
                }
            }
        }
        mover.finish(&table)?;
        status.tables_done += 1;
    }
    Ok(true)
}

fn open(target: &ConnectOptions) -> Result<Connection, Error> {
    let mut connection = Connection::open(target).map_err(Error::target("connecting"))?;
    for setting in SESSION {
        connection.execute(setting.as_bytes()).map_err(Error::target("setting the session"))?;
    }
    for setting in OPTIONAL_SESSION.iter().chain(&["SET SESSION check_constraint_checks = 0"]) {
        match connection.execute(setting.as_bytes()) {
            Ok(_) | Err(ServerError::Server(_)) => {}
            Err(error) => return Err(Error::target("setting the session")(error)),
        }
    }
    Ok(connection)
}

/// Moves rows.
struct Mover<'m> {
    connection: Connection,
    positions: &'m str,
    source: &'m str,
}

impl Mover<'_> {
    fn list(&mut self) -> Result<Vec<StagedTable>, Error> {
        let query = [
            b"SELECT staging, shown, statement, chunk_rows, has_history, moved FROM ".as_slice(),
            &quoted(self.positions, STAGED_TABLE.as_bytes()),
            b" WHERE source = ",
            &literal(self.source.as_bytes()),
            // A connection of an agent that was killed may still be about to commit.
            b" FOR UPDATE",
        ]
        .concat();
        let rows = match self.connection.fetch(&query) {
            Err(ServerError::Server(error)) if NO_TABLE.contains(&error.code) => return Ok(Vec::new()),
            rows => rows.map_err(Error::target("looking for rows that are to be moved"))?,
        };
        let read = |row: Vec<Option<Vec<u8>>>| {
            let mut values = row.into_iter().map(Option::unwrap_or_default);
            let mut next = || values.next().unwrap_or_default();
            let number = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).parse::<u64>().unwrap_or_default();
            StagedTable {
                staging: next(),
                shown: String::from_utf8_lossy(&next()).into_owned(),
                insert: next(),
                chunk_rows: number(next()).max(1),
                has_history: next() == b"1",
                moved: number(next()),
            }
        };
        Ok(rows.into_iter().map(read).collect())
    }

    /// The number of the last row; 0 where there is none.
    fn last_row(&mut self, table: &StagedTable) -> Result<u64, Error> {
        let query = [
            format!("SELECT COALESCE(MAX({ROW_NUMBER}), 0) FROM ").as_bytes(),
            &quoted(self.positions, &table.staging),
        ]
        .concat();
        match first_value(&mut self.connection, &query) {
            // Everything was moved, and it is dropped.
            Err(ServerError::Server(error)) if NO_TABLE.contains(&error.code) && table.moved > 0 => Ok(table.moved),
            last => Ok(last.map_err(Error::target("looking for rows that are to be moved"))?.parse().unwrap_or(0)),
        }
    }

    /// Moves the rows up to `end`, and says how many.
    fn chunk(&mut self, table: &mut StagedTable, end: u64) -> Result<u64, Error> {
        let begin = table.moved + 1;
        let range = format!("{begin} AND {end}");
        let count = [
            b"SELECT COUNT(*) FROM ".as_slice(),
            &quoted(self.positions, &table.staging),
            format!(" WHERE {ROW_NUMBER} BETWEEN {range}").as_bytes(),
        ]
        .concat();
        let doing = format!("moving copied rows into {}", table.shown);
        let expected = first_value(&mut self.connection, &count).map_err(Error::target(&doing))?;
        let advance = [
            b"UPDATE ".as_slice(),
            &quoted(self.positions, STAGED_TABLE.as_bytes()),
            format!(" SET moved = {end} WHERE moved = {} AND source = ", table.moved).as_bytes(),
            &literal(self.source.as_bytes()),
            b" AND staging = ",
            &literal(&table.staging),
        ]
        .concat();
        let insert = [&table.insert[..], range.as_bytes()].concat();
        if table.has_history {
            self.execute(BEGIN_HISTORY, &doing)?;
        }
        self.execute("START TRANSACTION", &doing)?;
        let advanced = self.connection.execute(&advance).map_err(Error::target(&doing))?.affected_rows;
        let inserted = match self.connection.execute(&insert) {
            Err(ServerError::Server(error)) if error.code == DUPLICATE => {
                return Err(Error::Refused(format!(
                    "{doing}: {error}: a row of another source has the same key. Delete one of the two: that in {}, or that in \
                     `{}`.`{}`, then `resume`. A source column would tell them apart",
                    table.shown,
                    self.positions,
                    String::from_utf8_lossy(&table.staging)
                )));
            }
            done => done.map_err(Error::target(&doing))?.affected_rows,
        };
        if advanced != 1 || inserted.to_string() != expected {
            self.execute("ROLLBACK", &doing)?;
            return Err(Error::Refused(format!(
                "{doing}: of {expected} rows in `{}`.`{}`, {inserted} were taken",
                self.positions,
                String::from_utf8_lossy(&table.staging)
            )));
        }
        self.execute("COMMIT", &doing)?;
        if table.has_history {
            self.execute(END_HISTORY, &doing)?;
        }
        table.moved = end;
        Ok(inserted)
    }

    /// Ends the staging table.
    fn finish(&mut self, table: &StagedTable) -> Result<(), Error> {
        let drop = [b"DROP TABLE IF EXISTS ".as_slice(), &quoted(self.positions, &table.staging)].concat();
        let forget = [
            b"DELETE FROM ".as_slice(),
            &quoted(self.positions, STAGED_TABLE.as_bytes()),
            b" WHERE source = ",
            &literal(self.source.as_bytes()),
            b" AND staging = ",
            &literal(&table.staging),
        ]
        .concat();
        for statement in [drop, forget] {
            self.connection.execute(&statement).map_err(Error::target("ending a staging table"))?;
        }
        Ok(())
    }

    fn execute(&mut self, statement: &str, doing: &str) -> Result<(), Error> {
        self.connection.execute(statement.as_bytes()).map(drop).map_err(Error::target(doing))
    }
}

/// Whether the engine of a table can roll rows back.
pub(super) fn can_roll_back(connection: &mut Connection, table: &Table) -> Result<bool, Error> {
    let query = [
        b"SELECT COALESCE(e.TRANSACTIONS, 'NO') FROM information_schema.TABLES t LEFT JOIN information_schema.ENGINES e \
          ON e.ENGINE = t.ENGINE WHERE t.TABLE_SCHEMA = "
            .as_slice(),
        &hortator_mysql::quote_string(&table.target.schema),
        b" AND t.TABLE_NAME = ",
        &hortator_mysql::quote_string(&table.target.name),
    ]
    .concat();
    let rows = texts(connection, &query).map_err(Error::target("asking for an engine"))?;
    Ok(rows.first().is_some_and(|row| row[0] == "YES"))
}

fn quoted(schema: &str, table: &[u8]) -> Vec<u8> {
    [quote_identifier(schema), quote_identifier(table)].join(&b'.')
}
