//! The catalog information of a table: its columns, its foreign keys and its triggers.
//!
//! It comes from the server, never from parsing a dump: the server has already applied its defaults, its version's
//! rules and the session's. Names come back as the server spells them. This module reads only `information_schema`; it
//! knows nothing of statements or of the caller's conclusions.

use crate::{Connection, Error, quote_string};

/// The kind of a column's values, as far as it matters for sending one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// TINYINT to BIGINT, signed or not.
    Integer,
    /// DECIMAL.
    Decimal,
    /// FLOAT and DOUBLE.
    Real,
    /// BIT.
    Bit,
    /// CHAR, VARCHAR, TEXT, ENUM, SET and JSON: bytes with a character set.
    Text,
    /// BINARY, VARBINARY and BLOB: bytes without one.
    Bytes,
    /// DATE.
    Date,
    /// DATETIME or TIMESTAMP.
    DateTime,
    /// Anything else: TIME, YEAR, spatial types, UUID, INET6 and future types.
    Other,
}

impl ColumnKind {
    /// From `information_schema.COLUMNS.DATA_TYPE`.
    #[must_use]
    pub fn from_data_type(data_type: &str) -> Self {
        match data_type {
            "tinyint" | "smallint" | "mediumint" | "int" | "bigint" => Self::Integer,
            "decimal" => Self::Decimal,
            "float" | "double" => Self::Real,
            "bit" => Self::Bit,
            "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" | "enum" | "set" | "json" => {
                Self::Text
            }
            "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob" => Self::Bytes,
            "date" => Self::Date,
            "datetime" | "timestamp" => Self::DateTime,
            _ => Self::Other,
        }
    }
}

/// One column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The column's name, as bytes of UTF-8.
    pub name: Vec<u8>,
    /// The kind of its values.
    pub kind: ColumnKind,
    /// Whether it accepts NULL.
    pub nullable: bool,
    /// Whether a row without a value for it gets one without an error (a default or NULL).
    pub has_default: bool,
    /// Whether its default takes values from a sequence.
    pub draws_from_sequence: bool,
    /// Whether its default is computed (the time, an expression), and may differ between statements.
    pub default_varies: bool,
    /// Whether its value is computed, or maintained by system versioning.
    pub generated: bool,
    /// Whether `SELECT *` and inserts without a column list leave it out.
    pub invisible: bool,
    /// Whether it is the table's AUTO_INCREMENT column.
    pub auto_increment: bool,
}

/// A table by schema and name, as bytes of UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName {
    /// The schema.
    pub schema: Vec<u8>,
    /// The table in that schema.
    pub table: Vec<u8>,
}

impl std::fmt::Display for TableName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", String::from_utf8_lossy(&self.schema), String::from_utf8_lossy(&self.table))
    }
}

/// Engines whose tables hold their own rows, by lower-case name. Tables of other engines may refer to tables elsewhere.
const ENGINES: [&str; 8] = ["innodb", "myisam", "aria", "memory", "csv", "archive", "rocksdb", "ndbcluster"];

/// The kind of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// A table with rows of its own.
    Base {
        /// Whether its engine supports rollback.
        transactional: bool,
    },
    /// A view, a sequence, a MERGE table, or any other object whose rows may be elsewhere.
    Other,
}

/// The catalog information of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name as requested.
    pub name: TableName,
    /// Its kind.
    pub kind: TableKind,
    /// Its columns, in order.
    pub columns: Vec<Column>,
    /// The tables that its foreign keys reference, including itself for self references; sorted, each once.
    pub parents: Vec<TableName>,
    /// Whether it has triggers.
    pub has_triggers: bool,
    /// Whether it is system-versioned, with the times of the statements that wrote its rows.
    pub versioned: bool,
    /// Whether it is partitioned.
    pub partitioned: bool,
}

impl Table {
    /// The position of the AUTO_INCREMENT column among [`Table::columns`].
    #[must_use]
    pub fn auto_increment(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.auto_increment)
    }

    /// Whether one of its foreign keys references the table itself.
    #[must_use]
    pub fn refers_to_itself(&self) -> bool {
        self.parents.contains(&self.name)
    }
}

/// Reads the information of one table; `None` if the table does not exist (or is not visible to this user).
///
/// # Errors
/// Any error of the server or the connection.
pub fn table(connection: &mut Connection, name: &TableName) -> Result<Option<Table>, Error> {
    let place = |schema_column: &str, table_column: &str| {
        [
            schema_column.as_bytes(),
            b" = ",
            &quote_string(&name.schema),
            b" AND ",
            table_column.as_bytes(),
            b" = ",
            &quote_string(&name.table),
        ]
        .concat()
    };

    let kind_query = [
        b"SELECT t.TABLE_TYPE, e.TRANSACTIONS, t.ENGINE, t.CREATE_OPTIONS FROM information_schema.TABLES t \
          LEFT JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE WHERE "
            .as_slice(),
        &place("t.TABLE_SCHEMA", "t.TABLE_NAME"),
    ]
    .concat();
    let Some(row) = connection.fetch(&kind_query)?.into_iter().next() else { return Ok(None) };
    let versioned = text(&row, 0) == "SYSTEM VERSIONED";
    let partitioned = text(&row, 3).contains("partitioned");
    let kind = match text(&row, 0).as_str() {
        "BASE TABLE" | "SYSTEM VERSIONED" if ENGINES.contains(&text(&row, 2).to_ascii_lowercase().as_str()) => {
            TableKind::Base { transactional: text(&row, 1) == "YES" }
        }
        _ => TableKind::Other,
    };

    let column_query = [
        b"SELECT COLUMN_NAME, LOWER(DATA_TYPE), IS_NULLABLE, COLUMN_DEFAULT, UPPER(EXTRA) \
          FROM information_schema.COLUMNS WHERE "
            .as_slice(),
        &place("TABLE_SCHEMA", "TABLE_NAME"),
        b" ORDER BY ORDINAL_POSITION",
    ]
    .concat();
    let columns = connection.fetch(&column_query)?.iter().map(|row| column(row)).collect();

    let parent_query = [
        b"SELECT DISTINCT UNIQUE_CONSTRAINT_SCHEMA, REFERENCED_TABLE_NAME \
          FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE "
            .as_slice(),
        &place("CONSTRAINT_SCHEMA", "TABLE_NAME"),
    ]
    .concat();
    let mut parents: Vec<TableName> = connection
        .fetch(&parent_query)?
        .into_iter()
        .map(|mut row| TableName {
            table: row.pop().flatten().unwrap_or_default(),
            schema: row.pop().flatten().unwrap_or_default(),
        })
        .collect();
    parents.sort();
    parents.dedup();

    let trigger_query = [
        b"SELECT 1 FROM information_schema.TRIGGERS WHERE ".as_slice(),
        &place("EVENT_OBJECT_SCHEMA", "EVENT_OBJECT_TABLE"),
        b" LIMIT 1",
    ]
    .concat();
    let has_triggers = !connection.fetch(&trigger_query)?.is_empty();

    Ok(Some(Table { name: name.clone(), kind, columns, parents, has_triggers, versioned, partitioned }))
}

/// A row of the column query as a [`Column`].
fn column(row: &[Option<Vec<u8>>]) -> Column {
    let extra = text(row, 4);
    let nullable = text(row, 2) == "YES";
    let default = text(row, 3).to_ascii_lowercase();
    Column {
        name: row.first().cloned().flatten().unwrap_or_default(),
        kind: ColumnKind::from_data_type(&text(row, 1)),
        nullable,
        has_default: nullable || row.get(3).is_some_and(Option::is_some),
        draws_from_sequence: default.contains("nextval(")
            || default.contains("next value for")
            || default.contains("lastval(")
            || default.contains("previous value for"),
        // MySQL says so; MariaDB quotes literal defaults.
        default_varies: extra.contains("DEFAULT_GENERATED") || (!default.starts_with('\'') && default.contains('(')),
        generated: extra.replace("DEFAULT_GENERATED", "").contains("GENERATED"),
        invisible: extra.contains("INVISIBLE"),
        auto_increment: extra.contains("AUTO_INCREMENT"),
    }
}

/// A field of a fetched row as text; empty for NULL or a missing one.
fn text(row: &[Option<Vec<u8>>], field: usize) -> String {
    row.get(field).cloned().flatten().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}
