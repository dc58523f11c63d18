//! Tables of which the load knows enough to alter them without a question.
//!
//! It has created them itself, by a definition of which [`crate::analysis::is_plain_definition`] holds, or as copies of such
//! tables: they have rows of their own, and no default and no computed value in them has a variable.

use std::collections::HashSet;

use hortator_mysql::catalog::TableName;

use crate::analysis::is_plain_engine;
use crate::session::SessionState;

/// Tables remembered; beyond that all are forgotten, and the server is asked again.
const LIMIT: usize = 10_000;

/// The plain tables of a load.
#[derive(Debug, Default)]
pub(crate) struct PlainTables(HashSet<TableName>);

impl PlainTables {
    /// A table that was not there is created by a plain definition.
    pub(super) fn created(&mut self, name: &TableName, session: &SessionState) {
        // Where the definition names no engine, or one that the server does not have.
        if is_plain_engine(session.value("default_storage_engine")) && !enforces_engine(session) {
            self.add(name);
        }
    }

    /// A table is created as a copy of another.
    pub(super) fn copied(&mut self, name: &TableName, source: &TableName, session: &SessionState) {
        if self.0.contains(source) && !enforces_engine(session) {
            self.add(name);
        }
    }

    fn add(&mut self, name: &TableName) {
        if self.0.len() >= LIMIT {
            self.0.clear();
        }
        self.0.insert(name.clone());
    }

    /// Whether a table is known to be one.
    pub(super) fn contains(&self, name: &TableName) -> bool {
        self.0.contains(name)
    }

    /// A table is gone, or has or may have another definition.
    pub(super) fn remove(&mut self, name: &TableName) {
        self.0.remove(name);
    }

    /// Any table may be another.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Whether a new table that names InnoDB, or no engine, is of InnoDB.
pub(super) fn has_innodb(session: &SessionState) -> bool {
    // A server without it takes the default engine in its place.
    session.value("default_storage_engine").eq_ignore_ascii_case(b"InnoDB") && !enforces_engine(session)
}

/// Whether new tables get another engine than they name.
fn enforces_engine(session: &SessionState) -> bool {
    !session.value("enforce_storage_engine").is_empty()
}
