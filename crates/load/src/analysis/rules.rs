//! The one table of what each kind of statement is and does.
//!
//! A rule is a pattern of leading tokens, the [`RuleKind`], how the journal records the statement, and its [`Trait`]s.
//! The first rule that fits decides; what no rule fits runs exclusively. See [`super::pattern`] for the pattern language.
//! Everything that asks what a statement does (planner, journal, recovery, validation, `--plan`) reads the result of this
//! table as a [`super::StatementInfo`].

use std::collections::HashMap;
use std::sync::LazyLock;

use super::JournalMode::{self, Control, Intent, Repeated, Rows, Session};
use super::{Trait, Trait::*};

/// What the planner does with a statement of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleKind {
    /// An INSERT or REPLACE: its head and its values are read further.
    Insert,
    /// Changes the definition of the tables named. Any connection can run it.
    TableDdl,
    /// Changes what the catalog holds besides the columns and keys of one table. Runs in the main session, after all
    /// definitions under way and after all that was done to the tables named.
    OtherDdl,
    /// Changes the session: runs in the main session at once; what follows runs under the new state.
    Set,
    /// Selects the default schema.
    Use,
    /// A SELECT: of constants it runs at once, else exclusively.
    Select,
    /// Only there to make a serial load faster or safer; not sent.
    Skip,
    /// BINLOG: what its events say.
    Binlog,
    /// Writes rows, and returns none but those that it has written. Runs in the main session, after all before it; several are sent together.
    Write(&'static str),
    /// Waits for all before it and holds up all behind it; the text is the reason.
    Exclusive(&'static str),
}

/// One kind of statement.
#[derive(Debug)]
pub struct Rule {
    /// Leading tokens; see the module `pattern`.
    pub pattern: &'static str,
    /// What the planner does with it.
    pub kind: RuleKind,
    /// How the journal records it.
    pub journal: JournalMode,
    /// What else is known of it.
    pub traits: &'static [Trait],
}

const fn rule(pattern: &'static str, kind: RuleKind, journal: JournalMode, traits: &'static [Trait]) -> Rule {
    Rule { pattern, kind, journal, traits }
}

use RuleKind::{Binlog, Exclusive, Insert, OtherDdl, Select, Set, Skip, TableDdl, Use, Write};

const TRANSACTION: RuleKind = Exclusive("a transaction of the dump");
const ACCOUNTS: &str = "it changes accounts";
const SERVER: &str = "it acts on the whole server";
const REPLICATION: &str = "it sets up replication for the whole server";
const MAINTENANCE: &str = "table maintenance reads whole tables";
const PREPARED: &str = "a prepared statement belongs to its session";
const ROUTINE: RuleKind = OtherDdl;

/// The rules whose patterns begin with a word, in any case, in the order in which they are tried.
pub fn rules_of(word: &[u8]) -> &'static [&'static Rule] {
    static BY_FIRST_WORD: LazyLock<HashMap<&'static [u8], Vec<&'static Rule>>> = LazyLock::new(|| {
        let mut by_word: HashMap<_, Vec<_>> = HashMap::new();
        for rule in RULES {
            let first = rule.pattern.split(' ').next().unwrap_or_default();
            by_word.entry(first.as_bytes()).or_default().push(rule);
        }
        by_word
    });
    BY_FIRST_WORD.get(&word.to_ascii_uppercase()[..]).map_or(&[], Vec::as_slice)
}

/// All rules, in the order in which they are tried. Each pattern begins with a word.
pub static RULES: &[Rule] = &[
    // Rows.
    rule("INSERT DELAYED", Exclusive("INSERT DELAYED"), Rows, &[WritesRows, NumbersRows]),
    rule("REPLACE DELAYED", Exclusive("REPLACE DELAYED"), Rows, &[WritesRows, NumbersRows]),
    rule("INSERT", Insert, Rows, &[WritesRows, NumbersRows]),
    rule("REPLACE", Insert, Rows, &[WritesRows, NumbersRows]),
    rule("UPDATE", Write("UPDATE reads and writes rows"), Rows, &[WritesRows, AnyEngine, NumbersRows]),
    rule("DELETE", Write("DELETE reads and writes rows"), Rows, &[WritesRows, AnyEngine, NumbersRows]),
    rule("BINLOG", Binlog, Rows, &[WritesRows, AnyEngine]),
    rule("LOAD", Exclusive("LOAD reads a file"), Rows, &[WritesRows, AnyEngine, NumbersRows, NamesVariables]),
    rule("WITH", Exclusive("WITH reads rows, and may write some"), Rows, &[WritesRows, AnyEngine]),
    // A parallel load does without these.
    rule("LOCK TABLES <locks> $", Skip, Intent, &[Locks, NoRows]),
    rule("LOCK TABLE <locks> $", Skip, Intent, &[Locks, NoRows]),
    rule("LOCK", Exclusive("LOCK TABLES of a form that is not known"), Intent, &[Locks, NoRows]),
    rule("UNLOCK TABLES $", Skip, Intent, &[Unlocks, NoRows]),
    rule("UNLOCK TABLE $", Skip, Intent, &[Unlocks, NoRows]),
    rule("UNLOCK", Exclusive("UNLOCK of a form that is not known"), Intent, &[Unlocks, NoRows]),
    rule("ALTER TABLE <table> DISABLE KEYS $", Skip, Intent, &[Idempotent, SwitchesKeys]),
    rule("ALTER TABLE <table> ENABLE KEYS $", Skip, Intent, &[Idempotent, SwitchesKeys]),
    // One table's definition.
    rule(
        "CREATE [OR REPLACE]? TEMPORARY",
        Exclusive("a temporary table belongs to its session"),
        Intent,
        &[CreatesTemporary, SessionBound],
    ),
    rule("CREATE [OR REPLACE]? TABLE [IF NOT EXISTS]? <table>", TableDdl, Intent, &[CreatesTable, NumbersRows]),
    rule("ALTER [ONLINE] TABLE [IF EXISTS] <table>", TableDdl, Intent, &[AltersTable, ReadsRows]),
    rule(
        "CREATE [OR REPLACE]? [UNIQUE] [FULLTEXT] [SPATIAL] INDEX [IF NOT EXISTS]? <name> ... ON <table>",
        TableDdl,
        Intent,
        &[ReadsRows],
    ),
    rule("DROP INDEX [IF EXISTS]? <name> ON <table>", TableDdl, Intent, &[ReadsRows, Destroys]),
    // Definitions that others may depend on, and the rest of the catalog.
    rule("DROP TABLE [IF EXISTS]? <tables> [RESTRICT] [CASCADE] $", OtherDdl, Intent, &[Destroys, DropsTables]),
    rule("DROP TABLE", Exclusive("DROP TABLE of a form that is not known"), Intent, &[Destroys]),
    rule(
        "DROP TEMPORARY TABLE",
        Exclusive("a temporary table belongs to its session"),
        Intent,
        &[Destroys, DropsTemporary],
    ),
    rule("TRUNCATE [TABLE] <table> $", OtherDdl, Repeated, &[Destroys, Idempotent]),
    rule("TRUNCATE", Exclusive("TRUNCATE of a form that is not known"), Intent, &[Destroys, Idempotent]),
    rule("CREATE [OR REPLACE]? [definer] TRIGGER ... ON <table>", OtherDdl, Intent, &[HasBody]),
    rule("CREATE [OR REPLACE]? [definer] [AGGREGATE] FUNCTION", ROUTINE, Intent, &[HasBody, DefinesFunction]),
    rule("CREATE [OR REPLACE]? [definer] PROCEDURE", ROUTINE, Intent, &[HasBody]),
    rule("CREATE [OR REPLACE]? [definer] EVENT", ROUTINE, Intent, &[HasBody]),
    rule("CREATE [OR REPLACE]? [definer] PACKAGE", ROUTINE, Intent, &[HasBody]),
    rule(
        "CREATE [OR REPLACE]? [algorithm] [definer] [security] VIEW [IF NOT EXISTS]? <table>",
        OtherDdl,
        Intent,
        &[CreatesView],
    ),
    rule("CREATE [OR REPLACE]? SEQUENCE [IF NOT EXISTS]? <table>", OtherDdl, Intent, &[]),
    rule("CREATE OR REPLACE DATABASE", Exclusive("it takes all tables of the schema"), Intent, &[OfSchema, Destroys]),
    rule("CREATE OR REPLACE SCHEMA", Exclusive("it takes all tables of the schema"), Intent, &[OfSchema, Destroys]),
    rule("CREATE DATABASE [IF NOT EXISTS]? <name>", OtherDdl, Intent, &[OfSchema]),
    rule("CREATE SCHEMA [IF NOT EXISTS]? <name>", OtherDdl, Intent, &[OfSchema]),
    rule("DROP FUNCTION [IF EXISTS]?", OtherDdl, Intent, &[Destroys]),
    rule("DROP PROCEDURE [IF EXISTS]?", OtherDdl, Intent, &[Destroys]),
    rule("DROP EVENT [IF EXISTS]?", OtherDdl, Intent, &[Destroys]),
    rule("DROP PACKAGE", OtherDdl, Intent, &[Destroys]),
    rule("DROP VIEW [IF EXISTS]? <tables> [RESTRICT] [CASCADE] $", OtherDdl, Intent, &[Destroys]),
    rule("ALTER DATABASE", OtherDdl, Intent, &[OfSchema, Idempotent, Destroys]),
    rule("ALTER SCHEMA", OtherDdl, Intent, &[OfSchema, Idempotent, Destroys]),
    rule("ALTER [definer] EVENT", Exclusive("it changes an event"), Intent, &[HasBody, MovesTables]),
    rule("ALTER", Exclusive("an ALTER of a kind that is not known"), Intent, &[MovesTables]),
    rule("DROP TRIGGER [IF EXISTS]?", Exclusive("it changes what inserts do"), Intent, &[Destroys, DropsTables]),
    rule(
        "DROP DATABASE [IF EXISTS]?",
        Exclusive("it takes all tables of the schema"),
        Intent,
        &[OfSchema, Destroys, DropsTables],
    ),
    rule(
        "DROP SCHEMA [IF EXISTS]?",
        Exclusive("it takes all tables of the schema"),
        Intent,
        &[OfSchema, Destroys, DropsTables],
    ),
    rule("RENAME", Exclusive("RENAME changes which table a name means"), Intent, &[MovesTables]),
    // The session.
    rule("SET PASSWORD", Exclusive(ACCOUNTS), Intent, &[NoRows, IdempotentIfConstant]),
    rule("SET DEFAULT ROLE", Exclusive(ACCOUNTS), Intent, &[NoRows, IdempotentIfConstant]),
    rule(
        "SET STATEMENT",
        Exclusive("SET STATEMENT changes variables for one statement"),
        Intent,
        &[SetsForOne, NoRows, MayDoAnything],
    ),
    rule("SET", Set, Session, &[NoRows, IdempotentIfConstant]),
    rule("USE", Use, Session, &[NoRows]),
    rule("SELECT", Select, Rows, &[NoRows, ReturnsRows, NamesVariables]),
    rule("VALUES", Exclusive("VALUES returns rows"), Rows, &[ReturnsRows]),
    // Transactions.
    rule("BEGIN $", TRANSACTION, Control, &[NoRows, BeginsTransaction]),
    rule("BEGIN WORK $", TRANSACTION, Control, &[NoRows, BeginsTransaction]),
    rule(
        "BEGIN",
        Exclusive("a compound statement may do anything"),
        Intent,
        &[Compound, SessionBound, MayDoAnything, NumbersRows],
    ),
    rule("START TRANSACTION $", TRANSACTION, Control, &[NoRows, BeginsTransaction]),
    rule("START TRANSACTION", TRANSACTION, Control, &[NoRows]),
    rule("COMMIT $", TRANSACTION, Control, &[NoRows, CommitsTransaction]),
    rule("COMMIT WORK $", TRANSACTION, Control, &[NoRows, CommitsTransaction]),
    rule("COMMIT [WORK] [AND NO CHAIN] RELEASE $", TRANSACTION, Control, &[NoRows, EndsSession]),
    rule("COMMIT", TRANSACTION, Control, &[NoRows]),
    rule("ROLLBACK [WORK] TO", TRANSACTION, Control, &[NoRows, OfSavepoint]),
    rule("ROLLBACK [WORK] [AND NO CHAIN] RELEASE $", TRANSACTION, Control, &[NoRows, RollsBack, EndsSession]),
    rule("ROLLBACK", TRANSACTION, Control, &[NoRows, RollsBack]),
    rule("SAVEPOINT", TRANSACTION, Control, &[NoRows, OfSavepoint]),
    rule("RELEASE", TRANSACTION, Control, &[NoRows, OfSavepoint]),
    rule("XA COMMIT", TRANSACTION, Intent, &[NoRows, EndsXa]),
    rule("XA ROLLBACK", TRANSACTION, Intent, &[NoRows, EndsXa]),
    rule("XA RECOVER", TRANSACTION, Intent, &[NoRows, EndsXa, ReturnsRows]),
    rule("XA", TRANSACTION, Intent, &[NoRows, BeginsXa]),
    // What reads or does anything at all.
    rule(
        "CALL",
        Exclusive("CALL runs a routine"),
        Intent,
        &[RunsRoutine, SessionBound, MayDoAnything, MovesTables, NumbersRows],
    ),
    rule("DO", Exclusive("DO runs expressions"), Rows, &[NoRows]),
    rule("PREPARE", Exclusive(PREPARED), Session, &[NoRows, PreparesSession]),
    rule(
        "EXECUTE IMMEDIATE",
        Exclusive(PREPARED),
        Intent,
        &[MayCreateTemporary, SessionBound, MayDoAnything, MovesTables, NumbersRows],
    ),
    rule(
        "EXECUTE",
        Exclusive(PREPARED),
        Intent,
        &[ExecutesPrepared, MayCreateTemporary, SessionBound, MayDoAnything, MovesTables, NumbersRows],
    ),
    rule("DEALLOCATE", Exclusive(PREPARED), Session, &[NoRows, PreparesSession]),
    rule("DROP PREPARE", Exclusive(PREPARED), Session, &[NoRows, PreparesSession]),
    rule("GET", Exclusive("GET DIAGNOSTICS asks what the statement before did"), Session, &[NoRows]),
    rule("SIGNAL", Exclusive("SIGNAL raises a condition"), Session, &[NoRows]),
    rule("RESIGNAL", Exclusive("SIGNAL raises a condition"), Session, &[NoRows]),
    rule("SHOW", Exclusive("SHOW reports the current state"), Session, &[NoRows, ReturnsRows, Idempotent]),
    rule("HELP", Exclusive("HELP reports on the server"), Session, &[NoRows, ReturnsRows, Idempotent]),
    rule("EXPLAIN", Exclusive("EXPLAIN reports on the state at its place"), Session, &[NoRows, ReturnsRows]),
    rule("DESCRIBE", Exclusive("DESCRIBE reports on the state at its place"), Session, &[NoRows, ReturnsRows]),
    rule("DESC", Exclusive("DESCRIBE reports on the state at its place"), Session, &[NoRows, ReturnsRows]),
    rule("HANDLER", Exclusive("HANDLER reads rows"), Session, &[ReturnsRows, UsesHandler]),
    rule("FLUSH", Exclusive(SERVER), Intent, &[NoRows, Idempotent, MayLockServer]),
    rule("BACKUP", Exclusive(SERVER), Intent, &[Locks]),
    rule("KILL", Exclusive(SERVER), Intent, &[NoRows]),
    rule("SHUTDOWN", Exclusive(SERVER), Intent, &[]),
    rule("RESET", Exclusive(SERVER), Intent, &[Idempotent]),
    rule("PURGE", Exclusive(SERVER), Intent, &[Idempotent]),
    rule("CHANGE", Exclusive(REPLICATION), Intent, &[Idempotent]),
    rule("START", Exclusive(REPLICATION), Intent, &[NoRows, Idempotent]),
    rule("STOP", Exclusive(REPLICATION), Intent, &[Idempotent]),
    rule("GRANT", Exclusive(ACCOUNTS), Repeated, &[NoRows, Idempotent]),
    // A second one fails.
    rule("REVOKE", Exclusive(ACCOUNTS), Intent, &[NoRows]),
    rule("CREATE [OR REPLACE]? USER [IF NOT EXISTS]?", Exclusive(ACCOUNTS), Intent, &[]),
    rule("CREATE [OR REPLACE]? ROLE [IF NOT EXISTS]?", Exclusive(ACCOUNTS), Intent, &[]),
    rule("CREATE [OR REPLACE]?", Exclusive("a CREATE of a kind that is not known"), Intent, &[]),
    rule("DROP USER [IF EXISTS]?", Exclusive(ACCOUNTS), Intent, &[Destroys, DropsTables]),
    rule("DROP ROLE [IF EXISTS]?", Exclusive(ACCOUNTS), Intent, &[Destroys, DropsTables]),
    rule(
        "DROP SEQUENCE [IF EXISTS]?",
        Exclusive("a DROP of a kind that is not known"),
        Intent,
        &[Destroys, DropsTables],
    ),
    rule("DROP", Exclusive("a DROP of a kind that is not known"), Intent, &[Destroys, DropsTables]),
    rule("INSTALL", Exclusive("INSTALL changes the server"), Intent, &[]),
    rule("ANALYZE TABLE", Exclusive(MAINTENANCE), Repeated, &[NoRows, Idempotent, ReturnsRows]),
    rule("ANALYZE TABLES", Exclusive(MAINTENANCE), Repeated, &[NoRows, Idempotent, ReturnsRows]),
    rule("ANALYZE LOCAL", Exclusive(MAINTENANCE), Repeated, &[NoRows, Idempotent, ReturnsRows]),
    rule("ANALYZE NO_WRITE_TO_BINLOG", Exclusive(MAINTENANCE), Repeated, &[NoRows, Idempotent, ReturnsRows]),
    rule("ANALYZE", Exclusive("ANALYZE runs a statement"), Intent, &[ReturnsRows]),
    rule("OPTIMIZE", Exclusive(MAINTENANCE), Repeated, &[Idempotent, ReturnsRows]),
    rule("CHECK", Exclusive(MAINTENANCE), Repeated, &[NoRows, Idempotent, ReturnsRows]),
    rule("REPAIR", Exclusive(MAINTENANCE), Repeated, &[Idempotent, ReturnsRows]),
    rule("CHECKSUM", Exclusive(MAINTENANCE), Repeated, &[NoRows, Idempotent, ReturnsRows]),
];
