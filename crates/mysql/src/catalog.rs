//! The catalog information of a table: its columns, its foreign keys and its triggers.
//!
//! It comes from the server, never from parsing a dump: the server has already applied its defaults, its version's
//! rules and the session's. Names come back as the server spells them. This module reads only `information_schema`; it
//! knows nothing of statements or of the caller's conclusions.

mod default_value;
mod merge;
mod schema;
mod tokens;

use crate::{Connection, Error, quote_string};

pub use schema::{RelationKind, children, engines, native_functions, relations, tables_with_triggers};

/// What a value of a column is to the server, as far as sending one is concerned.
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
    /// Whether its default depends on the session beyond its clock: it has a user or system variable, or calls a function
    /// that is not known to be independent, such as RAND, NEXTVAL or CONNECTION_ID.
    pub default_reads_session: bool,
    /// Whether its value is computed, or kept by system versioning.
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

/// Engines whose tables hold their own rows, by lower-case name, and whether they can roll back. Others may stand for
/// tables elsewhere.
const ENGINES: [(&str, bool); 8] = [
    ("innodb", true),
    ("myisam", false),
    ("aria", false),
    ("memory", false),
    ("csv", false),
    ("archive", false),
    ("rocksdb", true),
    ("ndbcluster", true),
];

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
    /// Its engine as the server writes it, such as `InnoDB`; empty for a view.
    pub engine: Vec<u8>,
    /// The tables that a MERGE table stands for, empty for any other table; `None` for a MERGE table whose children the
    /// server cannot open, so that it does not name them.
    pub merge_children: Option<Vec<TableName>>,
    /// Its columns, in their order.
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

/// Asks for one table's facts; `None` when there is no such table (or this user may not see it). It takes one round trip
/// where the connection takes several statements at once, else four. The server opens this table only.
///
/// # Errors
/// Any error of the server or the connection.
pub fn table(connection: &mut Connection, name: &TableName) -> Result<Option<Table>, Error> {
    let query = |select: &str, schema_column: &str, table_column: &str| {
        [
            select.as_bytes(),
            b" WHERE ",
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
    let queries = [
        query("SELECT TABLE_TYPE, ENGINE, CREATE_OPTIONS FROM information_schema.TABLES", "TABLE_SCHEMA", "TABLE_NAME"),
        // Sorting and conversion are left to us: the server takes half as long without them.
        query(
            "SELECT COLUMN_NAME, DATA_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, ORDINAL_POSITION \
             FROM information_schema.COLUMNS",
            "TABLE_SCHEMA",
            "TABLE_NAME",
        ),
        query(
            "SELECT UNIQUE_CONSTRAINT_SCHEMA, REFERENCED_TABLE_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS",
            "CONSTRAINT_SCHEMA",
            "TABLE_NAME",
        ),
        query("SELECT 1 FROM information_schema.TRIGGERS", "EVENT_OBJECT_SCHEMA", "EVENT_OBJECT_TABLE"),
    ];
    let mut answers = connection.fetch_each(&queries)?.into_iter();
    let mut next = || answers.next().unwrap_or_default();
    let (kinds, mut column_rows, parent_rows, triggers) = (next(), next(), next(), next());
    let Some(row) = kinds.into_iter().next() else { return Ok(None) };

    let table_type = text(&row, 0);
    let is_base = matches!(table_type.as_str(), "BASE TABLE" | "SYSTEM VERSIONED");
    let mut engine = text(&row, 1).into_bytes();
    if is_base && engine.is_empty() {
        // A table that cannot be opened; its definition names the engine all the same.
        let query = query("SELECT ENGINE FROM information_schema.TABLES", "TABLE_SCHEMA", "TABLE_NAME");
        engine = connection.fetch(&query)?.first().map(|row| text(row, 0).into_bytes()).unwrap_or_default();
    }
    let merge_children = match engine.eq_ignore_ascii_case(merge::ENGINE) {
        true => merge::children(connection, name)?,
        false => Some(Vec::new()),
    };
    let is_mariadb = connection.version().is_mariadb();
    column_rows.sort_by_key(|row| text(row, 5).parse::<u32>().unwrap_or(u32::MAX));
    let mut parents: Vec<TableName> = parent_rows
        .into_iter()
        .map(|mut row| TableName {
            table: row.pop().flatten().unwrap_or_default(),
            schema: row.pop().flatten().unwrap_or_default(),
        })
        .collect();
    parents.sort();
    parents.dedup();
    Ok(Some(Table {
        name: name.clone(),
        kind: if is_base { kind(&engine) } else { TableKind::Other },
        engine,
        merge_children,
        columns: column_rows.iter().map(|row| column(row, is_mariadb)).collect(),
        parents,
        has_triggers: !triggers.is_empty(),
        versioned: table_type == "SYSTEM VERSIONED",
        partitioned: text(&row, 2).split(' ').any(|option| option == "partitioned"),
    }))
}

/// What a base table of `engine` is.
fn kind(engine: &[u8]) -> TableKind {
    let known = ENGINES.iter().find(|(name, _)| engine.eq_ignore_ascii_case(name.as_bytes()));
    known.map_or(TableKind::Other, |(_, transactional)| TableKind::Base { transactional: *transactional })
}

/// A row of the column query as a [`Column`].
fn column(row: &[Option<Vec<u8>>], is_mariadb: bool) -> Column {
    let extra = text(row, 4).to_ascii_uppercase();
    let nullable = text(row, 2) == "YES";
    let default = text(row, 3).to_ascii_lowercase();
    let is_generated_default = extra.contains("DEFAULT_GENERATED");
    Column {
        name: row.first().cloned().flatten().unwrap_or_default(),
        kind: ColumnKind::from_data_type(&text(row, 1).to_ascii_lowercase()),
        nullable,
        has_default: nullable || row.get(3).is_some_and(Option::is_some),
        draws_from_sequence: default.contains("nextval(")
            || default.contains("next value for")
            || default.contains("lastval(")
            || default.contains("previous value for"),
        // MySQL says so; MariaDB quotes what is not computed.
        default_varies: is_generated_default || (!default.starts_with('\'') && default.contains('(')),
        default_reads_session: (is_mariadb || is_generated_default) && default_value::reads_session(default.as_bytes()),
        generated: extra.replace("DEFAULT_GENERATED", "").contains("GENERATED"),
        invisible: extra.contains("INVISIBLE"),
        auto_increment: extra.contains("AUTO_INCREMENT"),
    }
}

/// A field of a fetched row as text; empty for NULL or a missing one.
fn text(row: &[Option<Vec<u8>>], field: usize) -> String {
    row.get(field).cloned().flatten().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}
