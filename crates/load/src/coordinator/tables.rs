//! What the coordinator knows of the tables that rows go to, asked of the server once and forgotten when it may be wrong.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hortator_mysql::catalog::{self, Table, TableName};
use hortator_mysql::{Connection, Error};

use super::rows_plan::Reason;
use crate::cluster::Targets;
use crate::lexer::{Dialect, tokens};

/// Tables remembered; beyond that all are forgotten and asked for again.
const REMEMBERED_LIMIT: usize = 10_000;

/// Why rows of such a table need the main session.
pub(super) const NUMBERED_IN_MAIN: Reason = "MySQL generates AUTO_INCREMENT values from the state of the session";

/// The tables that were asked for, over a connection of their own: asking leaves no trace in the main session.
#[derive(Debug)]
pub(crate) struct Tables {
    connection: Connection,
    known: HashMap<TableName, Option<Arc<Table>>>,
    /// Tables whose next numbers only the main session knows.
    numbered_in_main: NumberedInMain,
}

/// Tables that got rows with ON DUPLICATE KEY UPDATE, on MySQL: InnoDB remembers the numbers that such a statement has
/// reserved and not used for the connection that ran it, where the table's counter is already behind them.
#[derive(Debug)]
enum NumberedInMain {
    /// These.
    Some(HashSet<TableName>),
    /// More than are remembered: any may be.
    Any,
}

impl Tables {
    pub(crate) fn open(targets: &Targets) -> Result<Self, Error> {
        // Names are asked for in UTF-8, whatever the dump's character set is.
        let connection = targets.connect_internal(&|| false)?.connection;
        let numbered_in_main = NumberedInMain::Some(HashSet::new());
        Ok(Self { connection, known: HashMap::new(), numbered_in_main })
    }

    /// ChunkContent note of rows that went to a table in the main session.
    pub(crate) fn got_rows_in_main(&mut self, name: &TableName, text: &[u8], dialect: &Dialect) {
        if dialect.mariadb || !tokens(text, dialect).any(|token| token.is_word(b"DUPLICATE")) {
            return;
        }
        if let NumberedInMain::Some(tables) = &mut self.numbered_in_main {
            tables.insert(name.clone());
            if tables.len() > REMEMBERED_LIMIT {
                self.numbered_in_main = NumberedInMain::Any;
            }
        }
    }

    /// Whether a table's rows must go by the main session to get the numbers that the client's would.
    pub(crate) fn is_numbered_in_main(&self, table: &Table) -> bool {
        table.auto_increment().is_some()
            && match &self.numbered_in_main {
                NumberedInMain::Some(tables) => tables.contains(&table.name),
                NumberedInMain::Any => true,
            }
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
