//! What one statement is and does, read from its text once: [`analyze`] gives a [`StatementInfo`], and everything
//! downstream (planner, journal, recovery, validation, `--plan`) reads that and nothing else.
//!
//! ```text
//!   text ──► tokens ──► statements (compound) ──► RULES (rules, pattern) ──► details ──► StatementInfo
//!                                                                            insert head and values (rows)
//!                                                                            assignments, table_ddl, key_additions,
//!                                                                            ddl_target, handler
//! ```
//!
//! The analysis is pure: it depends on the text and on [`SessionFacts`], and never asks a server. A statement that is not
//! understood to its last token runs exclusively: after all before it, and before all behind it. What a statement does
//! through routines and triggers is not in its text; there the server tells afterwards what changed
//! ([`hortator_mysql::SessionChanges`]).

mod assignments;
pub(crate) mod binlog;
mod compound;
mod ddl_target;
mod durability;
mod functions;
mod handler;
mod key_additions;
mod multi_statement;
pub(crate) mod pattern;
mod plain_set;
mod prepared;
mod reads;
mod rules;
mod table_ddl;
mod traits;
mod writes;

use crate::lexer::{Dialect, Kind, Token, tokens};
use crate::rows::{InsertHead, Prescan, RowSource, insert_head, name, prescan};

pub use assignments::{Assignments, is_propagated, is_session_local};
pub(crate) use ddl_target::schema_name;
pub use ddl_target::{DdlTarget, Postcondition};
pub(crate) use durability::{is_durable, is_durable_ddl};
pub use functions::FunctionSet;
pub use handler::HandlerUse;
pub use key_additions::{KeyAddition, can_merge, merge_key_additions};
pub use plain_set::PlainSet;
pub use prepared::Prepared;
pub use rules::{RULES, Rule, RuleKind, rules_of};
pub use table_ddl::{RowNumbers, is_plain_definition};
pub(crate) use table_ddl::{brings_rows, copied_table, is_plain_engine};
pub use traits::{Trait, Traits};
pub(crate) use writes::changed_table;

pub(crate) use compound::statement_tokens;
use compound::statements;
use pattern::{Match, match_pattern};
use reads::{
    assigns_user_variable, diagnostics, is_constant, is_setval, may_call_function, only_reads, reads_session,
    reads_transaction, recurs,
};

/// Tokens that an analysis holds at most: 48 MiB of them. A longer statement that is no INSERT runs exclusively.
const TOKENS_LIMIT: usize = 1_000_000;

/// A table as a statement names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTable {
    /// The schema, where the statement gives one; else the session's.
    pub schema: Option<Vec<u8>>,
    /// The table.
    pub table: Vec<u8>,
}

/// What the text means depends on this, beside its bytes.
#[derive(Clone, Copy, Debug)]
pub struct SessionFacts<'f> {
    /// How text is read.
    pub dialect: Dialect,
    /// Functions that depend on nothing but their arguments and the statement's time.
    pub functions: &'f FunctionSet,
    /// The head of an earlier INSERT: a text that begins with it has the same one.
    pub known_head: Option<KnownHead<'f>>,
}

/// The head of an INSERT that is known already, with what its table says of its values.
#[derive(Clone, Copy, Debug)]
pub struct KnownHead<'f> {
    /// The text up to the values.
    pub text: &'f [u8],
    /// What was read of it.
    pub head: &'f InsertHead,
    /// Which value of a tuple is the AUTO_INCREMENT column's.
    pub id_value: Option<usize>,
}

/// How the journal records a statement of the main session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalMode {
    /// Not at all: it concerns the session only, or reads. A load that resumes runs it again.
    Session,
    /// It controls a transaction of the dump.
    Control,
    /// It changes rows: within a transaction.
    Rows,
    /// It commits by itself, or may do anything: an intent before it, closed behind it.
    Intent,
    /// Not at all, because it does the same when it is done again: a load that resumes runs it again, unless something
    /// behind it is on record.
    Repeated,
}

/// What the planner does with a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// Rows of literals for one table, and nothing behind them.
    Rows(RowsStatement),
    /// Writes rows, and returns none but those that it has written.
    Write {
        /// Why no other connection runs it.
        reason: &'static str,
    },
    /// Changes the definition of [`StatementInfo::tables`]; reads the tables of [`StatementInfo::references`].
    TableDdl,
    /// Changes anything else in the catalog; [`StatementInfo::tables`] are those whose rows must be in before.
    OtherDdl,
    /// Assigns variables: [`StatementInfo::assignments`].
    Set,
    /// Selects the default schema; `None` where its name is not understood.
    Use(Option<Vec<u8>>),
    /// Reads nothing that statements write.
    Constant,
    /// Not sent; the absence of one of [`StatementInfo::tables`] would have been an error.
    Skip,
    /// After all before it, before all behind it.
    Exclusive {
        /// Why, for a user.
        reason: &'static str,
    },
    /// Only comments, or a version comment that this server skips: sent as the client does, to no effect.
    Empty,
}

/// An INSERT or REPLACE of literals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowsStatement {
    /// Everything before the values; `None` where it is [`SessionFacts::known_head`].
    pub head: Option<InsertHead>,
    /// Byte offset of the first tuple.
    pub offset: usize,
    /// What the values hold.
    pub values: Prescan,
}

/// What a statement asks of the diagnostics of the one before it: warnings, row counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiagnosticsQuery {
    /// It writes rows.
    pub writes: bool,
    /// It keeps the answer in a user variable.
    pub keeps: bool,
    /// It reads @@in_transaction.
    pub sees_transaction: bool,
    /// It reads what the server counts, transactions among it.
    pub sees_counters: bool,
    /// It reads the last AUTO_INCREMENT value.
    pub reads_last_id: bool,
}

/// All that is known of a statement from its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementInfo {
    /// What the planner does with it.
    pub kind: StatementKind,
    /// How the journal records it.
    pub journal: JournalMode,
    /// What else is known of it.
    pub traits: Traits,
    /// Tables that it writes, defines, drops or locks, as named.
    pub tables: Vec<NamedTable>,
    /// The only table of which an UPDATE or a DELETE changes rows, unless triggers change others.
    pub changes: Option<NamedTable>,
    /// Tables behind REFERENCES.
    pub references: Vec<NamedTable>,
    /// The table whose definition it copies, where it does nothing else.
    pub copies: Option<NamedTable>,
    /// Which column numbers the rows of the InnoDB table that it creates, by a plain definition.
    pub row_numbers: Option<RowNumbers>,
    /// The schema that it creates, changes or drops.
    pub schema: Option<Vec<u8>>,
    /// What it assigns.
    pub assignments: Assignments,
    /// What it asks of the statement before it.
    pub diagnostics: Option<DiagnosticsQuery>,
    /// What it changes in the catalog, for a load that resumes.
    pub ddl_target: Option<DdlTarget>,
    /// What it does with HANDLER.
    pub handler: Option<HandlerUse>,
    /// The function that it defines.
    pub function: Option<Vec<u8>>,
    /// Which keys it adds to its table, where it does nothing else.
    pub key_additions: Option<Vec<KeyAddition>>,
    /// What it does with a statement that has a name.
    pub prepared: Option<Prepared>,
}

impl StatementInfo {
    /// Whether it begins a transaction and does nothing else.
    pub(crate) fn begins_transaction(&self) -> bool {
        self.is(Trait::BeginsTransaction) && !self.is(Trait::SeveralStatements)
    }

    /// Whether nothing of a transaction before it is open behind it.
    pub(crate) fn ends_transaction(&self) -> bool {
        let ends = [Trait::CommitsTransaction, Trait::RollsBack, Trait::BeginsTransaction];
        matches!(self.kind, StatementKind::TableDdl | StatementKind::OtherDdl)
            || ends.into_iter().any(|end| self.is(end))
    }

    /// Whether it commits a transaction and does nothing else.
    pub(crate) fn commits_transaction(&self) -> bool {
        self.is(Trait::CommitsTransaction) && !self.is(Trait::SeveralStatements)
    }

    fn new(kind: StatementKind, journal: JournalMode, traits: Traits) -> Self {
        Self {
            kind,
            journal,
            traits,
            tables: Vec::new(),
            references: Vec::new(),
            copies: None,
            row_numbers: None,
            schema: None,
            assignments: Assignments::default(),
            changes: None,
            diagnostics: None,
            ddl_target: None,
            handler: None,
            function: None,
            key_additions: None,
            prepared: None,
        }
    }

    fn exclusive(reason: &'static str, journal: JournalMode, traits: Traits) -> Self {
        Self::new(StatementKind::Exclusive { reason }, journal, traits)
    }

    /// Whether the statement has this trait.
    #[must_use]
    pub fn is(&self, wanted: Trait) -> bool {
        self.traits.has(wanted)
    }

    /// Whether running it twice is as good as once.
    #[must_use]
    pub fn is_idempotent(&self) -> bool {
        self.is(Trait::Idempotent)
    }

    /// Whether it leaves something in its session that no other session has.
    #[must_use]
    pub fn is_session_bound(&self) -> bool {
        self.is(Trait::SessionBound)
    }

    /// Whether it must find the diagnostics of the statement right before it in the main session.
    #[must_use]
    pub fn reads_diagnostics(&self) -> bool {
        self.diagnostics.is_some() || self.is(Trait::MayDoAnything)
    }
}

/// Reads one text of the stream.
#[must_use]
pub fn analyze(text: &[u8], facts: &SessionFacts<'_>) -> StatementInfo {
    if let Some(known) = facts.known_head
        && text.starts_with(known.text)
        && let Ok(values) = prescan(text, known.text.len(), known.id_value, facts)
        && values.suffix.is_none()
    {
        let kind = StatementKind::Rows(RowsStatement { head: None, offset: known.text.len(), values });
        return StatementInfo::new(kind, JournalMode::Rows, INSERT_TRAITS);
    }
    let dialect = &facts.dialect;
    let mut rest = tokens(text, dialect);
    let Some(first) = rest.next() else {
        return StatementInfo::new(StatementKind::Empty, JournalMode::Session, Traits::of(&[Trait::NoRows]));
    };
    if first.is_word(b"INSERT") || first.is_word(b"REPLACE") {
        let is_replace = first.is_word(b"REPLACE");
        if let Some(head) = insert_head(is_replace, rest)
            && let RowSource::Values { offset } = head.source
            && let Ok(values) = prescan(text, offset, None, facts)
            && values.suffix.is_none()
        {
            let tables = vec![NamedTable { schema: head.schema.clone(), table: head.table.clone() }];
            let kind = StatementKind::Rows(RowsStatement { head: Some(head), offset, values });
            return StatementInfo { tables, ..StatementInfo::new(kind, JournalMode::Rows, INSERT_TRAITS) };
        }
    }
    let all: Vec<Token<'_>> = tokens(text, dialect).take(TOKENS_LIMIT + 1).collect();
    if all.len() > TOKENS_LIMIT {
        let traits = Traits::of(&[Trait::SessionBound, Trait::MayDoAnything, Trait::MovesTables, Trait::NumbersRows]);
        return StatementInfo::exclusive("it has more tokens than are analyzed", JournalMode::Intent, traits);
    }
    match &statements(&all)[..] {
        [] => StatementInfo::new(StatementKind::Empty, JournalMode::Session, Traits::of(&[Trait::NoRows])),
        [one] => analyze_one(text, one, facts),
        several => multi_statement::multi_statement(text, several, facts),
    }
}

const INSERT_TRAITS: Traits = Traits::of(&[Trait::WritesRows, Trait::NumbersRows]);

/// The first rule that fits.
fn matching_rule(all: &[Token<'_>]) -> Option<(&'static Rule, Match)> {
    let Kind::Word(word) = all.first()?.kind else { return None };
    rules_of(word).iter().find_map(|rule| match_pattern(rule.pattern, all).map(|found| (*rule, found)))
}

/// One statement of its tokens.
fn analyze_one(text: &[u8], all: &[Token<'_>], facts: &SessionFacts<'_>) -> StatementInfo {
    let names_temporary = || all.iter().any(|token| token.is_word(b"TEMPORARY") || token.is_word(b"EXECUTE"));
    let Some((rule, found)) = matching_rule(all) else {
        let mut traits =
            Traits::of(&[Trait::MayDoAnything, Trait::SessionBound, Trait::MovesTables, Trait::NumbersRows]);
        if names_temporary() {
            traits = traits.with(Trait::MayCreateTemporary);
        }
        return StatementInfo::exclusive("a statement of an unknown kind", JournalMode::Intent, traits);
    };
    let mut traits = Traits::of(rule.traits);
    let behind = &all[found.length..];
    if (traits.has(Trait::IdempotentIfConstant) && !all.iter().any(|token| token.is_symbol(b"(")))
        || ["OR REPLACE", "IF EXISTS", "IF NOT EXISTS"].iter().any(|option| found.has(option))
    {
        traits = traits.with(Trait::Idempotent);
    }
    if found.has("OR REPLACE") {
        traits = traits.with(Trait::Destroys);
    }
    if found.has("IF EXISTS") {
        traits = traits.with(Trait::IfExists);
    }
    if (traits.has(Trait::MayDoAnything) || traits.has(Trait::HasBody) && !matches!(rule.kind, RuleKind::OtherDdl))
        && names_temporary()
    {
        traits = traits.with(Trait::MayCreateTemporary);
    }
    if rule.journal == JournalMode::Rows && reads_session(all) {
        traits = traits.with(Trait::ReadsSession);
    }
    if assigns_user_variable(all, &traits) {
        traits = traits.with(Trait::SessionBound);
    }
    if all.iter().any(|token| matches!(token.kind, Kind::SystemVariable(name) if reads_transaction(name))) {
        traits = traits.with(Trait::ReadsTransaction);
    }
    let reads = matches!(rule.journal, JournalMode::Rows | JournalMode::Session);
    if traits.has(Trait::MayDoAnything) || (reads && may_call_function(all, facts.functions)) {
        traits = traits.with(Trait::MayCallFunction);
    }
    if is_setval(all) {
        traits = traits.with(Trait::SetsSequence);
    }
    if traits.has(Trait::HasBody) && recurs(all) {
        traits = traits.with(Trait::Recurs);
    }
    if all.iter().any(|token| token.is_word(b"RETURNING")) {
        traits = traits.with(Trait::ReturnsRows);
    }
    let mut info = StatementInfo::new(StatementKind::Empty, rule.journal, traits);
    info.diagnostics = if traits.has(Trait::HasBody) { None } else { diagnostics(all, rule) };
    info.tables.clone_from(&found.tables);
    if matches!(rule.journal, JournalMode::Intent) {
        info.ddl_target = ddl_target::ddl_target(all);
    }
    info.prepared = prepared::prepared(all, facts);
    if traits.has(Trait::DefinesFunction) {
        let at = found.length + if all.get(found.length).is_some_and(|token| token.is_word(b"IF")) { 3 } else { 0 };
        let is_qualified = all.get(at + 1).is_some_and(|token| token.is_symbol(b"."));
        info.function = all.get(at + if is_qualified { 2 } else { 0 }).and_then(name);
    }
    if traits.has(Trait::OfSchema) {
        info.schema = schema_name(all);
    }
    info.kind = match rule.kind {
        RuleKind::Insert => writes::insert(all, &mut info),
        RuleKind::TableDdl => table_definition(text, all, behind, &mut info, &facts.dialect),
        RuleKind::OtherDdl => StatementKind::OtherDdl,
        RuleKind::Set => {
            info.assignments = assignments::of_set(all);
            if info.assignments.reads_beyond_session && info.assignments.user_variables {
                info.traits = info.traits.with(Trait::SessionBound);
            }
            if info.assignments.is_global() || info.assignments.reads_beyond_session {
                info.journal = JournalMode::Intent;
            }
            StatementKind::Set
        }
        RuleKind::Use => StatementKind::Use(all.get(1).and_then(name)),
        RuleKind::Select if assignments::is_last_id_into_variable(all) => {
            info.assignments.only_variables = true;
            info.traits = info.traits.without(Trait::ReturnsRows);
            StatementKind::Exclusive { reason: "SELECT fills a variable" }
        }
        RuleKind::Select if is_constant(all) => {
            info.journal = JournalMode::Session;
            StatementKind::Constant
        }
        RuleKind::Select => {
            if !info.is(Trait::MayCallFunction) && only_reads(all, facts.functions) {
                info.journal = JournalMode::Session;
            }
            StatementKind::Exclusive { reason: "SELECT reads the current state" }
        }
        RuleKind::Skip => StatementKind::Skip,
        RuleKind::Binlog => binlog::binlog(all, &mut info),
        RuleKind::Write(reason) => {
            info.changes = changed_table(all);
            StatementKind::Write { reason }
        }
        RuleKind::Exclusive(reason) => {
            if info.is(Trait::UsesHandler) {
                info.handler = handler::handler_use(all);
            }
            if info.is(Trait::MayLockServer)
                && all.iter().any(|token| token.is_word(b"LOCK") || token.is_word(b"EXPORT"))
            {
                info.traits = info.traits.with(Trait::Locks);
            }
            if all[0].is_word(b"SET") && all.get(1).is_some_and(|token| token.is_word(b"STATEMENT")) {
                let end = all.iter().position(|token| token.is_word(b"FOR")).unwrap_or(all.len());
                info.assignments = assignments::assignments(&all[2..end.max(2)]);
            }
            StatementKind::Exclusive { reason }
        }
    };
    if all[0].is_word(b"EXECUTE") { prepared::immediate(all, info, facts) } else { info }
}

fn table_definition(
    text: &[u8],
    all: &[Token<'_>],
    behind: &[Token<'_>],
    info: &mut StatementInfo,
    dialect: &Dialect,
) -> StatementKind {
    info.references = table_ddl::references(all);
    let reason = if info.is(Trait::CreatesTable) {
        if brings_rows(behind) {
            // Any name of a definition may stand before a parenthesis.
            info.traits = info.traits.with(Trait::BringsRows).with(Trait::MayCallFunction);
        } else {
            info.traits = info.traits.without(Trait::NumbersRows);
        }
        if is_plain_definition(behind) {
            info.traits = info.traits.with(Trait::PlainDefinition);
            info.row_numbers = table_ddl::row_numbers(behind);
        }
        info.copies = copied_table(behind);
        table_ddl::create_table_reason(behind)
    } else {
        if info.is(Trait::AltersTable) {
            if table_ddl::alter_destroys(behind) {
                info.traits = info.traits.with(Trait::Destroys);
            }
            if table_ddl::only_switches_keys(behind) {
                info.traits = info.traits.with(Trait::Idempotent);
            }
        }
        table_ddl::alter_table_reason(behind)
    };
    if let Some(reason) = reason {
        info.traits = info.traits.with(Trait::MovesTables);
        return StatementKind::Exclusive { reason };
    }
    info.key_additions = key_additions::parse_key_additions(text, all, dialect).map(|found| found.kinds);
    StatementKind::TableDdl
}

/// Whether the statement that begins here may hold others.
fn has_body(all: &[Token<'_>]) -> bool {
    let holds_others = |trait_: &Trait| matches!(trait_, Trait::HasBody | Trait::Compound);
    matching_rule(all).is_some_and(|(rule, _)| rule.traits.iter().any(holds_others))
}

/// Every name that a statement holds: unquoted words, words of the language among them, and quoted names.
#[must_use]
pub fn identifiers(text: &[u8], dialect: &Dialect) -> Vec<Vec<u8>> {
    tokens(text, dialect)
        .filter_map(|token| match token.kind {
            Kind::Word(word) => Some(word.to_vec()),
            Kind::QuotedIdentifier(name) => Some(name.into_owned()),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests;
