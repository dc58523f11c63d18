//! What is defined in a schema, as `SHOW CREATE` gives it.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;

use super::Options;
use hortator_mysql::{Column, Connection, Error, Rows, quote_identifier, quote_string};

/// A kind of thing that a schema holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The schema itself: its default character set and collation.
    Schema,
    /// A table with rows of its own.
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

/// Where the names of a kind stand, and what must be the same beyond `SHOW CREATE`. The first column is the name, the
/// others are part of the definition; each has a `{schema}` to be filled in.
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

/// Columns of `SHOW CREATE` that tell when something was created: no part of what it is.
const TIMES: [&[u8]; 1] = [b"Created"];

impl Kind {
    /// What `SHOW CREATE` calls it.
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
pub(super) type Definition = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

/// Every definition of a schema.
pub(super) fn read(
    connection: &mut Connection,
    schema: &[u8],
    options: Options,
) -> Result<BTreeMap<(Kind, Vec<u8>), Definition>, Error> {
    let mut definitions = BTreeMap::new();
    for (kind, source) in SOURCES {
        // The collation of information_schema ignores case; names on most systems do not.
        let column = source.rsplit(' ').next().unwrap_or_default();
        let name = quote_string(schema);
        let list = [source.as_bytes(), b" = ", &name, b" AND BINARY ", column.as_bytes(), b" = ", &name].concat();
        for listed in named_rows(connection, &list)? {
            let mut values = listed.into_iter();
            let Some((_, Some(name))) = values.next() else { continue };
            let shown = show_create(connection, schema, kind, &name)?;
            let mut definition: Definition =
                values.chain(shown).filter(|(column, _)| !TIMES.contains(&column.as_slice())).collect();
            if options.any_name {
                let values = definition.values_mut().flatten();
                values.for_each(|value| *value = without_name(value, schema, kind == Kind::Schema));
            }
            let name = if kind == Kind::Schema { Vec::new() } else { name };
            definitions.insert((kind, name), definition);
        }
    }
    Ok(definitions)
}

/// One line for each definition that is missing or different.
pub(super) fn differences(
    mine: &BTreeMap<(Kind, Vec<u8>), Definition>,
    theirs: &BTreeMap<(Kind, Vec<u8>), Definition>,
) -> Vec<String> {
    let mut found = Vec::new();
    let only = |which: &str, (kind, name): &(Kind, Vec<u8>)| {
        format!("{kind} {}: only the {which} has it", String::from_utf8_lossy(name))
    };
    for (key, here) in mine {
        let Some(there) = theirs.get(key) else {
            found.push(only("first", key));
            continue;
        };
        let columns = here.keys().chain(there.keys().filter(|column| !here.contains_key(*column)));
        for column in columns.filter(|column| here.get(*column) != there.get(*column)) {
            let (kind, name) = key;
            let (here, there) = (shown(here.get(column)), shown(there.get(column)));
            let (name, column) = (String::from_utf8_lossy(name), String::from_utf8_lossy(column));
            found.push(format!("{kind} {name}, {column}:\n  first:  {here}\n  second: {there}"));
        }
    }
    found.extend(theirs.keys().filter(|key| !mine.contains_key(*key)).map(|key| only("second", key)));
    found
}

fn shown(value: Option<&Option<Vec<u8>>>) -> String {
    match value {
        None => "(none)".to_owned(),
        Some(None) => "NULL".to_owned(),
        Some(Some(value)) => String::from_utf8_lossy(value).into_owned(),
    }
}

type NamedRow = Vec<(Vec<u8>, Option<Vec<u8>>)>;

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

fn named_rows(connection: &mut Connection, sql: &[u8]) -> Result<Vec<NamedRow>, Error> {
    let mut named = Named::default();
    connection.query(sql, &mut named)?;
    Ok(named.rows)
}

/// Keeps rows with the names of their columns.
#[derive(Default)]
struct Named {
    columns: Vec<Vec<u8>>,
    rows: Vec<NamedRow>,
}

impl Rows for Named {
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

/// The text without the schema's name where it stands before a dot; in the schema's own definition, anywhere.
pub(super) fn without_name(text: &[u8], schema: &[u8], own_definition: bool) -> Vec<u8> {
    const ANY: &[u8] = b"(this schema)";
    if own_definition && text == schema {
        return ANY.to_vec();
    }
    // A table, a column or a user may have the schema's name.
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
