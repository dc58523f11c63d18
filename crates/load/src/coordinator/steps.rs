//! What is to be done with a statement: the planner is given what is known, until it needs to know nothing more.

use std::sync::Arc;

use hortator_mysql::catalog::{Table, TableName};

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use super::chunk_builder::OpenChunk;
use super::main_session::IN_TRANSACTION;
use crate::analysis::{StatementInfo, StatementKind, Trait};
use crate::apply::Stopped;
use crate::lexer::Location;
use crate::planner::{Form, Names, PlanFacts, Reason, Step, plan, write_sets};

/// Why a statement that any connection could run goes with those before it.
const FOLLOWS_CHANGES: Reason = "the statement follows changes of rows";

impl Coordinator<'_> {
    /// What is to be done with a statement, after all that must be known or run before it.
    pub(super) fn next_step(&mut self, statement: &mut AnalyzedStatement) -> Result<Step, Stopped> {
        let mut form = self.form(statement)?;
        loop {
            match self.plan(&statement.info, form.as_ref()) {
                Step::LookUp(name) => {
                    self.table(&name, &statement.location)?;
                    form = self.form(statement)?;
                }
                Step::ListRelations(name) => self.list_relations(&name, &statement.location)?,
                Step::Main { reason } => return Ok(Step::Main { reason }),
                Step::Rows(_) if self.joins_batch(statement) => return Ok(Step::Main { reason: FOLLOWS_CHANGES }),
                Step::Set if self.can_batch(statement) => return Ok(Step::Main { reason: FOLLOWS_CHANGES }),
                // What is gathered for the main session may change what is to be done.
                _ if self.has_batch() => {
                    self.run_batch()?;
                    form = self.form(statement)?;
                }
                step => return Ok(step),
            }
        }
    }

    fn plan(&self, info: &StatementInfo, form: Option<&Result<Form, Reason>>) -> Step {
        let status = self.main.status();
        let form = form.map(|form| form.as_ref().map_err(|reason| *reason));
        plan(
            info,
            &PlanFacts {
                serial: self.serial(info).or(self.batch.has_open_block().then_some(IN_TRANSACTION)),
                in_transaction: status.in_transaction() || !status.autocommit() || self.batch.has_open_block(),
                has_left_out_locks: self.has_left_out_locks(),
                is_closed: self.main.is_closed_to_others(),
                session: self.main.state(),
                names: self.names(),
                catalog: &self.catalog,
                is_numbered_in_main: matches!(&form, Some(Ok(Form::Known(form))) if self.catalog.is_numbered_in_main(&form.table)),
                numbers_by_session: self.numbers_by_session(),
                form,
                gathered: self.open.as_ref().and_then(OpenChunk::keys_of),
                is_forced: self.pool.is_forced(),
            },
        )
    }

    /// Why a statement must stay in the main session, as far as that is known of its place.
    pub(super) fn serial(&self, info: &StatementInfo) -> Option<Reason> {
        let begins_transaction = !self.main.status().autocommit()
            && matches!(info.kind, StatementKind::Rows(_))
            && self.transaction.is_none()
            && !self.large.is_open();
        self.main.must_be_serial().or(begins_transaction.then_some(IN_TRANSACTION))
    }

    /// Whether a number that the server generates now decides on later ones: MySQL's InnoDB remembers the step between two
    /// numbers with the table that the connection has open, and moves the counter by it for given numbers (seen with 9.7).
    fn numbers_by_session(&self) -> bool {
        !self.main.dialect().mariadb && !matches!(self.main.state().value("auto_increment_increment"), b"" | b"1")
    }

    /// Takes note of rows that went to a table in the main session: of those that may decide on numbers of later rows.
    pub(super) fn note_numbers(&mut self, name: &TableName, info: &StatementInfo) {
        let updates = !self.main.dialect().mariadb && info.is(Trait::UpdatesDuplicates);
        if updates || (info.is(Trait::NumbersRows) && self.numbers_by_session()) {
            self.catalog.numbered_in_main(name);
        }
    }

    /// How names are understood at this place.
    pub(super) fn names(&self) -> Names<'_> {
        let state = self.main.state();
        Names { database: state.database.as_deref(), folds_case: self.folds_case, are_utf8: state.names_are_utf8() }
    }

    /// What the server says of a table, after all definitions before this place.
    pub(super) fn table(&mut self, name: &TableName, location: &Location) -> Result<Option<Arc<Table>>, Stopped> {
        if let Some(remembered) = self.catalog.remembered(name) {
            return Ok(remembered);
        }
        self.flush()?;
        self.pool.wait_clear(&write_sets::look(name), &mut || self.main.keep_alive())?;
        self.main.check_writer(b"", location)?;
        self.ask(location, |catalog| catalog.ask(name))
    }

    /// Which relations the schema of this one holds, and whether it is among them.
    fn list_relations(&mut self, name: &TableName, location: &Location) -> Result<(), Stopped> {
        if !self.catalog.has_listed(&name.schema) {
            // Definitions under way are not in the list yet.
            self.flush()?;
            self.pool.wait_clear(&write_sets::schema(&name.schema), &mut || self.main.keep_alive())?;
        }
        if self.ask(location, |catalog| catalog.list_relations(&name.schema))? {
            return Ok(());
        }
        self.table(name, location).map(drop)
    }
}
