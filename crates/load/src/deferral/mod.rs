//! Checks that are put off: rows go in unchecked, and what they had to keep is proven when all are in.
//!
//! Only rows that a worker sends are put off, INSERTs of plain values that can do nothing but add their rows. What acts
//! on other rows through a constraint (REPLACE, DELETE, UPDATE, INSERT IGNORE, triggers, definitions) runs with the
//! dump's own setting, which is also what the dump sees when it asks for the variable.

mod affected_tables;
mod report;
mod rescan;
mod row_text;
mod validation;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hortator_mysql::Error;
use hortator_mysql::catalog::{Table, TableName};

use crate::checkpoint::Checkpoints;
use crate::load::Options;
use crate::session::SessionState;

use affected_tables::AffectedTables;
pub use report::{CheckReport, ReportedRow, RowsWere, Validation, ValidationOutcome, ViolatedConstraint};
pub(crate) use validation::{Validations, validate};

/// The bits by which a load's record says what is put off.
const FOREIGN_KEYS: u8 = 1;
const UNIQUE_KEYS: u8 = 2;

/// Tables remembered as filled; beyond that, the next rows of each count as its first again.
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

/// What of a load is put off, and what must be proven for it.
#[derive(Debug)]
pub(crate) struct Deferral {
    foreign_keys: Checks,
    unique_checks: Checks,
    /// Where errors are passed over, a table may still be empty behind its first rows.
    stops_at_errors: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// A session's state as the dump has it, and with checks put off: foreign keys, and then unique keys too.
    relaxed: Option<RelaxedSession>,
    /// Tables that have got rows of this load, and have not been emptied since as far as is known.
    filled: HashSet<TableName>,
    affected_tables: AffectedTables,
}

#[derive(Debug)]
struct RelaxedSession {
    own: Arc<SessionState>,
    keeps_unique_checks: Arc<SessionState>,
    all: Arc<SessionState>,
}

/// How rows are to go in.
pub(crate) struct RowPolicy {
    /// The state of the session.
    pub(crate) session: Arc<SessionState>,
    /// Before anything else goes to the table.
    pub(crate) first: bool,
}

impl Deferral {
    /// What a load's options say.
    pub(crate) fn new(options: &Options) -> Self {
        let Options { foreign_keys, unique_checks, force, .. } = *options;
        Self { foreign_keys, unique_checks, stops_at_errors: !force, state: Mutex::default() }
    }

    /// The same, and what was put off before the load was interrupted: that is still to be proven.
    ///
    /// # Errors
    /// What the server or the connection says of the records.
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

    /// How rows go into a table: with checks put off where `only_adds` (the statement can do nothing but add its rows),
    /// else in the dump's own session.
    ///
    /// The first rows keep their unique checks and go alone: where a table is empty and both checks are off, InnoDB takes
    /// it for one connection alone (bulk mode), and tells duplicates when it commits, where nobody can say which they are.
    /// What holds of an empty table holds of each partition, so the keys of partitioned ones are always checked.
    pub(crate) fn row_policy(&self, own: &Arc<SessionState>, table: &Table, only_adds: bool) -> RowPolicy {
        let unique = self.unique_checks == Checks::Deferred && self.stops_at_errors && !table.partitioned;
        if !only_adds || (self.foreign_keys != Checks::Deferred && !unique) {
            return RowPolicy { session: own.clone(), first: false };
        }
        let mut state = self.lock();
        if state.relaxed.as_ref().is_none_or(|relaxed| !Arc::ptr_eq(&relaxed.own, own)) {
            let foreign_keys = self.foreign_keys == Checks::Deferred;
            state.relaxed = Some(RelaxedSession {
                own: own.clone(),
                keeps_unique_checks: Arc::new(own.with_checks_off(foreign_keys, false)),
                all: Arc::new(own.with_checks_off(foreign_keys, true)),
            });
        }
        let first = unique && !state.filled.contains(&table.name);
        let session = match &state.relaxed {
            Some(relaxed) if first || !unique => relaxed.keeps_unique_checks.clone(),
            Some(relaxed) => relaxed.all.clone(),
            None => own.clone(),
        };
        RowPolicy { session, first }
    }

    /// A table may be empty now; all may, where none is named.
    pub(crate) fn emptied(&self, table: Option<&TableName>) {
        let filled = &mut self.lock().filled;
        match table {
            Some(table) => drop(filled.remove(table)),
            None => filled.clear(),
        }
    }

    /// Rows go to a table. `own` is the dump's session at their place; `replaces`: rows that are there may go for them.
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

    /// Tables' definitions change, or they go, in a session that checks foreign keys or does not.
    pub(crate) fn defined(&self, tables: &[TableName], checks_foreign_keys: bool) {
        self.lock().affected_tables.defined(tables, checks_foreign_keys);
    }

    /// A statement has run of which it is not known what it did to which tables.
    pub(crate) fn anything(&self, schema: Option<&[u8]>) {
        self.lock().affected_tables.anything(schema);
    }

    /// What is told of foreign keys at the end.
    pub(crate) fn report_foreign_keys(&self, validation: Option<Validation>) -> CheckReport {
        CheckReport { mode: self.foreign_keys, dump: self.lock().affected_tables.foreign_keys_were(), validation }
    }

    /// What is told of unique keys at the end.
    pub(crate) fn report_unique_checks(&self, validation: Option<Validation>) -> CheckReport {
        CheckReport { mode: self.unique_checks, dump: self.lock().affected_tables.unique_keys_were(), validation }
    }

    /// What is known of the rows and tables so far.
    fn affected_tables(&self) -> AffectedTables {
        self.lock().affected_tables.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is one insertion, so a panic elsewhere leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
