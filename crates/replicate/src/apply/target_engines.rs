//! Which tables of the target can roll back: the source's engines say nothing of that.

use std::collections::HashMap;

use hortator_mysql::catalog::{TableKind, TableName, table};
use hortator_mysql::{Connection, Error};

use crate::binlog::{Content, Event};

/// Tables that are remembered; beyond that all are asked for again.
const LIMIT: usize = 10_000;

/// What is known of the target's tables, until a statement may have changed them.
#[derive(Debug, Default)]
pub(super) struct TargetEngines(HashMap<TableName, bool>);

impl TargetEngines {
    /// A statement may have changed any of them.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// Whether nothing stays of these rows where the target rolls back. A table that is not there has none.
    ///
    /// # Errors
    /// As for any statement.
    pub(super) fn can_roll_back(&mut self, connection: &mut Connection, events: &[Event]) -> Result<bool, Error> {
        let mut can = true;
        for event in events {
            let Content::TableMap(map) = &event.content else { continue };
            let name = TableName { schema: map.schema.clone(), table: map.table.clone() };
            can &= match self.0.get(&name) {
                Some(known) => *known,
                None => self.ask(connection, name)?,
            };
        }
        Ok(can)
    }

    fn ask(&mut self, connection: &mut Connection, name: TableName) -> Result<bool, Error> {
        let found = table(connection, &name)?;
        let can = found.is_none_or(|table| table.kind != TableKind::Base { transactional: false });
        if self.0.len() >= LIMIT {
            self.0.clear();
        }
        self.0.insert(name, can);
        Ok(can)
    }
}
