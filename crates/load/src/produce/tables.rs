//! What the producer knows of the tables that rows go to, asked of the server once and forgotten when it may be wrong.

use std::collections::HashMap;
use std::sync::Arc;

use hortator_mysql::catalog::{self, Table, TableName};
use hortator_mysql::{Connection, Error};

use crate::cluster::Targets;

/// Tables remembered; beyond that all are forgotten and asked for again.
const REMEMBERED_LIMIT: usize = 10_000;

/// The tables that were asked for, over a connection of their own: asking leaves no trace in the main session.
#[derive(Debug)]
pub(crate) struct Tables {
    connection: Connection,
    known: HashMap<TableName, Option<Arc<Table>>>,
}

impl Tables {
    pub(crate) fn open(targets: &Targets) -> Result<Self, Error> {
        // Names are asked for in UTF-8, whatever the dump's character set is.
        Ok(Self { connection: targets.connect_apart(&|| false)?.connection, known: HashMap::new() })
    }

    /// What is known without asking.
    pub(crate) fn remembered(&self, name: &TableName) -> Option<Option<Arc<Table>>> {
        self.known.get(name).cloned()
    }

    /// Asks the server; `None` when there is no such table.
    pub(crate) fn ask(&mut self, name: &TableName) -> Result<Option<Arc<Table>>, Error> {
        if self.known.len() >= REMEMBERED_LIMIT {
            self.known.clear();
        }
        let found = catalog::table(&mut self.connection, name)?.map(Arc::new);
        self.known.insert(name.clone(), found.clone());
        Ok(found)
    }

    /// A table's definition changes.
    pub(crate) fn forget(&mut self, name: &TableName) {
        self.known.remove(name);
    }

    /// Anything may have changed.
    pub(crate) fn forget_all(&mut self) {
        self.known.clear();
    }

    /// The connection, for questions that leave no trace in the main session.
    pub(crate) fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }
}
