//! What a copy makes on the target, on record before it is made: a copy that does not come to its end is taken away by that,
//! and nothing else is.
//!
//! ```text
//!   intended  ──► CREATE ──► created            the record of a thing, each step committed by itself
//!      │            │ there already
//!      │            └──► no record, and the copy stops
//!      └── a crash: it is dropped if it is there; a table only if it is empty, because no rows are sent before all are created
//! ```
//!
//! Of a table that others have rows in too, only the source's rows are on record, with the column that tells them apart.

use std::collections::HashSet;

use hortator_mysql::catalog::TableName;
use hortator_mysql::{ConnectOptions, Connection, Error as ServerError, quote_identifier, quote_string};

use super::Error;
use super::again::Belonging;
use super::definitions::{self, SESSION};
use super::objects::{Kind, Object};
use super::staged;
use super::taken_back::OwnRows;
use crate::apply::{PositionTable, literal};
use crate::query::{first_value, texts};

/// The record's table, in the schema of positions.
pub(crate) const RECORD_TABLE: &str = "replicate_copied_objects";

/// Errors of CREATE for a name that is there: schema, table, routine, trigger, event.
const THERE_ALREADY: [u16; 5] = [1007, 1050, 1304, 1359, 1537];
/// Of a sequence with a cache, in a cluster.
const NOT_SUPPORTED: u16 = 1235;
/// The record was never made.
const NO_RECORD: [u16; 2] = [1049, 1146];
/// Names that a message lists.
const NAMES_LIMIT: usize = 5;

/// The record of one source's copy, with the connection that makes things.
pub(super) struct Claims {
    pub(super) connection: Connection,
    record: Record,
    /// The source's name.
    source: String,
    /// The user lock that keeps copies of other sources from looking for names at the same time.
    names_lock: Vec<u8>,
}

/// A thing on record.
struct Recorded {
    object: Object,
    is_created: bool,
    /// Of rows.
    source_column: String,
}

/// Where the record is.
struct Record {
    /// Quoted.
    table: Vec<u8>,
    /// `source = …`.
    condition: Vec<u8>,
    source: Vec<u8>,
}

impl Record {
    fn of(schema: &str, source: &str) -> Record {
        let table = [quote_identifier(schema), quote_identifier(RECORD_TABLE)].join(&b'.');
        let source = literal(source.as_bytes());
        Record { table, condition: [b" WHERE source = ".as_slice(), &source].concat(), source }
    }
}

/// The kind on record of a table that is to be copied by itself. It stays until the copy is whole.
const LISTED: &str = "LISTED";

/// The tables that are to be copied by themselves, in the order of their names.
///
/// # Errors
/// As for any statement.
pub(super) fn listed_tables(
    connection: &mut Connection,
    schema: &str,
    source: &str,
) -> Result<Vec<TableName>, ServerError> {
    let record = Record::of(schema, source);
    let query = [
        b"SELECT in_schema, name FROM ".as_slice(),
        &record.table,
        &record.condition,
        format!(" AND kind = '{LISTED}' ORDER BY 1, 2").as_bytes(),
    ]
    .concat();
    let rows = match connection.fetch(&query) {
        Err(ServerError::Server(error)) if NO_RECORD.contains(&error.code) => return Ok(Vec::new()),
        rows => rows?,
    };
    let name = |row: Vec<Option<Vec<u8>>>| {
        let mut values = row.into_iter().map(Option::unwrap_or_default);
        Some(TableName { schema: values.next()?, table: values.next()? })
    };
    Ok(rows.into_iter().filter_map(name).collect())
}

/// Whether an unfinished copy of the source is on record.
///
/// # Errors
/// As for any statement.
pub(crate) fn has_record(connection: &mut Connection, schema: &str, source: &str) -> Result<bool, ServerError> {
    let record = Record::of(schema, source);
    let query = [b"SELECT 1 FROM ".as_slice(), &record.table, &record.condition, b" LIMIT 1"].concat();
    match texts(connection, &query) {
        Err(ServerError::Server(error)) if NO_RECORD.contains(&error.code) => Ok(false),
        rows => Ok(!rows?.is_empty()),
    }
}

/// The statement by which a copy is whole: its record ends.
pub(crate) fn end_of_record(schema: &str, source: &str) -> Vec<u8> {
    let record = Record::of(schema, source);
    [b"DELETE FROM ".as_slice(), &record.table, &record.condition].concat()
}

impl Claims {
    /// Makes the record's table where it is not there. `schema` is that of positions.
    pub(super) fn open(mut connection: Connection, schema: &str, source: &str) -> Result<Claims, Error> {
        let record = Record::of(schema, source);
        let create = [
            b"CREATE TABLE IF NOT EXISTS ".as_slice(),
            &record.table,
            b" (source VARBINARY(255) NOT NULL, kind VARBINARY(16) NOT NULL, in_schema VARBINARY(256) NOT NULL, \
               name VARBINARY(256) NOT NULL, state ENUM('intended', 'created') NOT NULL, source_column VARBINARY(256), \
               PRIMARY KEY (source, kind, in_schema, name)) ENGINE=InnoDB",
        ]
        .concat();
        // One of an earlier version has no such column.
        let has_column = [b"SELECT source_column FROM ".as_slice(), &record.table, b" LIMIT 0"].concat();
        let alter =
            [b"ALTER TABLE ".as_slice(), &record.table, b" ADD COLUMN IF NOT EXISTS source_column VARBINARY(256)"]
                .concat();
        connection.execute(&create).map_err(Error::target("making the record of the copy"))?;
        if let Err(ServerError::Server(_)) = connection.execute(&has_column) {
            connection.execute(&alter).map_err(Error::target("making the record of the copy"))?;
        }
        staged::create_table(&mut connection, schema)?;
        let names_lock = quote_string(format!("hortator.replicate.{schema}.names"));
        Ok(Claims { connection, record, source: source.to_owned(), names_lock })
    }

    /// The source's name.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Makes the session that of the definitions.
    pub(super) fn reset_session(&mut self) -> Result<(), Error> {
        for setting in SESSION {
            self.connection.execute(setting.as_bytes()).map_err(Error::target("setting the session"))?;
        }
        Ok(())
    }

    /// Takes the lock on names, unless another copy has it for longer than a second.
    pub(super) fn try_lock_names(&mut self) -> Result<bool, Error> {
        let query = [b"SELECT GET_LOCK(SHA1(".as_slice(), &self.names_lock, b"), 1)"].concat();
        let taken = first_value(&mut self.connection, &query).map_err(Error::target("locking names"))?;
        Ok(taken == "1")
    }

    /// Gives the lock on names back.
    pub(super) fn unlock_names(&mut self) -> Result<(), Error> {
        let query = [b"DO RELEASE_LOCK(SHA1(".as_slice(), &self.names_lock, b"))"].concat();
        self.connection.execute(&query).map(drop).map_err(Error::target("unlocking names"))
    }

    /// Drops what an unfinished copy has made, and deletes its rows where others have rows too. Says whether there was one.
    pub(super) fn drop_unfinished(
        &mut self,
        target: &ConnectOptions,
        goes_on: &dyn Fn() -> Result<(), Error>,
    ) -> Result<bool, Error> {
        let mut recorded = self.recorded()?;
        recorded.sort_by(|one, other| other.object.cmp(&one.object));
        for Recorded { object, is_created, source_column } in &recorded {
            goes_on()?;
            if object.kind == Kind::Rows {
                let rows = OwnRows { table: object, column: source_column, source: &self.source };
                rows.delete(&mut self.connection, target, goes_on)?;
            } else {
                self.drop_one(object, *is_created)?;
            }
            self.forget(object)?;
        }
        Ok(!recorded.is_empty())
    }

    fn recorded(&mut self) -> Result<Vec<Recorded>, Error> {
        let query = [
            b"SELECT kind, in_schema, name, state = 'created', source_column FROM ".as_slice(),
            &self.record.table,
            &self.record.condition,
        ]
        .concat();
        let rows = self.connection.fetch(&query).map_err(Error::target("reading the record of the copy"))?;
        let read = |row: Vec<Option<Vec<u8>>>| {
            let mut values = row.into_iter().map(Option::unwrap_or_default);
            let kind = Kind::from_sql(&String::from_utf8_lossy(&values.next()?))?;
            let object = Object { kind, schema: values.next()?, name: values.next()? };
            let is_created = values.next()? == b"1";
            Some(Recorded { object, is_created, source_column: String::from_utf8_lossy(&values.next()?).into_owned() })
        };
        Ok(rows.into_iter().filter_map(read).collect())
    }

    fn drop_one(&mut self, object: &Object, is_created: bool) -> Result<(), Error> {
        let doing = format!("dropping {} of an unfinished copy", object.shown());
        let quoted = object.quoted();
        if object.kind == Kind::Schema && self.has_content(&object.schema)? {
            // Of another source.
            return Ok(());
        }
        if object.kind == Kind::Table && !is_created && self.has_rows(&quoted)? {
            return Err(Error::Refused(format!(
                "the table {} has rows, and a copy that ended before it was made wanted its name: drop it or rename it on \
                 the target",
                object.shown()
            )));
        }
        let statement = [b"DROP ".as_slice(), object.kind.sql().as_bytes(), b" IF EXISTS ", &quoted].concat();
        // MariaDB before 11.4 knows packages in this mode only.
        let is_package = matches!(object.kind, Kind::Package | Kind::PackageBody);
        if is_package {
            self.connection.execute(b"SET SESSION sql_mode = 'ORACLE'").map_err(Error::target(&doing))?;
        }
        let dropped = self.connection.execute(&statement);
        if is_package {
            self.connection.execute(definitions::BASE_MODE.as_bytes()).map_err(Error::target(&doing))?;
        }
        match dropped {
            // A trigger or a routine of a schema that is not there.
            Err(ServerError::Server(error)) if NO_RECORD.contains(&error.code) => Ok(()),
            done => done.map(drop).map_err(Error::target(&doing)),
        }
    }

    fn has_rows(&mut self, quoted: &[u8]) -> Result<bool, Error> {
        let query = [b"SELECT 1 FROM ".as_slice(), quoted, b" LIMIT 1"].concat();
        match texts(&mut self.connection, &query) {
            Err(ServerError::Server(error)) if NO_RECORD.contains(&error.code) => Ok(false),
            rows => Ok(!rows.map_err(Error::target("looking at a table of an unfinished copy"))?.is_empty()),
        }
    }

    fn has_content(&mut self, schema: &[u8]) -> Result<bool, Error> {
        Ok(!names_in(&mut self.connection, schema)?.is_empty())
    }

    fn write_record(&mut self, statement: &[u8]) -> Result<(), Error> {
        self.connection.execute(statement).map(drop).map_err(Error::target("writing the record of the copy"))
    }

    fn forget(&mut self, object: &Object) -> Result<(), Error> {
        let statement = [
            b"DELETE FROM ".as_slice(),
            &self.record.table,
            &self.record.condition,
            b" AND kind = '",
            object.kind.sql().as_bytes(),
            b"' AND in_schema = ",
            &literal(&object.schema),
            b" AND name = ",
            &literal(&object.name),
        ]
        .concat();
        self.write_record(&statement)
    }

    /// The objects whose names the target has already.
    pub(super) fn taken<'o>(&mut self, objects: &[&'o Object]) -> Result<Vec<&'o Object>, Error> {
        let folds = first_value(&mut self.connection, b"SELECT @@lower_case_table_names");
        let folds = folds.map_err(Error::target("looking for names"))? != "0";
        let mut taken = Vec::new();
        let mut schemas: Vec<&[u8]> = objects.iter().map(|object| &object.schema[..]).collect();
        schemas.sort_unstable();
        schemas.dedup();
        for schema in schemas {
            let fold = |kind: Kind, name: &[u8]| {
                let name = String::from_utf8_lossy(name).into_owned();
                let is_exact = kind == Kind::Table && !folds;
                (kind, if is_exact { name } else { name.to_lowercase() })
            };
            let there = names_in(&mut self.connection, schema)?;
            let there: HashSet<(Kind, String)> =
                there.iter().map(|(kind, name)| fold(*kind, name.as_bytes())).collect();
            let here = objects.iter().filter(|object| object.schema == schema && object.kind != Kind::Schema);
            taken.extend(here.filter(|object| there.contains(&fold(object.kind.name_space(), &object.name))));
        }
        Ok(taken)
    }

    /// Puts rows of the source on record that are to come into a table with rows of others. None of them may be there.
    pub(super) fn claim_rows(&mut self, table: &Object, column: &str) -> Result<(), Error> {
        let rows = OwnRows { table, column, source: &self.source };
        if rows.exist(&mut self.connection)? {
            return Err(Error::Refused(format!(
                "the target has rows of this source in {} already (`{column}` = '{}'), and a copy leaves alone what is there: \
                 delete them, then `resume`",
                table.shown(),
                self.source
            )));
        }
        self.write(&Object { kind: Kind::Rows, ..table.clone() }, "intended", column)
    }

    /// Makes a thing: `statements` run in their order, the one at `create` makes it.
    pub(super) fn make(&mut self, object: &Object, statements: &[Vec<u8>], create: usize) -> Result<(), Error> {
        self.note(object, "intended")?;
        for (index, statement) in statements.iter().enumerate() {
            let done = self.connection.execute(statement);
            let Err(error) = done else { continue };
            if let ServerError::Server(refused) = &error {
                // It is not there, or not ours.
                if index <= create {
                    self.forget(object)?;
                }
                if object.kind == Kind::Sequence && refused.code == NOT_SUPPORTED {
                    return Err(Error::Refused(format!(
                        "the target, a node of a cluster, does not take the sequence {} as it is ({refused}): ALTER SEQUENCE … \
                         NOCACHE on the source, or leave it out by a rule",
                        object.shown()
                    )));
                }
                if index == create && THERE_ALREADY.contains(&refused.code) {
                    return Err(names_taken(&[object.shown()]));
                }
            }
            return Err(Error::target(&format!("making the {} {}", object.kind.sql().to_lowercase(), object.shown()))(
                error,
            ));
        }
        self.note(object, "created")
    }

    /// Puts things on record as if they had been made, together with another statement: all of it or nothing.
    pub(super) fn take_over(&mut self, belongings: &[Belonging], statement: &[u8]) -> Result<(), Error> {
        self.write_record(b"START TRANSACTION")?;
        for Belonging { object, source_column } in belongings {
            self.write(object, "created", source_column)?;
        }
        self.write_record(statement)?;
        self.write_record(b"COMMIT")
    }

    /// Lists tables that are to be copied by themselves, and puts what the target has of them on record as if it had been made:
    /// all of it or nothing. The position stays as it is, and nobody moves it meanwhile.
    pub(super) fn list(
        &mut self,
        belongings: &[Belonging],
        tables: &[TableName],
        positions: &PositionTable,
    ) -> Result<(), Error> {
        self.write_record(b"START TRANSACTION")?;
        let position = positions.read(&mut self.connection).map_err(Error::target("reading the position"))?;
        if position.is_none() {
            self.write_record(b"ROLLBACK")?;
            return Err(Error::Refused(
                "the target has no position of this source yet: tables can be copied by themselves when its first copy is whole"
                    .to_owned(),
            ));
        }
        for Belonging { object, source_column } in belongings {
            self.write(object, "created", source_column)?;
        }
        for TableName { schema, table } in tables {
            self.write_row(LISTED, (schema, table), "intended", "")?;
        }
        self.write_record(b"COMMIT")
    }

    /// Drops what was made a moment ago.
    pub(super) fn unmake(&mut self, object: &Object) -> Result<(), Error> {
        self.drop_one(object, true)?;
        self.forget(object)
    }

    /// Whether the target has a schema.
    pub(super) fn has_schema(&mut self, schema: &[u8]) -> Result<bool, Error> {
        let query = [
            b"SELECT 1 FROM information_schema.SCHEMATA WHERE BINARY SCHEMA_NAME = ".as_slice(),
            &quote_string(schema),
        ]
        .concat();
        Ok(!texts(&mut self.connection, &query).map_err(Error::target("looking for schemas"))?.is_empty())
    }

    fn note(&mut self, object: &Object, state: &str) -> Result<(), Error> {
        self.write(object, state, "")
    }

    fn write(&mut self, object: &Object, state: &str, source_column: &str) -> Result<(), Error> {
        self.write_row(object.kind.sql(), (&object.schema, &object.name), state, source_column)
    }

    fn write_row(
        &mut self,
        kind: &str,
        (schema, name): (&[u8], &[u8]),
        state: &str,
        source_column: &str,
    ) -> Result<(), Error> {
        let statement = [
            b"REPLACE INTO ".as_slice(),
            &self.record.table,
            b" (source, kind, in_schema, name, source_column, state) VALUES (",
            &self.record.source,
            b", '",
            kind.as_bytes(),
            b"', ",
            &literal(schema),
            b", ",
            &literal(name),
            b", ",
            &literal(source_column.as_bytes()),
            format!(", '{state}')").as_bytes(),
        ]
        .concat();
        self.write_record(&statement)
    }
}

/// The names in a schema, by the kind whose names they share.
fn names_in(connection: &mut Connection, schema: &[u8]) -> Result<Vec<(Kind, String)>, Error> {
    let schema = quote_string(schema);
    let sources: [(&str, Option<Kind>); 4] = [
        ("SELECT TABLE_NAME FROM information_schema.TABLES WHERE BINARY TABLE_SCHEMA", Some(Kind::Table)),
        ("SELECT ROUTINE_NAME, ROUTINE_TYPE FROM information_schema.ROUTINES WHERE BINARY ROUTINE_SCHEMA", None),
        ("SELECT EVENT_NAME FROM information_schema.EVENTS WHERE BINARY EVENT_SCHEMA", Some(Kind::Event)),
        ("SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE BINARY TRIGGER_SCHEMA", Some(Kind::Trigger)),
    ];
    let mut names = Vec::new();
    for (query, kind) in sources {
        let text = [query.as_bytes(), b" = ", &schema].concat();
        for row in texts(connection, &text).map_err(Error::target("looking for names"))? {
            let mut values = row.into_iter();
            let Some(name) = values.next() else { continue };
            let kind = kind.or_else(|| Kind::from_sql(&values.next()?));
            names.extend(kind.map(|kind| (kind, name)));
        }
    }
    Ok(names)
}

pub(super) fn names_taken(names: &[String]) -> Error {
    let shown = names[..names.len().min(NAMES_LIMIT)].join(", ");
    let more = names.len().saturating_sub(NAMES_LIMIT);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Error::Refused(format!(
        "the target has these already, and a copy leaves alone what is there: {shown}{more}. Drop or rename them on the target; \
         or copy the rest by hand, and give this source the position of that as its `start`"
    ))
}
