//! Whether the target can roll back what statements write. The source's log does not say: MariaDB's has a flag about the engines
//! of the source, MySQL's has none, and the target's tables may be of other engines.

use std::time::{Duration, Instant};

use hortator_load::analysis::{FunctionSet, SessionFacts, StatementInfo, Trait, analyze};
use hortator_mysql::catalog::TableName;

use super::Applier;
use crate::apply::error::Error;
use crate::binlog::{Content, Event, QueryEvent};
use crate::query::first_value;

/// Statements that only move within a transaction, by their first words.
const WITHIN: [&[u8]; 3] = [b"SAVEPOINT", b"ROLLBACK", b"RELEASE"];
/// Statements that change no definition.
const OF_ROWS: [&[u8]; 4] = [b"INSERT", b"UPDATE", b"DELETE", b"REPLACE"];
/// How long it is known whether the target has tables that cannot roll back: to ask takes long where there are many tables.
const AGE_LIMIT: Duration = Duration::from_secs(60);
/// Tables that cannot roll back, or may not.
const OTHER_ENGINES: &[u8] = b"SELECT COUNT(*) FROM information_schema.TABLES \
    WHERE TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') AND COALESCE(ENGINE, '') NOT IN ('InnoDB', 'ROCKSDB') \
    AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')";

/// Whether the target has any table that cannot roll back, and when it was asked.
pub(super) type HasOtherEngines = Option<(bool, Instant)>;

fn begins_with_any(text: &[u8], words: &[&[u8]]) -> bool {
    let word = text.split(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default();
    words.iter().any(|one| one.eq_ignore_ascii_case(word))
}

/// Whether a statement leaves all definitions as they are. For one that begins otherwise than the server writes them, no.
pub(super) fn writes_rows_only(text: &[u8]) -> bool {
    begins_with_any(text, &OF_ROWS) || begins_with_any(text, &WITHIN)
}

/// The tables that a statement writes, as far as it names them; `None` where it may write others, too.
fn written(info: &StatementInfo, schema: &[u8]) -> Option<Vec<TableName>> {
    let named = info.tables.iter().chain(&info.changes);
    let named: Vec<TableName> = named
        .map(|table| TableName {
            schema: table.schema.clone().unwrap_or_else(|| schema.to_vec()),
            table: table.table.clone(),
        })
        .collect();
    let is_known = !named.is_empty() && named.iter().all(|name| name.schema.is_ascii() && name.table.is_ascii());
    (is_known && !info.is(Trait::MayCallFunction)).then_some(named)
}

impl Applier {
    /// Whether the target can roll back what these statements write.
    ///
    /// # Errors
    /// What the target refuses.
    pub(super) fn can_roll_back_statements(&mut self, events: &[Event], place: &str) -> Result<bool, Error> {
        for event in events {
            let Content::Query(query) = &event.content else { continue };
            if self.table.is_written_by(&query.text) || begins_with_any(&query.text, &WITHIN) {
                continue;
            }
            if !self.can_roll_back_statement(query, place)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn can_roll_back_statement(&mut self, query: &QueryEvent, place: &str) -> Result<bool, Error> {
        let (dialect, _) = self.dialect(query, place)?;
        let functions = FunctionSet::all();
        let info = analyze(&query.text, &SessionFacts { dialect, functions: &functions, known_head: None });
        let Some(names) = written(&info, &query.schema) else { return self.has_no_other_engines() };
        let mut is_known = true;
        for name in names {
            // Without it, the statement fails.
            let Some(table) = self.target_table(&name)? else { continue };
            if !table.can_roll_back {
                return Ok(false);
            }
            is_known &= !table.is_view && !table.has_triggers;
        }
        if is_known { Ok(true) } else { self.has_no_other_engines() }
    }

    /// Whether all tables of the target can roll back.
    fn has_no_other_engines(&mut self) -> Result<bool, Error> {
        let now = Instant::now();
        if let Some((has, asked)) = self.has_other_engines
            && now.saturating_duration_since(asked) < AGE_LIMIT
        {
            return Ok(!has);
        }
        self.take_answers()?;
        let count = first_value(&mut self.connection, OTHER_ENGINES)
            .map_err(|error| self.failed(error, "looking at the engines of the target's tables"))?;
        let has = count != "0";
        self.has_other_engines = Some((has, now));
        Ok(!has)
    }
}

#[cfg(test)]
mod tests {
    use hortator_load::lexer::{Charset, Dialect};

    use super::*;

    fn names(text: &str) -> Option<Vec<String>> {
        let dialect = Dialect {
            server_version: 101_119,
            mariadb: true,
            no_backslash_escapes: false,
            ansi_quotes: false,
            charset: Charset::from_name(b"utf8mb4"),
        };
        let functions = FunctionSet::all();
        let info = analyze(text.as_bytes(), &SessionFacts { dialect, functions: &functions, known_head: None });
        Some(written(&info, b"d")?.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn tables_that_a_statement_writes() {
        for (text, expected) in [
            ("INSERT INTO t VALUES (1)", Some("d.t")),
            ("insert into e.t (a) select a from u", Some("e.t")),
            ("REPLACE t SET a = 1", Some("d.t")),
            ("UPDATE t SET a = a + 1 WHERE b = 'x'", Some("d.t")),
            ("DELETE FROM `t` LIMIT 1", Some("d.t")),
            ("INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 2", Some("d.t")),
            // Others of the server's, or of the schema, may be meant.
            ("UPDATE t JOIN u USING (id) SET t.a = u.a, u.b = 1", None),
            ("DELETE t, u FROM t JOIN u USING (id)", None),
            ("INSERT INTO t VALUES (writes_elsewhere(1))", None),
            ("SELECT d.writes_elsewhere()", None),
            ("INSERT INTO `ü` VALUES (1)", None),
        ] {
            assert_eq!(names(text).map(|names| names.join(",")).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn statements_that_leave_definitions_alone() {
        for text in ["INSERT INTO t VALUES (1)", "delete from t", "SAVEPOINT `a`", "ROLLBACK TO `a`"] {
            assert!(writes_rows_only(text.as_bytes()), "{text}");
        }
        for text in ["CREATE TEMPORARY TABLE t (a INT)", "/* DELETE */ DROP TABLE t", "INSERTED", "SELECT f()"] {
            assert!(!writes_rows_only(text.as_bytes()), "{text}");
        }
    }
}
