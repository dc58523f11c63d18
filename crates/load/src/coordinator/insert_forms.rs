//! Forms of INSERT: what is known of the table that an INSERT of literals names.

use std::sync::Arc;

use hortator_mysql::catalog::TableName;

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use super::new_tables::NewDefinition;
use crate::analysis::{NamedTable, RowsStatement, SessionFacts, StatementInfo, StatementKind, Trait, analyze};
use crate::apply::Stopped;
use crate::planner::first_rows::{FIRST_ROWS_LIMIT_BYTES, FirstRows};
use crate::planner::insert_form::InsertForm;
use crate::planner::{Form, Reason};
use crate::rows::prescan;
use crate::session::SessionState;

/// The form of the last INSERT: the next one is most often of the same.
#[derive(Debug)]
pub(super) struct KnownForm {
    pub(super) text: Vec<u8>,
    /// The default schema that its names were resolved with.
    pub(super) session: Arc<SessionState>,
    pub(super) form: Arc<InsertForm>,
}

impl Coordinator<'_> {
    /// The form of an INSERT of literals, asked of the server where it is new; `None` for any other statement. The prescan
    /// of one that was analyzed before its form was known is made again.
    pub(super) fn form(&mut self, statement: &mut AnalyzedStatement) -> Result<Option<Result<Form, Reason>>, Stopped> {
        let StatementKind::Rows(RowsStatement { head, offset, .. }) = &statement.info.kind else { return Ok(None) };
        let offset = *offset;
        if self.serial(&statement.info).is_some() {
            return Ok(None);
        }
        if let Some(known) = &self.main.look_ahead.known
            && known.form.offset == offset
            && statement.text.starts_with(&known.text)
            && Arc::ptr_eq(&known.session, self.main.state())
        {
            let form = known.form.clone();
            if head.is_some() {
                self.prescan_again(statement, &form);
            }
            return Ok(Some(Ok(Form::Known(form))));
        }
        let Some(head) = head.clone() else {
            // Its head was that of a form that has been forgotten since.
            statement.info = self.analyze_anew(&statement.text);
            return self.form(statement);
        };
        let named = NamedTable { schema: head.schema.clone(), table: head.table.clone() };
        let Some(name) = self.names().resolve(&named) else {
            return Ok(Some(Err("the table name cannot be resolved")));
        };
        if statement.text.len() <= FIRST_ROWS_LIMIT_BYTES
            && let Some(definition) = self.catalog.new_tables.definition_of(&name)
        {
            let NewDefinition { references: parents, row_numbers } = definition.clone();
            return Ok(Some(Ok(Form::First(Arc::new(FirstRows { head, name, parents, row_numbers })))));
        }
        let Some(table) = self.table(&name, &statement.location)? else {
            return Ok(Some(Err("the table does not exist")));
        };
        let form = match InsertForm::new(head, offset, name, table) {
            Ok(form) => Arc::new(form),
            Err(reason) => return Ok(Some(Err(reason))),
        };
        let text = statement.text[..offset].to_vec();
        self.main.look_ahead.known =
            Some(Arc::new(KnownForm { text, session: self.main.state().clone(), form: form.clone() }));
        self.prescan_again(statement, &form);
        Ok(Some(Ok(Form::Known(form))))
    }

    pub(super) fn prescan_again(&self, statement: &mut AnalyzedStatement, form: &InsertForm) {
        let facts = SessionFacts {
            dialect: self.main.dialect(),
            functions: self.main.look_ahead.functions(),
            known_head: None,
        };
        if form.id_value.is_some()
            && let StatementKind::Rows(rows) = &mut statement.info.kind
            && let Ok(values) = prescan(&statement.text, rows.offset, form.id_value, &facts)
        {
            rows.values = values;
        }
    }

    pub(super) fn analyze_anew(&self, text: &[u8]) -> Box<StatementInfo> {
        Box::new(analyze(
            text,
            &SessionFacts {
                dialect: self.main.dialect(),
                functions: self.main.look_ahead.functions(),
                known_head: None,
            },
        ))
    }

    /// The table whose rows a statement writes, where it is one.
    pub(super) fn written_table(&self, info: &StatementInfo) -> Option<TableName> {
        let named = match &info.kind {
            StatementKind::Rows(RowsStatement { head: None, .. }) => {
                return self.main.look_ahead.known.as_ref().map(|known| known.form.name.clone());
            }
            _ => info.tables.first().filter(|_| info.is(Trait::WritesRows))?,
        };
        self.names().resolve(named)
    }
}
