//! Some tables of a source copied again by themselves, while the rest of it stays on the target.
//!
//! ```text
//!   before   a position, no list            the log is applied
//!      │  one transaction: the list of the tables, and a record of what the target has of them
//!      ▼
//!   listed   a position, a list             what is on record is taken away; then the log is applied without the tables of
//!      │                                    the list, up to the place of a snapshot, and their rows are copied from that
//!      │  one transaction: the end of the list, while the position is the snapshot's place
//!      ▼
//!   after    a position, no list            the log is applied
//! ```
//!
//! A crash leaves one of these states. In the second, nothing of the tables is applied, wherever the position is, so a new
//! snapshot at a later place does as well. The tables are listed by their names on the target: what else of the source goes
//! into one of them is copied with it.
//!
//! Foreign keys: a table that is listed has no rows while the log is applied, so its own keys keep nothing from being deleted.
//! Children of it must be listed, too: they need its rows, and the log does not have what a cascade does to them.

use hortator_mysql::catalog::TableName;
use hortator_mysql::{Connection, Error as ServerError};

use super::again::{OtherSource, check_others};
use super::claims::{Claims, listed_tables};
use super::copy::Copy;
use super::destination::Destination;
use super::inventory::{Definition, Inventory};
use super::objects::{Kind, Object};
use super::scope::Scope;
use super::staged::has_staged;
use super::{Error, SYSTEM_SCHEMAS, frozen};
use crate::apply::PositionTable;
use crate::query::texts;

/// Foreign keys: the child's schema and name, and the parent's.
const FOREIGN_KEYS: &[u8] = b"SELECT CONSTRAINT_SCHEMA, TABLE_NAME, UNIQUE_CONSTRAINT_SCHEMA, REFERENCED_TABLE_NAME \
    FROM information_schema.REFERENTIAL_CONSTRAINTS ORDER BY 1, 2";

/// The tables of the target that are to be copied by themselves; none for most sources.
///
/// # Errors
/// As for any statement.
pub(crate) fn tables_to_copy(
    connection: &mut Connection,
    schema: &str,
    source: &str,
) -> Result<Vec<TableName>, ServerError> {
    listed_tables(connection, schema, source)
}

impl Copy<'_> {
    /// Lists tables of the source, as `schema.table`, that are to be copied again by themselves, in addition to those that are
    /// listed already. Nothing is changed unless it is sure what is to be taken away, and that the source can be read.
    ///
    /// # Errors
    /// See [`Error`]: then the source is as it was.
    pub(crate) fn list_tables(&self, names: &[String], others: &[OtherSource<'_>]) -> Result<(), Error> {
        let mut control = frozen::connect(self.source)?;
        check_format(&mut control)?;
        let mut target = self.open_target()?;
        if has_staged(&mut target, self.schema, self.name)? {
            return Err(Error::Refused("rows of the last copy are still being moved: wait for its end".to_owned()));
        }
        let cannot = || Error::target("looking for what the source has here");
        let positions = PositionTable::create(&mut target, self.schema, self.name).map_err(cannot())?;
        let mut claims = Claims::open(target, self.schema, self.name)?;
        let mut tables = self.tables_of(&mut control, names)?;
        let listed = listed_tables(&mut claims.connection, self.schema, self.name).map_err(cannot())?;
        tables.extend(listed.into_iter().filter(|listed| !tables.contains(listed)).collect::<Vec<TableName>>());

        let copy = self.of_tables(tables.clone());
        copy.check_source(&mut control)?;
        let (Inventory { mut definitions, tables: found, .. }, _) = copy.inventory(&mut control)?;
        definitions.retain(|definition| definition.object.kind != Kind::Schema);
        if let Some(table) = found.iter().find(|table| matches!(table.destination, Destination::Staged { .. })) {
            return Err(Error::Refused(format!(
                "the rows of this source in {} cannot be told from those of other sources, so that they cannot be copied again: \
                 give its rule a source_column",
                table.target.shown()
            )));
        }
        copy.check_children(&mut control, &mut claims)?;
        let belongings = copy.belongings(&mut claims, &definitions, &found)?;
        check_others(&belongings, others)?;
        claims.list(&belongings, &tables, &positions)?;
        let shown: Vec<String> = tables.iter().map(shown).collect();
        self.monitor.tell(&format!("copies again by themselves: {}", shown.join(", ")));
        Ok(())
    }

    fn of_tables(&self, tables: Vec<TableName>) -> Copy<'_> {
        let Copy { source, target, schema, name, server_id, rules, monitor, scope: _ } = *self;
        Copy { source, target, schema, name, server_id, rules, monitor, scope: Scope::Tables(tables) }
    }

    /// What tables of the source become on the target.
    fn tables_of(&self, control: &mut Connection, names: &[String]) -> Result<Vec<TableName>, Error> {
        let query = format!(
            "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, @@lower_case_table_names FROM information_schema.TABLES \
             WHERE TABLE_SCHEMA NOT IN {SYSTEM_SCHEMAS}"
        );
        let there = texts(control, query.as_bytes()).map_err(Error::source("listing the source's tables"))?;
        let mut found: Vec<TableName> = Vec::new();
        for name in names {
            let is_it = |row: &&Vec<String>| {
                let its = format!("{}.{}", row[0], row[1]);
                if row[3] == "0" { its == *name } else { its.eq_ignore_ascii_case(name) }
            };
            let row = there.iter().find(is_it).filter(|row| row[0] != self.schema).ok_or_else(|| {
                Error::Refused(format!(
                    "the source has no table {name}: give its name there, as SCHEMA.TABLE. A table that the source does not \
                     have any more is dropped on the target by hand"
                ))
            })?;
            if row[2].contains("VIEW") {
                return Err(Error::Refused(format!(
                    "{name} is a view on the source: it has no rows of its own, so there is nothing to copy"
                )));
            }
            let on_target = self.rules.name_on_target(row[0].as_bytes(), row[1].as_bytes());
            let (schema, table) = on_target.ok_or_else(|| {
                Error::Refused(format!("a rule leaves {name} out: change the rule and start the agent again"))
            })?;
            let table = TableName { schema, table };
            if !found.contains(&table) {
                found.push(table);
            }
        }
        Ok(found)
    }

    /// Refuses where a table has a foreign key to one that is copied, and is not copied itself.
    pub(super) fn check_children(&self, control: &mut Connection, claims: &mut Claims) -> Result<(), Error> {
        let of_source = texts(control, FOREIGN_KEYS).map_err(Error::source("listing foreign keys"))?;
        let of_target = texts(&mut claims.connection, FOREIGN_KEYS).map_err(Error::target("listing foreign keys"))?;
        let of_source = of_source.into_iter().filter_map(|row| {
            let on_target = |schema: &str, table: &str| self.rules.name_on_target(schema.as_bytes(), table.as_bytes());
            Some((on_target(&row[0], &row[1])?, on_target(&row[2], &row[3])?, format!("{}.{}", row[0], row[1])))
        });
        let of_target = of_target.into_iter().map(|row| {
            let name = |schema: &str, table: &str| (schema.as_bytes().to_vec(), table.as_bytes().to_vec());
            (name(&row[0], &row[1]), name(&row[2], &row[3]), format!("{}.{}", row[0], row[1]))
        });
        let keys: Vec<_> = of_source.chain(of_target).collect();
        let mut lacking: Vec<&str> = Vec::new();
        let mut parents: Vec<&(Vec<u8>, Vec<u8>)> = Vec::new();
        loop {
            let is_parent = |name: &(Vec<u8>, Vec<u8>)| self.scope.has(&name.0, &name.1) || parents.contains(&name);
            let Some((child, _, shown)) = keys.iter().find(|(child, parent, _)| is_parent(parent) && !is_parent(child))
            else {
                break;
            };
            parents.push(child);
            lacking.push(shown);
        }
        if lacking.is_empty() {
            return Ok(());
        }
        let options: Vec<String> = lacking.iter().map(|name| format!("--table {name}")).collect();
        Err(Error::Refused(format!(
            "tables with foreign keys to those that are copied must be copied with them: add {} to `copy-again`; or drop the \
             foreign keys on the target, where the source does not have them",
            options.join(" ")
        )))
    }

    /// Leaves the schemas out that the target has: they have its other tables.
    pub(super) fn leave_schemas(&self, claims: &mut Claims, definitions: &mut Vec<Definition>) -> Result<(), Error> {
        let mut there: Vec<Object> = Vec::new();
        for definition in definitions.iter().filter(|definition| definition.object.kind == Kind::Schema) {
            if claims.has_schema(&definition.object.schema)? {
                there.push(definition.object.clone());
            }
        }
        definitions.retain(|definition| !there.contains(&definition.object));
        Ok(())
    }
}

/// A statement in the log may read or write a table that is not there, by a trigger, and rows of a text cannot be passed over.
fn check_format(control: &mut Connection) -> Result<(), Error> {
    let rows = texts(control, b"SHOW GLOBAL VARIABLES LIKE 'binlog_format'");
    let rows = rows.map_err(Error::source("asking for the format of its log"))?;
    match rows.first().and_then(|row| row.get(1)) {
        Some(format) if format != "ROW" => Err(Error::Refused(format!(
            "the source has binlog_format={format}, and changes that its log has as statements cannot be told apart by tables: \
             SET GLOBAL binlog_format = ROW there, and let its clients connect again; or copy the whole source again"
        ))),
        _ => Ok(()),
    }
}

/// A table's name, for a person.
pub(crate) fn shown(table: &TableName) -> String {
    format!("{}.{}", String::from_utf8_lossy(&table.schema), String::from_utf8_lossy(&table.table))
}
