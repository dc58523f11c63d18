//! The stream's statements, each read and analyzed while the server runs the one before it.
//!
//! ```text
//!   coordinator   send N │ read and analyze N+1 │ take the answer to N │ send N+1 │ …
//!   server               │ run N ─────────────► │                      │ run N+1
//! ```
//!
//! What stands behind a statement may mean something else once it has run: it can change how text is split and read. So
//! what was read ahead holds only if the facts that it was read under are still the same; else it is read again. It
//! is never more than one statement, of what is in memory already: nothing is waited for and no file is opened ahead, so a
//! pipe in which nothing comes holds up nothing. Client commands and errors are left for their turn.

use std::sync::Arc;

use super::insert_forms::KnownForm;
use crate::analysis::{FunctionSet, KnownHead, SessionFacts, StatementInfo, analyze};
use crate::lexer::{Dialect, Error, Item, Mark, Statement, Statements};
use crate::session::SessionState;

/// Reads and analyzes the stream.
pub(super) struct LookAhead {
    /// `None` before the stream is open.
    statements: Option<Statements>,
    /// Functions that values may call on any connection.
    functions: Arc<FunctionSet>,
    /// The form of the last INSERT of literals.
    pub(super) known: Option<Arc<KnownForm>>,
    ahead: Option<Ahead>,
}

/// A statement that was read ahead.
struct Ahead {
    statement: Statement,
    /// The place before it.
    mark: Mark,
    /// The dialect under which it was split off.
    dialect: Dialect,
    analysis: Analysis,
}

/// What a text is and does, and all that was looked at to know it.
#[derive(Debug)]
pub(crate) struct Analysis {
    facts: AnalysisFacts,
    info: Box<StatementInfo>,
}

/// All that an analysis reads beside the text, to be compared.
#[derive(Clone, Debug)]
struct AnalysisFacts {
    dialect: Dialect,
    functions: Arc<FunctionSet>,
    /// The form whose head the text begins with.
    known: Option<Arc<KnownForm>>,
}

impl PartialEq for AnalysisFacts {
    fn eq(&self, other: &Self) -> bool {
        self.dialect == other.dialect
            && Arc::ptr_eq(&self.functions, &other.functions)
            && self.known.as_ref().map(Arc::as_ptr) == other.known.as_ref().map(Arc::as_ptr)
    }
}

/// An item of the stream, and what was found of it if it was read ahead.
pub(crate) type ItemAhead = (Item, Option<Analysis>);

impl LookAhead {
    pub(super) fn new(functions: FunctionSet) -> Self {
        Self { statements: None, functions: Arc::new(functions), known: None, ahead: None }
    }

    /// Reads this stream from here on.
    pub(super) fn read_from(&mut self, statements: Statements) {
        self.statements = Some(statements);
    }

    /// The next item, in a session like this.
    pub(super) fn next(&mut self, dialect: Dialect) -> Option<Result<ItemAhead, Error>> {
        let statements = self.statements.as_mut()?;
        match self.ahead.take() {
            Some(ahead) if ahead.dialect == dialect => {
                return Some(Ok((Item::Statement(ahead.statement), Some(ahead.analysis))));
            }
            Some(ahead) => statements.rewind(ahead.mark),
            None => {}
        }
        statements.set_dialect(dialect);
        statements.next().map(|item| item.map(|item| (item, None)))
    }

    /// Leaves out the rest of the file of rows that is read.
    pub(super) fn pass_rows(&mut self) {
        self.statements.iter_mut().for_each(Statements::pass_rows);
    }

    /// The table of the file of rows has so many columns.
    pub(super) fn expect_columns(&mut self, columns: usize) {
        self.statements.iter_mut().for_each(|statements| statements.expect_columns(columns));
    }

    /// Whether the next item was read ahead.
    pub(super) fn has_next(&self) -> bool {
        self.ahead.is_some()
    }

    /// Reads and analyzes the next statement while the server works, in a session like this.
    pub(super) fn prepare(&mut self, dialect: Dialect, session: &Arc<SessionState>) {
        let Some(statements) = self.statements.as_mut().filter(|_| self.ahead.is_none()) else { return };
        statements.set_dialect(dialect);
        let Some((statement, mark)) = statements.read_ahead() else { return };
        let facts = self.facts(&statement.text, dialect, session);
        let info = facts.analyze(&statement.text);
        self.ahead = Some(Ahead { statement, mark, dialect, analysis: Analysis { facts, info } });
    }

    /// What a text is and does in a session like this. `ahead`: what was found when it was read ahead.
    pub(super) fn analyze(
        &self,
        text: &[u8],
        dialect: Dialect,
        session: &Arc<SessionState>,
        ahead: Option<Analysis>,
    ) -> Box<StatementInfo> {
        let facts = self.facts(text, dialect, session);
        match ahead {
            Some(ahead) if ahead.facts == facts => ahead.info,
            _ => facts.analyze(text),
        }
    }

    fn facts(&self, text: &[u8], dialect: Dialect, session: &Arc<SessionState>) -> AnalysisFacts {
        let is_of_form =
            |known: &&Arc<KnownForm>| Arc::ptr_eq(&known.session, session) && text.starts_with(&known.text);
        AnalysisFacts {
            dialect,
            functions: Arc::clone(&self.functions),
            known: self.known.as_ref().filter(is_of_form).cloned(),
        }
    }

    pub(super) fn functions(&self) -> &FunctionSet {
        &self.functions
    }

    /// The dump defines a function of this name.
    pub(super) fn define_function(&mut self, name: &[u8]) {
        Arc::make_mut(&mut self.functions).remove(name);
    }
}

impl AnalysisFacts {
    fn analyze(&self, text: &[u8]) -> Box<StatementInfo> {
        let known = self.known.as_deref();
        let known_head =
            known.map(|known| KnownHead { text: &known.text, head: &known.form.head, id_value: known.form.id_value });
        Box::new(analyze(text, &SessionFacts { dialect: self.dialect, functions: &self.functions, known_head }))
    }
}
