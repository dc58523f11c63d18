//! Whether the target can roll back what statements write. The source's log does not say: MariaDB's has a flag about the engines
//! of the source, MySQL's has none, and the target's tables may be of other engines.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use hortator_load::analysis::{FunctionSet, SessionFacts, StatementInfo, Trait, analyze, identifiers};
use hortator_load::lexer::Dialect;
use hortator_mysql::catalog::{TableName, native_functions};
use hortator_mysql::quote_string;

use super::Applier;
use crate::apply::error::Error;
use crate::binlog::{Content, Event, QueryEvent};

/// Statements that only move within a transaction, by their first words.
const WITHIN: [&[u8]; 3] = [b"SAVEPOINT", b"ROLLBACK", b"RELEASE"];
/// Statements that change no definition.
const OF_ROWS: [&[u8]; 4] = [b"INSERT", b"UPDATE", b"DELETE", b"REPLACE"];
/// How long the names of tables that cannot roll back are known: to ask takes long where there are many tables.
const AGE_LIMIT: Duration = Duration::from_secs(60);
/// Most of these names that are remembered.
const NAMES_LIMIT: usize = 1_000;

/// What is known of the target for statements.
#[derive(Debug, Default)]
pub(super) struct KnownEngines {
    /// The functions that it has built in.
    functions: Option<FunctionSet>,
    /// The names of all tables that cannot roll back, in lower case, or `None` for too many; and when it was asked.
    others: Option<(Option<BTreeSet<Vec<u8>>>, Instant)>,
}

fn begins_with_any(text: &[u8], words: &[&[u8]]) -> bool {
    let word = text.split(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default();
    words.iter().any(|one| one.eq_ignore_ascii_case(word))
}

/// The tables that a statement names as those that it writes; `None` where it does not tell them.
fn written(info: &StatementInfo, schema: &[u8]) -> Option<Vec<TableName>> {
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

/// Whether a statement, or a trigger, holds one of these names. One that calls a procedure may write anything.
fn holds_any(text: &[u8], dialect: &Dialect, names: &BTreeSet<Vec<u8>>) -> bool {
    let mut held = identifiers(text, dialect).into_iter().map(|name| name.to_ascii_lowercase());
    held.any(|name| name == b"call" || !name.is_ascii() || names.contains(&name))
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
        let names = written(&info, &query.schema);
        let (mut calls, mut triggers) = (info.is(Trait::MayCallFunction), Vec::new());
        let mut is_certain = names.is_some();
        for name in names.into_iter().flatten() {
            // Without it, the statement fails.
            let Some(table) = self.target_table(&name)? else { continue };
            if !table.can_roll_back {
                return Ok(false);
            }
            calls |= table.is_view;
            if table.has_triggers {
                triggers.push(name);
            }
        }
        if is_certain && !calls && triggers.is_empty() {
            return Ok(true);
        }
        let Some(others) = self.other_engines(place)? else { return Ok(false) };
        if others.is_empty() {
            return Ok(true);
        }
        for name in triggers {
            let bodies = self.triggers(&name, place)?;
            calls |= bodies.iter().any(|body| holds_any(body, &dialect, &others));
        }
        is_certain |= !holds_any(&query.text, &dialect, &others);
        Ok(is_certain && !calls)
    }

    /// The functions that the target has built in.
    fn functions(&mut self, place: &str) -> Result<&FunctionSet, Error> {
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

    /// The names of all tables of the target that cannot roll back; `None` where there are too many.
    fn other_engines(&mut self, place: &str) -> Result<Option<BTreeSet<Vec<u8>>>, Error> {
        let now = Instant::now();
        if let Some((known, asked)) = &self.engines.others
            && now.saturating_duration_since(*asked) < AGE_LIMIT
        {
            return Ok(known.clone());
        }
        self.take_answers()?;
        let query = format!(
            "SELECT LOWER(TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') \
             AND COALESCE(ENGINE, '') NOT IN ('InnoDB', 'ROCKSDB') \
             AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema') LIMIT {}",
            NAMES_LIMIT + 1
        );
        let rows = self.connection.fetch(query.as_bytes()).map_err(|error| self.failed(error, place))?;
        let is_whole = rows.len() <= NAMES_LIMIT;
        let names = is_whole.then(|| rows.into_iter().flatten().flatten().collect::<BTreeSet<Vec<u8>>>());
        self.engines.others = Some((names.clone(), now));
        Ok(names)
    }

    /// What the triggers of a table do.
    fn triggers(&mut self, name: &TableName, place: &str) -> Result<Vec<Vec<u8>>, Error> {
        self.take_answers()?;
        let query = [
            b"SELECT ACTION_STATEMENT FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = ".as_slice(),
            &quote_string(&name.schema),
            b" AND EVENT_OBJECT_TABLE = ",
            &quote_string(&name.table),
        ]
        .concat();
        let rows = self.connection.fetch(&query).map_err(|error| self.failed(error, place))?;
        Ok(rows.into_iter().flatten().map(Option::unwrap_or_default).collect())
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
    use hortator_load::lexer::Charset;

    use super::*;

    const DIALECT: Dialect = Dialect {
        server_version: 101_119,
        mariadb: true,
        no_backslash_escapes: false,
        ansi_quotes: false,
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

    #[test]
    fn names_in_a_text() {
        let names = [b"m".to_vec()].into();
        let holds = |text: &str| holds_any(text.as_bytes(), &DIALECT, &names);
        assert!(
            holds("BEGIN INSERT INTO d.M VALUES (1); END") && holds("CALL p()") && holds("UPDATE t JOIN `ü` SET a = 1")
        );
        assert!(!holds("UPDATE t JOIN u USING (id) SET t.a = 'm'"));
    }
}
