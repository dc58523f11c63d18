//! What stands between the input and the coordinator: each statement is run as it is, run with another text, left out, or
//! refused.
//!
//! [`crate::selection`] says what is loaded and [`crate::rewriting`] how its text changes; both are pure. This module
//! follows what they need to know of the statements before: the schema that the input has selected, and whether something
//! was left out that a later statement may ask about. The coordinator, `--plan` and the check before the load use the same
//! filter.

mod check;
mod report;
mod rows_file;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::analysis::{NamedTable, StatementInfo, StatementKind, Trait, statement_tokens};
use crate::lexer::{Dialect, Token};
use crate::planner::Names;
use crate::rewriting::{self, DatabaseMap, Rewriting};
use crate::selection::{self, Decision, LeftOut, Scope, Selection};

pub(crate) use check::check;
pub use report::FilterReport;

/// What is loaded of the input, and with which changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilterRules {
    /// What is loaded.
    pub selection: Selection,
    /// How its text changes.
    pub rewriting: Rewriting,
}

impl FilterRules {
    /// Whether the input is loaded whole and as it is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.selection.is_empty() && self.rewriting.is_empty()
    }

    /// Whether a statement may have to be refused.
    pub(crate) fn may_refuse(&self) -> bool {
        self.selection.restricts_tables() || self.rewriting.may_refuse()
    }

    /// The options that state the rules: equal rules have equal words.
    #[must_use]
    pub fn options(&self) -> Vec<String> {
        let mut options = self.selection.options();
        options.extend(self.rewriting.options());
        options
    }
}

/// What becomes of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    /// It runs as it is.
    Unchanged,
    /// It runs with this text.
    Rewritten(Vec<u8>),
    /// It does not run.
    LeftOut {
        /// It would have committed what was open.
        commits: bool,
    },
}

/// A statement of which it is not certain what to run: the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal(pub(crate) String);

/// Applies the rules to the statements of one reading of the input.
pub(crate) struct Filter {
    rules: Arc<FilterRules>,
    report: Arc<Mutex<FilterReport>>,
    /// The schema that the input has selected, as it names it; `None` before its first USE.
    database: Option<Vec<u8>>,
    /// Whether its USE has run; an error is the option that leaves it out.
    default_schema: Result<(), LeftOut>,
    /// The statement before was left out.
    is_behind_left_out: bool,
    /// Rows were left out: what the server numbered last is not what the input would find.
    has_left_out_rows: bool,
    /// The patterns of `--only` that no name has matched yet, by their place in the rules.
    unmatched: Vec<usize>,
    /// The maps whose schema the input has not named yet.
    unmatched_maps: Vec<DatabaseMap>,
}

impl Filter {
    /// `report`: where it counts what is left out.
    pub(crate) fn new(rules: Arc<FilterRules>, report: Arc<Mutex<FilterReport>>) -> Self {
        let unmatched: Vec<usize> = (0..rules.selection.only.len()).collect();
        let unmatched_maps = rules.rewriting.databases.clone();
        let filter = Self {
            unmatched_maps,
            rules,
            report,
            database: None,
            default_schema: Ok(()),
            is_behind_left_out: false,
            has_left_out_rows: false,
            unmatched,
        };
        filter.report().begin(filter.unmatched_options());
        filter
    }

    /// Whether every statement runs as it is.
    pub(crate) fn is_idle(&self) -> bool {
        self.rules.is_empty()
    }

    /// The options that name what the input has not named so far.
    pub(crate) fn unmatched_options(&self) -> Vec<String> {
        let patterns = self.unmatched.iter().map(|at| format!("--only={}", self.rules.selection.only[*at]));
        patterns.chain(self.unmatched_maps.iter().map(|map| format!("--database-map={map}"))).collect()
    }

    /// What becomes of a statement. `names`: how the server understands names at its place.
    pub(crate) fn statement(
        &mut self,
        text: &[u8],
        info: &StatementInfo,
        dialect: &Dialect,
        names: Names<'_>,
    ) -> Result<Passage, Refusal> {
        if self.is_idle() || matches!(info.kind, StatementKind::Empty) {
            return Ok(Passage::Unchanged);
        }
        if let StatementKind::Use(Some(schema)) = &info.kind {
            let passage = self.use_schema(schema, names)?;
            return Ok(passage.map_or(Passage::Unchanged, |schema| match schema {
                Some(schema) => {
                    Passage::Rewritten([b"USE ".as_slice(), &hortator_mysql::quote_identifier(&schema)].concat())
                }
                None => Passage::LeftOut { commits: false },
            }));
        }
        let rules = Arc::clone(&self.rules);
        let Some(parts) = Parts::of(text, info, dialect) else {
            return self.unless_it_matters(
                "it has more tokens than are analyzed, so it is not certain what it touches: divide it in the dump",
            );
        };
        if matches!(info.kind, StatementKind::Use(None)) || parts.hides_use() {
            return self.unless_it_matters(
                "it is not certain which schema it selects: put USE into a statement of its own, with a plain name",
            );
        }
        let database = self.database.clone();
        let without_use = names.database.filter(|_| database.is_none());
        let names = Names { database: database.as_deref().or(names.database), ..names };
        let decision = self.decide(&parts, info, names)?;
        if let Decision::LeaveOut(option) = decision {
            self.check_left_out(&parts, info)?;
            self.leave_out(option, &parts.scopes, names);
            return Ok(Passage::LeftOut { commits: parts.scopes.iter().any(commits) });
        }
        self.check_run(&parts, info)?;
        self.check_default_schema(&parts, without_use, names)?;
        self.is_behind_left_out = false;
        self.note_references(info, &parts, names);
        for schema in parts.scopes.iter().flat_map(Scope::schemas) {
            self.note_schema(schema, names)?;
        }
        let rewritten = match &parts.tokens {
            Some(tokens) => rewriting::rewrite(text, tokens, &parts.scopes, &rules.rewriting, names),
            None => Ok(rewriting::rewrite_head(text, dialect, &rules.rewriting, names)),
        };
        Ok(match rewritten.map_err(Refusal)? {
            Some(text) => {
                self.report().rewritten += 1;
                Passage::Rewritten(text)
            }
            None => Passage::Unchanged,
        })
    }

    /// The text is not understood as far as rules on tables and schemas need it.
    fn unless_it_matters(&self, reason: &str) -> Result<Passage, Refusal> {
        if self.rules.may_refuse() { Err(Refusal(reason.to_owned())) } else { Ok(Passage::Unchanged) }
    }

    /// The input selects a schema. `None` where it does so as it says, `Some(None)` where that is left out, and else the
    /// schema to select.
    pub(crate) fn use_schema(&mut self, schema: &[u8], names: Names<'_>) -> Result<Option<Option<Vec<u8>>>, Refusal> {
        if self.is_idle() {
            return Ok(None);
        }
        self.database = Some(schema.to_vec());
        let selected = selection::selects_schema(&self.rules.selection, schema, names);
        self.default_schema = selected;
        if let Err(option) = selected {
            self.report().left_out(option.option());
            return Ok(Some(None));
        }
        self.note_schema(schema, names)?;
        Ok(self.rules.rewriting.mapped_schema(schema, names.folds_case).map(|schema| Some(schema.to_vec())))
    }

    /// The input names a schema whose objects run: another must not be mapped to it.
    fn note_schema(&mut self, schema: &[u8], names: Names<'_>) -> Result<(), Refusal> {
        let (rules, folds) = (Arc::clone(&self.rules), names.folds_case);
        if let Some(mapped) = rules.rewriting.mapped_schema(schema, folds).filter(|mapped| !mapped.is_ascii())
            && !names.are_utf8
        {
            return Err(Refusal(format!(
                "the dump sets a character set other than UTF-8 here, in which --database-map cannot write `{}`: map to a name in \
                 ASCII",
                String::from_utf8_lossy(mapped),
            )));
        }
        if let Some(map) = rules.rewriting.map_into(schema, folds) {
            return Err(Refusal(format!(
                "the input has the schema `{}` too, to which --database-map={map} brings the objects of another: leave one of \
                 the two out, or map this one too",
                String::from_utf8_lossy(schema),
            )));
        }
        let before = self.unmatched_maps.len();
        self.unmatched_maps.retain(|map| !map.is_of(schema, folds));
        if self.unmatched_maps.len() < before {
            self.report().begin(self.unmatched_options());
        }
        Ok(())
    }

    /// Tables that the definition of a view reads and that are left out: the view needs them.
    pub(crate) fn left_out_sources(&self, text: &[u8], dialect: &Dialect, names: Names<'_>) -> Vec<NamedTable> {
        let names = Names { database: self.database.as_deref().or(names.database), ..names };
        let Some(tokens) = statement_tokens(text, dialect) else { return Vec::new() };
        let [all] = &tokens[..] else { return Vec::new() };
        selection::named_tables(all)
            .into_iter()
            .filter(|source| {
                let scope = Scope::Locks(vec![source.clone()]);
                matches!(selection::decide(&scope, &self.rules.selection, names), Decision::LeaveOut(_))
            })
            .map(|source| {
                let schema = source.schema.as_deref().or(names.database);
                let mapped = schema.and_then(|schema| self.rules.rewriting.mapped_schema(schema, names.folds_case));
                NamedTable { schema: mapped.or(schema).map(<[u8]>::to_vec), ..source }
            })
            .collect()
    }

    fn report(&self) -> MutexGuard<'_, FilterReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The one decision for all statements of a text.
    fn decide(&mut self, parts: &Parts<'_>, info: &StatementInfo, names: Names<'_>) -> Result<Decision, Refusal> {
        let mut decision: Option<Decision> = None;
        for scope in &parts.scopes {
            let is_global = matches!(info.kind, StatementKind::Set) && info.assignments.is_global();
            let scope = if is_global && *scope == Scope::Session { &Scope::Server } else { scope };
            self.match_patterns(scope, names);
            let found = match self.default_schema {
                // It may name an object of the schema whose USE is left out.
                Err(option) if *scope == Scope::Server => Decision::LeaveOut(option),
                _ => selection::decide(scope, &self.rules.selection, names),
            };
            if let Decision::Refuse(reason) = found {
                return Err(Refusal(format!("{reason}: {}", what_to_do(scope))));
            }
            // What concerns the session only goes with the others.
            if parts.scopes.len() > 1 && *scope == Scope::Session {
                continue;
            }
            match &decision {
                Some(before) if matches!(before, Decision::Run) != matches!(found, Decision::Run) => {
                    return Err(Refusal(
                        "the text holds several statements, of which some are selected and some are left out: divide the \
                         text in the dump, or leave all of its objects out"
                            .to_owned(),
                    ));
                }
                Some(_) => {}
                None => decision = Some(found),
            }
        }
        Ok(decision.unwrap_or(Decision::Run))
    }

    /// Whether it is certain that no later statement misses what a left-out one does to the session.
    fn check_left_out(&self, parts: &Parts<'_>, info: &StatementInfo) -> Result<(), Refusal> {
        let is_of_rows = |scope: &Scope| matches!(scope, Scope::Rows { .. } | Scope::Query { .. });
        let assigns = info.is(Trait::SessionBound) || info.assignments.user_variables;
        if assigns && parts.scopes.iter().any(is_of_rows) {
            return Err(Refusal(
                "it concerns only what is left out, but fills a user variable that later statements may read: remove it \
                 from the dump, or select its tables"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// Whether a statement that runs asks nothing of one that was left out, and cannot touch what its text does not name.
    fn check_run(&self, parts: &Parts<'_>, info: &StatementInfo) -> Result<(), Refusal> {
        if !self.rules.selection.restricts_tables() {
            return Ok(());
        }
        let names_last_id = || parts.tokens.iter().flatten().flatten().any(is_last_id);
        if self.has_left_out_rows && !parts.is_definition() && names_last_id() {
            return Err(Refusal(
                "it reads the last AUTO_INCREMENT value, which rows that are left out may have set: select the tables of \
                 these rows too, or remove the statement from the dump"
                    .to_owned(),
            ));
        }
        let asks = info.diagnostics.is_some_and(|query| query.writes || query.keeps);
        if asks && self.is_behind_left_out {
            return Err(Refusal(
                "it asks what the statement before it did, which is left out: remove it from the dump".to_owned(),
            ));
        }
        if info.is(Trait::MayCallFunction) && !parts.is_definition() {
            return Err(Refusal(
                "it may call a stored function, which may touch any table: remove it from the dump, or load without \
                 --only, --skip, --no-data and --no-schema"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// Whether names without a schema stand for what the input means by them. `without_use`: the default schema before the
    /// first USE of the input.
    fn check_default_schema(
        &self,
        parts: &Parts<'_>,
        without_use: Option<&[u8]>,
        names: Names<'_>,
    ) -> Result<(), Refusal> {
        let mapped = without_use.and_then(|schema| self.rules.rewriting.mapped_schema(schema, names.folds_case));
        if let Some(mapped) = mapped
            && parts.scopes.iter().any(Scope::needs_default_schema)
        {
            let [old, new] = [without_use.unwrap_or_default(), mapped].map(String::from_utf8_lossy);
            return Err(Refusal(format!(
                "it names no schema and comes before the first USE, and the default schema `{old}` is mapped to `{new}`: load \
                 with --database={new}"
            )));
        }
        // Other statements that name such a table are left out or refused by its name.
        let is_view = |scope: &Scope| matches!(scope, Scope::Objects { part: selection::Part::ViewDefinition, .. });
        let of_default = |all: &Vec<Token<'_>>| selection::named_tables(all).iter().any(|table| table.schema.is_none());
        if let Err(option) = self.default_schema
            && parts.scopes.iter().any(is_view)
            && parts.tokens.iter().flatten().any(of_default)
        {
            return Err(Refusal(format!(
                "the view reads a table of the default schema, whose USE {} leaves out: write the schema before the table, or \
                 leave the view out",
                option.option()
            )));
        }
        Ok(())
    }

    fn leave_out(&mut self, option: LeftOut, scopes: &[Scope], names: Names<'_>) {
        self.is_behind_left_out = true;
        self.has_left_out_rows |= scopes.iter().any(|scope| matches!(scope, Scope::Rows { .. } | Scope::Query { .. }));
        let mut report = self.report();
        report.left_out(option.option());
        if matches!(option, LeftOut::Only | LeftOut::Skip) {
            for scope in scopes {
                if let Scope::Rows { target: table, .. } = scope
                    && let Some(name) = names.resolve(table)
                {
                    report.left_out_table(&name);
                }
            }
        }
    }

    /// Takes note of foreign keys to tables that are left out.
    fn note_references(&mut self, info: &StatementInfo, parts: &Parts<'_>, names: Names<'_>) {
        if info.references.is_empty() || !self.rules.selection.has_names() || !parts.is_definition() {
            return;
        }
        let Some(child) = info.tables.first().and_then(|table| names.resolve(table)) else { return };
        let names = Names { database: Some(&child.schema), ..names };
        for parent in &info.references {
            let scope = Scope::Locks(vec![parent.clone()]);
            if let Decision::LeaveOut(option) = selection::decide(&scope, &self.rules.selection, names)
                && let Some(mut parent) = names.resolve(parent)
            {
                if let Some(schema) = self.rules.rewriting.mapped_schema(&parent.schema, names.folds_case) {
                    parent.schema = schema.to_vec();
                }
                self.report().foreign_key(&child, &parent, option.option());
            }
        }
    }

    /// Takes note of the patterns that a statement's names match.
    fn match_patterns(&mut self, scope: &Scope, names: Names<'_>) {
        if self.unmatched.is_empty() {
            return;
        }
        let before = self.unmatched.len();
        let only = &self.rules.selection.only;
        self.unmatched.retain(|at| !selection::names_match(&only[*at], scope, names));
        if self.unmatched.len() < before {
            self.report().begin(self.unmatched_options());
        }
    }
}

/// The statements of a text, and what each touches.
struct Parts<'t> {
    /// `None` where the head of an INSERT of literals says it all.
    tokens: Option<Vec<Vec<Token<'t>>>>,
    scopes: Vec<Scope>,
}

impl<'t> Parts<'t> {
    /// `None` where it has more tokens than are analyzed.
    fn of(text: &'t [u8], info: &StatementInfo, dialect: &Dialect) -> Option<Self> {
        if let StatementKind::Rows(rows) = &info.kind {
            let target = match &rows.head {
                Some(head) => Some(NamedTable { schema: head.schema.clone(), table: head.table.clone() }),
                None => rewriting::insert_target(text, dialect),
            };
            if let Some(target) = target {
                return Some(Self { tokens: None, scopes: vec![Scope::Rows { target, sources: Vec::new() }] });
            }
        }
        let tokens = statement_tokens(text, dialect)?;
        let scopes = tokens.iter().map(|all| selection::scope(all)).collect();
        Some(Self { tokens: Some(tokens), scopes })
    }

    /// Whether a USE stands among other statements.
    fn hides_use(&self) -> bool {
        let begins_with_use = |all: &Vec<Token<'_>>| all.first().is_some_and(|first| first.is_word(b"USE"));
        self.scopes.len() > 1 && self.tokens.iter().flatten().any(begins_with_use)
    }

    /// Whether all of it defines something: what its bodies name runs later.
    fn is_definition(&self) -> bool {
        self.scopes.iter().all(|scope| {
            matches!(scope, Scope::Objects { .. } | Scope::Trigger { .. } | Scope::Schema { .. } | Scope::Server)
        })
    }
}

/// Whether a statement that is left out would have committed what was open.
fn commits(scope: &Scope) -> bool {
    match scope {
        Scope::Objects { part, .. } => !matches!(part, selection::Part::Temporary | selection::Part::Neither),
        Scope::Schema { .. } | Scope::Trigger { .. } | Scope::Rename(_) | Scope::Locks(_) | Scope::Server => true,
        Scope::Session | Scope::Rows { .. } | Scope::Query { .. } | Scope::Report(_) | Scope::Anything(_) => false,
    }
}

/// Whether a token stands for the last AUTO_INCREMENT value.
fn is_last_id(token: &Token<'_>) -> bool {
    let is_variable = |name: &[u8]| {
        let name = name.rsplit(|byte| *byte == b'.').next().unwrap_or(name);
        name.eq_ignore_ascii_case(b"last_insert_id") || name.eq_ignore_ascii_case(b"identity")
    };
    token.is_word(b"LAST_INSERT_ID")
        || matches!(token.kind, crate::lexer::Kind::SystemVariable(name) if is_variable(name))
}

/// What a user can do about a statement that is refused.
fn what_to_do(scope: &Scope) -> &'static str {
    match scope {
        Scope::Anything(_) => {
            "remove the statement from the dump, or load without --only, --skip, --no-data, --no-schema and --database-map"
        }
        _ => "select all of the objects, or leave all of them out, or remove the statement from the dump",
    }
}
