//! What the server says about a table: its columns, its keys to other tables and what fires on it.
//!
//! Asked of the server, never parsed from a dump: the server has already applied its defaults, its version's rules and
//! the session's. Names come back as the server spells them. This module reads
//! `information_schema` and `SHOW` statements only; it knows nothing of statements or of what a caller concludes from the
//! facts.

mod default_value;
mod definition;
mod information_schema;
mod merge;
mod schema;
mod tokens;

use tokens::Backslash;

use crate::error::{DEADLOCK, LOCK_WAIT_TIMEOUT, NO_SUCH_TABLE};
use crate::{Connection, Error, Row};

pub use definition::ColumnType;
pub use information_schema::table as table_from_information_schema;
pub use schema::{RelationKind, children, engines, is_empty, native_functions, relations, tables_with_triggers};

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
    /// DATETIME and TIMESTAMP.
    DateTime,
    /// UUID, INET4 and INET6 of MariaDB: they take a string without a character set for the value's bytes.
    FixedBinary,
    /// Anything else: TIME, YEAR, spatial types and types yet to come.
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
            "uuid" | "inet4" | "inet6" => Self::FixedBinary,
            _ => Self::Other,
        }
    }
}

/// One column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The column's name, as bytes of UTF-8.
    pub name: Vec<u8>,
    /// What its values are.
    pub kind: ColumnKind,
    /// Whether it takes NULL.
    pub nullable: bool,
    /// Whether a row that leaves it out gets a value without complaint (a default or NULL).
    pub has_default: bool,
    /// Whether its default draws from a sequence.
    pub draws_from_sequence: bool,
    /// Whether its default is computed (the time, an expression), and may be another for each statement.
    pub default_varies: bool,
    /// Whether its default depends on the session beyond its clock: it has a user or system variable, or calls a function
    /// that is not known to be independent, such as RAND, NEXTVAL or CONNECTION_ID.
    pub default_reads_session: bool,
    /// Whether its default or its computed value has a user or system variable.
    pub names_variable: bool,
    /// Whether its value or its default is an expression of which MariaDB fixes parts when it opens the table, as the
    /// session that opens it has them: user variables, the precision of a division.
    pub fixed_at_open: bool,
    /// Whether its value is computed, or kept by system versioning.
    pub generated: bool,
    /// Whether it is left out of `SELECT *` and of inserts without a column list.
    pub invisible: bool,
    /// Whether it is the table's AUTO_INCREMENT column.
    pub auto_increment: bool,
}

/// A table by schema and name, as bytes of UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName {
    /// The schema.
    pub schema: Vec<u8>,
    /// The table within it.
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

/// What a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// A table with rows of its own.
    Base {
        /// Whether its engine can roll back.
        transactional: bool,
    },
    /// A view, a sequence, a MERGE table, or anything else whose rows may be elsewhere.
    Other,
}

/// What the server knows of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name as it was asked for.
    pub name: TableName,
    /// What it is.
    pub kind: TableKind,
    /// Its engine as the server writes it, such as `InnoDB`; empty for a view.
    pub engine: Vec<u8>,
    /// The tables that a MERGE table stands for, empty for any other table; `None` for a MERGE table whose children the
    /// server cannot open, so that it does not name them.
    pub merge_children: Option<Vec<TableName>>,
    /// Its columns, in their order.
    pub columns: Vec<Column>,
    /// The tables that its foreign keys point to, itself among them where it refers to itself; sorted, each once.
    pub parents: Vec<TableName>,
    /// Whether any trigger fires on it.
    pub has_triggers: bool,
    /// Whether it keeps its rows' history, with the times of the statements that made it.
    pub versioned: bool,
    /// Whether its rows lie in partitions.
    pub partitioned: bool,
}

/// The column in which an InnoDB table numbers its rows for its FULLTEXT indexes, if it does so itself.
pub const DOCUMENT_NUMBER_COLUMN: &[u8] = b"FTS_DOC_ID";

impl Table {
    /// Whether the server may take a row only if its number is above those of all rows that were committed before.
    #[must_use]
    pub fn numbers_documents(&self) -> bool {
        self.columns.iter().any(|column| column.name.eq_ignore_ascii_case(DOCUMENT_NUMBER_COLUMN))
    }

    /// The position of the AUTO_INCREMENT column among [`Table::columns`].
    #[must_use]
    pub fn auto_increment(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.auto_increment)
    }

    /// How many values an INSERT that names no columns has for each row; `None` where the server shows no columns, as of a view
    /// whose tables are gone.
    #[must_use]
    pub fn values_per_row(&self) -> Option<usize> {
        Some(self.columns.iter().filter(|column| !column.invisible).count()).filter(|count| *count > 0)
    }

    /// Whether one of its foreign keys points to itself.
    #[must_use]
    pub fn refers_to_itself(&self) -> bool {
        self.parents.contains(&self.name)
    }
}

/// Asks for one table's facts; `None` when there is no such table (or this user may not see it). It takes one round trip
/// where the connection takes several statements at once. The server opens this table only, and waits while another
/// session changes its definition.
///
/// # Errors
/// Whatever the server or the connection says to the queries.
pub fn table(connection: &mut Connection, name: &TableName) -> Result<Option<Table>, Error> {
    if !connection.version().is_mariadb() {
        return information_schema::table(connection, name);
    }
    match connection.fetch_each(&[information_schema::trigger_query(name), definition::query(name)]) {
        Ok(answers) => {
            let has_triggers = answers.first().is_some_and(|rows| !rows.is_empty());
            understood(connection, name, answers.get(1), has_triggers)
        }
        Err(error) => not_shown(connection, name, error),
    }
}

/// A table's facts from the text of its CREATE TABLE as MariaDB writes it; `None` where anything in it is unknown.
#[must_use]
pub fn table_of_definition(name: &TableName, text: &[u8]) -> Option<Table> {
    definition::parse(name, text, false)
}

/// The types of a table's columns from the text of its CREATE TABLE; `None` where anything in it is unknown.
#[must_use]
pub fn types_of_definition(text: &[u8]) -> Option<Vec<ColumnType>> {
    definition::types(text)
}

/// As [`table`], for a caller who knows whether triggers fire on the table, see [`tables_with_triggers`]: MariaDB then
/// answers in a fifth of the time.
///
/// # Errors
/// As [`table`].
pub fn table_with(connection: &mut Connection, name: &TableName, has_triggers: bool) -> Result<Option<Table>, Error> {
    if !connection.version().is_mariadb() {
        return information_schema::table(connection, name);
    }
    match connection.fetch(&definition::query(name)) {
        Ok(rows) => understood(connection, name, Some(&rows), has_triggers),
        Err(error) => not_shown(connection, name, error),
    }
}

/// The facts in the answer to `SHOW CREATE TABLE`, or else those of `information_schema`.
fn understood(
    connection: &mut Connection,
    name: &TableName,
    rows: Option<&Vec<Row>>,
    has_triggers: bool,
) -> Result<Option<Table>, Error> {
    let text = rows.and_then(|rows| rows.first()?.get(1)?.as_deref());
    match text.and_then(|text| definition::parse(name, text, has_triggers)) {
        Some(table) => Ok(Some(table)),
        None => information_schema::table(connection, name),
    }
}

/// Errors that may have rolled back what is open: nobody may go on as if nothing had happened.
const OF_TRANSACTIONS: [u16; 4] = [DEADLOCK, LOCK_WAIT_TIMEOUT, 1317, 1047];

/// What a table is that the server does not show: missing, broken, or not this user's.
fn not_shown(connection: &mut Connection, name: &TableName, error: Error) -> Result<Option<Table>, Error> {
    match error {
        Error::Server(error) if error.code == NO_SUCH_TABLE => Ok(None),
        Error::Server(error) if !OF_TRANSACTIONS.contains(&error.code) => information_schema::table(connection, name),
        error => Err(error),
    }
}

/// What a base table of `engine` is.
fn kind(engine: &[u8]) -> TableKind {
    let known = ENGINES.iter().find(|(name, _)| engine.eq_ignore_ascii_case(name.as_bytes()));
    known.map_or(TableKind::Other, |(_, transactional)| TableKind::Base { transactional: *transactional })
}

/// Computed defaults that are the same however a table was opened.
const WITHOUT_PARTS: [&str; 2] = ["current_timestamp(", "uuid()"];

/// A column from the words that the server has for it: `data_type` in lower case, `extra` in upper case, and the
/// expressions of its `default` or its `computed` value.
fn described_column(
    name: Vec<u8>,
    data_type: &str,
    nullable: bool,
    default: Option<&[u8]>,
    computed: Option<&[u8]>,
    extra: &str,
    is_mariadb: bool,
) -> Column {
    let has_default = nullable || default.is_some();
    let default = String::from_utf8_lossy(default.unwrap_or_default()).to_ascii_lowercase();
    // MariaDB prints strings with the escapes of an empty `sql_mode`, which our queries set; MySQL's text leaves it open.
    let backslashes: &[Backslash] = match is_mariadb {
        true => &[Backslash::Escapes],
        false => &[Backslash::Escapes, Backslash::Plain],
    };
    let is_generated_default = extra.contains("DEFAULT_GENERATED");
    // MySQL says so; MariaDB quotes what is not computed.
    let default_varies = is_generated_default || (!default.starts_with('\'') && default.contains('('));
    let generated = extra.replace("DEFAULT_GENERATED", "").contains("GENERATED");
    let default_names_variable =
        (is_mariadb || is_generated_default) && default_value::names_variable(default.as_bytes(), backslashes);
    let names_variable = default_names_variable
        || computed.is_some_and(|expression| default_value::names_variable(expression, backslashes));
    let is_plain_call = WITHOUT_PARTS.iter().any(|call| default.starts_with(call));
    Column {
        name,
        kind: ColumnKind::from_data_type(data_type),
        nullable,
        has_default,
        draws_from_sequence: default.contains("nextval(")
            || default.contains("next value for")
            || default.contains("lastval(")
            || default.contains("previous value for"),
        default_varies,
        default_reads_session: (is_mariadb || is_generated_default)
            && default_value::reads_session(default.as_bytes(), backslashes),
        names_variable,
        fixed_at_open: is_mariadb && (generated || default_names_variable || (default_varies && !is_plain_call)),
        generated,
        invisible: extra.contains("INVISIBLE"),
        auto_increment: extra.contains("AUTO_INCREMENT"),
    }
}
