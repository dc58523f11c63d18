//! Copying a source again: what the target has of it goes on record as if an unfinished copy had made it, and its position is
//! forgotten, both in one transaction. The copy that follows takes it away by that record, and begins anew.
//!
//! ```text
//!   before   a position, no record         the log is applied
//!      │  one transaction
//!      ▼
//!   after    no position, a record         as behind a crash in the middle of a copy
//! ```
//!
//! What the target has of a source is found by what the source has now, under its rules. A table that the source has no more
//! stays, and a person is told. Rows that nothing tells apart from those of other sources cannot be taken away.

use std::collections::HashSet;

use hortator_mysql::{ConnectOptions, Connection, quote_string};

use super::claims::Claims;
use super::copy::Copy;
use super::destination::Destination;
use super::inventory::{Definition, Inventory, Table};
use super::objects::{Kind, Object};
use super::staged::has_staged;
use super::{Error, frozen};
use crate::apply::PositionTable;
use crate::preflight::tables_on_target;
use crate::query::texts;
use crate::rules::Rules;

/// What a copy is to take away.
pub(super) struct Belonging {
    pub(super) object: Object,
    /// Of rows.
    pub(super) source_column: String,
}

/// A source that writes to the same target.
pub(crate) struct OtherSource<'o> {
    pub(crate) name: &'o str,
    pub(crate) hosts: &'o [ConnectOptions],
    pub(crate) rules: &'o Rules,
}

impl Copy<'_> {
    /// Turns a source that is copied into one of which a copy is to begin anew. Nothing is changed unless it is sure what that
    /// copy will take away, that none of the others has rows in it, and that the source can be read.
    ///
    /// # Errors
    /// See [`Error`]: then the source is as it was.
    pub(crate) fn forget(&self, others: &[OtherSource<'_>]) -> Result<(), Error> {
        let mut control = frozen::connect(self.source)?;
        self.check_source(&mut control)?;
        let (Inventory { definitions, tables, .. }, _) = self.inventory(&mut control)?;
        if let Some(table) = tables.iter().find(|table| matches!(table.destination, Destination::Staged { .. })) {
            return Err(Error::Refused(format!(
                "the rows of this source in {} cannot be told from those of other sources, so that they cannot be copied again: \
                 give its rule a source_column, or empty the table and copy all of its sources again",
                table.target.shown()
            )));
        }
        let mut target = self.open_target()?;
        if has_staged(&mut target, self.schema, self.name)? {
            return Err(Error::Refused("rows of the last copy are still being moved: wait for its end".to_owned()));
        }
        let cannot = Error::target("looking for what the source has here");
        let positions = PositionTable::create(&mut target, self.schema, self.name).map_err(cannot)?;
        let mut claims = Claims::open(target, self.schema, self.name)?;
        let belongings = self.belongings(&mut claims, &definitions, &tables)?;
        check_others(&belongings, others)?;
        self.tell_what_stays(&mut claims, &definitions, &belongings)?;
        claims.take_over(&belongings, &positions.forget())?;
        self.monitor.tell(&format!("copies again: takes away {} things that the target has of it", belongings.len()));
        Ok(())
    }

    /// What the target has of the source.
    pub(super) fn belongings(
        &self,
        claims: &mut Claims,
        definitions: &[Definition],
        tables: &[Table],
    ) -> Result<Vec<Belonging>, Error> {
        let own =
            definitions.iter().filter(|definition| definition.shared.is_none()).map(|definition| &definition.object);
        let own = own.filter(|object| self.is_own(object));
        let (schemas, named): (Vec<&Object>, Vec<&Object>) = own.partition(|object| object.kind == Kind::Schema);
        let mut found = Vec::new();
        for schema in schemas {
            if claims.has_schema(&schema.schema)? {
                found.push(Belonging { object: schema.clone(), source_column: String::new() });
            }
        }
        for object in claims.taken(&named)? {
            let kind = match object.kind.name_space() {
                Kind::Table => kind_of_table(&mut claims.connection, object)?,
                other => other,
            };
            let object = Object { kind, ..object.clone() };
            found.push(Belonging { object, source_column: String::new() });
        }
        for table in tables {
            let Destination::Marked { column } = &table.destination else { continue };
            let object = Object { kind: Kind::Rows, ..table.target.clone() };
            if !found.iter().any(|other| other.object == object) {
                found.push(Belonging { object, source_column: column.clone() });
            }
        }
        Ok(found)
    }

    /// Whether no other source may have made it.
    fn is_own(&self, object: &Object) -> bool {
        matches!(object.kind, Kind::Table | Kind::Sequence) || !self.rules.shares_schema(&object.schema)
    }

    fn tell_what_stays(
        &self,
        claims: &mut Claims,
        definitions: &[Definition],
        belongings: &[Belonging],
    ) -> Result<(), Error> {
        let known = definitions.iter().map(|definition| &definition.object);
        let known: HashSet<(&[u8], &[u8])> = known
            .chain(belongings.iter().map(|belonging| &belonging.object))
            .filter(|object| object.kind.name_space() == Kind::Table)
            .map(|object| (&object.schema[..], &object.name[..]))
            .collect();
        let mut stays = Vec::new();
        for Belonging { object, .. } in belongings.iter().filter(|belonging| belonging.object.kind == Kind::Schema) {
            let query = [
                b"SELECT TABLE_NAME FROM information_schema.TABLES WHERE BINARY TABLE_SCHEMA = ".as_slice(),
                &quote_string(&object.schema),
                b" ORDER BY TABLE_NAME",
            ]
            .concat();
            let names = texts(&mut claims.connection, &query).map_err(Error::target("looking for tables"))?;
            let names = names.into_iter().filter_map(|row| row.into_iter().next());
            let left = names.filter(|name| !known.contains(&(&object.schema[..], name.as_bytes())));
            stays.extend(left.map(|name| format!("{}.{name}", String::from_utf8_lossy(&object.schema))));
        }
        if !stays.is_empty() {
            let shown = stays.join(", ");
            self.monitor.tell(&format!("leaves on the target what the source does not have: {shown}"));
        }
        Ok(())
    }
}

/// Refuses where a table that is to be dropped is one that another source writes to as well.
pub(super) fn check_others(belongings: &[Belonging], others: &[OtherSource<'_>]) -> Result<(), Error> {
    let is_table = |belonging: &&Belonging| belonging.object.kind == Kind::Table;
    // Servers fold names by their platform; here all do.
    let name = |belonging: &Belonging| belonging.object.shown().to_lowercase();
    let own: HashSet<String> = belongings.iter().filter(is_table).map(name).collect();
    if own.is_empty() {
        return Ok(());
    }
    for OtherSource { name, hosts, rules } in others {
        let doing = format!("asking {name} which tables it has: its rows in them would be dropped, too");
        let tables = tables_on_target(hosts, rules).map_err(Error::source(&doing))?;
        if let Some(shared) = tables.iter().find(|table| own.contains(&table.to_lowercase())) {
            return Err(Error::Refused(format!(
                "{name} has a table {shared}, too, whose rows go into the same table of the target and cannot be told apart: \
                 they would be dropped. Keep them apart by rules, or empty the target and copy both sources"
            )));
        }
    }
    Ok(())
}

/// What the target has under the name of a table: it may be a view by now.
fn kind_of_table(connection: &mut Connection, object: &Object) -> Result<Kind, Error> {
    let query = [
        b"SELECT TABLE_TYPE FROM information_schema.TABLES WHERE TABLE_SCHEMA = ".as_slice(),
        &quote_string(&object.schema),
        b" AND TABLE_NAME = ",
        &quote_string(&object.name),
    ]
    .concat();
    let rows = texts(connection, &query).map_err(Error::target("looking for tables"))?;
    Ok(match rows.first().and_then(|row| row.first()).map(String::as_str) {
        Some("VIEW") => Kind::View,
        Some("SEQUENCE") => Kind::Sequence,
        _ => Kind::Table,
    })
}
