//! What the workers ask of the catalog: over one connection of their own, because the answers depend on the settings of the
//! session that asks.

use std::sync::{Arc, Mutex, PoisonError};

use hortator_mysql::Error;
use hortator_mysql::catalog::{self, Table, TableName};

use crate::cluster::{Targets, WriterConnection};

/// Describes tables to workers. Its connection is opened at the first question.
#[derive(Debug)]
pub struct TableReader {
    targets: Arc<Targets>,
    connection: Mutex<Option<WriterConnection>>,
}

impl TableReader {
    /// For the tables of these.
    #[must_use]
    pub fn new(targets: &Arc<Targets>) -> Self {
        Self { targets: Arc::clone(targets), connection: Mutex::default() }
    }

    /// A table on which no trigger fires; `None` where it is not there.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn table(&self, name: &TableName) -> Result<Option<Table>, Error> {
        let mut held = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if held.as_ref().is_some_and(|writer| !self.targets.is_current(writer.failover_epoch)) {
            *held = None;
        }
        let writer = match &mut *held {
            Some(writer) => writer,
            none => none.insert(self.targets.connect_internal(&|| false)?),
        };
        let found = catalog::table_with(&mut writer.connection, name, false);
        if matches!(&found, Err(error) if !matches!(error, Error::Server(_)) || error.is_unready()) {
            *held = None;
        }
        found
    }
}
