//! The tables of a server, with what tells that a definition has changed meanwhile.

use std::collections::BTreeMap;

use hortator_mysql::{Connection, Error, quote_string};

use crate::query::texts;
use crate::snapshot::SYSTEM_SCHEMAS;

/// What a table is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) kind: ListedKind,
    pub(super) engine: String,
    /// When it was made or altered last, and a digest of its columns.
    version: String,
}

/// What has rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListedKind {
    Table,
    Sequence,
}

impl Listed {
    /// A table for tests.
    #[cfg(test)]
    pub(super) fn table(engine: &str) -> Listed {
        Listed { kind: ListedKind::Table, engine: engine.to_owned(), version: String::new() }
    }

    /// Whether transactions see its rows as they were when they began.
    pub(super) fn has_snapshot(&self) -> bool {
        self.engine.eq_ignore_ascii_case("InnoDB")
    }
}

/// The tables and sequences of a server, by schema and name: all but its own, and those of the positions' schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listing(pub(super) BTreeMap<(String, String), Listed>);

impl Listing {
    pub(super) fn read(connection: &mut Connection, positions: &str) -> Result<Listing, Error> {
        let positions = String::from_utf8_lossy(&quote_string(positions)).into_owned();
        read(connection, &format!("t.TABLE_SCHEMA NOT IN {SYSTEM_SCHEMAS} AND t.TABLE_SCHEMA <> {positions}"))
    }

    /// A table as it is now.
    pub(super) fn read_one(connection: &mut Connection, schema: &str, table: &str) -> Result<Option<Listed>, Error> {
        let [schema, table] = [schema, table].map(|name| String::from_utf8_lossy(&quote_string(name)).into_owned());
        let found = read(connection, &format!("t.TABLE_SCHEMA = {schema} AND t.TABLE_NAME = {table}"))?;
        Ok(found.0.into_values().next())
    }

    pub(super) fn get(&self, schema: &str, table: &str) -> Option<&Listed> {
        self.0.get(&(schema.to_owned(), table.to_owned()))
    }
}

fn read(connection: &mut Connection, condition: &str) -> Result<Listing, Error> {
    // The columns of the widest table fit.
    connection.execute(b"SET SESSION group_concat_max_len = 4194304")?;
    // MySQL 9.7 has no MD5 any more.
    let columns = format!(
        "SELECT t.TABLE_SCHEMA, t.TABLE_NAME, SHA2(GROUP_CONCAT(t.COLUMN_NAME, ' ', t.COLUMN_TYPE, ' ', t.EXTRA \
         ORDER BY t.ORDINAL_POSITION), 256) FROM information_schema.COLUMNS t WHERE {condition} GROUP BY 1, 2"
    );
    let tables = format!(
        "SELECT t.TABLE_SCHEMA, t.TABLE_NAME, t.TABLE_TYPE, COALESCE(t.ENGINE, ''), COALESCE(t.CREATE_TIME, '') \
         FROM information_schema.TABLES t WHERE t.TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED', 'SEQUENCE') AND {condition}"
    );
    let mut digests = BTreeMap::new();
    for row in texts(connection, columns.as_bytes())? {
        let Ok([schema, table, digest]) = <[String; 3]>::try_from(row) else { continue };
        digests.insert((schema, table), digest);
    }
    let mut listing = Listing::default();
    for row in texts(connection, tables.as_bytes())? {
        let Ok([schema, table, kind, engine, created]) = <[String; 5]>::try_from(row) else { continue };
        let kind = if kind == "SEQUENCE" { ListedKind::Sequence } else { ListedKind::Table };
        let name = (schema, table);
        let digest = digests.remove(&name).unwrap_or_default();
        listing.0.insert(name, Listed { kind, engine, version: format!("{created} {digest}") });
    }
    Ok(listing)
}
