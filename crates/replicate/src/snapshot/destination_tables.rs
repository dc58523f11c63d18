//! The tables that rows go into, where that are not those that the copy has made: what must be so before and behind it.

use hortator_mysql::catalog::TableName;
use hortator_mysql::quote_string;

use super::Error;
use super::claims::Claims;
use super::destination::Destination;
use super::inventory::{RowSource, Table};
use super::staged;
use crate::apply::source_column;
use crate::query::texts;

/// Makes staging tables, and puts rows on record that go among others.
pub(super) fn prepare(claims: &mut Claims, tables: &[Table]) -> Result<(), Error> {
    check_triggers(claims, tables)?;
    let mut claimed: Vec<&Table> = Vec::new();
    for table in tables.iter().filter(|table| table.rows != RowSource::Others) {
        if let Destination::Marked { column } | Destination::Staged { column: Some(column), .. } = &table.destination {
            check_source_column(claims, table, column)?;
        }
        match &table.destination {
            Destination::Own => {}
            Destination::Marked { column } => {
                if claimed.iter().all(|other| other.target != table.target) {
                    claims.claim_rows(&table.target, column)?;
                    claimed.push(table);
                }
            }
            Destination::Staged { staging, .. } => {
                if !staged::can_roll_back(&mut claims.connection, table)? {
                    return Err(Error::Refused(format!(
                        "{} on the target has an engine without transactions, and no source column: rows of a copy that ends \
                         early could not be told from those of other sources. Give the rule a source_column, or the table \
                         another engine",
                        table.target.shown()
                    )));
                }
                claims.make(staging, &[staged::create_staging(table, &staging.quoted())], 0)?;
            }
        }
    }
    Ok(())
}

fn check_source_column(claims: &mut Claims, table: &Table, column: &str) -> Result<(), Error> {
    let name = TableName { schema: table.target.schema.clone(), table: table.target.name.clone() };
    let found = source_column(&mut claims.connection, &name, column);
    match found.map_err(Error::target("looking for a source column"))? {
        Some(found) if found.can_hold(claims.source()) => Ok(()),
        _ => Err(Error::Refused(format!(
            "the column `{column}` of {} on the target cannot hold the source's name `{}`: make it VARCHAR(64) CHARACTER SET \
             utf8mb4",
            table.target.shown(),
            claims.source()
        ))),
    }
}

/// Triggers would fire for the rows that are copied into tables that are there.
pub(super) fn check_triggers(claims: &mut Claims, tables: &[Table]) -> Result<(), Error> {
    for table in tables.iter().filter(|table| table.destination != Destination::Own) {
        let query = [
            b"SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE EVENT_MANIPULATION = 'INSERT' \
              AND EVENT_OBJECT_SCHEMA = "
                .as_slice(),
            &quote_string(&table.target.schema),
            b" AND EVENT_OBJECT_TABLE = ",
            &quote_string(&table.target.name),
        ]
        .concat();
        let found = texts(&mut claims.connection, &query).map_err(Error::target("looking for triggers"))?;
        if let Some(trigger) = found.first() {
            return Err(Error::Refused(format!(
                "the target's table {} has the trigger {}, which would fire for the rows that are copied: drop it until the copy \
                 is done, then `resume`",
                table.target.shown(),
                trigger[0]
            )));
        }
    }
    Ok(())
}
