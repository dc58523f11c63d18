//! What the coordinator knows of the catalog: asked of the server once, and kept until something may have changed it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, MutexGuard};

use hortator_mysql::catalog::{self, Table, TableName};
use hortator_mysql::{Connection, Error, quote_string};

use super::existence::ExistingNames;
use super::new_tables::NewTables;
use super::plain_tables::PlainTables;
use super::row_effects::TriggerFacts;
use crate::apply::CatalogConnection;
use crate::planner::Catalog;

/// Tables remembered; beyond that all are forgotten and asked for again.
const REMEMBERED_LIMIT: usize = 10_000;
/// Names of relations remembered; beyond that all are forgotten and asked for again.
const NAMES_LIMIT: usize = 200_000;
/// Views whose definitions are asked for.
const VIEWS_LIMIT: usize = 1000;

/// What is known.
#[derive(Debug)]
pub(crate) struct CatalogCache<'l> {
    connection: &'l CatalogConnection,
    tables: HashMap<TableName, Option<Arc<Table>>>,
    /// All relations of a schema by name, and whether each is a table.
    relations: HashMap<Vec<u8>, HashMap<Vec<u8>, bool>>,
    /// Tables that this load has created.
    pub(super) new_tables: NewTables,
    /// Those of which enough is known to alter them.
    pub(super) plain_tables: PlainTables,
    /// Tables that the main session has created, and that have no triggers.
    without_triggers: HashSet<TableName>,
    names: usize,
    /// Relations of which it is not certain whether they are there.
    uncertain: HashSet<TableName>,
    /// Whether any table of the dump's cannot roll back.
    has_other_engines: Option<bool>,
    /// What routines and triggers may do.
    routines_may: HashMap<RoutineEffect, bool>,
    /// What fires on tables, by their names.
    pub(super) triggers: HashMap<TableName, TriggerFacts>,
    /// The tables behind views, by the views' names; `None` where they are not all known.
    pub(super) views: HashMap<TableName, Option<Arc<[TableName]>>>,
    /// Tables whose next numbers only the main session knows.
    numbered_in_main: NumberedInMain,
    /// Schemas and accounts.
    pub(super) existing_names: ExistingNames,
}

/// What routines and triggers may do to the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RoutineEffect {
    /// Create a temporary table.
    CreateTemporary,
    /// Set a variable in a way of which the server reports nothing.
    SetUnreported,
    /// Set a variable in any way: where its statement fails, the server reports nothing either.
    Set,
    /// Ask whether a transaction is open, or set what the next one is.
    AskForTransaction,
    /// Run a text, which may be any statement.
    RunText,
    /// Lock the server or tables.
    Lock,
    /// Anything else than to read and write rows.
    ActOnSession,
}

impl RoutineEffect {
    /// Words of which one stands in the body, in upper case.
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::CreateTemporary => &["TEMPORARY", "EXECUTE", "PREPARE"],
            Self::SetUnreported => &["@@", "EXECUTE"],
            Self::Set => &["SET", "EXECUTE"],
            Self::AskForTransaction => &["TRANSACTION", "TX_"],
            Self::RunText => &["EXECUTE", "PREPARE"],
            Self::Lock => &["FLUSH", "BACKUP", "EXECUTE"],
            Self::ActOnSession => &["SET", "@", "TEMPORARY", "EXECUTE", "PREPARE", "TRANSACTION", "TX_"],
        }
    }
}

/// Tables of which MySQL's InnoDB remembers something for the connection that got the last number: of ON DUPLICATE KEY
/// UPDATE, the numbers that were reserved and not used, where the table's counter is already behind them; and the step
/// between two numbers, by which a row with a given number moves the counter.
#[derive(Debug)]
enum NumberedInMain {
    /// These.
    Some(HashSet<TableName>),
    /// More than are remembered: any may be.
    Any,
}

impl<'l> CatalogCache<'l> {
    pub(crate) fn new(connection: &'l CatalogConnection) -> Self {
        Self {
            connection,
            tables: HashMap::new(),
            relations: HashMap::new(),
            new_tables: NewTables::default(),
            plain_tables: PlainTables::default(),
            without_triggers: HashSet::new(),
            names: 0,
            uncertain: HashSet::new(),
            has_other_engines: None,
            routines_may: HashMap::new(),
            triggers: HashMap::new(),
            views: HashMap::new(),
            numbered_in_main: NumberedInMain::Some(HashSet::new()),
            existing_names: ExistingNames::default(),
        }
    }

    /// Takes note of rows that went to a table in the main session, and whose numbers may decide on later ones.
    pub(crate) fn numbered_in_main(&mut self, name: &TableName) {
        if let NumberedInMain::Some(tables) = &mut self.numbered_in_main {
            tables.insert(name.clone());
            if tables.len() > REMEMBERED_LIMIT {
                self.numbered_in_main = NumberedInMain::Any;
            }
        }
    }

    /// Whether a table's rows must go by the main session to get the numbers that the client's would.
    pub(crate) fn is_numbered_in_main(&self, table: &Table) -> bool {
        table.auto_increment().is_some()
            && match &self.numbered_in_main {
                NumberedInMain::Some(tables) => tables.contains(&table.name),
                NumberedInMain::Any => true,
            }
    }

    /// What is known of a table without asking.
    pub(crate) fn remembered(&self, name: &TableName) -> Option<Option<Arc<Table>>> {
        self.tables.get(name).cloned()
    }

    /// Asks the server for a table; `None` when there is no such one.
    pub(crate) fn ask(&mut self, name: &TableName) -> Result<Option<Arc<Table>>, Error> {
        if self.tables.len() >= REMEMBERED_LIMIT {
            self.tables.clear();
        }
        let found = match self.without_triggers.contains(name) {
            true => self.connection.new_table(name),
            false => self.connection.table(name),
        };
        let found = found?.map(Arc::new);
        self.tables.insert(name.clone(), found.clone());
        self.new_tables.described(name);
        self.uncertain.remove(name);
        let is_table = found.as_ref().map(|table| table.kind != catalog::TableKind::Other);
        self.set_relation(name, is_table);
        Ok(found)
    }

    /// Whether the relations of a schema are known.
    pub(crate) fn has_listed(&self, schema: &[u8]) -> bool {
        self.relations.contains_key(schema)
    }

    /// Asks for the relations of a schema; false where they are known already.
    pub(crate) fn list_relations(&mut self, schema: &[u8]) -> Result<bool, Error> {
        if self.relations.contains_key(schema) {
            return Ok(false);
        }
        let names: HashMap<Vec<u8>, bool> = catalog::relations(&mut self.connection(), schema)?
            .into_iter()
            .map(|(name, kind)| (name, kind == catalog::RelationKind::Table))
            .collect();
        self.names += names.len();
        if self.names > NAMES_LIMIT {
            self.relations.clear();
            self.names = names.len();
        }
        self.relations.insert(schema.to_vec(), names);
        Ok(true)
    }

    /// A worker is to create this table. `is_certain`: where that fails, the load ends.
    pub(crate) fn note_created(&mut self, name: &TableName, is_certain: bool) {
        self.has_other_engines = None;
        if is_certain {
            self.set_relation(name, Some(true));
        } else {
            self.note_uncertain(name);
        }
    }

    /// The main session has created this table.
    pub(crate) fn note_created_in_main(&mut self, name: &TableName) {
        self.note_created(name, true);
        if self.without_triggers.len() < REMEMBERED_LIMIT {
            self.without_triggers.insert(name.clone());
        }
    }

    /// A statement may have created or dropped this relation, or changed it.
    pub(crate) fn note_changed(&mut self, name: &TableName) {
        self.without_triggers.remove(name);
        self.has_other_engines = None;
        self.tables.remove(name);
        self.triggers.remove(name);
        self.views.clear();
        self.new_tables.remove(name);
        self.plain_tables.remove(name);
        self.note_uncertain(name);
    }

    /// A relation has been dropped.
    pub(crate) fn note_dropped(&mut self, name: &TableName) {
        self.set_relation(name, None);
    }

    /// A schema is gone, with all that is in it.
    pub(crate) fn forget_schema(&mut self, schema: &[u8]) {
        self.without_triggers.clear();
        self.tables.retain(|name, _| name.schema != schema);
        self.triggers.retain(|name, _| name.schema != schema);
        self.uncertain.retain(|name| name.schema != schema);
        if let Some(names) = self.relations.remove(schema) {
            self.names -= names.len();
        }
        self.new_tables.clear();
        self.plain_tables.clear();
        self.has_other_engines = None;
        self.views.clear();
        self.forget_routines();
    }

    /// A view has been created.
    pub(crate) fn note_view(&mut self, name: &TableName) {
        self.set_relation(name, Some(false));
    }

    fn note_uncertain(&mut self, name: &TableName) {
        if self.uncertain.len() >= NAMES_LIMIT {
            self.relations.clear();
            self.names = 0;
            self.uncertain.clear();
        }
        self.uncertain.insert(name.clone());
    }

    /// Takes note whether a relation is a table; `None` where it is not there.
    fn set_relation(&mut self, name: &TableName, is_table: Option<bool>) {
        let Some(names) = self.relations.get_mut(&name.schema) else { return };
        match is_table {
            Some(is_table) => self.names += usize::from(names.insert(name.table.clone(), is_table).is_none()),
            None => drop(names.remove(&name.table)),
        }
        self.uncertain.remove(name);
    }

    /// A table's definition changes.
    pub(crate) fn forget(&mut self, name: &TableName) {
        self.tables.remove(name);
        self.views.clear();
        self.new_tables.remove(name);
    }

    /// Anything may have changed.
    pub(crate) fn forget_all(&mut self) {
        self.forget_all_but_routines();
        self.forget_routines();
    }

    /// Anything may have changed but what the bodies of routines and triggers hold.
    pub(crate) fn forget_all_but_routines(&mut self) {
        self.tables.clear();
        self.relations.clear();
        self.new_tables.clear();
        self.plain_tables.clear();
        self.without_triggers.clear();
        self.names = 0;
        self.uncertain.clear();
        self.has_other_engines = None;
        self.triggers.clear();
        self.views.clear();
        self.existing_names.forget();
    }

    /// A routine, trigger or event has another body.
    pub(crate) fn forget_routines(&mut self) {
        self.routines_may.clear();
        self.triggers.clear();
    }

    /// Whether any routine or trigger may do this, itself or by a prepared statement.
    pub(crate) fn routines_may(&mut self, effect: RoutineEffect) -> Result<bool, Error> {
        if let Some(known) = self.routines_may.get(&effect) {
            return Ok(*known);
        }
        let found = self.have_bodies_with(effect.words())?;
        self.routines_may.insert(effect, found);
        Ok(found)
    }

    /// Whether it is known that no routine or trigger does anything else than to read and write rows.
    pub(crate) fn has_plain_routines(&self) -> bool {
        self.routines_may.get(&RoutineEffect::ActOnSession) == Some(&false)
    }

    /// Whether the body of any routine or trigger holds one of these words, or is not shown.
    fn have_bodies_with(&mut self, words: &[&str]) -> Result<bool, Error> {
        let has_any = |column: &str| {
            let one = |word: &&str| format!("INSTR(UPPER(CONVERT({column} USING utf8mb4)), '{word}') > 0");
            words.iter().map(one).collect::<Vec<_>>().join(" OR ")
        };
        let query = format!(
            "SELECT 1 FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA NOT IN ('sys', 'mysql') \
             AND (ROUTINE_DEFINITION IS NULL OR {}) UNION ALL SELECT 1 FROM information_schema.TRIGGERS WHERE {} LIMIT 1",
            has_any("ROUTINE_DEFINITION"),
            has_any("ACTION_STATEMENT"),
        );
        Ok(!self.connection().fetch(query.as_bytes())?.is_empty())
    }

    /// Whether any table outside of the server's own schemas cannot roll back, as far as is known. Rows of a view are those
    /// of tables.
    pub(crate) fn has_other_engines(&mut self) -> Result<bool, Error> {
        if let Some(known) = self.has_other_engines {
            return Ok(known);
        }
        let query = b"SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN \
                      ('mysql', 'sys', 'information_schema', 'performance_schema') \
                      AND NOT (TABLE_TYPE = 'VIEW' OR TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') \
                      AND COALESCE(ENGINE, '') IN ('InnoDB', 'ROCKSDB')) LIMIT 1";
        let found = !self.connection().fetch(query)?.is_empty();
        self.has_other_engines = Some(found);
        Ok(found)
    }

    /// Whether a table holds no row that is committed; one that the account may not read counts as one that holds rows.
    pub(crate) fn is_empty(&mut self, name: &TableName) -> Result<bool, Error> {
        catalog::is_empty(&mut self.connection(), name)
    }

    /// The definition of a view; `None` where the server does not show it.
    pub(crate) fn view_definition(&mut self, view: &TableName) -> Result<Option<Vec<u8>>, Error> {
        let query = [
            b"SELECT VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA = ".as_slice(),
            &quote_string(&view.schema),
            b" AND TABLE_NAME = ",
            &quote_string(&view.table),
        ]
        .concat();
        let rows = self.connection().fetch(&query)?;
        let text = rows.into_iter().next().and_then(|row| row.into_iter().next()?);
        Ok(text.filter(|text| !text.is_empty()))
    }

    /// The definitions of all views but the server's own; `None` where the server does not show them all.
    pub(crate) fn view_definitions(&mut self) -> Result<Option<Vec<Vec<u8>>>, Error> {
        let query = format!(
            "SELECT VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA NOT IN \
             ('mysql', 'sys', 'information_schema', 'performance_schema') LIMIT {}",
            VIEWS_LIMIT + 1,
        );
        let rows = self.connection().fetch(query.as_bytes())?;
        let is_all = rows.len() <= VIEWS_LIMIT;
        let shown = rows.into_iter().map(|row| row.into_iter().next()?.filter(|text| !text.is_empty()));
        Ok(if is_all { shown.collect() } else { None })
    }

    /// The collation that a schema's tables get.
    pub(crate) fn default_collation(&mut self, schema: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let query = [
            b"SELECT DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ".as_slice(),
            &quote_string(schema),
        ]
        .concat();
        let rows = self.connection().fetch(&query)?;
        Ok(rows.into_iter().next().and_then(|row| row.into_iter().next()?))
    }

    /// The connection, for questions that leave no trace in the main session.
    pub(crate) fn connection(&self) -> MutexGuard<'l, Connection> {
        self.connection.lock()
    }
}

impl Catalog for CatalogCache<'_> {
    fn known(&self, name: &TableName) -> Option<Option<&Table>> {
        self.tables.get(name).map(Option::as_deref)
    }

    fn exists(&self, name: &TableName) -> Option<bool> {
        if self.uncertain.contains(name) {
            return None;
        }
        if let Some(known) = self.tables.get(name) {
            return Some(known.is_some());
        }
        self.relations.get(&name.schema).map(|names| names.contains_key(&name.table))
    }

    fn is_table(&self, name: &TableName) -> Option<bool> {
        if self.uncertain.contains(name) {
            return None;
        }
        match self.relations.get(&name.schema) {
            Some(names) => Some(names.get(&name.table).copied().unwrap_or(false)),
            None => self
                .tables
                .get(name)
                .map(|known| known.as_ref().is_some_and(|table| table.kind != catalog::TableKind::Other)),
        }
    }

    fn is_plain(&self, name: &TableName) -> bool {
        self.plain_tables.contains(name)
    }

    fn may_replace(&self, name: &TableName) -> bool {
        self.new_tables.may_replace(name)
    }
}
