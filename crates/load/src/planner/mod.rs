//! What is to be done with a statement: [`plan`] is a pure function of its [`StatementInfo`] and of what is known of the
//! session and the catalog at its place. The coordinator carries the [`Step`] out; `--plan` prints it.

pub(crate) mod first_rows;
pub(crate) mod insert_form;
pub(crate) mod write_sets;

use std::sync::Arc;

use hortator_mysql::catalog::{Table, TableKind, TableName};

use crate::analysis::{NamedTable, RowsStatement, StatementInfo, StatementKind, Trait};
use crate::session::SessionState;
use first_rows::FirstRows;
use insert_form::{InsertForm, Placement};

/// Why a statement runs in the main session, in words for a user.
pub(crate) type Reason = &'static str;

/// Why rows of such a table need the main session.
pub(crate) const NUMBERED_IN_MAIN: Reason = "MySQL generates AUTO_INCREMENT values from the state of the session";

/// The server reads and writes its tables when it pleases: statistics, time zones, routines.
const SYSTEM_SCHEMA: &[u8] = b"mysql";

const NAME_NOT_CERTAIN: Reason = "the table name cannot be resolved";

/// What is to be done with a statement.
#[derive(Debug)]
pub(crate) enum Step {
    /// The catalog must be asked for this table first; then plan again.
    LookUp(TableName),
    /// The catalog must be asked whether this relation is there; then plan again.
    ListRelations(TableName),
    /// It is not sent.
    Skip,
    /// It is not sent; the dump's transaction ends, as it would have done.
    CommitInstead,
    /// Its rows go to the workers.
    Rows(PlacedRows),
    /// A worker runs it.
    TableDdl {
        /// The tables that it defines.
        tables: Vec<TableName>,
        /// The tables that it refers to.
        references: Vec<TableName>,
        /// It may take away what is there: what stands before it must be done.
        drains: bool,
    },
    /// The main session runs it when the definitions under way and all work on these tables are done.
    OtherDdl {
        /// The tables that it concerns.
        tables: Vec<TableName>,
        /// What it does.
        effect: DdlEffect,
    },
    /// The main session runs it at once.
    Set,
    /// The main session selects a schema.
    Use,
    /// The main session runs it at once; it changes nothing.
    Constant,
    /// The main session runs it, after all before it and before all behind it.
    Main {
        /// Why.
        reason: Reason,
    },
}

/// What a definition of the main session does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DdlEffect {
    /// It drops the tables that it names, and none is there.
    None,
    /// It creates this schema.
    CreatesSchema(Vec<u8>),
    /// It defines something that others may depend on.
    Defines,
    /// It takes away what is there: what stands before it must be done.
    Drops,
}

/// A form of INSERT.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// Into a table that the server has described.
    Known(Arc<InsertForm>),
    /// Into a table whose definition is under way.
    First(Arc<FirstRows>),
}

/// Rows with their place among others.
#[derive(Clone, Debug)]
pub(crate) enum PlacedRows {
    /// Of a table that the server has described.
    Known(Arc<InsertForm>, Placement),
    /// Of a table that workers look at when it is there: in order.
    First(Arc<FirstRows>),
}

impl PlacedRows {
    /// The table.
    pub(crate) fn table(&self) -> &TableName {
        match self {
            Self::Known(form, _) => &form.name,
            Self::First(form) => &form.name,
        }
    }

    /// The tables that its foreign keys point to.
    pub(crate) fn parents(&self) -> &[TableName] {
        match self {
            Self::Known(form, _) => &form.table.parents,
            Self::First(form) => &form.parents,
        }
    }

    /// Whether they go after all before them on their table, and before all behind them.
    pub(crate) fn are_in_order(&self) -> bool {
        matches!(self, Self::First(_) | Self::Known(_, Placement { in_order: true, .. }))
    }

    /// Whether their statements may take other rows away.
    pub(crate) fn replaces(&self) -> bool {
        matches!(self, Self::Known(form, _) if form.replaces())
    }

    /// The place of these together with others, where they can go together at all.
    pub(crate) fn with(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Known(form, one), Self::Known(of, two)) if Arc::ptr_eq(form, of) => {
                Some(Self::Known(form.clone(), one.with(two)))
            }
            (Self::First(form), Self::First(of)) if form.name == of.name && form.head == of.head => Some(self.clone()),
            _ => None,
        }
    }

    /// Whether these may go together with others before them, and each of them keeps its place.
    pub(crate) fn joins(&self, before: &Self) -> bool {
        match (self, before) {
            (Self::Known(form, placement), Self::Known(of, placed)) => Arc::ptr_eq(form, of) && placement == placed,
            (Self::First(_), Self::First(_)) => self.with(before).is_some(),
            _ => false,
        }
    }
}

/// How names are to be understood at a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'f> {
    /// The default schema.
    pub(crate) database: Option<&'f [u8]>,
    /// Table names are the same in any case.
    pub(crate) folds_case: bool,
    /// Names are bytes of UTF-8, beyond ASCII too.
    pub(crate) are_utf8: bool,
}

impl Names<'_> {
    /// The full name of a table; `None` where there is no default schema, or where its bytes do not tell what the server
    /// reads: those that are not UTF-8's, and those beyond ASCII where the server folds case by its own tables.
    pub(crate) fn resolve(&self, named: &NamedTable) -> Option<TableName> {
        let schema = named.schema.as_deref().or(self.database)?;
        Some(TableName { schema: self.resolve_schema(schema)?, table: self.resolve_schema(&named.table)? })
    }

    /// The same of a schema, or of any name that the server folds as it folds those of schemas.
    pub(crate) fn resolve_schema(&self, name: &[u8]) -> Option<Vec<u8>> {
        let is_readable = name.is_ascii() || (self.are_utf8 && !self.folds_case);
        is_readable.then(|| if self.folds_case { name.to_ascii_lowercase() } else { name.to_vec() })
    }

    /// The tables that a definition names, and those that its foreign keys point to: these are in the schema of their
    /// table where they name none.
    fn resolve_with_references(&self, info: &StatementInfo) -> Option<(Vec<TableName>, Vec<TableName>)> {
        let tables = self.resolve_all(&info.tables)?;
        let schema = tables.first().map(|table| table.schema.as_slice());
        let references = Names { database: schema.or(self.database), ..*self }.resolve_all(&info.references)?;
        Some((tables, references))
    }

    pub(crate) fn resolve_all(&self, named: &[NamedTable]) -> Option<Vec<TableName>> {
        named.iter().map(|named| self.resolve(named)).collect()
    }
}

/// What the catalog holds, as far as it has been asked.
pub(crate) trait Catalog {
    /// A table: `None` where it has not been asked for, `Some(None)` where it is not there.
    fn known(&self, name: &TableName) -> Option<Option<&Table>>;
    /// Whether a relation of this name may be there; `None` where that has not been asked.
    fn exists(&self, name: &TableName) -> Option<bool>;
    /// Whether it is there and a table; `None` where that has not been asked.
    fn is_table(&self, name: &TableName) -> Option<bool>;
    /// Whether it is known, without a question, to have rows of its own, and no variable in a default or computed value.
    fn is_plain(&self, name: &TableName) -> bool;
    /// Whether REPLACE takes nothing away from it that the client would leave if the load fails before.
    fn may_replace(&self, name: &TableName) -> bool;
}

/// What is known at a statement's place.
pub(crate) struct PlanFacts<'f> {
    /// Why every statement must stay in the main session for now.
    pub(crate) serial: Option<Reason>,
    /// Within a transaction of the dump that the main session runs.
    pub(crate) in_transaction: bool,
    /// The dump has locked tables, by a statement that was left out.
    pub(crate) has_left_out_locks: bool,
    /// Tables are locked by the dump, or an XA transaction is under way.
    pub(crate) is_closed: bool,
    /// The session's state.
    pub(crate) session: &'f SessionState,
    /// How names are understood.
    pub(crate) names: Names<'f>,
    /// The catalog.
    pub(crate) catalog: &'f dyn Catalog,
    /// The form of the INSERT at hand, or why its rows need the main session; `None` for any other statement.
    pub(crate) form: Option<Result<&'f Form, Reason>>,
    /// The table of the definitions that are gathered, which is known to have rows of its own.
    pub(crate) gathered: Option<&'f TableName>,
    /// Failed statements stop nothing.
    pub(crate) is_forced: bool,
    /// Rows of the form's table are numbered by what the main session did before.
    pub(crate) is_numbered_in_main: bool,
    /// The session that numbers rows decides on the numbers of later ones.
    pub(crate) numbers_by_session: bool,
}

/// What is to be done with a statement.
pub(crate) fn plan(info: &StatementInfo, facts: &PlanFacts<'_>) -> Step {
    if let Some(reason) = facts.serial {
        return match info.kind {
            StatementKind::Skip => plan_skip_in_serial(info, facts, reason),
            _ => Step::Main { reason },
        };
    }
    match &info.kind {
        StatementKind::Rows(rows) => plan_rows(rows, facts),
        StatementKind::Write { reason } | StatementKind::Exclusive { reason } => Step::Main { reason },
        StatementKind::TableDdl => plan_table_ddl(info, facts),
        StatementKind::OtherDdl => plan_other_ddl(info, facts),
        StatementKind::Set if info.assignments.beyond_session || info.assignments.reads_beyond_session => {
            Step::Main { reason: "SET changes or reads more than the session" }
        }
        StatementKind::Set => Step::Set,
        StatementKind::Use(_) => Step::Use,
        StatementKind::Constant | StatementKind::Empty => Step::Constant,
        StatementKind::Skip => plan_skip(info, facts),
    }
}

fn plan_rows(rows: &RowsStatement, facts: &PlanFacts<'_>) -> Step {
    let form = match facts.form {
        Some(Ok(Form::First(first))) if first.takes(&rows.values) && !facts.numbers_by_session => {
            return Step::Rows(PlacedRows::First(first.clone()));
        }
        Some(Ok(Form::First(first))) => return Step::LookUp(first.name.clone()),
        Some(Ok(Form::Known(form))) => form,
        Some(Err(reason)) => return Step::Main { reason },
        None => return Step::Main { reason: NAME_NOT_CERTAIN },
    };
    if form.replaces() && !facts.is_forced && !facts.catalog.may_replace(&form.name) {
        // They must not go if the load fails before this place.
        return Step::Main { reason: "it may replace rows that were there before" };
    }
    if facts.is_numbered_in_main {
        return Step::Main { reason: NUMBERED_IN_MAIN };
    }
    match form.place(&rows.values, facts.session, facts.is_forced) {
        Ok(placement) if placement.implicit_id && facts.numbers_by_session => Step::Main { reason: NUMBERED_IN_MAIN },
        Ok(placement) => Step::Rows(PlacedRows::Known(form.clone(), placement)),
        Err(reason) => Step::Main { reason },
    }
}

fn plan_table_ddl(info: &StatementInfo, facts: &PlanFacts<'_>) -> Step {
    let Some((tables, references)) = facts.names.resolve_with_references(info) else {
        return Step::Main { reason: NAME_NOT_CERTAIN };
    };
    if tables.iter().any(|name| name.schema.eq_ignore_ascii_case(SYSTEM_SCHEMA)) {
        return Step::Main { reason: "it changes a table of the server itself" };
    }
    if !info.is(Trait::CreatesTable) {
        for name in tables.iter().filter(|name| facts.gathered != Some(*name) && !facts.catalog.is_plain(name)) {
            match facts.catalog.known(name) {
                None => return Step::LookUp(name.clone()),
                // The rows of a MERGE table, for one, are its children's.
                Some(Some(table)) if table.kind == TableKind::Other => {
                    return Step::Main { reason: "its table has no rows of its own" };
                }
                // The server evaluates them when it opens the table.
                Some(Some(table)) if table.columns.iter().any(|column| column.names_variable) => {
                    return Step::Main { reason: "a default or computed value has a variable" };
                }
                Some(_) => {}
            }
        }
    }
    if let [table] = &tables[..]
        && info.is(Trait::PlainDefinition)
        && !facts.is_forced
        && facts.catalog.exists(table).is_none()
    {
        // Rows can go behind a new table before the server has described it.
        return Step::ListRelations(table.clone());
    }
    let drains = match drops_existing(info, &tables, facts) {
        Ok(drains) => drains,
        Err(unknown) => return Step::ListRelations(unknown),
    };
    Step::TableDdl { tables, references, drains }
}

fn plan_other_ddl(info: &StatementInfo, facts: &PlanFacts<'_>) -> Step {
    let Some(tables) = facts.names.resolve_all(&info.tables) else {
        return Step::Main { reason: NAME_NOT_CERTAIN };
    };
    let schema = info.schema.as_deref().map(|schema| facts.names.resolve_schema(schema));
    let effect = match drops_existing(info, &tables, facts) {
        Ok(false) if matches!(schema, Some(None)) => return Step::Main { reason: NAME_NOT_CERTAIN },
        Ok(false) if let Some(Some(schema)) = schema => DdlEffect::CreatesSchema(schema),
        Ok(true) => DdlEffect::Drops,
        // A forced load does not ask what is there.
        Ok(false) if info.is(Trait::IfExists) && !tables.is_empty() && !facts.is_forced => DdlEffect::None,
        Ok(false) => DdlEffect::Defines,
        Err(unknown) => return Step::ListRelations(unknown),
    };
    Step::OtherDdl { tables, effect }
}

/// Whether a statement takes away something that is there, which must not happen if the load fails before this place. An
/// error is a table that must be looked up to know that.
fn drops_existing(info: &StatementInfo, tables: &[TableName], facts: &PlanFacts<'_>) -> Result<bool, TableName> {
    if !info.is(Trait::Destroys) || facts.is_forced {
        return Ok(false);
    }
    if tables.is_empty() {
        return Ok(true);
    }
    for name in tables {
        match facts.catalog.exists(name) {
            Some(true) => return Ok(true),
            Some(false) => {}
            None => return Err(name.clone()),
        }
    }
    Ok(false)
}

/// A statement that is left out, unless the statement names a table that does not exist: then it is sent, for the server's error.
fn plan_skip(info: &StatementInfo, facts: &PlanFacts<'_>) -> Step {
    for named in &info.tables {
        let Some(name) = facts.names.resolve(named) else { return Step::Main { reason: NAME_NOT_CERTAIN } };
        // Keys of a view cannot be switched; a view can be locked.
        let is_right = match info.is(Trait::SwitchesKeys) {
            true => facts.catalog.is_table(&name),
            false => facts.catalog.exists(&name),
        };
        match is_right {
            Some(true) => {}
            Some(false) => return Step::Main { reason: "the statement names a table that does not exist" },
            None => return Step::ListRelations(name),
        }
    }
    Step::Skip
}

/// Whether a statement that is left out would commit the transaction: UNLOCK TABLES does where tables are locked.
fn commits(info: &StatementInfo, facts: &PlanFacts<'_>) -> bool {
    !info.is(Trait::Unlocks) || facts.has_left_out_locks
}

/// Within the dump's transaction a statement that is left out elsewhere is only one more way to end it.
fn plan_skip_in_serial(info: &StatementInfo, facts: &PlanFacts<'_>, reason: Reason) -> Step {
    if !facts.in_transaction || facts.is_closed {
        return Step::Main { reason };
    }
    match plan_skip(info, facts) {
        Step::Skip if commits(info, facts) => Step::CommitInstead,
        Step::Skip => Step::Skip,
        step @ (Step::LookUp(_) | Step::ListRelations(_)) => step,
        _ => Step::Main { reason },
    }
}

#[cfg(test)]
mod tests;
