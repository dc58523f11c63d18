//! The definitions in a schema, as `SHOW CREATE` returns them.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;

use hortator_mysql::{Column, Connection, Error, RowSink, quote_identifier};

use crate::row_source::exactly;

/// A kind of database object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The schema itself: its default character set and collation.
    Schema,
    /// A base table.
    Table,
    /// A MariaDB sequence.
    Sequence,
    /// A view.
    View,
    /// A trigger.
    Trigger,
    /// A stored procedure.
    Procedure,
    /// A stored function.
    Function,
    /// The interface of a package (MariaDB's Oracle mode).
    Package,
    /// The body of a package.
    PackageBody,
    /// An event.
    Event,
}

/// The catalog query for the names of each kind, and for properties beyond `SHOW CREATE` that must be equal. The first
/// column is the name, the others are part of the definition; `{schema}` is a placeholder.
const SOURCES: [(Kind, &str); 10] = [
    (Kind::Schema, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME"),
    (
        Kind::Table,
        "SELECT TABLE_NAME FROM information_schema.TABLES \
         WHERE TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') AND TABLE_SCHEMA",
    ),
    (Kind::Sequence, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_TYPE = 'SEQUENCE' AND TABLE_SCHEMA"),
    (Kind::View, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_TYPE = 'VIEW' AND TABLE_SCHEMA"),
    (
        Kind::Trigger,
        "SELECT TRIGGER_NAME, EVENT_OBJECT_TABLE, ACTION_ORDER FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA",
    ),
    (
        Kind::Procedure,
        "SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_TYPE = 'PROCEDURE' AND ROUTINE_SCHEMA",
    ),
    (
        Kind::Function,
        "SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_TYPE = 'FUNCTION' AND ROUTINE_SCHEMA",
    ),
    (
        Kind::Package,
        "SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_TYPE = 'PACKAGE' AND ROUTINE_SCHEMA",
    ),
    (
        Kind::PackageBody,
        "SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_TYPE = 'PACKAGE BODY' AND ROUTINE_SCHEMA",
    ),
    (Kind::Event, "SELECT EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA"),
];

/// Columns of `SHOW CREATE` with creation times, which are not part of a definition.
const TIMES: [&[u8]; 1] = [b"Created"];

impl Kind {
    /// The name that `SHOW CREATE` uses.
    #[must_use]
    pub fn sql(self) -> &'static str {
        match self {
            Self::Schema => "DATABASE",
            Self::Table => "TABLE",
            Self::Sequence => "SEQUENCE",
            Self::View => "VIEW",
            Self::Trigger => "TRIGGER",
            Self::Procedure => "PROCEDURE",
            Self::Function => "FUNCTION",
            Self::Package => "PACKAGE",
            Self::PackageBody => "PACKAGE BODY",
            Self::Event => "EVENT",
        }
    }

    /// Whether its content is compared too.
    #[must_use]
    pub fn has_rows(self) -> bool {
        matches!(self, Self::Table | Self::Sequence)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sql().to_ascii_lowercase())
    }
}

/// The columns of a `SHOW CREATE`, and those of [`SOURCES`], by name.
pub(crate) type Definition = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

/// All definitions of a schema, by kind and name.
pub(crate) type Definitions = BTreeMap<(Kind, Vec<u8>), Definition>;

/// Both endpoints must return definitions and times in the same form, whatever the servers' defaults are. The schema is
/// the default schema, because `SHOW CREATE VIEW` then leaves out its name.
pub(crate) fn prepare_session(connection: &mut Connection, schema: &[u8]) -> Result<(), Error> {
    connection.execute(b"SET NAMES utf8mb4")?;
    connection.execute(b"SET SESSION sql_mode = '', time_zone = '+00:00', sql_quote_show_create = 1")?;
    connection.select_db(schema)
}

/// Reads all definitions of a schema. `any_name`: without the schema's own name.
pub(crate) fn read(connection: &mut Connection, schema: &[u8], any_name: bool) -> Result<Definitions, Error> {
    let mut definitions = BTreeMap::new();
    for (kind, source) in SOURCES {
        let (query, column) = source.rsplit_once(' ').unwrap_or_default();
        let list = [query.as_bytes(), b" ", &exactly(column, schema)].concat();
        for listed in named_rows(connection, &list)? {
            let mut values = listed.into_iter();
            let Some((_, Some(name))) = values.next() else { continue };
            let shown = show_create(connection, schema, kind, &name)?;
            let mut definition: Definition =
                values.chain(shown).filter(|(column, _)| !TIMES.contains(&column.as_slice())).collect();
            if any_name {
                let values = definition.values_mut().flatten();
                values.for_each(|value| *value = without_name(value, schema, kind == Kind::Schema));
            }
            let name = if kind == Kind::Schema { Vec::new() } else { name };
            definitions.insert((kind, name), definition);
        }
    }
    Ok(definitions)
}

/// One definition that differs between two schemas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) kind: Kind,
    /// Empty for the schema itself.
    pub(crate) name: Vec<u8>,
    pub(crate) what: What,
}

/// The difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    OnlyFirst,
    OnlySecond,
    /// A column of `SHOW CREATE` or of the catalog, with the values of both endpoints.
    Differs {
        column: String,
        first: String,
        second: String,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, what } = self;
        let name = String::from_utf8_lossy(name);
        match what {
            What::OnlyFirst => write!(f, "{kind} {name}: only the first has it"),
            What::OnlySecond => write!(f, "{kind} {name}: only the second has it"),
            What::Differs { column, first, second } => {
                write!(f, "{kind} {name}, {column}:\n  first:  {first}\n  second: {second}")
            }
        }
    }
}

/// One entry for each definition that is missing or different.
pub(crate) fn differences(mine: &Definitions, theirs: &Definitions) -> Vec<Difference> {
    let mut found = Vec::new();
    let of = |(kind, name): &(Kind, Vec<u8>), what| Difference { kind: *kind, name: name.clone(), what };
    for (key, here) in mine {
        let Some(there) = theirs.get(key) else {
            found.push(of(key, What::OnlyFirst));
            continue;
        };
        let columns = here.keys().chain(there.keys().filter(|column| !here.contains_key(*column)));
        for column in columns.filter(|column| here.get(*column) != there.get(*column)) {
            let (first, second) = (shown(here.get(column)), shown(there.get(column)));
            let column = String::from_utf8_lossy(column).into_owned();
            found.push(of(key, What::Differs { column, first, second }));
        }
    }
    let only_there = theirs.keys().filter(|key| !mine.contains_key(*key));
    found.extend(only_there.map(|key| of(key, What::OnlySecond)));
    found
}

fn shown(value: Option<&Option<Vec<u8>>>) -> String {
    match value {
        None => "(none)".to_owned(),
        Some(None) => "NULL".to_owned(),
        Some(Some(value)) => String::from_utf8_lossy(value).into_owned(),
    }
}

/// A row as pairs of column name and value.
pub(crate) type NamedRow = Vec<(Vec<u8>, Option<Vec<u8>>)>;

fn show_create(connection: &mut Connection, schema: &[u8], kind: Kind, name: &[u8]) -> Result<NamedRow, Error> {
    let mut statement = format!("SHOW CREATE {} ", kind.sql()).into_bytes();
    if kind != Kind::Schema {
        statement.extend(quote_identifier(schema));
        statement.push(b'.');
    }
    statement.extend(quote_identifier(name));
    match named_rows(connection, &statement) {
        Ok(rows) => Ok(rows.into_iter().next().unwrap_or_default()),
        Err(Error::Server(error)) => Ok(vec![(b"error".to_vec(), Some(error.to_string().into_bytes()))]),
        Err(other) => Err(other),
    }
}

pub(crate) fn named_rows(connection: &mut Connection, sql: &[u8]) -> Result<Vec<NamedRow>, Error> {
    let mut named = Named::default();
    connection.query(sql, &mut named)?;
    Ok(named.rows)
}

/// Collects rows with the names of their columns.
#[derive(Default)]
struct Named {
    columns: Vec<Vec<u8>>,
    rows: Vec<NamedRow>,
}

impl RowSink for Named {
    fn columns(&mut self, columns: &[Column]) -> ControlFlow<()> {
        self.columns = columns.iter().map(|column| column.name.clone()).collect();
        ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
        let values = values.iter().map(|value| value.map(<[u8]>::to_vec));
        self.rows.push(self.columns.iter().cloned().zip(values).collect());
        ControlFlow::Continue(())
    }
}

/// The text without the schema's name where a dot follows; in the schema's own definition, anywhere.
pub(crate) fn without_name(text: &[u8], schema: &[u8], own_definition: bool) -> Vec<u8> {
    const ANY: &[u8] = b"(this schema)";
    if own_definition && text == schema {
        return ANY.to_vec();
    }
    // A table, a column or a user may have the same name as the schema.
    let before_dot: &[u8] = if own_definition { b"" } else { b"." };
    let name = [quote_identifier(schema).as_slice(), before_dot].concat();
    let mut replaced = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memmem::find(rest, &name) {
        replaced.extend_from_slice(&rest[..at]);
        replaced.extend_from_slice(ANY);
        replaced.extend_from_slice(before_dot);
        rest = &rest[at + name.len()..];
    }
    replaced.extend_from_slice(rest);
    replaced
}

/// A table's definition without the next value of its AUTO_INCREMENT column.
pub(crate) fn without_counter(text: &[u8]) -> Vec<u8> {
    const OPTIONS: &[u8] = b"\n) ENGINE=";
    const COUNTER: &[u8] = b" AUTO_INCREMENT=";
    // Line ends in comments and defaults are escaped, so this line end is the end of the columns; a table comment
    // follows later.
    let Some(options) = memchr::memmem::find(text, OPTIONS) else { return text.to_vec() };
    let engine_end =
        options + OPTIONS.len() + text[options + OPTIONS.len()..].iter().take_while(|byte| **byte != b' ').count();
    match text[engine_end..].strip_prefix(COUNTER) {
        Some(rest) => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            [&text[..engine_end], &rest[digits..]].concat()
        }
        None => text.to_vec(),
    }
}
