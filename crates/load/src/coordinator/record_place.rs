//! Which statements a load may run while it has a local record, and nothing on the server: see [`crate::checkpoint`].
//!
//! These are definitions, settings of the session, and rows of literals: their intents go to the local journal, or they have
//! none. Before anything else the load goes on record on the server. That covers what commits with its checkpoint (rows of the
//! main session and transactions of the dump), what may lock the tables of the checkpoints, and what may take the right to
//! create them from the account of the load, or the login itself.

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use crate::analysis::{JournalMode, StatementInfo, StatementKind, Trait};
use crate::apply::Stopped;
use crate::lexer::{Dialect, Kind, Token, tokens};

/// The schema of the accounts.
const ACCOUNTS_SCHEMA: &[u8] = b"mysql";

/// How a statement names the account that runs it.
const OWN_ACCOUNT: [&[u8]; 3] = [b"CURRENT_USER", b"SESSION_USER", b"CURRENT_ROLE"];

/// What no such statement does.
const UNKNOWN: [Trait; 8] = [
    Trait::MayDoAnything,
    Trait::MayCallFunction,
    Trait::SeveralStatements,
    Trait::Compound,
    Trait::BringsRows,
    Trait::SessionBound,
    Trait::CreatesTemporary,
    Trait::DropsTemporary,
];

impl Coordinator<'_> {
    /// Puts the load on record on the server, unless it can do without so far and with this statement.
    pub(super) fn place_record(&mut self, statement: &AnalyzedStatement) -> Result<(), Stopped> {
        let Some(checkpoints) = self.main.checkpoints.filter(|checkpoints| !checkpoints.is_on_server()) else {
            return Ok(());
        };
        let database = self.main.state().database.as_deref();
        let may_stay = self.main.status().autocommit()
            && may_stay_local(statement, &self.main.dialect(), database, checkpoints.own_names());
        if may_stay { self.record_created(statement) } else { self.main.register(statement) }
    }

    /// Whether a statement that creates tables creates them, or fails and ends the load; else that depends on what is there.
    pub(super) fn surely_creates(&self, info: &StatementInfo) -> bool {
        info.is(Trait::CreatesTable) && !info.is_idempotent() && !self.pool.is_forced()
    }

    /// The local record names the table that a statement creates.
    fn record_created(&mut self, statement: &AnalyzedStatement) -> Result<(), Stopped> {
        let created = statement.info.tables.first().filter(|_| self.surely_creates(&statement.info));
        match created.and_then(|named| self.names().resolve(named)) {
            Some(table) => self.main.record_created(&table, statement),
            None => Ok(()),
        }
    }

    /// Whether a statement changes accounts, and none by whose name this load logs in.
    pub(super) fn is_of_other_accounts(&self, statement: &AnalyzedStatement) -> bool {
        let own_names = self.main.checkpoints.map_or(&[][..], |checkpoints| checkpoints.own_names());
        changes_other_accounts(statement, &self.main.dialect(), own_names)
    }
}

fn may_stay_local(
    statement: &AnalyzedStatement,
    dialect: &Dialect,
    database: Option<&[u8]>,
    own_names: &[Vec<u8>],
) -> bool {
    let info = &statement.info;
    let is_of_accounts = |schema: Option<&[u8]>| {
        schema.or(database).is_some_and(|schema| schema.trim_ascii_end().eq_ignore_ascii_case(ACCOUNTS_SCHEMA))
    };
    let names_accounts = info.tables.iter().chain(&info.changes).any(|table| is_of_accounts(table.schema.as_deref()))
        || info.schema.as_deref().is_some_and(|schema| is_of_accounts(Some(schema)));
    if info.diagnostics.is_some() || names_accounts || UNKNOWN.iter().any(|found| info.is(*found)) {
        return false;
    }
    match &info.kind {
        StatementKind::Set => {
            info.journal == JournalMode::Session
                && !info.assignments.beyond_session
                && !info.assignments.reads_beyond_session
                && !info.assignments.autocommit
        }
        StatementKind::Use(Some(schema)) => !is_of_accounts(Some(schema)),
        StatementKind::Rows(_)
        | StatementKind::TableDdl
        | StatementKind::Constant
        | StatementKind::Skip
        | StatementKind::Empty => true,
        // An event may do anything, and soon.
        StatementKind::OtherDdl => !has_word(statement, dialect, b"EVENT"),
        StatementKind::Exclusive { .. } => {
            copies_table(info) || info.is(Trait::OfSchema) || changes_other_accounts(statement, dialect, own_names)
        }
        StatementKind::Use(None) | StatementKind::Write { .. } => false,
    }
}

/// CREATE TABLE … LIKE.
fn copies_table(info: &StatementInfo) -> bool {
    info.is(Trait::CreatesTable) && info.copies.is_some()
}

/// Whether a statement creates or drops accounts, and none that has one of these names, or none, or is given as the own.
///
/// A word or a password that is one of the names counts as a name: that makes a load slower, and never wrong.
fn changes_other_accounts(statement: &AnalyzedStatement, dialect: &Dialect, own_names: &[Vec<u8>]) -> bool {
    if own_names.is_empty() || !matches!(statement.info.kind, StatementKind::Exclusive { .. }) {
        return false;
    }
    let mut rest = tokens(&statement.text, dialect);
    let is_first = rest.next().is_some_and(|first| first.is_word(b"CREATE") || first.is_word(b"DROP"));
    let is_option = |token: &Token<'_>| token.is_word(b"OR") || token.is_word(b"REPLACE");
    if !is_first || !rest.find(|token| !is_option(token)).is_some_and(|kind| kind.is_word(b"USER")) {
        return false;
    }
    // How the server folds other letters depends on its collations.
    let is_other = |name: &[u8]| {
        let name = name.trim_ascii_end();
        let is = |own: &[u8]| own.trim_ascii_end().eq_ignore_ascii_case(name);
        !name.is_empty()
            && name.is_ascii()
            && !own_names.iter().any(|own| is(own))
            && !OWN_ACCOUNT.iter().any(|own| is(own))
    };
    rest.all(|token| match &token.kind {
        Kind::Word(name) => is_other(name),
        Kind::QuotedIdentifier(name) => is_other(name),
        Kind::String(raw) => plain_string(raw).is_some_and(is_other),
        Kind::Number(_) => false,
        Kind::UserVariable(_) | Kind::SystemVariable(_) | Kind::Symbol(_) => true,
    })
}

/// What is in quotes, where nothing in it is escaped.
fn plain_string(raw: &[u8]) -> Option<&[u8]> {
    let (quote, inner) = raw.split_first()?;
    let inner = inner.strip_suffix(&[*quote])?;
    let is_plain = matches!(quote, b'\'' | b'"') && memchr::memchr2(*quote, b'\\', inner).is_none();
    is_plain.then_some(inner)
}

/// Whether a statement has this word.
fn has_word(statement: &AnalyzedStatement, dialect: &Dialect, word: &[u8]) -> bool {
    tokens(&statement.text, dialect).any(|token| token.is_word(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{FunctionSet, SessionFacts, analyze};
    use crate::lexer::Location;

    fn may_stay(text: &str, database: &str) -> bool {
        let dialect = Dialect::mariadb(101_100);
        let facts = SessionFacts { dialect, functions: &FunctionSet::all(), known_head: None };
        let info = Box::new(analyze(text.as_bytes(), &facts));
        let location = Location { file: "dump.sql".into(), line: 1, byte: 0, ordinal: 1 };
        let statement = AnalyzedStatement { text: text.as_bytes().to_vec(), location, is_vertical: false, info };
        may_stay_local(&statement, &dialect, Some(database.as_bytes()), &[b"loader".to_vec(), b"load er".to_vec()])
    }

    #[test]
    fn statements_that_need_nothing_on_the_server() {
        for text in [
            "CREATE TABLE t (id INT)",
            "CREATE TABLE t LIKE u",
            "ALTER TABLE t ADD KEY (a)",
            "ALTER TABLE t DISABLE KEYS",
            "DROP TABLE IF EXISTS t, u",
            "INSERT INTO t VALUES (1), (2)",
            "LOCK TABLES t WRITE",
            "UNLOCK TABLES",
            "CREATE DATABASE d",
            "DROP DATABASE IF EXISTS d",
            "USE d",
            "SET NAMES utf8mb4",
            "SET @old = @@sql_mode, sql_mode = ''",
            "SELECT 1",
            "CREATE VIEW v AS SELECT 1",
            "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 1",
            "CREATE PROCEDURE p() SELECT 1",
            "CREATE USER clerk@localhost",
            "CREATE OR REPLACE USER 'clerk'@'%' IDENTIFIED BY 'secret'",
            "CREATE USER IF NOT EXISTS user",
            "DROP USER clerk@localhost",
            "DROP USER IF EXISTS `clerk`, 'teller'@localhost",
        ] {
            assert!(may_stay(text, "d"), "{text}");
        }
    }

    #[test]
    fn statements_that_need_the_record_on_the_server() {
        for text in [
            "CREATE USER loader@localhost",
            "CREATE USER LOADER",
            "CREATE USER 'loader  '@'%'",
            "CREATE USER `load er`",
            "CREATE OR REPLACE USER a, loader",
            "CREATE USER ''@localhost",
            "CREATE USER 'load\\\\er'",
            "CREATE USER 'l\u{f6}ader'",
            "CREATE USER N'a'",
            "DROP USER CURRENT_USER()",
            "DROP USER current_user",
            "DROP USER clerk@localhost, loader@localhost",
            "ALTER USER clerk IDENTIFIED BY 'x'",
            "RENAME USER clerk TO loader",
            "GRANT SELECT ON *.* TO clerk",
            "REVOKE ALL ON *.* FROM clerk",
            "SET PASSWORD FOR clerk = ''",
            "SET PASSWORD = PASSWORD('x')",
            "SET DEFAULT ROLE r FOR clerk",
            "SET ROLE r",
            "CREATE ROLE r",
            "DROP ROLE r",
            "FLUSH PRIVILEGES",
            "INSERT INTO mysql.global_priv VALUES ('a', 'b', '{}')",
            "UPDATE t SET a = 1",
            "DELETE FROM mysql.db",
            "DROP TABLE mysql.global_priv",
            "CREATE TABLE `mysql`.t LIKE mysql.db",
            "CREATE TRIGGER mysql.tr BEFORE INSERT ON mysql.t FOR EACH ROW SET NEW.a = 1",
            "DROP DATABASE mysql",
            "USE mysql",
            "USE MySQL",
            "SET GLOBAL read_only = 1",
            "SET @@global.read_only = 1",
            "SET autocommit = 0",
            "SET @a = f()",
            "BEGIN",
            "START TRANSACTION",
            "XA START 'x'",
            "CALL p()",
            "EXECUTE IMMEDIATE 'DROP USER loader'",
            "FLUSH TABLES WITH READ LOCK",
            "BACKUP STAGE START",
            "CREATE TEMPORARY TABLE t (a INT)",
            "CREATE TABLE t SELECT 1",
            "CREATE EVENT e ON SCHEDULE AT NOW() DO DROP USER loader",
            "INSERT INTO t SELECT 1",
            "SELECT ROW_COUNT()",
            "SHOW WARNINGS",
            "SELECT * FROM t FOR UPDATE",
            "INSTALL SONAME 'auth_ed25519'",
            "RENAME TABLE t TO u",
            "ALTER TABLE t RENAME TO u",
            "ALTER TABLE t EXCHANGE PARTITION p WITH TABLE u",
            "SHUTDOWN",
        ] {
            assert!(!may_stay(text, "d"), "{text}");
        }
        for text in ["CREATE TABLE t (id INT)", "INSERT INTO db VALUES (1)", "DROP TABLE user"] {
            assert!(!may_stay(text, "mysql"), "{text}");
        }
    }
}
