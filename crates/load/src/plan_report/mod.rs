//! The plan of a load: the tables, their order and protocols, the barriers with their reasons, and the settings of the
//! server that slow it.
//!
//! It reads the whole dump and writes nothing. Only SET statements of the session run, on a connection of its own,
//! because they decide how the text behind them is read. Tables that the dump itself creates are not there yet, so
//! what the server would say of them is expected, not known: such lines say so.

mod server_notes;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use hortator_mysql::catalog::{self, Table, TableName};
use hortator_mysql::{Connection, Error, Flavor};

use crate::cluster::{self, Targets};
use crate::deferral::{CheckReport, Checks, Deferral};
use crate::lexer::{Charset, Dialect, Item, Location, Statements, StatementsOptions};
use crate::load::Options;
use crate::report::{Failure, beginning};
use crate::rows::{InsertHead, InsertVerb, RowSource, prescan};
use crate::session::{Tracker, assignments};
use crate::statement_kind::{NamedTable, StatementKind, classify, reads_session_results};
use server_notes::{Needs, server_notes};

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
    /// Statements that a load would skip.
    pub skipped: u64,
    /// The nodes of the cluster and how they would be used; empty for a single server.
    pub cluster: Vec<String>,
    /// Settings of this server that will slow the load, each with what follows from it.
    pub server: Vec<String>,
    /// How foreign keys would be checked.
    pub foreign_keys: CheckReport,
    /// How unique keys would be.
    pub unique_checks: CheckReport,
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
    /// The protocol for its rows.
    pub protocol: &'static str,
    /// How its statements would be ordered, and why.
    pub order: String,
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

/// Reads the dump and says what a load of it would do.
///
/// # Errors
/// When there is no connection, or it is lost.
pub fn plan(options: &Options) -> Result<Plan, cluster::Error> {
    let targets = Targets::open(&options.connect, &options.nodes)?;
    let mut connection = Connection::open(targets.options())?;
    let version = connection.version();
    let server = Dialect { mariadb: version.flavor == Flavor::MariaDb, ..Dialect::mariadb(version.comment_number()) };
    let tracker = Tracker::new(&mut connection)?;
    let reader = Reader {
        database: tracker.state().database.clone(),
        catalog: Connection::open(targets.options())?,
        connection,
        server,
        tracker,
        plan: Plan { cluster: targets.plan(), ..Plan::default() },
        found: BTreeMap::new(),
        sequence: Vec::new(),
        defined: BTreeMap::new(),
        triggers: BTreeSet::new(),
        needs: Needs::default(),
        deferral: Deferral::new(options),
        in_transaction: false,
    };
    Ok(reader.read(&options.files, options)?)
}

struct Reader {
    connection: Connection,
    catalog: Connection,
    server: Dialect,
    tracker: Tracker,
    database: Option<Vec<u8>>,
    plan: Plan,
    found: BTreeMap<TableName, Found>,
    sequence: Vec<TableName>,
    /// Tables that the dump defines, with their AUTO_INCREMENT column as far as the definition's text shows it.
    defined: BTreeMap<TableName, Option<Vec<u8>>>,
    /// Tables on which the dump has put triggers so far.
    triggers: BTreeSet<TableName>,
    needs: Needs,
    deferral: Deferral,
    /// Between BEGIN and its end.
    in_transaction: bool,
}

impl Reader {
    fn dialect(&self) -> Dialect {
        self.tracker.state().dialect(self.server)
    }

    fn read(mut self, files: &[PathBuf], options: &Options) -> Result<Plan, Error> {
        let charset = Charset::from_name(options.connect.charset.as_bytes());
        let splitting = StatementsOptions {
            comments: options.comments || !self.dialect().mariadb,
            binary_mode: options.binary_mode,
            ..StatementsOptions::new(Dialect { charset, ..self.dialect() })
        };
        match Statements::open(files, splitting) {
            Ok(mut statements) => {
                while let Some(item) = statements.next() {
                    match item {
                        Ok(Item::Statement(statement)) => self.statement(&statement.text, &statement.location)?,
                        Ok(Item::Use { database, .. }) => self.database = Some(database),
                        Ok(Item::Charset { .. } | Item::Quit { .. } | Item::Ignored { .. }) => {}
                        Err(error) => {
                            if self.plan.failures.len() < BARRIERS_KEPT {
                                self.plan.failures.push(Failure::of_input(&error));
                            }
                        }
                    }
                    statements.set_dialect(self.dialect());
                }
            }
            Err(error) => self.plan.failures.push(Failure::of_input(&error.into())),
        }
        self.plan.foreign_keys = self.deferral.report_foreign_keys(None);
        self.plan.unique_checks = self.deferral.report_unique_checks(None);
        self.plan.server = server_notes(&mut self.catalog, &self.needs)?;
        let takes_arrays = options.batch_rows.is_none() && self.connection.supports_bulk();
        let typed = if takes_arrays { "bulk execute" } else { "prepared batches" };
        for name in std::mem::take(&mut self.sequence) {
            let Some(found) = self.found.remove(&name) else { continue };
            self.plan.tables.push(planned(&name, found, typed));
        }
        Ok(self.plan)
    }

    fn statement(&mut self, text: &[u8], location: &Location) -> Result<(), Error> {
        self.plan.statements += 1;
        self.needs.statement_bytes = self.needs.statement_bytes.max(text.len() as u64);
        let dialect = self.dialect();
        match classify(text, &dialect) {
            StatementKind::Rows(head) => self.rows(text, location, &head)?,
            StatementKind::TableDdl { tables, .. } => {
                let id_column = id_column(text, &dialect);
                for name in tables.iter().filter_map(|named| self.resolve(named)).collect::<Vec<_>>() {
                    self.defined
                        .entry(name)
                        .and_modify(|known| *known = known.take().or(id_column.clone()))
                        .or_insert(id_column.clone());
                }
            }
            StatementKind::OtherDdl { tables } => {
                let is_trigger = crate::lexer::tokens(text, &dialect).take(12).any(|token| token.is_word(b"TRIGGER"));
                let names: Vec<TableName> = tables.iter().filter_map(|named| self.resolve(named)).collect();
                if is_trigger {
                    self.triggers.extend(names);
                }
            }
            StatementKind::Session => {
                let assignments = assignments(text, &dialect);
                if assignments.beyond_session || reads_session_results(text, &dialect) {
                    self.barrier(text, location, "SET changes or reads more than the session");
                } else if self.connection.execute(text).is_ok() {
                    self.tracker.assigned(&assignments, &mut self.connection)?;
                }
            }
            StatementKind::Constant | StatementKind::Empty => {}
            StatementKind::Skip { .. } => self.plan.skipped += 1,
            StatementKind::Barrier { reason } => {
                let first = crate::lexer::tokens(text, &dialect).next();
                let first_is = |words: [&[u8]; 3]| {
                    first.as_ref().is_some_and(|token| words.iter().any(|word| token.is_word(word)))
                };
                self.in_transaction |= first_is([b"BEGIN", b"START", b"XA"]);
                self.in_transaction &= !first_is([b"COMMIT", b"ROLLBACK", b"CREATE"]);
                self.barrier(text, location, reason);
            }
        }
        Ok(())
    }

    fn rows(&mut self, text: &[u8], location: &Location, head: &InsertHead) -> Result<(), Error> {
        let named = NamedTable { schema: head.schema.clone(), table: head.table.clone() };
        let (RowSource::Values { offset }, Some(name)) = (head.source, self.resolve(&named)) else {
            self.barrier(text, location, "the rows do not come from VALUES, or the table name cannot be resolved");
            return Ok(());
        };
        self.deferral.rows(&name, self.tracker.state(), head.verb == InsertVerb::Replace);
        if self.in_transaction || !self.connection.status().autocommit() {
            self.barrier(text, location, "inside a transaction of the dump");
            return Ok(());
        }
        let known = self.look(&name)?;
        if self.triggers.contains(&name) || known.as_ref().is_some_and(|table| table.has_triggers) {
            self.barrier(text, location, "triggers of the table may write to other tables");
            return Ok(());
        }
        let defers = self.deferral.foreign_keys() == Checks::Deferred && head.verb == InsertVerb::Insert;
        let checks = self.tracker.state().checks_foreign_keys() && !defers;
        self.needs.checks_foreign_keys |= checks;
        let expected = self.defined.get(&name).cloned().flatten();
        let (id_value, has_id) = match (&known, expected) {
            (Some(table), _) => (id_value(table, head), table.auto_increment().is_some()),
            // The column's place is certain only where the statement names it; else it is most often the first.
            (None, Some(id)) => {
                let place = |names: &Vec<Vec<u8>>| names.iter().position(|name| name.eq_ignore_ascii_case(&id));
                (head.columns.as_ref().map_or(Some(0), place), true)
            }
            (None, None) => (None, false),
        };
        let leaves_id_out = has_id && id_value.is_none();
        let Ok(prescan) = prescan(text, offset, id_value, &self.dialect()) else {
            self.barrier(text, location, "the values are not all literals");
            return Ok(());
        };
        let found = match self.found.get_mut(&name) {
            Some(found) => found,
            None => {
                self.sequence.push(name.clone());
                self.found.entry(name.clone()).or_default()
            }
        };
        found.rows += prescan.rows;
        found.bytes += text.len() as u64;
        found.is_new = known.is_none();
        found.is_text |= prescan.has_suffix || prescan.has_expression || head.verb != InsertVerb::Insert;
        if prescan.has_suffix || head.verb != InsertVerb::Insert {
            found.order.insert("a row may replace or skip another row".to_owned());
        }
        if prescan.implicit_id || leaves_id_out {
            found.order.insert("the server generates AUTO_INCREMENT values".to_owned());
            found.is_text = true;
            self.needs.implicit_ids = true;
        }
        if known.as_ref().is_some_and(Table::refers_to_itself) && checks {
            found.order.insert("rows refer to rows of the same table".to_owned());
        }
        self.needs.rows_bytes += text.len() as u64;
        Ok(())
    }

    /// What the server says of a table that the dump does not define itself.
    fn look(&mut self, name: &TableName) -> Result<Option<Table>, Error> {
        if self.defined.contains_key(name) { Ok(None) } else { catalog::table(&mut self.catalog, name) }
    }

    fn barrier(&mut self, text: &[u8], location: &Location, reason: &str) {
        self.plan.barrier_count += 1;
        if self.plan.barriers.len() < BARRIERS_KEPT {
            let place = format!("{}:{}", location.file, location.line);
            self.plan.barriers.push(PlannedBarrier { place, statement: beginning(text), reason: reason.to_owned() });
        }
    }

    fn resolve(&self, named: &NamedTable) -> Option<TableName> {
        let schema = named.schema.clone().or_else(|| self.database.clone())?;
        Some(TableName { schema, table: named.table.clone() })
    }
}

/// The column that a CREATE TABLE marks with AUTO_INCREMENT: the name that begins its definition.
fn id_column(text: &[u8], dialect: &Dialect) -> Option<Vec<u8>> {
    let mut depth = 0_usize;
    let mut first = None;
    let mut begins = false;
    for token in crate::lexer::tokens(text, dialect) {
        if token.is_symbol(b"(") {
            depth += 1;
            begins = depth == 1;
        } else if token.is_symbol(b")") {
            depth = depth.saturating_sub(1);
        } else if token.is_symbol(b",") {
            begins = depth == 1;
        } else if begins {
            first = crate::rows::name(&token);
            begins = false;
        } else if token.is_word(b"AUTO_INCREMENT") && depth == 1 {
            return first;
        }
    }
    None
}

/// Which value of a tuple is the AUTO_INCREMENT column's.
fn id_value(table: &Table, head: &InsertHead) -> Option<usize> {
    let id = &table.columns[table.auto_increment()?];
    match &head.columns {
        Some(names) => names.iter().position(|name| name.eq_ignore_ascii_case(&id.name)),
        None => table.columns.iter().filter(|column| !column.invisible).position(|column| column.name == id.name),
    }
}

fn planned(name: &TableName, found: Found, typed: &'static str) -> PlannedTable {
    let mut order = if found.order.is_empty() {
        "in parallel, committed in order".to_owned()
    } else {
        format!("in order: {}", found.order.into_iter().collect::<Vec<_>>().join(", "))
    };
    if found.is_new {
        order.push_str(" (prediction: the table does not exist yet)");
    }
    let protocol = if found.is_text { "text" } else { typed };
    PlannedTable { table: name.to_string(), rows: found.rows, bytes: found.bytes, protocol, order }
}
