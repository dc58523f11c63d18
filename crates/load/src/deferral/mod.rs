//! Deferred checks: workers insert rows without checks, and the load validates the constraints after the last row.
//!
//! Only INSERTs of literals that workers send are deferred; these do nothing but add their rows. Statements that act on
//! other rows through a constraint (REPLACE, DELETE, UPDATE, INSERT IGNORE, triggers, DDL) run with the dump's own
//! setting, which is also the value that the dump reads from the variable.

mod affected_tables;
mod report;
mod rescan;
mod row_text;
mod validation;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hortator_mysql::Error;
use hortator_mysql::catalog::TableName;

use crate::checkpoint::Checkpoints;
use crate::load::Options;
use crate::session::SessionState;

use affected_tables::AffectedTables;
pub use report::{CheckReport, ReportedRow, RowsWere, Validation, ValidationOutcome, ViolatedConstraint};
pub(crate) use validation::{Validations, validate};

/// The bits of deferred checks in the checkpoint tables.
const FOREIGN_KEYS: u8 = 1;
const UNIQUE_KEYS: u8 = 2;

/// Most tables remembered as filled; beyond that, the next rows of each table count as its first.
const FILLED_LIMIT: usize = 100_000;

/// When a load checks the constraints of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checks {
    /// Row by row, where the dump's session has the check on. For foreign keys.
    #[default]
    AsWritten,
    /// Row by row, whatever the dump's session says. For unique keys.
    Immediate,
    /// At the end: one query for each constraint, after the last row.
    Deferred,
}

/// The deferred checks of a load, and the tables to validate.
#[derive(Debug)]
pub(crate) struct Deferral {
    foreign_keys: Checks,
    unique_checks: Checks,
    /// Without this, a table may still be empty after its first rows failed.
    stops_at_errors: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The session of the dump, without foreign key checks, and without both checks.
    relaxed: Option<RelaxedSession>,
    /// Tables that received rows of this load and were not emptied since.
    filled: HashSet<TableName>,
    affected_tables: AffectedTables,
}

#[derive(Debug)]
struct RelaxedSession {
    own: Arc<SessionState>,
    keeps_unique_checks: Arc<SessionState>,
    all: Arc<SessionState>,
}

/// How to insert rows.
pub(crate) struct RowPolicy {
    /// The session state.
    pub(crate) session: Arc<SessionState>,
    /// Whether these rows go before all other rows of the table.
    pub(crate) first: bool,
}

impl State {
    /// The session of the dump with checks off.
    fn relaxed(&mut self, own: &Arc<SessionState>, foreign_keys: Checks) -> &RelaxedSession {
        let new = || {
            let foreign_keys = foreign_keys == Checks::Deferred;
            RelaxedSession {
                own: own.clone(),
                keeps_unique_checks: Arc::new(own.with_checks_off(foreign_keys, false)),
                all: Arc::new(own.with_checks_off(foreign_keys, true)),
            }
        };
        match self.relaxed.take() {
            Some(relaxed) if Arc::ptr_eq(&relaxed.own, own) => self.relaxed.insert(relaxed),
            _ => self.relaxed.insert(new()),
        }
    }
}

impl Deferral {
    /// From the options of a load.
    pub(crate) fn new(options: &Options) -> Self {
        let Options { foreign_keys, unique_checks, force, .. } = *options;
        Self { foreign_keys, unique_checks, stops_at_errors: !force, state: Mutex::default() }
    }

    /// The same, with the checks that earlier runs of the load deferred: the load still has to validate them.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub(crate) fn of_load(options: &Options, checkpoints: Option<&Checkpoints>) -> Result<Self, Error> {
        let mut deferral = Self::new(options);
        if let Some(checkpoints) = checkpoints {
            let kinds = [(&mut deferral.foreign_keys, FOREIGN_KEYS), (&mut deferral.unique_checks, UNIQUE_KEYS)];
            let asked = kinds.iter().filter(|(checks, _)| **checks == Checks::Deferred).map(|(_, bit)| bit).sum();
            let recorded = checkpoints.defer(asked)?;
            for (checks, bit) in kinds {
                if recorded & bit != 0 {
                    *checks = Checks::Deferred;
                }
            }
        }
        Ok(deferral)
    }

    pub(crate) fn foreign_keys(&self) -> Checks {
        self.foreign_keys
    }

    pub(crate) fn unique_checks(&self) -> Checks {
        self.unique_checks
    }

    /// How to insert rows into a table: with deferred checks if `only_adds` (the statement does nothing but add its rows),
    /// else with the dump's own session state.
    ///
    /// The first rows of a table keep their unique checks and go alone: if a table is empty and both checks are off, InnoDB
    /// locks it for one connection (bulk insert) and reports duplicates only at commit, without the rows. The same holds
    /// for each partition, so partitioned tables always keep unique checks.
    pub(crate) fn row_policy(
        &self,
        own: &Arc<SessionState>,
        table: &TableName,
        is_partitioned: bool,
        only_adds: bool,
    ) -> RowPolicy {
        let unique = self.unique_checks == Checks::Deferred && self.stops_at_errors && !is_partitioned;
        if !only_adds || (self.foreign_keys != Checks::Deferred && !unique) {
            return RowPolicy { session: own.clone(), first: false };
        }
        let mut state = self.lock();
        let is_first = unique && !state.filled.contains(table);
        let relaxed = state.relaxed(own, self.foreign_keys);
        let session = if is_first || !unique { &relaxed.keeps_unique_checks } else { &relaxed.all };
        RowPolicy { session: session.clone(), first: is_first }
    }

    /// The session for the first rows of a table that may have partitions, for all that is known.
    pub(crate) fn first_rows_session(&self, own: &Arc<SessionState>) -> Arc<SessionState> {
        match self.foreign_keys {
            Checks::Deferred => self.lock().relaxed(own, self.foreign_keys).keeps_unique_checks.clone(),
            Checks::AsWritten | Checks::Immediate => own.clone(),
        }
    }

    /// A table may be empty now; without a name, all tables may.
    pub(crate) fn emptied(&self, table: Option<&TableName>) {
        let filled = &mut self.lock().filled;
        match table {
            Some(table) => drop(filled.remove(table)),
            None => filled.clear(),
        }
    }

    /// A table receives rows. `own` is the dump's session state; `replaces`: the statement may delete other rows.
    pub(crate) fn rows(&self, table: &TableName, own: &SessionState, replaces: bool) {
        let mut state = self.lock();
        state.affected_tables.rows(table, own.checks_foreign_keys(), own.checks_unique_keys(), replaces);
        if self.unique_checks == Checks::Deferred && !state.filled.contains(table) {
            if state.filled.len() >= FILLED_LIMIT {
                state.filled.clear();
            }
            state.filled.insert(table.clone());
        }
    }

    /// DDL changes or drops tables, in a session that checks foreign keys or does not.
    pub(crate) fn defined(&self, tables: &[TableName], checks_foreign_keys: bool) {
        self.lock().affected_tables.defined(tables, checks_foreign_keys);
    }

    /// A statement has run that may have changed any table.
    pub(crate) fn anything(&self, schema: Option<&[u8]>) {
        self.lock().affected_tables.anything(schema);
    }

    /// The report on foreign keys.
    pub(crate) fn report_foreign_keys(&self, validation: Option<Validation>) -> CheckReport {
        CheckReport { mode: self.foreign_keys, dump: self.lock().affected_tables.foreign_keys_were(), validation }
    }

    /// The report on unique keys.
    pub(crate) fn report_unique_checks(&self, validation: Option<Validation>) -> CheckReport {
        CheckReport { mode: self.unique_checks, dump: self.lock().affected_tables.unique_keys_were(), validation }
    }

    /// The tables affected so far.
    fn affected_tables(&self) -> AffectedTables {
        self.lock().affected_tables.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is one insertion, so a panic elsewhere leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
