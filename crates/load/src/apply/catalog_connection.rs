//! The connection for questions about the catalog: the coordinator's and the workers'. Answers depend on the settings of the
//! session that asks, and asking leaves no trace in the dump's session. It is opened before the first statement, since the
//! dump may change who can log in.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hortator_mysql::catalog::{self, Table, TableName};
use hortator_mysql::error::LOCK_WAIT_TIMEOUT;
use hortator_mysql::{Connection, Error, quote_identifier};

use crate::analysis::FunctionSet;
use crate::cluster::{Targets, WriterConnection};
use crate::session::function_set;

/// How often it is tried to close a table, and the pause between.
const FLUSH_ATTEMPTS: u32 = 50;
const FLUSH_PAUSE: Duration = Duration::from_millis(10);
/// Closes a table that this session has opened. Not on other nodes or in the binlog, and without waiting for anybody.
const FLUSH: &[u8] = b"SET STATEMENT lock_wait_timeout = 0 FOR FLUSH LOCAL TABLES ";

/// Shared by the threads of a load. Nobody who holds it waits for another of them.
#[derive(Debug)]
pub struct CatalogConnection {
    targets: Arc<Targets>,
    /// See [`Targets::is_current`].
    failover_epoch: u64,
    functions: FunctionSet,
    connection: Mutex<Connection>,
}

impl CatalogConnection {
    /// Opens it.
    ///
    /// # Errors
    /// When the server cannot be reached or refuses the login.
    pub fn open(targets: &Arc<Targets>) -> Result<Self, Error> {
        // Names are asked for in UTF-8, whatever the dump's character set is.
        let WriterConnection { mut connection, failover_epoch, .. } = targets.connect_internal(&|| false)?;
        let functions = function_set(&mut connection)?;
        Ok(Self { targets: Arc::clone(targets), failover_epoch, functions, connection: Mutex::new(connection) })
    }

    /// The functions that the server has built in.
    pub fn functions(&self) -> &FunctionSet {
        &self.functions
    }

    /// The connection, for one question.
    pub fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the server says of a table; `None` where there is no such one.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn table(&self, name: &TableName) -> Result<Option<Table>, Error> {
        self.describe(name, catalog::table)
    }

    /// The same of a table that is known to have no triggers, over the node on which it was created.
    ///
    /// # Errors
    /// What the server or the connection says; that the load has moved to another node.
    pub fn new_table(&self, name: &TableName) -> Result<Option<Table>, Error> {
        if !self.targets.is_current(self.failover_epoch) {
            return Err(self.targets.failed_over_error());
        }
        self.describe(name, |connection, name| catalog::table_with(connection, name, false))
    }

    fn describe(
        &self,
        name: &TableName,
        ask: impl FnOnce(&mut Connection, &TableName) -> Result<Option<Table>, Error>,
    ) -> Result<Option<Table>, Error> {
        let mut connection = self.lock();
        let found = ask(&mut connection, name)?;
        if let Some(table) = &found {
            close_table(&mut connection, table);
        }
        Ok(found)
    }
}

/// Undoes that a query of this session has opened a table: MariaDB keeps it open as this session has seen it, with this
/// session's settings in its expressions. Best effort: an account may not have the right. What is in use now is not open
/// because of this session; but of a table with variables, which no worker uses, only the server itself is in the way,
/// for a moment, with its statistics.
pub(crate) fn close_table(connection: &mut Connection, table: &Table) {
    if !table.columns.iter().any(|column| column.fixed_at_open) {
        return;
    }
    let place = [quote_identifier(&table.name.schema), quote_identifier(&table.name.table)].join(&b'.');
    let flush = [FLUSH, &place].concat();
    let attempts = if table.columns.iter().any(|column| column.names_variable) { FLUSH_ATTEMPTS } else { 1 };
    for _ in 0..attempts {
        match connection.execute(&flush) {
            Err(error) if error.code() == Some(LOCK_WAIT_TIMEOUT) => std::thread::sleep(FLUSH_PAUSE),
            _ => return,
        }
    }
}
