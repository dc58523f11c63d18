//! What a source has: every definition, and how the rows of each table are copied.

use std::collections::HashMap;

use hortator_mysql::{Connection, quote_identifier, quote_string};

use super::destination::Destination;
use super::objects::{Kind, Object};
use super::row_text::CopiedColumn;
use super::scope::Scope;
use super::{Error, SYSTEM_SCHEMAS};
use crate::rules::{CreatedTable, Rules, Sharing};

/// Engines whose tables are copied row by row without a lock.
const SNAPSHOT_ENGINE: &str = "InnoDB";
/// Engines whose tables are copied row by row under a lock.
const LOCKED_ENGINES: [&str; 6] = ["MyISAM", "Aria", "MEMORY", "CSV", "ARCHIVE", "BLACKHOLE"];
/// Its rows are those of other tables.
const MERGE_ENGINE: &str = "MRG_MyISAM";
/// MySQL: the columns of keys that it has made itself are seen.
const SHOWN_KEYS: &str = "SET SESSION show_gipk_in_create_table_and_information_schema = ON";
/// A view that cannot be read.
const INVALID_VIEW: u16 = 1356;

/// How the rows of a table come over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowSource {
    /// From the snapshot.
    Snapshot,
    /// From a table that is locked.
    Locked,
    /// They are those of other tables.
    Others,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    /// Its name on the source.
    pub(super) object: Object,
    /// Its name on the target.
    pub(super) target: Object,
    /// Where its rows go.
    pub(super) destination: Destination,
    pub(super) rows: RowSource,
    pub(super) columns: Vec<CopiedColumn>,
    pub(super) has_history: bool,
}

/// A definition, with the session in which it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Definition {
    pub(super) object: Object,
    pub(super) create: Vec<u8>,
    /// In which it is made; empty for none.
    pub(super) default_schema: Vec<u8>,
    /// `sql_mode`, `character_set_client`, `collation_connection`, where it has its own.
    pub(super) session: Option<[Vec<u8>; 3]>,
    /// An event's time zone.
    pub(super) time_zone: Option<Vec<u8>>,
    /// An event's creation, in seconds: one in the past could not be made now.
    pub(super) created_s: Option<u64>,
    /// A sequence's row.
    pub(super) values: Vec<Vec<u8>>,
    /// A table that others may have made, with others' rows.
    pub(super) shared: Option<SharedTable>,
}

/// What a table needs that several become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SharedTable {
    /// Where its name stands in the definition.
    pub(super) created: CreatedTable,
    /// The column with the source's name.
    pub(super) source_column: Option<String>,
}

/// Everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Inventory {
    /// In the order of their making.
    pub(super) definitions: Vec<Definition>,
    pub(super) tables: Vec<Table>,
    /// What is not copied although no rule skips it, for a message.
    pub(super) left_out: Vec<String>,
}

/// The tables of a source that have no snapshot, by schema and name.
pub(super) const LOCKED_QUERY_TAIL: &str =
    "TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') AND ENGINE NOT IN ('InnoDB', 'MRG_MyISAM')";

/// What the source has that `schema` does not hold, which is that of positions. The connection is used for nothing else.
pub(super) fn read(
    connection: &mut Connection,
    positions: &str,
    rules: &Rules,
    scope: &Scope,
) -> Result<Inventory, Error> {
    let mut reader = Reader { connection, positions: quote_string(positions), rules, scope };
    reader.prepare()?;
    let mut found = Inventory::default();
    reader.schemas(&mut found)?;
    reader.tables(&mut found)?;
    if scope.is_all() {
        reader.routines(&mut found)?;
        reader.events(&mut found)?;
    }
    reader.triggers(&mut found)?;
    found.definitions.sort_by_key(|definition| definition.object.kind);
    Ok(found)
}

type Row = Vec<Vec<u8>>;
/// By schema and name.
type ColumnsByTable = HashMap<(Vec<u8>, Vec<u8>), Vec<ListedColumn>>;

struct Reader<'c> {
    connection: &'c mut Connection,
    /// The schema of positions, as a literal.
    positions: Vec<u8>,
    rules: &'c Rules,
    scope: &'c Scope,
}

impl Reader<'_> {
    fn prepare(&mut self) -> Result<(), Error> {
        for setting in
            ["SET NAMES utf8mb4", "SET SESSION sql_mode = '', time_zone = '+00:00', sql_quote_show_create = 1"]
        {
            self.connection.execute(setting.as_bytes()).map_err(Error::source("setting the session"))?;
        }
        match self.connection.execute(SHOWN_KEYS.as_bytes()) {
            // A server that does not know it makes no such keys.
            Ok(_) | Err(hortator_mysql::Error::Server(_)) => Ok(()),
            Err(error) => Err(Error::source("setting the session")(error)),
        }
    }

    /// A query of a catalog about all schemas that are copied; `{schemas}` stands for the condition.
    fn list(&mut self, column: &str, query: &str) -> Result<Vec<Row>, Error> {
        let (before, behind) = query.split_once("{schemas}").unwrap_or((query, ""));
        let condition = format!("{column} NOT IN {SYSTEM_SCHEMAS} AND {column} <> ");
        let text = [before.as_bytes(), condition.as_bytes(), &self.positions, behind.as_bytes()].concat();
        let rows = self.connection.fetch(&text).map_err(Error::source("listing what the source has"))?;
        Ok(rows.into_iter().map(|row| row.into_iter().map(Option::unwrap_or_default).collect()).collect())
    }

    /// SHOW CREATE; values by column.
    fn show(&mut self, object: &Object) -> Result<HashMap<String, Option<Vec<u8>>>, Error> {
        let text = [b"SHOW CREATE ".as_slice(), object.kind.sql().as_bytes(), b" ", &object.quoted()].concat();
        // Texts of routines are bytes of their own character set; those of tables are converted.
        let is_raw = object.kind > Kind::Table;
        let doing = format!("reading the definition of {}", object.shown());
        let mut sink = Shown::default();
        // A view's definition does not name the default schema.
        let used = if object.kind == Kind::View { self.connection.select_db(&object.schema) } else { Ok(()) };
        used.map_err(|error| unless_gone(&object.shown(), &doing, error))?;
        if is_raw {
            self.connection.execute(b"SET SESSION character_set_results = NULL").map_err(Error::source(&doing))?;
        }
        let done = self.connection.query(&text, &mut sink);
        if is_raw && !done.as_ref().is_err_and(hortator_mysql::Error::is_lost) {
            self.connection.execute(b"SET SESSION character_set_results = utf8mb4").map_err(Error::source(&doing))?;
        }
        done.map_err(|error| unless_gone(&object.shown(), &doing, error))?;
        Ok(sink.values)
    }

    fn definition(&mut self, object: Object, column: &str) -> Result<Definition, Error> {
        let mut shown = self.show(&object)?;
        let mut take = |name: &str| shown.remove(name).flatten();
        let Some(create) = take(column) else {
            return Err(Error::Refused(format!(
                "the account may not see the definition of {}: GRANT SELECT, SHOW VIEW, TRIGGER, EVENT ON *.* TO it, on the \
                 source",
                object.shown()
            )));
        };
        let session = take("character_set_client")
            .and_then(|charset| Some([take("sql_mode").unwrap_or_default(), charset, take("collation_connection")?]));
        let time_zone = take("time_zone");
        let default_schema = if object.kind == Kind::Schema { Vec::new() } else { object.schema.clone() };
        Ok(Definition {
            object,
            create,
            default_schema,
            session,
            time_zone,
            created_s: None,
            values: Vec::new(),
            shared: None,
        })
    }

    fn schemas(&mut self, found: &mut Inventory) -> Result<(), Error> {
        let query = "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE {schemas} ORDER BY 1";
        for row in self.list("SCHEMA_NAME", query)? {
            let [schema] = take(row);
            if !self.scope.is_all()
                && !self.rules.schema_on_target(&schema).is_some_and(|schema| self.scope.has_schema(&schema))
            {
                continue;
            }
            let object = Object { kind: Kind::Schema, schema, name: Vec::new() };
            found.definitions.push(self.definition(object, "Create Database")?);
        }
        Ok(())
    }

    fn tables(&mut self, found: &mut Inventory) -> Result<(), Error> {
        let query = "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE, TABLE_COMMENT, CREATE_OPTIONS \
                     FROM information_schema.TABLES WHERE {schemas} ORDER BY ENGINE = 'MRG_MyISAM', 1, 2";
        let listed = self.list("TABLE_SCHEMA", query)?;
        let mut columns = self.columns()?;
        for row in listed {
            let [schema, name, table_type, engine, comment, _] = take(row);
            let kind = match &table_type[..] {
                b"VIEW" => Kind::View,
                b"SEQUENCE" => Kind::Sequence,
                b"BASE TABLE" | b"SYSTEM VERSIONED" => Kind::Table,
                _ => continue,
            };
            if self.leaves_out(&schema, &name) {
                continue;
            }
            let object = Object { kind, schema: schema.clone(), name: name.clone() };
            match kind {
                Kind::View => found.definitions.push(self.view(object)?),
                Kind::Sequence => found.definitions.push(self.sequence(object)?),
                _ => {
                    let definition = self.definition(object.clone(), "Create Table")?;
                    let rows = row_source(&object, &String::from_utf8_lossy(&engine), &comment)?;
                    let listed = columns.remove(&(schema, name)).unwrap_or_default();
                    let has_history = table_type == b"SYSTEM VERSIONED";
                    found.tables.push(table(object, rows, listed, has_history)?);
                    found.definitions.push(definition);
                }
            }
        }
        Ok(())
    }

    /// All columns, by table.
    fn columns(&mut self) -> Result<ColumnsByTable, Error> {
        let (data_type, is_generated) = match self.connection.version().is_mariadb() {
            true => ("LOWER(DATA_TYPE)", "IS_GENERATED"),
            // In row events, a VECTOR of MySQL is not what MariaDB's is: it is not copied.
            false => (
                "IF(DATA_TYPE = 'vector', 'VECTOR of MySQL', LOWER(DATA_TYPE))",
                "IF(EXTRA LIKE '%VIRTUAL GENERATED%' OR EXTRA LIKE '%STORED GENERATED%', 'ALWAYS', 'NEVER')",
            ),
        };
        let query = format!(
            "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, {data_type}, CHARACTER_SET_NAME, \
             UPPER(GENERATION_EXPRESSION), {is_generated} FROM information_schema.COLUMNS WHERE {{schemas}} \
             ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION"
        );
        let mut found = ColumnsByTable::new();
        for row in self.list("TABLE_SCHEMA", &query)? {
            let [schema, table, name, data_type, charset, expression, generated] = take(row);
            let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
            let column = ListedColumn {
                name,
                data_type: text(data_type),
                charset: text(charset),
                row_time: match &expression[..] {
                    b"ROW START" => Some(0),
                    b"ROW END" => Some(1),
                    _ => None,
                },
                is_generated: generated == b"ALWAYS",
            };
            found.entry((schema, table)).or_default().push(column);
        }
        Ok(found)
    }

    /// A table is left out, and what is on it.
    fn leaves_out(&self, schema: &[u8], table: &[u8]) -> bool {
        !self.rules.name_on_target(schema, table).is_some_and(|(schema, table)| self.scope.has(&schema, &table))
    }

    fn view(&mut self, object: Object) -> Result<Definition, Error> {
        let query = [b"SELECT 1 FROM ".as_slice(), &object.quoted(), b" LIMIT 0"].concat();
        match self.connection.execute(&query) {
            Err(hortator_mysql::Error::Server(error)) if error.code == INVALID_VIEW => {
                return Err(Error::Refused(format!(
                    "the view {} cannot be read on the source, so it cannot be made on the target: mend it or drop it there \
                     ({error})",
                    object.shown()
                )));
            }
            // Others may be about rights of its definer.
            Err(hortator_mysql::Error::Server(_)) | Ok(_) => {}
            Err(error) => return Err(Error::source("looking at a view")(error)),
        }
        self.definition(object, "Create View")
    }

    fn sequence(&mut self, object: Object) -> Result<Definition, Error> {
        let query = [b"SELECT * FROM ".as_slice(), &object.quoted()].concat();
        let rows = self.connection.fetch(&query);
        let rows = rows.map_err(|error| unless_gone(&object.shown(), "reading a sequence", error))?;
        let row = rows.into_iter().next();
        let values = row.into_iter().flatten().map(Option::unwrap_or_default).collect();
        Ok(Definition { values, ..self.definition(object, "Create Table")? })
    }

    fn routines(&mut self, found: &mut Inventory) -> Result<(), Error> {
        let query = "SELECT ROUTINE_SCHEMA, ROUTINE_NAME, ROUTINE_TYPE FROM information_schema.ROUTINES WHERE {schemas} \
                     ORDER BY 1, 2, 3";
        for row in self.list("ROUTINE_SCHEMA", query)? {
            let [schema, name, routine_type] = take(row);
            let Some(kind) = Kind::from_sql(&String::from_utf8_lossy(&routine_type)) else { continue };
            let column = match kind {
                Kind::Function => "Create Function",
                Kind::Procedure => "Create Procedure",
                Kind::Package => "Create Package",
                _ => "Create Package Body",
            };
            found.definitions.push(self.definition(Object { kind, schema, name }, column)?);
        }
        Ok(())
    }

    fn events(&mut self, found: &mut Inventory) -> Result<(), Error> {
        let query = "SELECT EVENT_SCHEMA, EVENT_NAME, UNIX_TIMESTAMP(CREATED) FROM information_schema.EVENTS \
                     WHERE {schemas} ORDER BY 1, 2";
        for row in self.list("EVENT_SCHEMA", query)? {
            let [schema, name, created] = take(row);
            let object = Object { kind: Kind::Event, schema, name };
            let created_s = std::str::from_utf8(&created).ok().and_then(|text| text.split('.').next()?.parse().ok());
            found.definitions.push(Definition { created_s, ..self.definition(object, "Create Event")? });
        }
        Ok(())
    }

    fn triggers(&mut self, found: &mut Inventory) -> Result<(), Error> {
        let query = "SELECT TRIGGER_SCHEMA, TRIGGER_NAME, EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS WHERE {schemas} \
                     ORDER BY 1, EVENT_OBJECT_TABLE, ACTION_TIMING, EVENT_MANIPULATION, ACTION_ORDER";
        for row in self.list("TRIGGER_SCHEMA", query)? {
            let [schema, name, table] = take(row);
            if self.leaves_out(&schema, &table) {
                continue;
            }
            let sharing = self.rules.sharing(&schema, &table);
            let object = Object { kind: Kind::Trigger, schema, name };
            if sharing != Sharing::Own {
                // It would fire for rows of other sources that are copied.
                found.left_out.push(format!("trigger {}", object.shown()));
                continue;
            }
            found.definitions.push(self.definition(object, "SQL Original Statement")?);
        }
        Ok(())
    }
}

/// What is gone was there when it was listed.
fn unless_gone(shown: &str, doing: &str, error: hortator_mysql::Error) -> Error {
    match error.code() {
        Some(code) if GONE.contains(&code) => Error::Changed(shown.to_owned()),
        _ => Error::source(doing)(error),
    }
}

/// Errors of SHOW CREATE for what is not there any more: schema, table, routine, trigger, event.
const GONE: [u16; 5] = [1049, 1146, 1305, 1360, 1539];

#[derive(Debug)]
struct ListedColumn {
    name: Vec<u8>,
    data_type: String,
    charset: String,
    /// The start (0) or the end (1) of a row's time.
    row_time: Option<usize>,
    is_generated: bool,
}

fn row_source(object: &Object, engine: &str, comment: &[u8]) -> Result<RowSource, Error> {
    match engine {
        SNAPSHOT_ENGINE => Ok(RowSource::Snapshot),
        _ if engine.eq_ignore_ascii_case(MERGE_ENGINE) => Ok(RowSource::Others),
        _ if LOCKED_ENGINES.contains(&engine) => Ok(RowSource::Locked),
        "" => Err(Error::Refused(format!(
            "the table {} cannot be read on the source: {}",
            object.shown(),
            String::from_utf8_lossy(comment)
        ))),
        _ => Err(Error::Refused(format!(
            "the table {} has the engine {engine}, whose tables a copy does not take: change it, or copy by hand and start at a \
             position",
            object.shown()
        ))),
    }
}

fn table(object: Object, rows: RowSource, listed: Vec<ListedColumn>, has_history: bool) -> Result<Table, Error> {
    let (mut columns, mut times) = (Vec::new(), [b"row_start".to_vec(), b"row_end".to_vec()]);
    for column in listed {
        if let Some(index) = column.row_time {
            if column.data_type == "bigint" {
                return Err(Error::Refused(format!(
                    "the table {} has a history by transaction numbers, which mean nothing on another server: copy it by hand \
                     and start at a position",
                    object.shown()
                )));
            }
            times[index] = column.name;
        } else if !column.is_generated {
            let copied = CopiedColumn::new(&column.name, &column.data_type, &column.charset);
            columns.push(copied.ok_or_else(|| {
                Error::Refused(format!(
                    "the column {} of {} has the data type {}, which a copy does not know",
                    String::from_utf8_lossy(&column.name),
                    object.shown(),
                    column.data_type
                ))
            })?);
        }
    }
    if has_history {
        columns.extend(times.iter().map(|name| CopiedColumn::row_time(name)));
    }
    Ok(Table { target: object.clone(), destination: Destination::Own, object, rows, columns, has_history })
}

fn take<const N: usize>(row: Row) -> [Vec<u8>; N] {
    let mut values = row.into_iter();
    std::array::from_fn(|_| values.next().unwrap_or_default())
}

/// A row with the names of its columns.
#[derive(Debug, Default)]
struct Shown {
    names: Vec<String>,
    values: HashMap<String, Option<Vec<u8>>>,
}

impl hortator_mysql::RowSink for Shown {
    fn columns(&mut self, columns: &[hortator_mysql::Column]) -> std::ops::ControlFlow<()> {
        self.names = columns.iter().map(|column| String::from_utf8_lossy(&column.name).into_owned()).collect();
        std::ops::ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> std::ops::ControlFlow<()> {
        let values = values.iter().map(|value| value.map(<[u8]>::to_vec));
        self.values.extend(self.names.iter().cloned().zip(values));
        std::ops::ControlFlow::Continue(())
    }
}

/// The name of a locked table, quoted.
pub(super) fn quoted_table(schema: &[u8], table: &[u8]) -> Vec<u8> {
    [quote_identifier(schema), quote_identifier(table)].join(&b'.')
}
