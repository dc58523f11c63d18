//! Finds rows that are known to the server again in the dump, for the file and line of each.
//!
//! The dump is read once more, with the session followed on a connection of its own, as `--plan` does it. A row is told
//! by its values: those of the constraint must all stand in it as plain values, those of the primary key must where the
//! statement gives them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hortator_check::constraints::ViolatingRow;
use hortator_mysql::catalog::{self, Table, TableName};
use hortator_mysql::{Connection, Error, Flavor};

use super::row_text::{RowText, RowTexts, stands_for};
use crate::analysis::{FunctionSet, RowsStatement, SessionFacts, StatementKind, analyze};
use crate::apply::Pool;
use crate::cluster::Targets;
use crate::input::delimited::RowsTable;
use crate::lexer::{Charset, Dialect, Item, Statement, Statements, StatementsOptions};
use crate::load::Options;
use crate::rewriting::Rewriting;
use crate::rows::InsertHead;
use crate::session::Tracker;

/// A row to look for.
#[derive(Debug)]
pub(super) struct Wanted {
    /// Which finding it is of: a row of the dump may be of several, but only once of each.
    pub(super) finding: usize,
    pub(super) table: TableName,
    pub(super) row: ViolatingRow,
}

/// Where a row stands; without a line, why not.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub(super) file: String,
    pub(super) line: u64,
    pub(super) byte: u64,
    pub(super) reason: String,
}

const NOT_FOUND: &str =
    "no line: no row of the dump has these values as literals; the row existed before, or another statement created it";

/// Looks for all of them; the answers are in their order.
pub(super) fn rescan(wanted: Vec<Wanted>, options: &Options, targets: &Targets, pool: &Pool) -> Vec<Found> {
    let count = wanted.len();
    let without_line = |reason: &str| vec![Found { reason: reason.to_owned(), ..Found::default() }; count];
    if wanted.is_empty() {
        return Vec::new();
    }
    if !options.input.can_be_read_again() {
        return without_line("no line: the input is not a file that can be read a second time");
    }
    match Rescan::open(wanted, options, targets, pool)
        .and_then(|mut rescan| rescan.read(options, pool).map(|()| rescan))
    {
        Ok(rescan) => rescan
            .found
            .into_iter()
            .map(|found| found.unwrap_or_else(|| Found { reason: NOT_FOUND.to_owned(), ..Found::default() }))
            .collect(),
        Err(why) => without_line(&format!("no line: {why}")),
    }
}

struct Rescan {
    connection: Connection,
    tracker: Tracker,
    server: Dialect,
    folds_case: bool,
    /// How the names of the input become those of the server.
    rewriting: Rewriting,
    wanted: Vec<Wanted>,
    found: Vec<Option<Found>>,
    /// The tables of rows that are still wanted, as the server knows them.
    tables: HashMap<TableName, Arc<Table>>,
}

impl Rescan {
    fn open(wanted: Vec<Wanted>, options: &Options, targets: &Targets, pool: &Pool) -> Result<Self, String> {
        let told = |error: Error| error.to_string();
        let mut connection = targets.connect(&|| pool.is_interrupted()).map_err(told)?.connection;
        let version = connection.version();
        let server =
            Dialect { mariadb: version.flavor == Flavor::MariaDb, ..Dialect::mariadb(version.comment_number()) };
        let mut tables = HashMap::new();
        for name in wanted.iter().map(|wanted| &wanted.table).collect::<HashSet<_>>() {
            if let Some(table) = catalog::table(&mut connection, name).map_err(told)? {
                tables.insert(name.clone(), Arc::new(table));
            }
        }
        let folds = connection.fetch(b"SELECT @@lower_case_table_names").map_err(told)?;
        let folds_case = folds.first().and_then(|row| row.first()?.as_deref()).is_some_and(|value| value != b"0");
        let tracker = Tracker::new(&mut connection).map_err(told)?;
        let found = wanted.iter().map(|_| None).collect();
        let rewriting = options.filter.rewriting.clone();
        Ok(Self { connection, tracker, server, folds_case, rewriting, wanted, found, tables })
    }

    fn dialect(&self) -> Dialect {
        self.tracker.state().dialect(self.server)
    }

    fn read(&mut self, options: &Options, pool: &Pool) -> Result<(), String> {
        let charset = Charset::from_name(options.connect.charset.as_bytes());
        let splitting = StatementsOptions {
            comments: options.comments,
            binary_mode: options.binary_mode,
            ..StatementsOptions::new(Dialect { charset, ..self.dialect() })
        };
        let mut statements = Statements::open(options.input.members(), splitting).map_err(|error| error.to_string())?;
        while let Some(item) = statements.next() {
            if pool.is_interrupted() || self.found.iter().all(Option::is_some) {
                return Ok(());
            }
            match item {
                Ok(Item::Statement(statement)) => self.statement(&statement).map_err(|error| error.to_string())?,
                Ok(Item::Use { database, .. }) => {
                    let database = self.mapped(database);
                    self.follow(|connection| connection.select_db(&database))?;
                }
                Ok(Item::Charset { name, .. }) => {
                    self.follow(|connection| connection.execute(&[b"SET NAMES ", &name[..]].concat()).map(drop))?;
                }
                Err(error) if error.is_final() => return Err(error.to_string()),
                Ok(Item::RowsFile { file }) => {
                    let RowsTable { schema, name } = file.table.clone();
                    if self.wanted_table(schema, name).is_none() {
                        statements.pass_rows();
                    }
                }
                Ok(Item::RowsColumns { file, columns: None, .. }) => {
                    let RowsTable { schema, name } = file.table.clone();
                    let wanted = self.wanted_table(schema, name);
                    if let Some(columns) = wanted.and_then(|(_, table)| table.values_per_row()) {
                        statements.expect_columns(columns);
                    }
                }
                Ok(Item::Quit { .. } | Item::Ignored { .. } | Item::RowsColumns { .. } | Item::NoRows { .. })
                | Err(_) => {}
            }
            statements.set_dialect(self.dialect());
        }
        Ok(())
    }

    /// Does to this session what the dump does to its own. What the server refuses, it refused then too.
    fn follow(&mut self, change: impl FnOnce(&mut Connection) -> Result<(), Error>) -> Result<(), String> {
        let done = change(&mut self.connection);
        let followed = self.tracker.follow(&mut self.connection);
        match done {
            Ok(()) | Err(Error::Server(_)) => followed.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The schema that takes the place of one of the input.
    fn mapped(&self, schema: Vec<u8>) -> Vec<u8> {
        self.rewriting.mapped_schema(&schema, self.folds_case).map_or(schema, <[u8]>::to_vec)
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), Error> {
        let dialect = self.dialect();
        let functions = FunctionSet::all();
        let info = analyze(&statement.text, &SessionFacts { dialect, functions: &functions, known_head: None });
        match info.kind {
            StatementKind::Rows(RowsStatement { head: Some(head), offset, .. }) => {
                self.rows(statement, &head, offset, &dialect);
            }
            StatementKind::Use(Some(schema)) => {
                let schema = self.mapped(schema);
                if self.connection.select_db(&schema).is_ok() {
                    self.tracker.follow(&mut self.connection)?;
                }
            }
            StatementKind::Set | StatementKind::Use(None) => {
                let is_own = !info.assignments.beyond_session && !info.assignments.reads_beyond_session;
                if is_own && self.connection.execute(&statement.text).is_ok() {
                    self.tracker.assigned(&info.assignments);
                    self.tracker.follow(&mut self.connection)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The table that the input means, if rows of it are looked for.
    fn wanted_table(&self, schema: Option<Vec<u8>>, table: Vec<u8>) -> Option<(TableName, Arc<Table>)> {
        let named = schema.map(|schema| self.mapped(schema));
        let mut name = TableName { schema: named.or_else(|| self.tracker.state().database.clone())?, table };
        if self.folds_case {
            name.schema.make_ascii_lowercase();
            name.table.make_ascii_lowercase();
        }
        let table = Arc::clone(self.tables.get(&name)?);
        Some((name, table))
    }

    fn rows(&mut self, statement: &Statement, head: &InsertHead, offset: usize, dialect: &Dialect) {
        let Some((name, table)) = self.wanted_table(head.schema.clone(), head.table.clone()) else { return };
        let columns = columns(&table, head);
        let still_wanted: Vec<usize> = (0..self.wanted.len())
            .filter(|&index| self.found[index].is_none() && self.wanted[index].table == name)
            .collect();
        if still_wanted.is_empty() {
            return;
        }
        for row in RowTexts::new(&statement.text, offset, dialect) {
            let mut found_of = None;
            for &index in &still_wanted {
                let wanted = &self.wanted[index];
                let is_open = self.found[index].is_none() && found_of != Some(wanted.finding);
                if is_open && holds(&row, &wanted.row, &columns, &table, dialect) {
                    found_of = Some(wanted.finding);
                    self.found[index] = Some(place(statement, &row));
                }
            }
        }
    }
}

fn place(statement: &Statement, row: &RowText<'_>) -> Found {
    let at = &statement.location;
    let lines = memchr::memchr_iter(b'\n', &statement.text[..row.offset]).count() as u64;
    let (file, byte) = (at.file.to_string(), at.byte);
    if is_whole(statement) {
        Found { file, line: at.line + lines, byte, reason: String::new() }
    } else {
        Found { file, line: at.line, byte, reason: "line of the statement".to_owned() }
    }
}

/// Whether nothing was left out of a statement's text but the CR of its lines, so that lines can be counted in it:
/// comments are, with the lines in them. Behind the text stands the delimiter.
fn is_whole(statement: &Statement) -> bool {
    let delimiter_bytes = 0..=2;
    let read_bytes = statement.end_byte.saturating_sub(statement.location.byte);
    let more = read_bytes.saturating_sub(statement.text.len() as u64);
    let lines = memchr::memchr_iter(b'\n', &statement.text).count() as u64;
    delimiter_bytes.contains(&more) || more.checked_sub(lines).is_some_and(|more| delimiter_bytes.contains(&more))
}

/// The positions in [`Table::columns`] of a row's values.
fn columns(table: &Table, head: &InsertHead) -> Vec<Option<usize>> {
    match &head.columns {
        Some(names) => names.iter().map(|name| position(table, name)).collect(),
        None => (0..table.columns.len()).filter(|&index| !table.columns[index].invisible).map(Some).collect(),
    }
}

fn position(table: &Table, name: &[u8]) -> Option<usize> {
    table.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
}

/// Whether a row of the dump is this one of the server's.
fn holds(
    row: &RowText<'_>,
    wanted: &ViolatingRow,
    columns: &[Option<usize>],
    table: &Table,
    dialect: &Dialect,
) -> bool {
    if row.values.len() != columns.len() {
        return false;
    }
    wanted.values.iter().enumerate().all(|(index, (name, stored))| {
        let column = position(table, name);
        let written = columns.iter().position(|at| at.is_some() && *at == column);
        match (written, column) {
            (Some(written), Some(column)) => {
                let text = row.values[written];
                let is_constrained = index < wanted.constrained;
                let is_numbered = table.columns[column].auto_increment && !is_constrained && is_left_to_server(text);
                is_numbered || stands_for(text, stored.as_deref(), table.columns[column].kind, dialect)
            }
            // A value that the statement leaves to the server says nothing about which row it is.
            _ => index >= wanted.constrained,
        }
    })
}

/// Whether the server numbers a row that has this for its AUTO_INCREMENT value.
fn is_left_to_server(text: &[u8]) -> bool {
    matches!(text, b"0" | b"'0'") || text.eq_ignore_ascii_case(b"NULL") || text.eq_ignore_ascii_case(b"DEFAULT")
}
