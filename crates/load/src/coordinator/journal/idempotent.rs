//! Definitions that need no record: doing them again is as good as once.
//!
//! An intent and its end cost two commits, each of which waits for the disk, while `CREATE VIEW` itself waits for none. So
//! these are not recorded:
//!
//! - `DROP … IF EXISTS` of tables, views and routines;
//! - `CREATE OR REPLACE …` and `CREATE … IF NOT EXISTS` of views, routines, triggers and schemas;
//! - `CREATE` of what such a `DROP` has just taken away, while nothing between them is recorded;
//! - `CREATE` of which it can be seen whether it is done (see [`super::compared`]), up to the next definition of the same;
//! - `DROP … IF EXISTS`, `CREATE OR REPLACE …` and `CREATE … IF NOT EXISTS` of accounts and roles, and `DROP DATABASE IF EXISTS`;
//! - what is no definition, and does the same again: `TRUNCATE`, `GRANT`, `ANALYZE TABLE`, `SETVAL` of a sequence;
//! - `CREATE` and `DROP` of temporary tables, which go with their session. They are recorded once they are done: a load
//!   cannot go on behind them in another session.
//!
//! The main session runs them one after the other, before anything behind them gets its place. So a load that resumes
//! passes them over where there is a record behind them, and else runs them again, in their order. A view or a trigger can
//! only be made again while what it reads is there: so it is recorded, with one commit, before the next definition that
//! may take away something that it reads. mariadb-dump makes each view twice, so that there is such a definition before each
//! of them: what the load itself has made, and none of its views and triggers names, is nothing that one reads.

use std::collections::HashSet;

use hortator_mysql::catalog::TableName;

use crate::analysis::{
    DdlTarget, JournalMode, NamedTable, Postcondition, StatementInfo, StatementKind, Trait, identifiers,
};
use crate::apply::Stopped;
use crate::checkpoint::{Checkpoint, RecoveryHint, State};
use crate::coordinator::analyzed_statement::AnalyzedStatement;
use crate::coordinator::main_session::MainSession;
use crate::lexer::{Dialect, Location};

use super::{RowEffects, applied_or_bound, checkpoint_of, is_compared};

/// Names that are remembered; beyond that all are forgotten, and the next definitions are recorded.
const DROPPED_LIMIT: usize = 1000;

/// Names of views and triggers that are remembered; beyond that, any definition may take away what one reads.
const READ_LIMIT: usize = 50_000;

/// What can be shown of definitions that are not recorded; sequences have a state.
const KINDS: [&str; 9] =
    ["TABLE ", "VIEW ", "TRIGGER ", "PROCEDURE ", "FUNCTION ", "PACKAGE ", "EVENT ", "DATABASE ", "SCHEMA "];
/// Those that need nothing else when they are made.
const INDEPENDENT: [&str; 7] = ["PROCEDURE ", "FUNCTION ", "PACKAGE ", "EVENT ", "DATABASE ", "SCHEMA ", "USER "];
/// Those of which some run while nothing else does.
const EXCLUSIVE: [&str; 3] = ["DATABASE ", "SCHEMA ", "USER "];
const SHOW_CREATE: &[u8] = b"SHOW CREATE ";
const SHOW_GRANTS: &[u8] = b"SHOW GRANTS FOR ";

/// What definitions without a record have done since the last record.
#[derive(Debug, Default)]
pub(in crate::coordinator) struct Unrecorded {
    /// What `DROP … IF EXISTS` has taken away, as statements that would show it.
    dropped: HashSet<Vec<u8>>,
    /// Names, in lower case, of what a load that resumes compares with what is there.
    compared: HashSet<Vec<u8>>,
    /// One of them needs others.
    has_dependent: bool,
    /// The last of them, and where it stands.
    last: Option<(Checkpoint, Location)>,
    names: Names,
}

/// Names that tell what a definition can take away from others.
#[derive(Debug, Default)]
struct Names {
    /// What was not there when the load dropped it.
    absent: HashSet<TableName>,
    /// All names in the definitions of views that were there before the load, in the load's views, triggers, routines and
    /// events, but the views' own, and in its GRANTs, in lower case.
    read: HashSet<Vec<u8>>,
    /// The views that were there before are among them.
    knows_existing: bool,
    /// Not all of those are known.
    is_incomplete: bool,
}

impl Names {
    /// Takes note of the names in a definition, but its own.
    fn reads(&mut self, statement: &AnalyzedStatement, dialect: &Dialect) {
        let info = &statement.info;
        let mut names = identifiers(&statement.text, dialect);
        let is_own = |name: &Vec<u8>| info.tables.iter().any(|own| own.table == *name);
        if info.is(Trait::CreatesView) && names.iter().filter(|name| is_own(name)).count() == 1 {
            names.retain(|name| !is_own(name));
        }
        self.add(names);
    }

    fn add(&mut self, names: Vec<Vec<u8>>) {
        if self.is_incomplete {
            return;
        }
        // What other bytes are depends on the character set, and how the server folds them on the server.
        self.is_incomplete = names.iter().any(|name| !name.is_ascii()) || self.read.len() > READ_LIMIT;
        self.read.extend(names.into_iter().map(|name| name.to_ascii_lowercase()));
    }

    /// Whether a definition takes nothing away that one of these may read.
    fn spares(&self, info: &StatementInfo, database: Option<&[u8]>) -> bool {
        let is_spared = |named: &NamedTable| {
            let Some(schema) = named.schema.as_deref().or(database) else { return false };
            let name = TableName { schema: schema.to_vec(), table: named.table.clone() };
            self.absent.contains(&name) && !self.read.contains(&named.table.to_ascii_lowercase())
        };
        !self.is_incomplete && self.knows_existing && !info.tables.is_empty() && info.tables.iter().all(is_spared)
    }
}

impl Unrecorded {
    /// For a load that resumes (`is_resumed`), or one from the beginning.
    pub(in crate::coordinator) fn new(is_resumed: bool) -> Self {
        Self { names: Names { is_incomplete: is_resumed, ..Names::default() }, ..Self::default() }
    }

    /// Takes note of a definition, recorded or not.
    pub(in crate::coordinator) fn note_names(&mut self, statement: &AnalyzedStatement, dialect: &Dialect) {
        if !statement.info.ddl_target.as_ref().is_some_and(DdlTarget::drops) {
            self.names.reads(statement, dialect);
        }
    }

    /// Whether the views that were there before the load are yet to be asked for.
    pub(in crate::coordinator) fn lacks_existing(&self) -> bool {
        !self.names.knows_existing && !self.names.is_incomplete
    }

    /// Takes note of the views that were there before the load; `None` where the server does not show them all.
    pub(in crate::coordinator) fn note_existing(&mut self, definitions: Option<&[Vec<u8>]>) {
        self.names.knows_existing = true;
        // As the server prints them.
        let dialect = Dialect::mariadb(u32::MAX);
        match definitions {
            Some(definitions) => definitions.iter().for_each(|text| self.names.add(identifiers(text, &dialect))),
            None => self.names.is_incomplete = true,
        }
    }

    /// A statement may have defined anything.
    pub(in crate::coordinator) fn names_are_incomplete(&mut self) {
        self.names.is_incomplete = true;
    }

    /// A statement drops these, which are not there.
    pub(in crate::coordinator) fn note_absent(&mut self, tables: &[TableName]) {
        if self.names.absent.len() < READ_LIMIT {
            self.names.absent.extend(tables.iter().cloned());
        }
    }

    /// Something may be recorded: a load that resumes does not repeat what stands before it.
    pub(in crate::coordinator) fn forget_dropped(&mut self) {
        self.dropped.clear();
    }
}

impl MainSession<'_> {
    /// Whether a definition needs no record.
    pub(in crate::coordinator) fn is_idempotent(&self, statement: &AnalyzedStatement) -> bool {
        let info = &statement.info;
        if self.is_in_dumps_transaction() {
            return false;
        }
        if is_repeated(info) || is_of_session(info) {
            return true;
        }
        let is_other_ddl = matches!(info.kind, StatementKind::OtherDdl) && is_of(info, &KINDS);
        if !is_other_ddl && !is_exclusive_definition(info) {
            return false;
        }
        if creates(info) && is_of(info, &["EVENT "]) && !info.is(Trait::Recurs) {
            // It may have run and be gone by now.
            return false;
        }
        let is_replaced = || match &info.ddl_target {
            Some(target) if target.postcondition == Postcondition::Changed => {
                target.questions.iter().all(|question| self.unrecorded.dropped.contains(question))
            }
            _ => false,
        };
        info.is(Trait::Idempotent) || is_replaced() || is_compared(statement)
    }

    /// Runs a definition that needs no record, behind SETs.
    pub(in crate::coordinator) fn define_behind_sets(
        &mut self,
        sets: &[AnalyzedStatement],
        statement: &AnalyzedStatement,
    ) -> Result<u64, Stopped> {
        match self.checkpoints {
            Some(_) => self.run_idempotent(sets, statement),
            None => self.run_behind_sets(sets, statement),
        }
    }

    /// Runs a definition that needs no record, behind SETs if there are any. One that fails in a forced load is recorded,
    /// so that the failure is not forgotten.
    pub(super) fn run_idempotent(
        &mut self,
        sets: &[AnalyzedStatement],
        statement: &AnalyzedStatement,
    ) -> Result<u64, Stopped> {
        let info = &statement.info;
        let creates = creates(info);
        let is_repeated = is_repeated(info);
        let needs_others = is_repeated || (creates && !is_of(info, &INDEPENDENT));
        let replaces = info.is(Trait::Destroys) || info.is(Trait::Idempotent);
        let takes_away = info.ddl_target.is_some()
            && (!creates || (needs_others && replaces))
            && self.unrecorded.has_dependent
            && !self.unrecorded.names.spares(info, self.state().database.as_deref());
        let is_again = || names(info).any(|name| self.unrecorded.compared.contains(&name));
        if (takes_away || is_again())
            && let Some((checkpoint, location)) = self.unrecorded.last.take()
        {
            self.write_unrecorded(&checkpoint, &location)?;
        }
        let failures = self.failures();
        let result = self.run_behind_sets(sets, statement);
        if result.is_err() && is_compared(statement) {
            self.note_refused(statement)?;
        }
        if let Some(checkpoints) = self.checkpoints.filter(|_| info.is(Trait::SetsSequence)) {
            // The server has not brought it to the disk: the next commit does.
            checkpoints.expire_local_journal();
        }
        let rows = result?;
        if self.failures() > failures {
            if !self.is_gone() {
                let checkpoint = checkpoint_of(statement, State::Applied, "", RecoveryHint::Failed(1));
                self.write_unrecorded(&checkpoint, &statement.location)?;
            }
            return Ok(rows);
        }
        if let Some(target) = info.ddl_target.as_ref().filter(|_| info.is(Trait::IfExists)) {
            if self.unrecorded.dropped.len() + target.questions.len() > DROPPED_LIMIT {
                self.unrecorded.dropped.clear();
            }
            self.unrecorded.dropped.extend(target.questions.iter().cloned());
        }
        let state = applied_or_bound(self.has_bound_session(statement, &RowEffects::default()));
        let checkpoint = checkpoint_of(statement, state, "", RecoveryHint::None);
        if state == State::SessionBound {
            self.write_unrecorded(&checkpoint, &statement.location)?;
            return Ok(rows);
        }
        self.unrecorded.has_dependent |= needs_others;
        if is_repeated {
            let dialect = self.dialect();
            self.unrecorded.note_names(statement, &dialect);
        }
        if is_compared(statement) {
            self.unrecorded.compared.extend(names(info));
        }
        if self.unrecorded.compared.len() > DROPPED_LIMIT {
            return self.write_unrecorded(&checkpoint, &statement.location).map(|()| rows);
        }
        self.unrecorded.last = Some((checkpoint, statement.location.clone()));
        Ok(rows)
    }

    /// Records a definition that the server has refused as one that is to be run again: a load that resumes must not take
    /// what was there before for what it has made.
    fn note_refused(&mut self, statement: &AnalyzedStatement) -> Result<(), Stopped> {
        if self.is_gone() || self.is_interrupted() {
            return Ok(());
        }
        self.record_last()?;
        self.write_unrecorded(
            &checkpoint_of(statement, State::Intent, "", RecoveryHint::refused()),
            &statement.location,
        )
    }

    /// Records, as the last thing of a load that ended early, what is not recorded. Where that fails, a load that resumes
    /// compares it with what is there.
    pub(in crate::coordinator) fn record_at_end(&mut self) {
        // Under the dump's own locks, the write would wait for them.
        let last = self.unrecorded.last.take().filter(|_| !self.is_gone() && !self.is_closed_to_others());
        if let (Some((checkpoint, _)), Some(checkpoints)) = (last, self.checkpoints) {
            let _ = checkpoints.record_apart(&checkpoint);
        }
    }

    /// Records the last of what is not recorded, and with it what stands before.
    fn record_last(&mut self) -> Result<(), Stopped> {
        match self.unrecorded.last.take().filter(|_| !self.is_gone()) {
            Some((checkpoint, location)) => self.write_unrecorded(&checkpoint, &location),
            None => Ok(()),
        }
    }

    /// Records a definition after all.
    fn write_unrecorded(&mut self, checkpoint: &Checkpoint, location: &Location) -> Result<(), Stopped> {
        self.unrecorded.forget_dropped();
        self.unrecorded.compared.clear();
        (self.unrecorded.has_dependent, self.unrecorded.last) = (false, None);
        if self.is_bound {
            return Ok(());
        }
        self.apart(location, b"", |checkpoints| checkpoints.record_apart(checkpoint))?;
        self.is_bound = checkpoint.state == State::SessionBound;
        Ok(())
    }
}

/// Whether a statement is no definition, and does the same when it is done again.
fn is_repeated(info: &StatementInfo) -> bool {
    info.journal == JournalMode::Repeated || info.is(Trait::SetsSequence)
}

/// Whether a statement defines or drops a schema, an account or a role while nothing else runs.
fn is_exclusive_definition(info: &StatementInfo) -> bool {
    let is_role = |question: &Vec<u8>| question.starts_with(SHOW_GRANTS);
    matches!(info.kind, StatementKind::Exclusive { .. })
        && !info.is(Trait::SeveralStatements)
        && (is_of(info, &EXCLUSIVE)
            || info.ddl_target.as_ref().is_some_and(|target| target.questions.iter().all(is_role)))
}

/// Whether a statement without a record ran before anything behind it got its place, if anything behind it is on record.
pub(in crate::coordinator) fn is_passed_in_order(info: &StatementInfo) -> bool {
    matches!(info.kind, StatementKind::OtherDdl) || is_repeated(info) || is_exclusive_definition(info)
}

/// Whether a statement concerns temporary tables and nothing else.
fn is_of_session(info: &StatementInfo) -> bool {
    (info.is(Trait::CreatesTemporary) || info.is(Trait::DropsTemporary))
        && ![Trait::BringsRows, Trait::MayCallFunction, Trait::MayDoAnything, Trait::SeveralStatements]
            .iter()
            .any(|found| info.is(*found))
}

/// The names of what a statement defines or drops, without their schemas, in lower case.
fn names(info: &StatementInfo) -> impl Iterator<Item = Vec<u8>> {
    let questions = info.ddl_target.as_ref().map(|target| &target.questions[..]).unwrap_or_default();
    questions.iter().map(|question| {
        let name = question.strip_suffix(b"`").unwrap_or(question);
        let start = memchr::memrchr(b'`', name).map_or(0, |quote| quote + 1);
        name[start..].to_ascii_lowercase()
    })
}

/// Whether a statement creates or changes what it names.
fn creates(info: &StatementInfo) -> bool {
    info.ddl_target.as_ref().is_some_and(|target| target.postcondition == Postcondition::Changed)
}

/// Whether all that a statement defines or drops is of these kinds.
fn is_of(info: &StatementInfo, kinds: &[&str]) -> bool {
    let is_one = |question: &Vec<u8>| {
        let shown = question.strip_prefix(SHOW_CREATE).unwrap_or_default();
        kinds.iter().any(|kind| shown.starts_with(kind.as_bytes()))
    };
    info.ddl_target.as_ref().is_some_and(|target| target.questions.iter().all(is_one))
}
