//! Whether what a definition concerns is there: known without a question, most often.
//!
//! The intent of a definition says how its subjects stood before it. For CREATE of something new and for DROP it is enough
//! to know whether they are there. The catalog cache knows that of tables and views, and [`ExistingNames`] of schemas
//! and accounts: the server lists them once, and what the dump itself makes and drops keeps the lists true.

use std::collections::HashSet;

use hortator_mysql::{Connection, Error};

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use crate::analysis::{DdlTarget, JournalMode, Postcondition, StatementInfo, StatementKind, Trait};
use crate::apply::Stopped;
use crate::checkpoint::RecoveryHint;
use crate::planner::Catalog;

/// Names of one kind that are remembered. Where there are more, they are asked for one by one.
const NAMES_LIMIT: usize = 100_000;
/// How often the names of one kind are listed: a dump may make them uncertain again and again.
const LISTS_LIMIT: u32 = 20;

const SHOW_TABLE: &[u8] = b"SHOW CREATE TABLE ";
const SHOW_VIEW: &[u8] = b"SHOW CREATE VIEW ";
const SHOW_USER: &[u8] = b"SHOW CREATE USER ";
const SHOW_SCHEMA: [&[u8]; 2] = [b"SHOW CREATE DATABASE ", b"SHOW CREATE SCHEMA "];

/// How the subjects of a statement stand before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Existence {
    /// Not known: the server must be asked.
    Unknown,
    /// None of them is there.
    Absent,
    /// All of them are there.
    Present,
}

impl Existence {
    /// What an intent says of a statement for which this is known; `None` where the definitions themselves are needed.
    pub(super) fn recovery_hint(self, info: &StatementInfo) -> Option<RecoveryHint> {
        match (self, info.ddl_target.as_ref()?.postcondition) {
            (Self::Absent, Postcondition::Changed) => Some(RecoveryHint::Definition(None)),
            (Self::Present, Postcondition::Dropped) => Some(RecoveryHint::Exists),
            _ => None,
        }
    }
}

/// What a statement makes or drops, where that is one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
enum NamedObject {
    Schema(Vec<u8>),
    /// User, and host in lower case.
    Account(Vec<u8>, Vec<u8>),
}

/// The names of one kind.
#[derive(Debug)]
struct Listed<N> {
    names: Option<HashSet<N>>,
    /// How often they were listed.
    lists: u32,
}

impl<N> Default for Listed<N> {
    fn default() -> Self {
        Self { names: None, lists: 0 }
    }
}

impl<N: std::hash::Hash + Eq> Listed<N> {
    /// Whether a name is among them. `list` asks for all; `None` where the server does not show them all.
    fn contains(
        &mut self,
        name: &N,
        list: impl FnOnce() -> Result<Option<HashSet<N>>, Error>,
    ) -> Result<Existence, Error> {
        if self.names.is_none() && self.lists < LISTS_LIMIT {
            self.names = list()?;
            // Where they are not shown once, they never are.
            self.lists = if self.names.is_some() { self.lists + 1 } else { LISTS_LIMIT };
        }
        Ok(match &self.names {
            None => Existence::Unknown,
            Some(names) if names.contains(name) => Existence::Present,
            Some(_) => Existence::Absent,
        })
    }

    fn set(&mut self, name: N, exists: bool) {
        let Some(names) = &mut self.names else { return };
        match exists {
            true => names.insert(name),
            false => names.remove(&name),
        };
        if names.len() > NAMES_LIMIT {
            self.names = None;
        }
    }
}

/// The schemas and the accounts of the server, as far as they are known.
#[derive(Debug, Default)]
pub(super) struct ExistingNames {
    schemas: Listed<Vec<u8>>,
    accounts: Listed<(Vec<u8>, Vec<u8>)>,
}

impl ExistingNames {
    /// Anything may have changed.
    pub(super) fn forget(&mut self) {
        self.schemas.names = None;
        self.accounts.names = None;
    }

    fn existence(&mut self, subject: &NamedObject, connection: &mut Connection) -> Result<Existence, Error> {
        match subject {
            NamedObject::Schema(name) => self.schemas.contains(name, || {
                let rows = list(connection, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA")?;
                Ok(rows.map(|rows| rows.into_iter().filter_map(|row| row.into_iter().next()?).collect()))
            }),
            NamedObject::Account(user, host) => self.accounts.contains(&(user.clone(), host.clone()), || {
                let account = |row: hortator_mysql::Row| {
                    let mut values = row.into_iter().flatten();
                    Some((values.next()?, values.next()?.to_ascii_lowercase()))
                };
                let rows = list(connection, "SELECT User, Host FROM mysql.user")?;
                Ok(rows.and_then(|rows| rows.into_iter().map(account).collect()))
            }),
        }
    }

    fn set(&mut self, subject: NamedObject, exists: bool) {
        match subject {
            NamedObject::Schema(name) => self.schemas.set(name, exists),
            NamedObject::Account(user, host) => self.accounts.set((user, host), exists),
        }
    }
}

/// The rows of a query; `None` where there are too many, or the account may not read them.
fn list(connection: &mut Connection, query: &str) -> Result<Option<Vec<hortator_mysql::Row>>, Error> {
    match connection.fetch(format!("{query} LIMIT {}", NAMES_LIMIT + 1).as_bytes()) {
        Ok(rows) => Ok(Some(rows).filter(|rows| rows.len() <= NAMES_LIMIT)),
        Err(Error::Server(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Coordinator<'_> {
    /// Whether what a definition concerns is there, before it runs.
    pub(super) fn existence(&mut self, statement: &AnalyzedStatement) -> Result<Existence, Stopped> {
        let info = &statement.info;
        let Some(target) = &info.ddl_target else { return Ok(Existence::Unknown) };
        // Under the dump's own locks, a look from another session might wait for them.
        let is_open = self.main.is_recorded() && !self.main.is_bound && !self.main.is_closed_to_others();
        let has_intent = is_open && !self.main.is_idempotent(statement);
        if !has_intent || !is_one_definition(info) || info.is_idempotent() {
            return Ok(Existence::Unknown);
        }
        if target.questions.iter().all(|question| question.starts_with(SHOW_TABLE) || question.starts_with(SHOW_VIEW)) {
            return Ok(self.existence_of_tables(info, target));
        }
        match self.subject(info) {
            Some(subject) => self.ask(&statement.location, |catalog| {
                catalog.existing_names.existence(&subject, &mut catalog.connection())
            }),
            None => Ok(Existence::Unknown),
        }
    }

    fn existence_of_tables(&self, info: &StatementInfo, target: &DdlTarget) -> Existence {
        let names = self.names().resolve_all(&info.tables).filter(|names| names.len() == target.questions.len());
        // A temporary table may be what a name means.
        let Some(names) = names.filter(|_| !self.main.has_temporary_tables()) else { return Existence::Unknown };
        let mut found = names.iter().map(|name| self.catalog.exists(name));
        match found.next().flatten() {
            Some(first) if found.all(|other| other == Some(first)) => match first {
                true => Existence::Present,
                false => Existence::Absent,
            },
            _ => Existence::Unknown,
        }
    }

    /// Takes note of schemas and accounts that a statement has made or dropped.
    pub(super) fn note_existence(&mut self, info: &StatementInfo, has_failed: bool) {
        let Some(target) = info.ddl_target.as_ref().filter(|_| is_of_accounts(info) || info.is(Trait::OfSchema)) else {
            // A GRANT may create an account.
            let may_create =
                info.journal == JournalMode::Repeated && !self.main.state().has_mode("NO_AUTO_CREATE_USER");
            // FLUSH PRIVILEGES: rows of the server's own tables may have made some.
            if may_create || info.is(Trait::MayLockServer) {
                self.catalog.existing_names.forget();
            }
            return;
        };
        let exists = target.postcondition == Postcondition::Changed;
        match self.subject(info) {
            Some(subject) if !has_failed => self.catalog.existing_names.set(subject, exists),
            _ => self.catalog.existing_names.forget(),
        }
    }

    /// The schema or the account that a statement makes, changes or drops, and nothing else.
    fn subject(&self, info: &StatementInfo) -> Option<NamedObject> {
        let target = info.ddl_target.as_ref().filter(|target| target.postcondition != Postcondition::Renamed)?;
        let [question] = &target.questions[..] else { return None };
        if SHOW_SCHEMA.iter().any(|show| question.starts_with(show)) {
            return self.names().resolve_schema(info.schema.as_deref()?).map(NamedObject::Schema);
        }
        let (user, host) = account(question.strip_prefix(SHOW_USER)?)?;
        Some(NamedObject::Account(user, host))
    }
}

/// Whether a statement does nothing but what its definition says.
pub(super) fn is_one_definition(info: &StatementInfo) -> bool {
    let more = [Trait::SeveralStatements, Trait::MayDoAnything, Trait::MayCallFunction, Trait::BringsRows];
    matches!(info.kind, StatementKind::OtherDdl | StatementKind::Exclusive { .. } | StatementKind::TableDdl)
        && info.ddl_target.is_some()
        && !more.into_iter().any(|one| info.is(one))
}

/// Whether a statement makes or drops accounts, and nothing else.
pub(super) fn is_of_accounts(info: &StatementInfo) -> bool {
    let target = info.ddl_target.as_ref().filter(|target| target.postcondition != Postcondition::Renamed);
    is_one_definition(info)
        && target.is_some_and(|target| target.questions.iter().all(|question| question.starts_with(SHOW_USER)))
}

/// User and host of an account that is written as `'user'@'host'` or `'user'`, in plain characters.
fn account(written: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let is_plain = |name: &&[u8]| name.iter().all(|byte| byte.is_ascii_graphic() && !b"'\"\\`".contains(byte));
    let quoted = written.strip_prefix(b"'")?.strip_suffix(b"'")?;
    let (user, host) = match memchr::memmem::find(quoted, b"'@'") {
        Some(at) => (&quoted[..at], &quoted[at + 3..]),
        None => (quoted, &b"%"[..]),
    };
    let is_account = !user.is_empty() && !host.is_empty() && [user, host].iter().all(is_plain);
    is_account.then(|| (user.to_vec(), host.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_as_written() {
        let pair = |user: &str, host: &str| Some((user.as_bytes().to_vec(), host.as_bytes().to_vec()));
        assert_eq!(account(b"'clerk'@'LocalHost'"), pair("clerk", "localhost"));
        assert_eq!(account(b"'Clerk'"), pair("Clerk", "%"));
        for other in
            ["`clerk`@'localhost'", "'a\\'b'@'c'", "'a''b'@'c'", "''@'c'", "'a'@''", "'a'@'b'@'c'", "'\u{e9}'@'c'"]
        {
            assert_eq!(account(other.as_bytes()), None, "{other}");
        }
    }
}
