//! What a load would do, without doing it: the tables, their order and row paths, the barriers with their reasons, and what
//! on this server will slow it.
//!
//! It reads the whole dump and writes nothing. Only SET statements of the session run, on a connection of its own,
//! because they decide how the text behind them is read. Tables that the dump itself creates are not there yet, so
//! what the server would say of them is expected, not known: such lines say so.

mod expected_table;
mod filtered;
mod rows_files;
mod server_notes;
mod transaction;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use hortator_mysql::catalog::{self, Table, TableKind, TableName};
use hortator_mysql::{Connection, Error, Flavor};

use crate::analysis::{FunctionSet, NamedTable, RowsStatement, SessionFacts, StatementInfo, StatementKind, Trait};
use crate::cluster::{self, Targets};
use crate::deferral::{CheckReport, Checks, Deferral};
use crate::deferred_keys::{self, AUTO_BYTES, DeferIndexes, HOLDS_ROWS, WAS_THERE};
use crate::filter::{Filter, FilterReport};
use crate::lexer::{Charset, Dialect, Item, Location, Statements, StatementsOptions};
use crate::load::{CHUNK_BYTES, Options, rows_check};
use crate::planner::insert_form::InsertForm;
use crate::report::{Failure, beginning};
use crate::rows::{InsertHead, InsertVerb, prescan};
use crate::session::{Tracker, function_set};
use expected_table::ExpectedTable;
use server_notes::{Needs, server_notes};
use transaction::Within;

/// Barriers that are kept in words; all are counted.
const BARRIERS_KEPT: usize = 200;

/// What a load would do.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The tables that rows go to, in the order in which they first do.
    pub tables: Vec<PlannedTable>,
    /// The first barriers.
    pub barriers: Vec<PlannedBarrier>,
    /// All barriers.
    pub barrier_count: u64,
    /// Statements read.
    pub statements: u64,
    /// Statements that would be left out.
    pub skipped: u64,
    /// What would be left out of the input and changed in it, as the user asks for.
    pub filtered: FilterReport,
    /// The nodes of the cluster and how they would be used; empty for a single server.
    pub cluster: Vec<String>,
    /// Settings of this server that will slow the load, each with what follows from it.
    pub server: Vec<String>,
    /// How foreign keys would be checked.
    pub foreign_keys: CheckReport,
    /// How unique keys would be.
    pub unique_checks: CheckReport,
    /// When non-unique keys would be built.
    pub defer_indexes: DeferIndexes,
    /// Why they would be built with each row, although that is not what is asked for.
    pub indexes_not_deferred_reason: Option<&'static str>,
    /// What is wrong with the input, if anything.
    pub failures: Vec<Failure>,
}

/// A table that rows go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTable {
    /// `schema.table`.
    pub table: String,
    /// Rows, as the tuples are counted.
    pub rows: u64,
    /// Text of its INSERT statements.
    pub bytes: u64,
    /// How its rows would travel.
    pub protocol: &'static str,
    /// How its statements would be ordered, and why.
    pub order: String,
    /// Why its non-unique keys would be built with each row; `None` where they would be built after the rows.
    pub indexes_kept_reason: Option<&'static str>,
}

/// A statement that everything else would wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedBarrier {
    /// `file:line`.
    pub place: String,
    /// How it begins.
    pub statement: String,
    /// Why.
    pub reason: String,
}

/// What is found out about a table while reading.
#[derive(Default)]
struct Found {
    rows: u64,
    bytes: u64,
    order: BTreeSet<String>,
    is_text: bool,
    is_new: bool,
}

impl Found {
    fn add(&mut self, more: Self) {
        self.rows += more.rows;
        self.bytes += more.bytes;
        self.order.extend(more.order);
        self.is_text |= more.is_text;
        self.is_new = more.is_new;
    }
}

/// Reads the dump and says what a load of it would do.
///
/// # Errors
/// When there is no connection, or it is lost.
pub fn plan(options: &Options) -> Result<Plan, cluster::Error> {
    let targets = Targets::open(&options.connect, &options.nodes)?;
    let mut connection = targets.take_first().map_or_else(|| Connection::open(targets.options()), Ok)?;
    let version = connection.version();
    let server = Dialect { mariadb: version.flavor == Flavor::MariaDb, ..Dialect::mariadb(version.comment_number()) };
    let tracker = Tracker::new(&mut connection)?;
    let mut catalog = Connection::open(targets.options())?;
    let folds = catalog.fetch(b"SELECT @@lower_case_table_names")?;
    let failures = rows_check::check(options, &|| Connection::open(targets.options()))?;
    let filter_report = Arc::<Mutex<FilterReport>>::default();
    let reader = Reader {
        filter: Filter::new(Arc::new(options.filter.clone()), Arc::clone(&filter_report)),
        filter_report,
        folds_case: folds.first().and_then(|row| row.first()?.as_deref()).is_some_and(|value| value != b"0"),
        // What calls a stored function may be refused by the filter.
        functions: Arc::new(if options.filter.is_empty() { FunctionSet::all() } else { function_set(&mut catalog)? }),
        database: tracker.state().database.clone(),
        catalog,
        plan: Plan {
            cluster: targets.plan(),
            defer_indexes: options.defer_indexes,
            indexes_not_deferred_reason: deferred_keys::planned_reason(options, &targets, connection.version()),
            failures,
            ..Plan::default()
        },
        connection,
        server,
        tracker,
        found: BTreeMap::new(),
        sequence: Vec::new(),
        defined: BTreeMap::new(),
        triggers: BTreeSet::new(),
        needs: Needs::default(),
        deferral: Deferral::new(options),
        has_locks: false,
        within: Within::Nothing,
        chunk_bytes: options.chunk_bytes.unwrap_or(CHUNK_BYTES) as u64,
    };
    Ok(reader.read(options)?)
}

struct Reader {
    filter: Filter,
    filter_report: Arc<Mutex<FilterReport>>,
    /// Table names are the same in any case.
    folds_case: bool,
    functions: Arc<FunctionSet>,
    connection: Connection,
    catalog: Connection,
    server: Dialect,
    tracker: Tracker,
    database: Option<Vec<u8>>,
    plan: Plan,
    found: BTreeMap<TableName, Found>,
    sequence: Vec<TableName>,
    /// Tables that the dump defines, with what the text of their definitions shows.
    defined: BTreeMap<TableName, ExpectedTable>,
    /// Tables on which the dump has put triggers so far.
    triggers: BTreeSet<TableName>,
    needs: Needs,
    deferral: Deferral,
    /// The dump has locked tables.
    has_locks: bool,
    /// What stands in the transaction so far.
    within: Within,
    /// Text of a chunk.
    chunk_bytes: u64,
}

impl Reader {
    fn dialect(&self) -> Dialect {
        self.tracker.state().dialect(self.server)
    }

    fn read(mut self, options: &Options) -> Result<Plan, Error> {
        let charset = Charset::from_name(options.connect.charset.as_bytes());
        let splitting = StatementsOptions {
            comments: options.comments || !self.dialect().mariadb,
            binary_mode: options.binary_mode,
            ..StatementsOptions::new(Dialect { charset, ..self.dialect() })
        };
        match Statements::open(options.input.members(), splitting) {
            Ok(mut statements) => {
                while let Some(item) = statements.next() {
                    match item {
                        Ok(Item::Statement(statement)) => self.statement(&statement.text, &statement.location)?,
                        Ok(Item::Use { database, location }) => self.use_schema(database, &location),
                        Ok(Item::RowsFile { file }) => {
                            // Rows that cannot be read are told of already.
                            if self.leaves_out(&file.table) || file.unreadable.is_some() {
                                statements.pass_rows();
                            }
                        }
                        Ok(Item::RowsColumns { file, columns: None, .. }) => {
                            if let Some(columns) = self.values_per_row(&file.table)? {
                                statements.expect_columns(columns);
                            }
                        }
                        Ok(
                            Item::Charset { .. }
                            | Item::Quit { .. }
                            | Item::Ignored { .. }
                            | Item::RowsColumns { .. }
                            | Item::NoRows { .. },
                        ) => {}
                        Err(error) => {
                            let failure = Failure::of_input(&error);
                            if self.plan.failures.len() < BARRIERS_KEPT && !self.plan.failures.contains(&failure) {
                                self.plan.failures.push(failure);
                            }
                        }
                    }
                    statements.set_dialect(self.dialect());
                }
            }
            Err(error) => self.plan.failures.push(Failure::of_input(&error.into())),
        }
        self.plan.filtered = self.filter_report.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.plan.foreign_keys = self.deferral.report_foreign_keys(None);
        self.plan.unique_checks = self.deferral.report_unique_checks(None);
        self.plan.server = server_notes(&mut self.catalog, &self.needs)?;
        let takes_arrays = options.batch_rows.is_none() && self.connection.supports_bulk();
        let typed = if takes_arrays { "bulk execute" } else { "prepared batches" };
        for name in std::mem::take(&mut self.sequence) {
            let Some(found) = self.found.remove(&name) else { continue };
            let is_asked = options.defer_indexes != DeferIndexes::Never && !found.is_new;
            let reason = match is_asked {
                true if !self.plan.cluster.is_empty() => Some(WAS_THERE),
                true if !catalog::is_empty(&mut self.connection, &name)? => Some(HOLDS_ROWS),
                _ => None,
            };
            self.plan.tables.push(planned(&name, found, typed, options.defer_indexes, reason));
        }
        Ok(self.plan)
    }

    /// A statement that runs, with the text that it has behind the filter.
    fn passed(&mut self, text: &[u8], location: &Location, info: &StatementInfo) -> Result<(), Error> {
        let dialect = self.dialect();
        let functions = Arc::clone(&self.functions);
        if !matches!(info.kind, StatementKind::Rows(_)) && self.control(info, text, location) {
            return Ok(());
        }
        match &info.kind {
            StatementKind::Rows(RowsStatement { head: Some(head), offset, .. }) => {
                self.rows(text, location, head, *offset, &functions)?;
            }
            StatementKind::TableDdl => {
                self.define(text, info, &dialect);
            }
            StatementKind::OtherDdl => {
                if info.is(Trait::HasBody) {
                    self.triggers
                        .extend(info.tables.iter().filter_map(|named| self.resolve(named)).collect::<Vec<_>>());
                }
            }
            StatementKind::Set | StatementKind::Use(_) => self.set(text, location, info)?,
            StatementKind::Rows(_) | StatementKind::Constant | StatementKind::Empty => {}
            StatementKind::Skip => self.plan.skipped += 1,
            StatementKind::Write { reason } | StatementKind::Exclusive { reason } => {
                self.barrier(text, location, reason);
                if info.is(Trait::CreatesTable) {
                    self.define(text, info, &dialect);
                }
            }
        }
        self.end(info);
        Ok(())
    }

    /// Takes note of what a definition's text shows of its tables.
    fn define(&mut self, text: &[u8], info: &StatementInfo, dialect: &Dialect) {
        let expected = ExpectedTable::of_text(text, dialect);
        for name in info.tables.iter().filter_map(|named| self.resolve(named)).collect::<Vec<_>>() {
            self.defined
                .entry(name)
                .and_modify(|known| known.id_column = known.id_column.take().or(expected.id_column.clone()))
                .or_insert(expected.clone());
        }
    }

    fn set(&mut self, text: &[u8], location: &Location, info: &StatementInfo) -> Result<(), Error> {
        let assignments = &info.assignments;
        if assignments.beyond_session || assignments.reads_beyond_session {
            self.barrier(text, location, "SET changes or reads more than the session");
            return Ok(());
        }
        match self.connection.execute(text) {
            Ok(_) => {
                self.tracker.assigned(assignments);
                self.tracker.follow(&mut self.connection)?;
                if matches!(info.kind, StatementKind::Use(_)) {
                    self.database.clone_from(&self.tracker.state().database);
                }
                Ok(())
            }
            // A schema that the dump is yet to make.
            Err(Error::Server(_)) => {
                if let StatementKind::Use(Some(name)) = &info.kind {
                    self.database = Some(name.clone());
                }
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn rows(
        &mut self,
        text: &[u8],
        location: &Location,
        head: &InsertHead,
        offset: usize,
        functions: &FunctionSet,
    ) -> Result<(), Error> {
        let named = NamedTable { schema: head.schema.clone(), table: head.table.clone() };
        let Some(name) = self.resolve(&named) else {
            self.barrier(text, location, "the table name cannot be resolved");
            return Ok(());
        };
        self.deferral.rows(&name, self.tracker.state(), head.verb == InsertVerb::Replace);
        let known = self.look(&name)?;
        if self.triggers.contains(&name) {
            self.barrier(text, location, "triggers of the table may write to other tables");
            return Ok(());
        }
        let puts_off = self.deferral.foreign_keys() == Checks::Deferred && head.verb == InsertVerb::Insert;
        let checks = self.tracker.state().checks_foreign_keys() && !puts_off;
        self.needs.checks_foreign_keys |= checks;
        let facts = SessionFacts { dialect: self.dialect(), functions, known_head: None };
        let has_id;
        let (placed, refers_to_itself) = match known {
            Some(table) => {
                has_id = table.columns.iter().any(|column| column.auto_increment);
                let refers_to_itself = table.refers_to_itself();
                let is_text = table.kind != TableKind::Base { transactional: true };
                let form = InsertForm::new(head.clone(), offset, name.clone(), Arc::new(table));
                let placed = form.and_then(|form| {
                    let values = prescan(text, offset, form.id_value, &facts).map_err(|_| NOT_LITERAL)?;
                    let placement = form.place(&values, self.tracker.state(), false)?;
                    Ok((values.rows, placement.implicit_id, is_text || !placement.plain))
                });
                (placed, refers_to_itself)
            }
            None => {
                let expected = self.defined.get(&name).cloned().unwrap_or_default();
                if expected.reads_variables {
                    self.barrier(text, location, "a default value reads the session");
                    return Ok(());
                }
                // The column's place is certain only where the statement names it; else it is most often the first.
                let place = |id: &Vec<u8>| match &head.columns {
                    Some(names) => names.iter().position(|name| name.eq_ignore_ascii_case(id)),
                    None => Some(0),
                };
                has_id = expected.id_column.is_some();
                let id_value = expected.id_column.as_ref().and_then(place);
                let leaves_id_out = expected.id_column.is_some() && id_value.is_none();
                let placed = prescan(text, offset, id_value, &facts).map_err(|_| NOT_LITERAL).map(|values| {
                    let implicit_id = values.implicit_id || leaves_id_out;
                    let is_text = expected.is_text || implicit_id || values.has_expression;
                    (values.rows, implicit_id, is_text || head.verb != InsertVerb::Insert)
                });
                (placed, false)
            }
        };
        let (rows, implicit_id, is_text) = match placed {
            Ok(placed) => placed,
            Err(reason) => {
                self.barrier(text, location, reason);
                return Ok(());
            }
        };
        let is_new = self.defined.contains_key(&name);
        let mut found = Found { rows, bytes: text.len() as u64, is_new, is_text, order: BTreeSet::new() };
        if head.verb != InsertVerb::Insert {
            found.order.insert("a row may replace or skip another row".to_owned());
        }
        if implicit_id {
            found.order.insert("the server generates AUTO_INCREMENT values".to_owned());
            self.needs.implicit_ids = true;
        }
        self.needs.explicit_ids |= has_id && !implicit_id;
        if refers_to_itself && checks {
            found.order.insert("rows refer to rows of the same table".to_owned());
        }
        self.needs.rows_bytes += text.len() as u64;
        if self.is_in_transaction() {
            self.hold(&name, found, text, location);
        } else {
            self.add(&name, found);
        }
        Ok(())
    }

    fn add(&mut self, name: &TableName, found: Found) {
        match self.found.get_mut(name) {
            Some(known) => known.add(found),
            None => {
                self.sequence.push(name.clone());
                self.found.insert(name.clone(), found);
            }
        }
    }

    /// What the server says of a table that the dump does not define itself.
    fn look(&mut self, name: &TableName) -> Result<Option<Table>, Error> {
        if self.defined.contains_key(name) { Ok(None) } else { catalog::table(&mut self.catalog, name) }
    }

    fn barrier(&mut self, text: &[u8], location: &Location, reason: &str) {
        if self.is_in_transaction() {
            self.goes_to_main();
        }
        self.barrier_of(beginning(text), location, reason);
    }

    fn barrier_of(&mut self, statement: String, location: &Location, reason: &str) {
        self.plan.barrier_count += 1;
        if self.plan.barriers.len() < BARRIERS_KEPT {
            let place = format!("{}:{}", location.file, location.line);
            self.plan.barriers.push(PlannedBarrier { place, statement, reason: reason.to_owned() });
        }
    }

    fn resolve(&self, named: &NamedTable) -> Option<TableName> {
        let schema = named.schema.clone().or_else(|| self.database.clone())?;
        Some(TableName { schema, table: named.table.clone() })
    }
}

const NOT_LITERAL: &str = "the values are not all literals";

/// What is to be told of a table. `found_reason`: why the keys of one that was there before the load stay.
fn planned(
    name: &TableName,
    found: Found,
    typed: &'static str,
    defer_indexes: DeferIndexes,
    found_reason: Option<&'static str>,
) -> PlannedTable {
    let indexes_kept_reason = match defer_indexes {
        DeferIndexes::Never => Some("as asked for"),
        _ if found_reason.is_some() => found_reason,
        DeferIndexes::Auto if found.bytes < AUTO_BYTES as u64 => Some("it gets less than 4 MiB of rows"),
        DeferIndexes::Auto | DeferIndexes::Always => None,
    };
    let mut order = if found.order.is_empty() {
        "in parallel, committed in order".to_owned()
    } else {
        format!("in order: {}", found.order.into_iter().collect::<Vec<_>>().join(", "))
    };
    if found.is_new {
        order.push_str(" (prediction: the table does not exist yet)");
    }
    let protocol = if found.is_text { "text" } else { typed };
    PlannedTable { table: name.to_string(), rows: found.rows, bytes: found.bytes, protocol, order, indexes_kept_reason }
}
