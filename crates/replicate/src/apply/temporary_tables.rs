//! Temporary tables of the source's sessions: statements create, fill and drop them. They live in the session that applies
//! the source, by the number of the source's session, and end with it.
//!
//! Which ones are open is part of the position. Those of an earlier session of ours are lost: what names one of them stops
//! the source, or it would find a permanent table of the same name.

use std::collections::BTreeSet;

use hortator_load::lexer::{Kind, Token, tokens};

use crate::binlog::{Content, Event, QueryEvent};

/// Tables that are kept at most; a source that has more does not drop them.
const TABLES_LIMIT: usize = 10_000;
/// Between the fields of a table, and between tables.
const FIELD: char = ' ';
const LINE: char = '\n';

/// A temporary table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Table {
    /// The source's session.
    thread_id: u32,
    schema: Vec<u8>,
    /// In lower case: who looks for it takes too many for it rather than too few.
    name: Vec<u8>,
}

/// Those that are open at a place of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TemporaryTables(BTreeSet<Table>);

/// Whether a statement only creates or drops temporary tables: it leaves nothing where a session ends.
pub(super) fn is_only_of_session(query: &QueryEvent) -> bool {
    let words = words(query);
    match words.first() {
        Some(word) if is(word, b"CREATE") => creates(&words),
        _ => drops(&words),
    }
}

fn creates(words: &[Word]) -> bool {
    let mut head = words.iter().take_while(|word| HEAD[..4].iter().any(|of_head| is(word, of_head)));
    head.any(|word| is(word, b"TEMPORARY"))
}

fn drops(words: &[Word]) -> bool {
    matches!(words, [verb, kind, ..] if is(verb, b"DROP") && is(kind, b"TEMPORARY"))
}

impl TemporaryTables {
    /// Whether none is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Goes over statements.
    pub(super) fn advance(&mut self, events: &[Event]) {
        for event in events {
            if let Content::Query(query) = &event.content {
                self.pass(query);
            }
        }
    }

    fn pass(&mut self, query: &QueryEvent) {
        let could_be = self.0.iter().any(|table| table.thread_id == query.thread_id);
        let verb = query.text.trim_ascii_start().first().copied().unwrap_or_default();
        // Most logs have none.
        if !could_be && !matches!(verb, b'C' | b'c' | b'/' | b'#' | b'-') {
            return;
        }
        let words = words(query);
        let Some(first) = words.first() else { return };
        if is(first, b"CREATE") && creates(&words) {
            if let Some(table) = table(behind(&words, &HEAD), query)
                && self.0.len() < TABLES_LIMIT
            {
                self.0.insert(table);
            }
        } else if is(first, b"DROP") {
            self.0.retain(|table| !(table.thread_id == query.thread_id && names(&words, table)));
        } else if is(first, b"ALTER") {
            let old = behind(&words, &ALTER_HEAD);
            let is_of_table =
                |pair: &[Word]| is(&pair[0], b"RENAME") && !OF_COLUMNS.iter().any(|kind| is(&pair[1], kind));
            if let Some(at) = old.windows(2).position(is_of_table) {
                self.rename(old, behind(&old[at..], &RENAME_HEAD), query);
            }
        } else if is(first, b"RENAME") {
            for one in behind(&words, &RENAME_HEAD).split(|word| word.text == b",") {
                if let Some(at) = one.iter().position(|word| is(word, b"TO")) {
                    self.rename(one, &one[at + 1..], query);
                }
            }
        }
    }

    /// Gives one that a statement renames its new name.
    fn rename(&mut self, old: &[Word], new: &[Word], query: &QueryEvent) {
        if let (Some(old), Some(new)) = (table(old, query), table(new, query))
            && self.0.remove(&old)
        {
            self.0.insert(new);
        }
    }

    /// The name of a table of these that a statement names, and does not merely drop.
    pub(super) fn named_by(&self, query: &QueryEvent) -> Option<String> {
        if !self.0.iter().any(|table| table.thread_id == query.thread_id) {
            return None;
        }
        let words = words(query);
        if drops(&words) {
            return None;
        }
        let found = self.0.iter().find(|table| table.thread_id == query.thread_id && names(&words, table));
        found.map(|table| String::from_utf8_lossy(&table.name).into_owned())
    }

    /// The name of a table of these that a statement might reach by another way than by its name.
    pub(super) fn of_session(&self, query: &QueryEvent) -> Option<String> {
        let found = self.0.iter().find(|table| table.thread_id == query.thread_id)?;
        (!drops(&words(query))).then(|| String::from_utf8_lossy(&found.name).into_owned())
    }

    /// Only those that are in `others`, too.
    pub(super) fn keep(&mut self, others: &TemporaryTables) {
        self.0.retain(|table| others.0.contains(table));
    }

    /// Takes those of `later` that are not in `earlier`.
    pub(super) fn add_new(&mut self, earlier: &TemporaryTables, later: &TemporaryTables) {
        self.0.extend(later.0.difference(&earlier.0).cloned());
    }

    /// As it is recorded.
    #[must_use]
    pub fn to_text(&self) -> String {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let line =
            |table: &Table| format!("{}{FIELD}{}{FIELD}{}", table.thread_id, hex(&table.schema), hex(&table.name));
        self.0.iter().map(line).collect::<Vec<_>>().join(&LINE.to_string())
    }

    /// What is recorded.
    ///
    /// # Errors
    /// The line that is none.
    pub fn from_text(text: &str) -> Result<TemporaryTables, String> {
        let table = |line: &str| {
            let mut fields = line.split(FIELD);
            let thread_id = fields.next()?.parse().ok()?;
            Some(Table { thread_id, schema: unhex(fields.next()?)?, name: unhex(fields.next()?)? })
        };
        let lines = text.split(LINE).filter(|line| !line.is_empty());
        let tables = lines.map(|line| table(line).ok_or_else(|| format!("`{line}` is no temporary table")));
        Ok(TemporaryTables(tables.collect::<Result<_, _>>()?))
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..text.len()).step_by(2).map(digits).collect()
}

/// Words before the name of a table that is created.
const HEAD: [&[u8]; 9] = [b"CREATE", b"OR", b"REPLACE", b"TEMPORARY", b"TABLE", b"SEQUENCE", b"IF", b"NOT", b"EXISTS"];

/// Words before the name of a table that is changed, and before the names of those that are renamed.
const ALTER_HEAD: [&[u8]; 6] = [b"ALTER", b"ONLINE", b"IGNORE", b"TABLE", b"IF", b"EXISTS"];
const RENAME_HEAD: [&[u8]; 8] = [b"RENAME", b"TABLE", b"TABLES", b"IF", b"EXISTS", b"TO", b"AS", b"="];
/// What RENAME is of besides the table.
const OF_COLUMNS: [&[u8]; 3] = [b"COLUMN", b"INDEX", b"KEY"];

/// What stands behind words of a list.
fn behind<'w>(words: &'w [Word], head: &[&[u8]]) -> &'w [Word] {
    let is_of_head =
        |word: &&Word| head.iter().any(|of_head| is(word, of_head) || *of_head == b"=" && word.text == b"=");
    &words[words.iter().take_while(is_of_head).count()..]
}

/// A word, a name, or a symbol of one byte.
struct Word {
    text: Vec<u8>,
    is_quoted: bool,
}

fn is(word: &Word, keyword: &[u8]) -> bool {
    !word.is_quoted && word.text.eq_ignore_ascii_case(keyword)
}

fn words(query: &QueryEvent) -> Vec<Word> {
    let word = |token: Token<'_>| {
        Some(match token.kind {
            Kind::Word(text) => Word { text: text.to_vec(), is_quoted: false },
            Kind::QuotedIdentifier(text) => Word { text: text.into_owned(), is_quoted: true },
            // With ANSI_QUOTES, this is a name.
            Kind::String([b'"', inner @ .., b'"']) => Word { text: inner.to_vec(), is_quoted: true },
            Kind::Symbol(text) => Word { text: text.to_vec(), is_quoted: true },
            _ => return None,
        })
    };
    tokens(&query.text, &query.dialect()).filter_map(word).collect()
}

/// The table that words begin with.
fn table(words: &[Word], query: &QueryEvent) -> Option<Table> {
    let first = words.first()?;
    let (schema, name) = match words.get(1).zip(words.get(2)) {
        Some((dot, second)) if dot.text == b"." => (first.text.clone(), &second.text),
        _ => (query.schema.clone(), &first.text),
    };
    Some(Table { thread_id: query.thread_id, schema, name: name.to_ascii_lowercase() })
}

fn names(words: &[Word], table: &Table) -> bool {
    words.iter().any(|word| word.text.eq_ignore_ascii_case(&table.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(thread_id: u32, text: &str) -> QueryEvent {
        QueryEvent { thread_id, schema: b"d".to_vec(), ..QueryEvent::of_text(text) }
    }

    fn open(statements: &[&str]) -> TemporaryTables {
        let mut tables = TemporaryTables::default();
        statements.iter().for_each(|text| tables.pass(&query(1, text)));
        tables
    }

    #[test]
    fn what_is_open() {
        for (statements, expected) in [
            (&["CREATE TEMPORARY TABLE t (id INT)"][..], "d.t"),
            (&["/* c */ create or replace temporary table if not exists `e`.`T` select 1"], "e.t"),
            (&["CREATE TEMPORARY SEQUENCE s"], "d.s"),
            (&["CREATE TABLE temporary (id INT)", "INSERT INTO t VALUES (1)"], ""),
            (&["CREATE TEMPORARY TABLE \"t\" (id INT)"], "d.t"),
            (
                &[
                    "CREATE TEMPORARY TABLE t (id INT)",
                    "CREATE TEMPORARY TABLE u LIKE t",
                    "DROP TEMPORARY TABLE `d`.`t`",
                ],
                "d.u",
            ),
            (&["CREATE TEMPORARY TABLE t (id INT)", "DROP /*!40005 TEMPORARY */ TABLE IF EXISTS `t`,`u`"], ""),
            (&["CREATE TEMPORARY TABLE t (id INT)", "ALTER TABLE t RENAME u", "DROP TEMPORARY TABLE t"], "d.u"),
            (&["CREATE TEMPORARY TABLE t (id INT)", "ALTER TABLE u RENAME TO v"], "d.t"),
            (
                &[
                    "CREATE TEMPORARY TABLE t (id INT)",
                    "ALTER TABLE t ADD a INT, RENAME COLUMN a TO v, RENAME AS `e`.u",
                ],
                "e.u",
            ),
            (&["CREATE TEMPORARY TABLE t (id INT)", "ALTER TABLE t RENAME COLUMN id TO v"], "d.t"),
            (&["CREATE TEMPORARY TABLE t (id INT)", "RENAME TABLE a TO b, t TO c, c TO d"], "d.d"),
        ] {
            let found: Vec<String> = open(statements)
                .0
                .iter()
                .map(|table| {
                    format!("{}.{}", String::from_utf8_lossy(&table.schema), String::from_utf8_lossy(&table.name))
                })
                .collect();
            assert_eq!(found.join(" "), expected, "{statements:?}");
        }
    }

    #[test]
    fn what_names_one() {
        let tables = open(&["CREATE TEMPORARY TABLE t (id INT)"]);
        for (thread_id, text, expected) in [
            (1, "INSERT INTO t VALUES (1)", true),
            (1, "INSERT INTO x SELECT * FROM `d`.`T`", true),
            (2, "INSERT INTO t VALUES (1)", false),
            (1, "INSERT INTO u VALUES ('t')", false),
            (1, "DROP TEMPORARY TABLE t", false),
            (1, "DROP TABLE t", true),
            (1, "CREATE TEMPORARY TABLE u SELECT * FROM t", true),
            (1, "CREATE OR REPLACE TEMPORARY TABLE t (id INT)", true),
        ] {
            assert_eq!(tables.named_by(&query(thread_id, text)).is_some(), expected, "{text}");
        }
    }

    #[test]
    fn what_names_one_in_other_modes() {
        let tables = open(&["CREATE TEMPORARY TABLE t (id INT)"]);
        // The number of sql_mode, and those of character_set_client and two collations.
        let status = |mode: u64, charset: u8| [&[1][..], &mode.to_le_bytes(), &[4, charset, 0, 8, 0, 8, 0]].concat();
        let no_backslash_escapes = status(1 << 20, 45);
        for (status_variables, text) in [
            (no_backslash_escapes.clone(), &br"INSERT INTO u SELECT '\', a FROM t"[..]),
            (status(0, 28), b"INSERT INTO u SELECT '\x95\x5c', a FROM t"),
            (status(1 << 10, 45), b"INSERT INTO u SELECT a FROM [t]"),
        ] {
            let query = QueryEvent { text: text.to_vec(), status_variables, ..query(1, "") };
            assert!(tables.named_by(&query).is_some(), "{}", String::from_utf8_lossy(text));
        }
        let mut tables = TemporaryTables::default();
        let create = |text: &str, mode| QueryEvent { status_variables: status(mode, 45), ..query(1, text) };
        tables.pass(&create("CREATE TEMPORARY TABLE [log] (id INT)", 1 << 10));
        tables.pass(&create(r"CREATE TEMPORARY TABLE x COMMENT '\' SELECT 1", 1 << 20));
        assert_eq!(tables.named_by(&query(1, "INSERT INTO log VALUES (1)")).as_deref(), Some("log"));
    }

    #[test]
    fn what_is_recorded() {
        let tables = open(&["CREATE TEMPORARY TABLE `a b\n` (id INT)", "CREATE TEMPORARY TABLE u (id INT)"]);
        assert_eq!(TemporaryTables::from_text(&tables.to_text()), Ok(tables.clone()));
        assert_eq!(TemporaryTables::from_text(""), Ok(TemporaryTables::default()));
        assert!(TemporaryTables::from_text("1 6").is_err());
    }
}
