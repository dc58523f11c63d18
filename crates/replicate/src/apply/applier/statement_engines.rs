//! Whether the target can roll back what statements write. The source's log does not say: MariaDB's has a flag about the engines
//! of the source, MySQL's has none, and the target's tables may be of other engines.

use std::time::{Duration, Instant};

use hortator_load::analysis::{FunctionSet, SessionFacts, StatementInfo, Trait, analyze};
use hortator_mysql::catalog::{TableName, native_functions};

use super::Applier;
use crate::apply::error::Error;
use crate::binlog::{Content, Event, QueryEvent};

/// Statements that only move within a transaction, by their first words.
const WITHIN: [&[u8]; 3] = [b"SAVEPOINT", b"ROLLBACK", b"RELEASE"];
/// Statements that change no definition.
const OF_ROWS: [&[u8]; 4] = [b"INSERT", b"UPDATE", b"DELETE", b"REPLACE"];
/// How long it is known whether there are tables that cannot roll back: to ask takes long where there are many tables.
const AGE_LIMIT: Duration = Duration::from_secs(60);
/// A table that cannot roll back, or may not.
const OTHER_ENGINE: &[u8] = b"SELECT 1 FROM information_schema.TABLES \
    WHERE TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') AND COALESCE(ENGINE, '') NOT IN ('InnoDB', 'ROCKSDB') \
    AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema') LIMIT 1";

/// What is known of the target for statements.
#[derive(Debug, Default)]
pub(super) struct KnownEngines {
    /// The functions that it has built in.
    functions: Option<FunctionSet>,
    /// Whether it has any table that cannot roll back, and when it was asked.
    others: Option<(bool, Instant)>,
    /// Whether it is a node of a cluster.
    pub(super) is_node: Option<bool>,
}

fn begins_with_any(text: &[u8], words: &[&[u8]]) -> bool {
    let word = text.split(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default();
    words.iter().any(|one| one.eq_ignore_ascii_case(word))
}

/// The tables that a statement names as those that it writes; `None` where it does not tell them.
pub(super) fn written(info: &StatementInfo, schema: &[u8]) -> Option<Vec<TableName>> {
    let named = info.tables.iter().chain(&info.changes);
    let named: Vec<TableName> = named
        .map(|table| TableName {
            schema: table.schema.clone().unwrap_or_else(|| schema.to_vec()),
            table: table.table.clone(),
        })
        .collect();
    let is_known = !named.is_empty() && named.iter().all(|name| name.schema.is_ascii() && name.table.is_ascii());
    is_known.then_some(named)
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
        let functions = self.functions(place)?;
        let info = analyze(&query.text, &SessionFacts { dialect, functions, known_head: None });
        let may_call = info.is(Trait::MayCallFunction);
        let Some(names) = written(&info, &query.schema) else { return self.all_can_roll_back(place) };
        let mut is_certain = !may_call;
        for name in names {
            // Without it, the statement fails.
            let Some(table) = self.target_table(&name)? else { continue };
            if !table.can_roll_back {
                return Ok(false);
            }
            // Who knows what these write.
            is_certain &= !table.is_view && !table.has_triggers;
        }
        if is_certain { Ok(true) } else { self.all_can_roll_back(place) }
    }

    /// The functions that the target has built in.
    pub(super) fn functions(&mut self, place: &str) -> Result<&FunctionSet, Error> {
        if self.engines.functions.is_none() {
            self.take_answers()?;
            let listed = match self.connection.version().is_mariadb() {
                true => native_functions(&mut self.connection).map_err(|error| self.failed(error, place))?,
                false => None,
            };
            self.engines.functions = Some(FunctionSet::of_server(listed.as_ref()));
        }
        Ok(self.engines.functions.get_or_insert_with(FunctionSet::all))
    }

    /// Whether all tables of the target can roll back.
    fn all_can_roll_back(&mut self, place: &str) -> Result<bool, Error> {
        let now = Instant::now();
        if let Some((has, asked)) = self.engines.others
            && now.saturating_duration_since(asked) < AGE_LIMIT
        {
            return Ok(!has);
        }
        self.take_answers()?;
        let rows = self.connection.fetch(OTHER_ENGINE).map_err(|error| self.failed(error, place))?;
        let has = !rows.is_empty();
        self.engines.others = Some((has, now));
        Ok(!has)
    }

    /// What is known of the target's tables may not hold behind a statement.
    pub(super) fn note_definition(&mut self, text: &[u8]) {
        if begins_with_any(text, &OF_ROWS) || begins_with_any(text, &WITHIN) {
            return;
        }
        self.forget_tables();
        let is_temporary = text.split(u8::is_ascii_whitespace).nth(1);
        if is_temporary.is_none_or(|word| !word.eq_ignore_ascii_case(b"TEMPORARY")) {
            self.engines.others = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use hortator_load::lexer::{Charset, Dialect};

    use super::*;

    const DIALECT: Dialect = Dialect {
        server_version: 101_119,
        mariadb: true,
        no_backslash_escapes: false,
        ansi_quotes: false,
        brackets: false,
        charset: Charset::AsciiSafe,
    };

    #[test]
    fn tables_that_a_statement_writes() {
        let functions = FunctionSet::all();
        for (text, expected) in [
            ("INSERT INTO t VALUES (1)", Some("d.t")),
            ("insert into e.t (a) select a from u", Some("e.t")),
            ("REPLACE t SET a = 1", Some("d.t")),
            ("UPDATE t SET a = a + 1 WHERE b = 'x'", Some("d.t")),
            ("DELETE FROM `t` LIMIT 1", Some("d.t")),
            ("INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 2", Some("d.t")),
            ("UPDATE t JOIN u USING (id) SET t.a = u.a, u.b = 1", None),
            ("DELETE t, u FROM t JOIN u USING (id)", None),
            ("SELECT d.writes_elsewhere()", None),
            ("INSERT INTO `ü` VALUES (1)", None),
        ] {
            let info =
                analyze(text.as_bytes(), &SessionFacts { dialect: DIALECT, functions: &functions, known_head: None });
            let names = written(&info, b"d").map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>());
            assert_eq!(names.map(|names| names.join(",")).as_deref(), expected, "{text}");
        }
    }
}
