//! Takes a source's rows back out of a table that has rows of others too, and a column that says whose they are.
//!
//! The column stands behind the columns of the keys, so no index finds the source's rows. They are read once, as they stand,
//! and deleted by their primary keys, some at a time. Without a primary key, some are deleted at a time until none is left.

use std::ops::ControlFlow;

use hortator_mysql::{
    Column, ConnectOptions, Connection, Error as ServerError, RowSink, quote_identifier, quote_string,
};

use super::Error;
use super::objects::Object;
use super::row_text::CopiedColumn;
use crate::query::texts;

/// Rows that a statement deletes by their keys.
const KEYS_LIMIT: usize = 500;
/// Rows that a statement deletes without.
const ROWS_LIMIT: u64 = 5_000;
/// How often the table's transactions are waited for, a second at a time.
const BARRIER_TRIES: u32 = 120;
/// Errors of a table that is not there.
const NO_TABLE: [u16; 2] = [1049, 1146];
const LOCK_WAIT_TIMEOUT: u16 = 1205;

/// Which rows.
pub(super) struct OwnRows<'o> {
    pub(super) table: &'o Object,
    pub(super) column: &'o str,
    /// The source's name.
    pub(super) source: &'o str,
}

impl OwnRows<'_> {
    /// `column = …`, letter for letter, whatever its collation.
    fn condition(&self) -> Vec<u8> {
        let value: String = self.source.bytes().map(|byte| format!("{byte:02x}")).collect();
        [&quote_identifier(self.column)[..], format!(" = X'{value}'").as_bytes()].concat()
    }

    /// Whether there are some.
    pub(super) fn exist(&self, connection: &mut Connection) -> Result<bool, Error> {
        let query =
            [b"SELECT 1 FROM ".as_slice(), &self.table.quoted(), b" WHERE ", &self.condition(), b" LIMIT 1"].concat();
        let rows = texts(connection, &query);
        Ok(!rows
            .map_err(Error::target(&format!("looking for rows of this source in {}", self.table.shown())))?
            .is_empty())
    }

    /// Deletes them. `connection` has the session of definitions.
    pub(super) fn delete(
        &self,
        connection: &mut Connection,
        target: &ConnectOptions,
        goes_on: &dyn Fn() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let doing = format!("deleting the rows of an unfinished copy from {}", self.table.shown());
        match self.wait_for_transactions(connection, goes_on) {
            Err(Error::Target { error: ServerError::Server(error), .. }) if NO_TABLE.contains(&error.code) => {
                return Ok(());
            }
            waited => waited?,
        }
        let keys = self.primary_key(connection)?;
        if keys.is_empty() {
            let limit = format!(" LIMIT {ROWS_LIMIT}");
            let delete = [&self.delete_from()[..], &self.condition(), limit.as_bytes()].concat();
            while connection.execute(&delete).map_err(Error::target(&doing))?.affected_rows > 0 {
                goes_on()?;
            }
            return Ok(());
        }
        let mut reader = Connection::open(target).map_err(Error::target("connecting"))?;
        // It waits while rows are deleted.
        for setting in super::definitions::SESSION.into_iter().chain(["SET SESSION net_write_timeout = 31536000"]) {
            reader.execute(setting.as_bytes()).map_err(Error::target("setting the session"))?;
        }
        let expressions: Vec<&[u8]> = keys.iter().map(CopiedColumn::expression).collect();
        let query = [
            b"SELECT ".as_slice(),
            &expressions.join(&b", "[..]),
            b" FROM ",
            &self.table.quoted(),
            b" WHERE ",
            &self.condition(),
        ]
        .concat();
        let mut deleter = Deleter { rows: self, keys: &keys, connection, goes_on, gathered: Vec::new(), failed: None };
        let read = reader.query(&query, &mut deleter);
        if let Some(error) = deleter.failed.take() {
            return Err(error);
        }
        read.map_err(Error::target(&doing))?;
        deleter.delete()
    }

    /// A connection of an agent that was killed may still be about to commit rows: waits until every transaction that uses the
    /// table now has ended.
    fn wait_for_transactions(
        &self,
        connection: &mut Connection,
        goes_on: &dyn Fn() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let lock = [b"LOCK TABLES ".as_slice(), &self.table.quoted(), b" WRITE"].concat();
        let doing = format!("waiting for transactions that use {}", self.table.shown());
        let execute = |connection: &mut Connection, statement: &[u8]| {
            connection.execute(statement).map(drop).map_err(Error::target(&doing))
        };
        // Others wait behind this for no longer than a second.
        execute(connection, b"SET SESSION lock_wait_timeout = 1, innodb_lock_wait_timeout = 1")?;
        let mut tries = 0;
        let locked = loop {
            tries += 1;
            match execute(connection, &lock) {
                Err(Error::Target { error: ServerError::Server(error), .. })
                    if error.code == LOCK_WAIT_TIMEOUT && tries < BARRIER_TRIES =>
                {
                    goes_on()?;
                }
                done => break done,
            }
        };
        if locked.is_ok() {
            execute(connection, b"UNLOCK TABLES")?;
        }
        execute(connection, b"SET SESSION lock_wait_timeout = DEFAULT, innodb_lock_wait_timeout = DEFAULT")?;
        locked
    }

    fn delete_from(&self) -> Vec<u8> {
        [b"DELETE FROM ".as_slice(), &self.table.quoted(), b" WHERE "].concat()
    }

    /// The columns of the primary key; none where there is none, or none that is understood.
    fn primary_key(&self, connection: &mut Connection) -> Result<Vec<CopiedColumn>, Error> {
        let query = [
            b"SELECT c.COLUMN_NAME, LOWER(c.DATA_TYPE), COALESCE(c.CHARACTER_SET_NAME, '') \
              FROM information_schema.STATISTICS s JOIN information_schema.COLUMNS c ON c.TABLE_SCHEMA = s.TABLE_SCHEMA \
              AND c.TABLE_NAME = s.TABLE_NAME AND c.COLUMN_NAME = s.COLUMN_NAME WHERE s.INDEX_NAME = 'PRIMARY' \
              AND s.TABLE_SCHEMA = "
                .as_slice(),
            &quote_string(&self.table.schema),
            b" AND s.TABLE_NAME = ",
            &quote_string(&self.table.name),
            b" ORDER BY s.SEQ_IN_INDEX",
        ]
        .concat();
        let rows = texts(connection, &query).map_err(Error::target("asking for a primary key"))?;
        let columns = rows.iter().map(|row| CopiedColumn::new(row[0].as_bytes(), &row[1], &row[2]));
        Ok(columns.collect::<Option<Vec<CopiedColumn>>>().unwrap_or_default())
    }
}

/// Takes keys, and deletes their rows.
struct Deleter<'d> {
    rows: &'d OwnRows<'d>,
    keys: &'d [CopiedColumn],
    connection: &'d mut Connection,
    goes_on: &'d dyn Fn() -> Result<(), Error>,
    gathered: Vec<Vec<u8>>,
    failed: Option<Error>,
}

impl Deleter<'_> {
    fn delete(&mut self) -> Result<(), Error> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        (self.goes_on)()?;
        let keys = std::mem::take(&mut self.gathered).join(&b" OR "[..]);
        let delete = [&self.rows.delete_from()[..], &self.rows.condition(), b" AND (", &keys, b")"].concat();
        let doing = format!("deleting the rows of an unfinished copy from {}", self.rows.table.shown());
        self.connection.execute(&delete).map(drop).map_err(Error::target(&doing))
    }
}

impl RowSink for Deleter<'_> {
    fn columns(&mut self, _: &[Column]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
        let equals =
            self.keys.iter().zip(values).map(|(key, value)| [key.name(), b" = ", &key.literal(*value)].concat());
        let equals: Vec<Vec<u8>> = equals.collect();
        self.gathered.push([b"(".as_slice(), &equals.join(&b" AND "[..]), b")"].concat());
        if self.gathered.len() >= KEYS_LIMIT {
            self.failed = self.delete().err();
        }
        if self.failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
