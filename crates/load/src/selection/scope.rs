//! What a statement touches, by one table of patterns: the objects, their kind, and whether it is about their rows or
//! their definition.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::named_tables::named_tables;
use crate::analysis::NamedTable;
use crate::analysis::pattern::{match_pattern, read_table};
use crate::lexer::{Kind, Token};

/// The kinds of objects that rules tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ObjectKind {
    /// A table, a view or a sequence: they share their names.
    Relation,
    /// A procedure, a function or a package.
    Routine,
    /// An event.
    Event,
}

/// What of an object a statement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Its definition.
    Definition,
    /// A view's definition, which reads other tables.
    ViewDefinition,
    /// A definition that also brings rows.
    Both,
    /// A table of its session only.
    Temporary,
    /// Neither: a lock, a check, the counter of a sequence.
    Neither,
}

/// What a statement does to a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaVerb {
    /// It creates it, or changes its defaults.
    Define,
    /// It takes all that is in it away.
    Drop,
    /// It takes all away and creates it again.
    Replace,
}

/// What a statement touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The session only.
    Session,
    /// Accounts, or settings of the whole server.
    Server,
    /// A schema; the default one without a name.
    Schema { name: Option<Vec<u8>>, verb: SchemaVerb },
    /// These objects, and nothing else.
    Objects { kind: ObjectKind, part: Part, names: Vec<NamedTable> },
    /// Rows of one table, which it takes from others.
    Rows { target: NamedTable, sources: Vec<NamedTable> },
    /// These tables, which get other names.
    Rename(Vec<NamedTable>),
    /// A trigger; its table, where the statement tells it.
    Trigger { trigger: NamedTable, table: Option<NamedTable> },
    /// Locks on these tables.
    Locks(Vec<NamedTable>),
    /// Rows of these tables, which it reads or writes.
    Query { names: Vec<NamedTable>, writes: bool },
    /// It only prints what it finds.
    Report(Vec<NamedTable>),
    /// Anything, for this reason.
    Anything(&'static str),
}

impl Scope {
    /// The schemas that it names.
    pub(crate) fn schemas(&self) -> Vec<&[u8]> {
        match self {
            Self::Schema { name, .. } => name.as_deref().into_iter().collect(),
            _ => self.named().filter_map(|named| named.schema.as_deref()).collect(),
        }
    }

    /// Whether it names something of the default schema.
    pub(crate) fn needs_default_schema(&self) -> bool {
        matches!(self, Self::Schema { name: None, .. }) || self.named().any(|named| named.schema.is_none())
    }

    /// The objects that it names.
    fn named(&self) -> impl Iterator<Item = &NamedTable> {
        let (one, more): (Option<&NamedTable>, &[NamedTable]) = match self {
            Self::Objects { names, .. }
            | Self::Rename(names)
            | Self::Locks(names)
            | Self::Query { names, .. }
            | Self::Report(names) => (None, names),
            Self::Rows { target, sources } => (Some(target), sources),
            Self::Trigger { trigger, table } => (Some(trigger), table.as_slice()),
            Self::Schema { .. } | Self::Session | Self::Server | Self::Anything(_) => (None, &[]),
        };
        one.into_iter().chain(more)
    }
}

/// What a rule finds.
#[derive(Clone, Copy, Debug)]
enum Finding {
    Session,
    Server,
    Schema(SchemaVerb),
    Object(ObjectKind, Part),
    Rows,
    Rename,
    Trigger,
    Locks,
    Query,
    Report,
    Anything(&'static str),
}

use Finding::{Anything, Locks, Object, Query, Report, Rows, Schema, Server, Session, Trigger};
use ObjectKind::{Event, Relation, Routine};
use Part::{Definition, Neither, Temporary, ViewDefinition};

/// A pattern, and what it finds.
type Rule = (&'static str, Finding);

const PREPARED: &str = "a prepared statement may touch any table";

/// All rules, in the order in which they are tried: a pattern of leading tokens (see the module `analysis::pattern`), and
/// what the statement touches. What no rule fits may touch anything.
const SCOPES: &[Rule] = &[
    // Rows.
    ("INSERT [LOW_PRIORITY] [HIGH_PRIORITY] [DELAYED] [IGNORE] [INTO] <table>", Rows),
    ("REPLACE [LOW_PRIORITY] [DELAYED] [INTO] <table>", Rows),
    ("LOAD ... INTO TABLE <table>", Rows),
    ("TRUNCATE [TABLE] <table>", Rows),
    ("UPDATE", Query),
    ("DELETE", Query),
    ("WITH", Query),
    ("SELECT", Query),
    ("VALUES", Session),
    ("DO", Query),
    ("BINLOG", Anything("the events of BINLOG may touch any table")),
    // Definitions of tables.
    ("CREATE [OR REPLACE] TEMPORARY TABLE [IF NOT EXISTS] <table>", Object(Relation, Temporary)),
    ("CREATE [OR REPLACE] TEMPORARY SEQUENCE [IF NOT EXISTS] <table>", Object(Relation, Temporary)),
    ("DROP TEMPORARY TABLE [IF EXISTS] <tables>", Object(Relation, Temporary)),
    ("DROP TEMPORARY SEQUENCE [IF EXISTS] <tables>", Object(Relation, Temporary)),
    ("CREATE [OR REPLACE] TABLE [IF NOT EXISTS] <table>", Object(Relation, Definition)),
    ("ALTER [ONLINE] [IGNORE] TABLE [IF EXISTS] <table>", Object(Relation, Definition)),
    ("DROP TABLE [IF EXISTS] <tables>", Object(Relation, Definition)),
    ("DROP TABLES [IF EXISTS] <tables>", Object(Relation, Definition)),
    (
        "CREATE [OR REPLACE] [UNIQUE] [FULLTEXT] [SPATIAL] INDEX [IF NOT EXISTS] <name> ... ON <table>",
        Object(Relation, Definition),
    ),
    ("DROP INDEX [IF EXISTS] <name> ON <table>", Object(Relation, Definition)),
    ("RENAME TABLE", Finding::Rename),
    ("RENAME TABLES", Finding::Rename),
    ("RENAME", Server),
    // Views and sequences.
    (
        "CREATE [OR REPLACE] [algorithm] [definer] [security] VIEW [IF NOT EXISTS] <table>",
        Object(Relation, ViewDefinition),
    ),
    ("ALTER [algorithm] [definer] [security] VIEW [IF EXISTS] <table>", Object(Relation, ViewDefinition)),
    ("DROP VIEW [IF EXISTS] <tables>", Object(Relation, Definition)),
    ("CREATE [OR REPLACE] SEQUENCE [IF NOT EXISTS] <table>", Object(Relation, Definition)),
    ("ALTER SEQUENCE [IF EXISTS] <table>", Object(Relation, Definition)),
    ("DROP SEQUENCE [IF EXISTS] <tables>", Object(Relation, Definition)),
    // Triggers, routines, events.
    ("CREATE [OR REPLACE] [definer] TRIGGER [IF NOT EXISTS] <table> ... ON <table>", Trigger),
    ("DROP TRIGGER [IF EXISTS] <table>", Trigger),
    ("CREATE [OR REPLACE] [AGGREGATE] FUNCTION [IF NOT EXISTS] <name> RETURNS <name> SONAME", Server),
    ("CREATE [OR REPLACE] [definer] [AGGREGATE] FUNCTION [IF NOT EXISTS] <table>", Object(Routine, Definition)),
    ("ALTER FUNCTION <table>", Object(Routine, Definition)),
    ("DROP FUNCTION [IF EXISTS] <table>", Object(Routine, Definition)),
    ("CREATE [OR REPLACE] [definer] PROCEDURE [IF NOT EXISTS] <table>", Object(Routine, Definition)),
    ("ALTER PROCEDURE <table>", Object(Routine, Definition)),
    ("DROP PROCEDURE [IF EXISTS] <table>", Object(Routine, Definition)),
    ("CREATE [OR REPLACE] [definer] PACKAGE [BODY] [IF NOT EXISTS] <table>", Object(Routine, Definition)),
    ("ALTER PACKAGE [BODY] <table>", Object(Routine, Definition)),
    ("DROP PACKAGE [BODY] [IF EXISTS] <table>", Object(Routine, Definition)),
    ("CREATE [OR REPLACE] [definer] EVENT [IF NOT EXISTS] <table>", Object(Event, Definition)),
    ("ALTER [definer] EVENT [IF EXISTS] <table>", Object(Event, Definition)),
    ("DROP EVENT [IF EXISTS] <table>", Object(Event, Definition)),
    // Schemas.
    ("CREATE OR REPLACE DATABASE", Schema(SchemaVerb::Replace)),
    ("CREATE OR REPLACE SCHEMA", Schema(SchemaVerb::Replace)),
    ("CREATE DATABASE", Schema(SchemaVerb::Define)),
    ("CREATE SCHEMA", Schema(SchemaVerb::Define)),
    ("ALTER DATABASE", Schema(SchemaVerb::Define)),
    ("ALTER SCHEMA", Schema(SchemaVerb::Define)),
    ("DROP DATABASE", Schema(SchemaVerb::Drop)),
    ("DROP SCHEMA", Schema(SchemaVerb::Drop)),
    // Locks and maintenance.
    ("LOCK TABLES <locks> $", Locks),
    ("LOCK TABLE <locks> $", Locks),
    ("UNLOCK", Session),
    ("ANALYZE [NO_WRITE_TO_BINLOG] [LOCAL] TABLE <tables>", Object(Relation, Neither)),
    ("ANALYZE [NO_WRITE_TO_BINLOG] [LOCAL] TABLES <tables>", Object(Relation, Neither)),
    ("OPTIMIZE [NO_WRITE_TO_BINLOG] [LOCAL] TABLE <tables>", Object(Relation, Neither)),
    ("REPAIR [NO_WRITE_TO_BINLOG] [LOCAL] TABLE <tables>", Object(Relation, Neither)),
    ("CHECK TABLE <tables>", Object(Relation, Neither)),
    ("CHECKSUM TABLE <tables>", Object(Relation, Neither)),
    // Accounts and the server.
    ("CREATE [OR REPLACE] USER", Server),
    ("CREATE [OR REPLACE] ROLE", Server),
    ("CREATE [OR REPLACE] SERVER", Server),
    ("ALTER USER", Server),
    ("ALTER SERVER", Server),
    ("DROP USER", Server),
    ("DROP ROLE", Server),
    ("DROP SERVER", Server),
    ("DROP PREPARE", Session),
    ("GRANT", Server),
    ("REVOKE", Server),
    ("SET PASSWORD", Server),
    ("SET DEFAULT ROLE", Server),
    ("SET STATEMENT", Anything("the statement behind SET STATEMENT … FOR is not examined")),
    ("INSTALL", Server),
    ("UNINSTALL", Server),
    ("FLUSH", Server),
    ("BACKUP", Server),
    ("KILL", Server),
    ("SHUTDOWN", Server),
    ("RESET", Server),
    ("PURGE", Server),
    ("CHANGE", Server),
    // The session.
    ("SET", Session),
    ("USE", Session),
    ("BEGIN $", Session),
    ("BEGIN WORK $", Session),
    ("BEGIN", Anything("a compound statement may touch any table")),
    ("START TRANSACTION", Session),
    ("START", Server),
    ("STOP", Server),
    ("COMMIT", Session),
    ("ROLLBACK", Session),
    ("SAVEPOINT", Session),
    ("RELEASE", Session),
    ("XA", Session),
    ("GET", Session),
    ("SIGNAL", Session),
    ("RESIGNAL", Session),
    ("DEALLOCATE", Session),
    ("HELP", Session),
    ("SHOW", Report),
    ("EXPLAIN", Report),
    ("DESCRIBE", Report),
    ("DESC", Report),
    // What may do anything.
    ("CALL", Anything("a routine may touch any table")),
    ("PREPARE", Anything(PREPARED)),
    ("EXECUTE", Anything(PREPARED)),
    ("HANDLER", Anything("HANDLER reads rows by the name of a handler")),
];

/// What a statement of these tokens touches.
pub(crate) fn scope(all: &[Token<'_>]) -> Scope {
    static BY_FIRST_WORD: LazyLock<HashMap<&'static [u8], Vec<Rule>>> = LazyLock::new(|| {
        let mut by_word: HashMap<_, Vec<_>> = HashMap::new();
        for (pattern, finding) in SCOPES {
            let first = pattern.split(' ').next().unwrap_or_default();
            by_word.entry(first.as_bytes()).or_default().push((*pattern, *finding));
        }
        by_word
    });
    const UNKNOWN: Scope = Scope::Anything("a statement of an unknown kind may touch any table");
    let Some(first) = all.first() else { return Scope::Session };
    let Kind::Word(word) = first.kind else { return UNKNOWN };
    let rules = BY_FIRST_WORD.get(&word.to_ascii_uppercase()[..]).map_or(&[][..], Vec::as_slice);
    let found = rules.iter().find_map(|(pattern, finding)| Some((match_pattern(pattern, all)?, *finding)));
    let Some((found, finding)) = found else { return UNKNOWN };
    let names = found.tables;
    match finding {
        // `SET @a = (SELECT …)`.
        Session if all.iter().any(|token| token.is_word(b"SELECT")) => query(all),
        Session => Scope::Session,
        Server => Scope::Server,
        Rows => of_rows(all, found.length, names).unwrap_or(UNKNOWN),
        Schema(verb) => Scope::Schema { name: crate::analysis::schema_name(all), verb },
        Object(Relation, Definition) => of_table_definition(all, found.length, names),
        Object(kind, part) => Scope::Objects { kind, part, names },
        Finding::Rename => {
            renamed(all).map_or(Scope::Anything("the names of RENAME are not understood"), Scope::Rename)
        }
        Trigger => {
            let mut names = names.into_iter();
            match names.next() {
                Some(trigger) => Scope::Trigger { trigger, table: names.next() },
                None => UNKNOWN,
            }
        }
        Locks => Scope::Locks(names),
        Query => query(all),
        Report => Scope::Report(named_tables(all)),
        Anything(reason) => Scope::Anything(reason),
    }
}

/// Rows of the one table that is named, from the tables behind it. `end`: where the pattern ends.
fn of_rows(all: &[Token<'_>], end: usize, names: Vec<NamedTable>) -> Option<Scope> {
    let is_query = ["SELECT", "TABLE", "WITH"];
    let reads = all[end..].iter().any(|token| is_query.iter().any(|word| token.is_word(word.as_bytes())));
    let sources = if reads { named_tables(&all[end..]) } else { Vec::new() };
    Some(Scope::Rows { target: names.into_iter().next()?, sources })
}

/// A definition, which may bring rows, or concern a second table. `end`: where its pattern ends.
fn of_table_definition(all: &[Token<'_>], end: usize, mut names: Vec<NamedTable>) -> Scope {
    let behind = &all[end..];
    if all[0].is_word(b"ALTER") {
        return altered(behind, names);
    }
    let is_create_table = all[0].is_word(b"CREATE") && all[..end].iter().any(|token| token.is_word(b"TABLE"));
    if !is_create_table {
        return Scope::Objects { kind: Relation, part: Definition, names };
    }
    if let Some(copied) = crate::analysis::copied_table(behind) {
        names.push(copied);
        return Scope::Objects { kind: Relation, part: Definition, names };
    }
    let brings_rows = crate::analysis::brings_rows(behind);
    if brings_rows {
        names.extend(named_tables(behind));
    }
    // The tables of a MERGE table.
    for (index, token) in behind.iter().enumerate() {
        let is_list = |at: usize| behind.get(at).is_some_and(|next| next.is_symbol(b"("));
        if token.is_word(b"UNION")
            && behind.get(index + 1).is_some_and(|next| next.is_symbol(b"="))
            && is_list(index + 2)
        {
            let mut at = index + 3;
            while let Some(end) = read_table(behind, at, &mut names) {
                at = end + 1;
            }
        }
    }
    Scope::Objects { kind: Relation, part: if brings_rows { Part::Both } else { Definition }, names }
}

/// ALTER of a table: it may give the table another name, or exchange its rows with another's.
fn altered(behind: &[Token<'_>], mut names: Vec<NamedTable>) -> Scope {
    let count = names.len();
    for (index, token) in behind.iter().enumerate() {
        let next_is = |word: &[u8]| behind.get(index + 1).is_some_and(|next| next.is_word(word));
        if token.is_word(b"RENAME") && !["COLUMN", "INDEX", "KEY"].iter().any(|word| next_is(word.as_bytes())) {
            let at = index + 1 + usize::from(next_is(b"TO") || next_is(b"AS"));
            let _ = read_table(behind, at, &mut names);
        } else if ["WITH", "CONVERT", "TO"].iter().any(|word| token.is_word(word.as_bytes())) && next_is(b"TABLE") {
            // `EXCHANGE PARTITION p WITH TABLE t`, `CONVERT TABLE t TO PARTITION p`, `CONVERT PARTITION p TO TABLE t`.
            let _ = read_table(behind, index + 2, &mut names);
        }
    }
    match names.len() > count {
        true => Scope::Rename(names),
        false => Scope::Objects { kind: Relation, part: Definition, names },
    }
}

/// The names of `RENAME TABLE a TO b, c TO d`.
fn renamed(all: &[Token<'_>]) -> Option<Vec<NamedTable>> {
    let mut names = Vec::new();
    let is = |at: usize, word: &[u8]| all.get(at).is_some_and(|token| token.is_word(word));
    let mut at = if is(2, b"IF") { 4 } else { 2 };
    loop {
        at = read_table(all, at, &mut names)?;
        while is(at, b"WAIT")
            || is(at, b"NOWAIT")
            || matches!(all.get(at).map(|token| &token.kind), Some(Kind::Number(_)))
        {
            at += 1;
        }
        if !is(at, b"TO") {
            return None;
        }
        at = read_table(all, at + 1, &mut names)?;
        match all.get(at) {
            Some(token) if token.is_symbol(b",") => at += 1,
            None => return Some(names),
            Some(_) => return None,
        }
    }
}

/// SELECT, DO, UPDATE, DELETE, WITH.
fn query(all: &[Token<'_>]) -> Scope {
    // `SELECT SETVAL(s, …)`: the counter of a sequence.
    if let [verb, function, open, ..] = all
        && (verb.is_word(b"SELECT") || verb.is_word(b"DO"))
        && function.is_word(b"SETVAL")
        && open.is_symbol(b"(")
    {
        let mut names = Vec::new();
        if read_table(all, 3, &mut names).is_some() && named_tables(&all[3..]).is_empty() {
            return Scope::Objects { kind: Relation, part: Neither, names };
        }
    }
    if let Some(target) = crate::analysis::changed_table(all) {
        return Scope::Rows { target, sources: named_tables(all) };
    }
    let writes = ["UPDATE", "DELETE", "WITH"].iter().any(|verb| all[0].is_word(verb.as_bytes()));
    Scope::Query { names: named_tables(all), writes }
}
