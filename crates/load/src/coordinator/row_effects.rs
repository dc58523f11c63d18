//! What a statement of the main session is known to do with rows, asked of the server before it runs: what a record has to
//! say of it.

use hortator_mysql::catalog::{TableKind, TableName};
use hortator_mysql::{Error, quote_string};

use super::Coordinator;
use super::journal::RowEffects;
use crate::apply::Stopped;
use crate::checkpoint::COUNTERS_LIMIT;
use crate::lexer::{Dialect, Kind, Location, tokens};
use crate::report::Failure;

impl Coordinator<'_> {
    /// For rows that go to this table; a table that is not there gets none.
    pub(super) fn row_effects(&mut self, name: &TableName, location: &Location) -> Result<RowEffects, Stopped> {
        let nothing = RowEffects { table: name.to_string(), ..RowEffects::default() };
        if !self.main.is_recorded() {
            return Ok(nothing);
        }
        let Some(table) = self.table(name, location)? else { return Ok(nothing) };
        let counters = match table.has_triggers || table.auto_increment().is_some() {
            true => self.counters(name, table.has_triggers),
            false => Ok(Vec::new()),
        };
        match counters {
            Ok(mut counters) => {
                // MySQL tells no counter of a table that has not given a number yet.
                if table.auto_increment().is_some() && !counters.iter().any(|(counted, _)| counted == name) {
                    counters.push((name.clone(), 1));
                }
                // A view's rows may be anywhere.
                let is_non_transactional = table.kind != TableKind::Base { transactional: true };
                Ok(RowEffects { is_non_transactional, counters, ..nothing })
            }
            Err(error) => {
                self.main.end_at(Failure::at(location, b"", &error), &error);
                Err(Stopped)
            }
        }
    }

    /// The counters of a table and of those in its schema that its triggers name.
    fn counters(&mut self, name: &TableName, has_triggers: bool) -> Result<Vec<(TableName, u64)>, Error> {
        let connection = self.tables.connection();
        let mut names = vec![quote_string(&name.table)];
        let schema = quote_string(&name.schema);
        if has_triggers {
            let bodies = [
                b"SELECT ACTION_STATEMENT FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = ".as_slice(),
                &schema,
                b" AND EVENT_OBJECT_TABLE = ",
                &names[0],
            ]
            .concat();
            let dialect = Dialect::mariadb(u32::MAX);
            for body in connection.fetch(&bodies)?.into_iter().flatten().flatten() {
                names.extend(tokens(&body, &dialect).filter_map(|token| match token.kind {
                    Kind::Word(word) => Some(quote_string(word)),
                    Kind::QuotedIdentifier(name) => Some(quote_string(&name)),
                    _ => None,
                }));
            }
        }
        let query = [
            b"SELECT TABLE_NAME, AUTO_INCREMENT FROM information_schema.TABLES WHERE AUTO_INCREMENT IS NOT NULL \
              AND TABLE_SCHEMA = "
                .as_slice(),
            &schema,
            b" AND TABLE_NAME IN (",
            &names.join(&b","[..]),
            format!(") LIMIT {COUNTERS_LIMIT}").as_bytes(),
        ]
        .concat();
        let rows = connection.fetch(&query)?;
        let counter = |row: hortator_mysql::Row| {
            let mut values = row.into_iter().flatten();
            let table = TableName { schema: name.schema.clone(), table: values.next()? };
            Some((table, String::from_utf8(values.next()?).ok()?.parse().ok()?))
        };
        Ok(rows.into_iter().filter_map(counter).collect())
    }
}
