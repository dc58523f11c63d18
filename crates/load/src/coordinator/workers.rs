//! When a load needs its workers: for the first chunk, before a statement behind which they may not be let in, and before it
//! looks at what an earlier reading of the input had begun.

use super::Coordinator;
use crate::analysis::{JournalMode, StatementInfo, StatementKind, Trait};
use crate::apply::Stopped;

impl Coordinator<'_> {
    /// Waits until all workers have connected. Where one cannot, the load ends at this place.
    pub(crate) fn connect_workers(&mut self) -> Result<(), Stopped> {
        let Err(failed) = self.workers.wait(&mut || self.main.keep_alive()) else { return Ok(()) };
        if !self.pool.is_interrupted() {
            self.main.end_at(failed.failure(), &failed.error);
        }
        Err(Stopped)
    }
}

/// Whether a statement may change who can log in, or how many sessions there can be.
pub(super) fn may_change_logins(info: &StatementInfo) -> bool {
    let is_any = |traits: &[Trait]| traits.iter().any(|one| info.is(*one));
    let may_do_more =
        is_any(&[Trait::MayCallFunction, Trait::MayDoAnything, Trait::SeveralStatements, Trait::Compound]);
    match info.kind {
        StatementKind::Set => info.assignments.beyond_session || info.assignments.reads_beyond_session,
        StatementKind::Exclusive { .. } => {
            let is_of_session = matches!(info.journal, JournalMode::Control | JournalMode::Session);
            let is_of_tables =
                is_any(&[Trait::CreatesTemporary, Trait::DropsTemporary, Trait::WritesRows, Trait::OfSchema]);
            let is_copy = info.is(Trait::CreatesTable) && info.copies.is_some();
            may_do_more || !(is_of_session || is_of_tables || is_copy)
        }
        _ => may_do_more,
    }
}

#[cfg(test)]
mod tests {
    use super::may_change_logins;
    use crate::analysis::{FunctionSet, SessionFacts, analyze};
    use crate::lexer::Dialect;

    #[test]
    fn statements_that_may_change_logins() {
        let facts =
            SessionFacts { dialect: Dialect::mariadb(101_100), functions: &FunctionSet::all(), known_head: None };
        let changes = |text: &str| may_change_logins(&analyze(text.as_bytes(), &facts));
        let changing = [
            "SET PASSWORD = PASSWORD('other')",
            "ALTER USER CURRENT_USER() ACCOUNT LOCK",
            "RENAME USER a TO b",
            "GRANT USAGE ON *.* TO a WITH MAX_USER_CONNECTIONS 1",
            "REVOKE ALL ON *.* FROM a",
            "CREATE OR REPLACE USER a IDENTIFIED BY 'other'",
            "DROP USER a",
            "FLUSH PRIVILEGES",
            "SET GLOBAL max_connections = 10",
            "SET @@global.init_connect = 'SELECT 1'",
            "SET @a = f()",
            "SET STATEMENT max_statement_time = 1 FOR SET GLOBAL max_connections = 10",
            "INSTALL SONAME 'auth_ed25519'",
            "CALL p()",
            "EXECUTE IMMEDIATE 'DROP USER a'",
            "BEGIN NOT ATOMIC SET GLOBAL max_connections = 10; END",
            "SHUTDOWN",
        ];
        for text in changing {
            assert!(changes(text), "{text}");
        }
        let others = [
            "SET NAMES utf8mb4",
            "SET @old = @@sql_mode, sql_mode = ''",
            "USE d",
            "CREATE TABLE t (id INT)",
            "CREATE TABLE t LIKE u",
            "CREATE TEMPORARY TABLE t (id INT)",
            "DROP TABLE IF EXISTS t",
            "CREATE DATABASE d",
            "INSERT INTO t VALUES (1)",
            "UPDATE t SET a = 1",
            "LOCK TABLES t WRITE",
            "START TRANSACTION",
            "COMMIT",
            "SELECT 1",
        ];
        for text in others {
            assert!(!changes(text), "{text}");
        }
    }
}
