//! Temporary tables of the source's sessions, in our session.

use std::collections::HashSet;

use hortator_load::analysis::{SessionFacts, Trait, analyze};
use hortator_load::lexer::{Kind, Token, tokens};
use hortator_mysql::catalog::TableName;

use super::Applier;
use super::prepare::IN_UTF8;
use crate::apply::error::Error;
use crate::apply::position_table::SourcePosition;
use crate::apply::stored_text::{is_only_stored, rows_index};
use crate::apply::temporary_tables::{TemporaryTables, is_only_of_session};
use crate::binlog::{Content, Event, FormatDescription, QueryEvent};

/// What is known of them.
#[derive(Debug, Default)]
pub(super) struct Temporary {
    /// Open behind the last statement that was taken.
    pub(super) open: TemporaryTables,
    /// Those of `open` that our session does not have: an earlier one had them, or their statement was passed over.
    lost: TemporaryTables,
}

impl Temporary {
    /// For a session that begins where these are open.
    pub(super) fn of_new_session(open: TemporaryTables) -> Temporary {
        Temporary { lost: open.clone(), open }
    }

    /// What was taken is applied.
    pub(super) fn settle(&mut self, open: &TemporaryTables) {
        self.lost.keep(open);
        self.open = open.clone();
    }

    /// What was taken is passed over.
    pub(super) fn settle_skipped(&mut self, open: &TemporaryTables) {
        self.lost.add_new(&self.open, open);
        self.settle(open);
    }
}

/// First words of statements that run nothing of what they name.
const DEFINITIONS: [&[u8]; 13] = [
    b"ALTER",
    b"ANALYZE",
    b"DROP",
    b"FLUSH",
    b"GRANT",
    b"OPTIMIZE",
    b"RELEASE",
    b"RENAME",
    b"REPAIR",
    b"REVOKE",
    b"ROLLBACK",
    b"SAVEPOINT",
    b"TRUNCATE",
];
/// What may call any function or procedure.
const CALLS: [Trait; 4] = [Trait::MayDoAnything, Trait::RunsRoutine, Trait::SeveralStatements, Trait::Compound];
/// Schemas whose views read no table of a user.
const SYSTEM_SCHEMAS: [&str; 4] = ["information_schema", "mysql", "performance_schema", "sys"];

/// Where the part of a statement begins that reads and writes rows; `None` where it has none.
fn rows_part(all: &[Token<'_>]) -> Option<usize> {
    let first = all.first()?;
    match first.is_word(b"CREATE") {
        true if is_only_stored(all) => None,
        true => rows_index(all),
        false => (!DEFINITIONS.iter().any(|verb| first.is_word(verb))).then_some(0),
    }
}

/// All that may be the name of a table in a statement.
fn possible_tables(all: &[Token<'_>], default: &[u8]) -> HashSet<TableName> {
    let name = |at: usize| match &all.get(at)?.kind {
        Kind::Word(word) => Some(word.to_vec()),
        Kind::QuotedIdentifier(name) => Some(name.to_vec()),
        _ => None,
    };
    let is_dot = |at: usize| all.get(at).is_some_and(|token| token.is_symbol(b"."));
    let table = |at: usize| {
        let first = name(at)?;
        if is_dot(at + 1) {
            return Some(TableName { schema: first, table: name(at + 2)? });
        }
        let is_alone = !default.is_empty() && (at == 0 || !is_dot(at - 1));
        is_alone.then(|| TableName { schema: default.to_vec(), table: first })
    };
    (0..all.len()).filter_map(table).collect()
}

/// The names before an opening parenthesis, and before a dot in front of such a name.
fn names_of_calls<'t>(all: &'t [Token<'_>]) -> HashSet<&'t [u8]> {
    let name = |at: usize| match &all[at].kind {
        Kind::Word(word) => Some(*word),
        Kind::QuotedIdentifier(name) => Some(&**name),
        _ => None,
    };
    let is_symbol = |at: usize, symbol: &[u8]| all.get(at).is_some_and(|token| token.is_symbol(symbol));
    let is_called = |at: usize| is_symbol(at + 1, b"(") || (is_symbol(at + 1, b".") && is_symbol(at + 3, b"("));
    (0..all.len()).filter(|at| is_called(*at)).filter_map(name).collect()
}

/// A text in UTF-8 as a literal.
fn quote_hex(text: &[u8]) -> String {
    let digits: String = text.iter().map(|byte| format!("{byte:02X}")).collect();
    format!("_utf8mb4 X'{digits}'")
}

impl Applier {
    /// Whether a statement can run: one that uses a lost table would find a permanent one of its name, or none.
    pub(super) fn check_temporary(&mut self, query: &QueryEvent, place: &str) -> Result<(), Error> {
        let lost = &self.temporary.lost;
        let (name, way) = match lost.named_by(query) {
            Some(name) => (name, String::new()),
            None => {
                let Some(name) = lost.of_session(query) else { return Ok(()) };
                let Some(way) = self.hidden_use(query, place)? else { return Ok(()) };
                (name, way)
            }
        };
        Err(Error::Event {
            place: place.to_owned(),
            found: format!(
                "the temporary table `{name}` of the source's connection {} is lost: it lived in a session of an earlier run, \
                 or its CREATE was skipped. {way}Do by hand what the statement does to permanent tables, then `skip` it",
                query.thread_id
            ),
        })
    }

    /// How a statement may use a table that it does not name, as a sentence.
    fn hidden_use(&mut self, query: &QueryEvent, place: &str) -> Result<Option<String>, Error> {
        let (dialect, charset) = self.dialect(query, place)?;
        let all: Vec<Token<'_>> = tokens(&query.text, &dialect).collect();
        let Some(part) = rows_part(&all) else { return Ok(None) };
        let functions = self.functions(place)?;
        let facts = SessionFacts { dialect, functions, known_head: None };
        let info = analyze(&query.text[all[part].offset..], &facts);
        let calls_any = CALLS.into_iter().any(|call| info.is(call));
        let may_call = info.is(Trait::MayCallFunction);
        if calls_any || (may_call && self.has_function_of(&all, place)?) {
            return Ok(Some("The statement may call a function that uses it. ".to_owned()));
        }
        for name in possible_tables(&all, &query.schema) {
            if SYSTEM_SCHEMAS.iter().any(|system| name.schema.eq_ignore_ascii_case(system.as_bytes())) {
                continue;
            }
            let is_ascii = name.schema.is_ascii() && name.table.is_ascii();
            if !is_ascii && !IN_UTF8.contains(&charset.as_str()) {
                return Ok(Some(format!("A name in the character set {charset} may be that of a view that uses it. ")));
            }
            let Some(table) = self.target_table(&name)? else { continue };
            if table.is_view || table.has_triggers {
                let kind = if table.is_view { "The view" } else { "A trigger of" };
                return Ok(Some(format!("{kind} {name} may use it. ")));
            }
        }
        Ok(None)
    }

    /// Whether the target has a stored function, or a package, of a name that a statement may call.
    fn has_function_of(&mut self, all: &[Token<'_>], place: &str) -> Result<bool, Error> {
        let names = names_of_calls(all);
        if names.is_empty() {
            return Ok(false);
        }
        self.take_answers()?;
        self.use_own_charset(place)?;
        let listed: Vec<String> = names.iter().map(|name| quote_hex(name)).collect();
        let question = format!(
            "SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_TYPE <> 'PROCEDURE' AND ROUTINE_NAME IN ({})",
            listed.join(",")
        );
        let rows = self.connection.fetch(question.as_bytes()).map_err(|error| self.failed(error, place))?;
        let count = rows.into_iter().flatten().next().flatten();
        Ok(count.as_deref() != Some(b"0"))
    }

    /// The source has restarted behind the position: its temporary tables are gone, and a new session of ours has none.
    ///
    /// # Errors
    /// What the target refuses.
    pub fn forget_temporary_tables(&mut self) -> Result<(), Error> {
        let Some(at) = self.committed.clone() else { return Ok(()) };
        let at = SourcePosition { temporary: TemporaryTables::default(), ..at };
        self.move_to(&at, "the source's restart")?;
        self.temporary = Temporary::default();
        self.recorded(at, 0);
        Ok(())
    }

    /// With the source's process its temporary tables are gone: ours go with our session.
    ///
    /// # Errors
    /// [`Error::SourceRestarted`] if there were any; the next session goes on behind the restart.
    pub(super) fn end_sessions(&mut self, format: &FormatDescription) -> Result<(), Error> {
        let Some(at) = self.committed.clone().filter(|at| format.created_s != 0 && !at.temporary.is_empty()) else {
            return Ok(());
        };
        let at = SourcePosition { temporary: TemporaryTables::default(), ..at };
        self.move_to(&at, "the source's restart")?;
        Err(Error::SourceRestarted)
    }
}

/// Whether it only creates or drops a temporary table: nothing of it is there after a crash.
pub(super) fn is_of_session(events: &[Event]) -> bool {
    matches!(events, [Event { content: Content::Query(query), .. }] if is_only_of_session(query))
}

#[cfg(test)]
mod tests {
    use hortator_load::lexer::Dialect;

    use super::*;

    #[test]
    fn parts_that_run() {
        for (text, expected) in [
            ("INSERT INTO t VALUES (f())", Some("INSERT")),
            ("SELECT d.f()", Some("SELECT")),
            ("CREATE TEMPORARY TABLE u (a INT DEFAULT 1) AS SELECT f()", Some("SELECT")),
            ("CREATE TABLE u (a INT)", None),
            ("CREATE VIEW v AS SELECT f()", None),
            ("DROP VIEW v", None),
            ("CREATE SEQUENCE s", None),
        ] {
            let all: Vec<_> = tokens(text.as_bytes(), &Dialect::mariadb(u32::MAX)).collect();
            let found = rows_part(&all).map(|at| &text[all[at].offset..all[at].end]);
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn names_that_may_be_called() {
        let text = b"SELECT f (1), `g`(2), d.h(3), x FROM t WHERE a IN (4)";
        let all: Vec<_> = tokens(text, &Dialect::mariadb(u32::MAX)).collect();
        let mut found: Vec<_> = names_of_calls(&all).into_iter().map(String::from_utf8_lossy).collect();
        found.sort();
        assert_eq!(found, ["IN", "d", "f", "g", "h"]);
    }

    #[test]
    fn names_that_may_be_tables() {
        let text = b"INSERT INTO e.t SELECT u.a FROM `v` u";
        let all: Vec<_> = tokens(text, &Dialect::mariadb(u32::MAX)).collect();
        let mut found: Vec<_> = possible_tables(&all, b"d").iter().map(ToString::to_string).collect();
        found.sort();
        assert_eq!(found, ["d.FROM", "d.INSERT", "d.INTO", "d.SELECT", "d.u", "d.v", "e.t", "u.a"]);
    }
}
