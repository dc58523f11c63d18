//! The statement kinds: one table of what each kind of statement reads and writes.
//!
//! A rule is a pattern of leading words and an [`Effect`]. The first rule that fits decides; what no rule fits is a
//! barrier. In a pattern, `[A B]` may be there or not, `<table>` is a table's name, `<tables>` several, `<name>` any
//! name, and `...` skips to the next word of the pattern; `[definer]`, `[algorithm]` and `[security]` are those clauses
//! of CREATE, which may be absent.

/// What a statement does, as far as its place among others is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Puts rows into one table: decided row by row, see [`crate::rows`].
    Rows,
    /// Changes the definition of the tables named; reads the tables behind REFERENCES. Any connection can run it.
    TableDdl,
    /// Changes what the catalog holds besides single tables, or tables that others may point to: runs in the main
    /// session, after all definitions before it, and after all that was done to the tables named.
    OtherDdl,
    /// Changes the session: runs in the main session at once; what follows runs under the new state.
    Session,
    /// Reads nothing that statements write: runs in the main session at once.
    Constant,
    /// Only there to make a serial load faster or safer; not sent.
    Skip,
    /// Waits for all before it and holds up all behind it; the text is the reason.
    Barrier(&'static str),
}

/// One kind of statements.
#[derive(Debug)]
pub struct Rule {
    /// Leading words.
    pub pattern: &'static str,
    /// What such a statement does.
    pub effect: Effect,
    /// Words that, anywhere in the statement, make it a barrier instead.
    pub unless: &'static [&'static str],
}

const fn rule(pattern: &'static str, effect: Effect) -> Rule {
    Rule { pattern, effect, unless: &[] }
}

impl Rule {
    const fn unless(self, words: &'static [&'static str]) -> Self {
        Self { unless: words, ..self }
    }
}

/// All kinds, in the order in which they are tried.
pub static RULES: &[Rule] = &[
    // Rows.
    rule("INSERT DELAYED", Effect::Barrier("INSERT DELAYED")),
    rule("INSERT", Effect::Rows),
    rule("REPLACE DELAYED", Effect::Barrier("REPLACE DELAYED")),
    rule("REPLACE", Effect::Rows),
    rule("UPDATE", Effect::Barrier("UPDATE reads and writes rows")),
    rule("DELETE", Effect::Barrier("DELETE reads and writes rows")),
    rule("LOAD", Effect::Barrier("LOAD reads a file")),
    // Not needed by a parallel load.
    rule("LOCK TABLES", Effect::Skip),
    rule("LOCK TABLE", Effect::Skip),
    rule("UNLOCK TABLES", Effect::Skip),
    rule("UNLOCK TABLE", Effect::Skip),
    rule("ALTER TABLE <table> DISABLE KEYS", Effect::Skip),
    rule("ALTER TABLE <table> ENABLE KEYS", Effect::Skip),
    // One table's definition.
    rule("CREATE [OR REPLACE] TEMPORARY", Effect::Barrier("a temporary table belongs to its session")),
    rule("CREATE [OR REPLACE] TABLE [IF NOT EXISTS] <table>", Effect::TableDdl).unless(&[
        "SELECT",
        "LIKE",
        "UNION",
        "MERGE",
        "CONNECT",
        "FEDERATED",
        "SPIDER",
        "NEXTVAL",
        "NEXT",
        "LASTVAL",
    ]),
    rule("ALTER [ONLINE] TABLE [IF EXISTS] <table>", Effect::TableDdl).unless(&[
        "RENAME",
        "CONVERT",
        "EXCHANGE",
        "UNION",
        "CONNECTION",
        "IMPORT",
        "DISCARD",
        "NEXTVAL",
        "NEXT",
        "LASTVAL",
    ]),
    rule(
        "CREATE [OR REPLACE] [UNIQUE] [FULLTEXT] [SPATIAL] INDEX [IF NOT EXISTS] <name> ... ON <table>",
        Effect::TableDdl,
    ),
    rule("DROP INDEX [IF EXISTS] <name> ON <table>", Effect::TableDdl),
    // Definitions that others may hang on, and the rest of the catalog.
    rule("DROP TABLE [IF EXISTS] <tables>", Effect::OtherDdl),
    rule("TRUNCATE [TABLE] <table>", Effect::OtherDdl),
    rule("CREATE [OR REPLACE] [definer] TRIGGER ... ON <table>", Effect::OtherDdl),
    rule("CREATE [OR REPLACE] [definer] [AGGREGATE] FUNCTION", Effect::OtherDdl),
    rule("CREATE [OR REPLACE] [definer] PROCEDURE", Effect::OtherDdl),
    rule("CREATE [OR REPLACE] [definer] EVENT", Effect::OtherDdl),
    rule("CREATE [OR REPLACE] [definer] PACKAGE", Effect::OtherDdl),
    rule("CREATE [OR REPLACE] [algorithm] [definer] [security] VIEW", Effect::OtherDdl),
    rule("CREATE [OR REPLACE] SEQUENCE", Effect::OtherDdl),
    rule("CREATE [OR REPLACE] DATABASE", Effect::OtherDdl),
    rule("CREATE [OR REPLACE] SCHEMA", Effect::OtherDdl),
    rule("DROP FUNCTION", Effect::OtherDdl),
    rule("DROP PROCEDURE", Effect::OtherDdl),
    rule("DROP EVENT", Effect::OtherDdl),
    rule("DROP PACKAGE", Effect::OtherDdl),
    rule("DROP VIEW", Effect::OtherDdl),
    rule("ALTER DATABASE", Effect::OtherDdl),
    rule("ALTER SCHEMA", Effect::OtherDdl),
    rule("DROP TRIGGER", Effect::Barrier("DROP TRIGGER changes what inserts do")),
    rule("DROP DATABASE", Effect::Barrier("DROP DATABASE drops all tables of the database")),
    rule("DROP SCHEMA", Effect::Barrier("DROP SCHEMA drops all tables of the schema")),
    rule("RENAME", Effect::Barrier("RENAME changes which table a name means")),
    // The session.
    rule("SET PASSWORD", Effect::Barrier("SET PASSWORD changes an account")),
    rule("SET DEFAULT ROLE", Effect::Barrier("SET DEFAULT ROLE changes an account")),
    rule("SET STATEMENT", Effect::Barrier("SET STATEMENT changes variables for one statement")),
    rule("SET", Effect::Session),
    rule("USE", Effect::Session),
    rule("SELECT", Effect::Constant),
    // Transactions.
    rule("BEGIN", Effect::Barrier("a transaction of the dump")),
    rule("START TRANSACTION", Effect::Barrier("a transaction of the dump")),
    rule("COMMIT", Effect::Barrier("a transaction of the dump")),
    rule("ROLLBACK", Effect::Barrier("a transaction of the dump")),
    rule("SAVEPOINT", Effect::Barrier("a transaction of the dump")),
    rule("RELEASE", Effect::Barrier("a transaction of the dump")),
    rule("XA", Effect::Barrier("a transaction of the dump")),
    // What reads or does anything at all.
    rule("CALL", Effect::Barrier("CALL runs a routine")),
    rule("DO", Effect::Barrier("DO runs expressions")),
    rule("PREPARE", Effect::Barrier("a prepared statement belongs to its session")),
    rule("EXECUTE", Effect::Barrier("a prepared statement belongs to its session")),
    rule("DEALLOCATE", Effect::Barrier("a prepared statement belongs to its session")),
    rule("SHOW", Effect::Barrier("SHOW reports the current state")),
    rule("FLUSH", Effect::Barrier("FLUSH acts on the whole server")),
    rule("KILL", Effect::Barrier("KILL acts on the whole server")),
    rule("SHUTDOWN", Effect::Barrier("SHUTDOWN acts on the whole server")),
    rule("RESET", Effect::Barrier("RESET acts on the whole server")),
    rule("PURGE", Effect::Barrier("PURGE acts on the whole server")),
    rule("CHANGE", Effect::Barrier("the statement changes the replication of the server")),
    rule("STOP", Effect::Barrier("the statement changes the replication of the server")),
    rule("GRANT", Effect::Barrier("GRANT changes accounts")),
    rule("REVOKE", Effect::Barrier("REVOKE changes accounts")),
    rule("CREATE USER", Effect::Barrier("CREATE USER changes accounts")),
    rule("CREATE ROLE", Effect::Barrier("CREATE ROLE changes accounts")),
    rule("INSTALL", Effect::Barrier("INSTALL changes the server")),
    rule("ANALYZE", Effect::Barrier("table maintenance reads whole tables")),
    rule("OPTIMIZE", Effect::Barrier("table maintenance reads whole tables")),
    rule("CHECK", Effect::Barrier("table maintenance reads whole tables")),
    rule("REPAIR", Effect::Barrier("table maintenance reads whole tables")),
    rule("CHECKSUM", Effect::Barrier("table maintenance reads whole tables")),
    rule("HANDLER", Effect::Barrier("HANDLER reads rows")),
];
