//! A target that is a node of a cluster: whether the other nodes get what statements write. For row events, that is looked at
//! with their table maps.

use hortator_load::analysis::{SessionFacts, Trait, analyze};
use hortator_load::lexer::{Dialect, Token, tokens};

use super::Applier;
use super::statement_engines::written;
use crate::apply::error::Error;
use crate::apply::node_engines::{is_node, stays_on_node, stays_on_node_text};
use crate::apply::statement_settings::prefix;
use crate::apply::stored_text::rows_index;
use crate::apply::tolerated::is_of_a_node;
use crate::binlog::{Content, Event, QueryEvent};
use crate::query::first_value;
use crate::statement_text::{depths, name_of, value_at};

const BY_HAND: &str =
    ". Make it on the target by hand with the engine InnoDB and with its rows, then `skip` the statement";
/// The engine of a new table that names none, or of all new tables.
const ENGINES: [&str; 2] = ["@@session.default_storage_engine", "COALESCE(@@enforce_storage_engine, '')"];

/// The engine that CREATE TABLE names, before the rows that it may bring.
fn named_engine(all: &[Token<'_>], dialect: &Dialect) -> Option<String> {
    let head = &all[..rows_index(all).unwrap_or(all.len())];
    let depths = depths(head);
    let options = (0..head.len()).filter(|at| depths[*at] == 0 && head[*at].is_word(b"ENGINE"));
    options.filter_map(|at| name_of(value_at(head, at + 1)?, dialect)).next_back()
}

/// The name of the table that a statement creates, for a message; `None` of other statements and of temporary tables.
fn created(text: &[u8], all: &[Token<'_>]) -> Option<String> {
    let is_either =
        |at: usize, words: &[&[u8]]| all.get(at).is_some_and(|token| words.iter().any(|word| token.is_word(word)));
    let table = if is_either(1, &[b"OR"]) { 3 } else { 1 };
    if !is_either(0, &[b"CREATE"]) || !is_either(table, &[b"TABLE"]) {
        return None;
    }
    let first = (table + 1..all.len()).find(|at| !is_either(*at, &[b"IF", b"NOT", b"EXISTS"]))?;
    let has_schema = all.get(first + 1).is_some_and(|dot| dot.is_symbol(b"."));
    let last = all.get(if has_schema { first + 2 } else { first })?;
    Some(String::from_utf8_lossy(&text[all[first].offset..last.end]).replace('`', ""))
}

impl Applier {
    /// Looks whether all nodes of the target get what these statements write.
    ///
    /// # Errors
    /// A table of theirs has an engine whose rows stay on the node.
    pub(super) fn check_nodes(&mut self, events: &[Event], place: &str) -> Result<(), Error> {
        for (index, event) in events.iter().enumerate() {
            let Content::Query(query) = &event.content else { continue };
            if !self.is_on_node(place)? || self.table.is_written_by(&query.text) || is_of_a_node(&query.text) {
                continue;
            }
            if let Some(found) = self.stays_here(query, &events[index + 1..], place)? {
                return Err(Error::Event { place: place.to_owned(), found });
            }
        }
        Ok(())
    }

    fn is_on_node(&mut self, place: &str) -> Result<bool, Error> {
        if self.engines.is_node.is_none() {
            self.take_answers()?;
            let asked = is_node(&mut self.connection).map_err(|error| self.failed(error, place))?;
            self.engines.is_node = Some(asked);
        }
        Ok(self.engines.is_node == Some(true))
    }

    /// Why other nodes would lack rows of a statement, which these events follow.
    fn stays_here(&mut self, query: &QueryEvent, behind: &[Event], place: &str) -> Result<Option<String>, Error> {
        let (dialect, _) = self.dialect(query, place)?;
        let all: Vec<Token<'_>> = tokens(&query.text, &dialect).collect();
        if let Some(name) = created(&query.text, &all) {
            let has_rows = || behind.iter().any(|event| matches!(event.content, Content::TableMap(_)));
            if rows_index(&all).is_none() && !has_rows() {
                return Ok(None);
            }
            let engine = self.engine_of_new(query, named_engine(&all, &dialect), place)?;
            let stays = stays_on_node(&mut self.connection, &engine).map_err(|error| self.failed(error, place))?;
            return Ok(stays.then(|| stays_on_node_text(&name, &engine) + BY_HAND));
        }
        let functions = self.functions(place)?;
        let info = analyze(&query.text, &SessionFacts { dialect, functions, known_head: None });
        if !info.is(Trait::WritesRows) {
            return Ok(None);
        }
        // Of several tables it is not told which are written, and those that are read may have any engine.
        let Some(names) = written(&info, &query.schema) else { return Ok(None) };
        if self.temporary.open.named_by(query).is_some() {
            // It may hide a table.
            return Ok(None);
        }
        for name in names {
            let Some(engine) = self.target_table(&name)?.and_then(|table| table.local_engine) else { continue };
            return Ok(Some(
                stays_on_node_text(&name.to_string(), &engine) + ". Change it on the target, then `resume`",
            ));
        }
        Ok(None)
    }

    /// The engine that a new table gets on the target.
    fn engine_of_new(&mut self, query: &QueryEvent, named: Option<String>, place: &str) -> Result<String, Error> {
        self.take_answers()?;
        let mut ask = |value: &str| {
            let settings = String::from_utf8_lossy(&prefix(&query.settings)).into_owned();
            first_value(&mut self.connection, format!("{settings}SELECT {value}").as_bytes())
                .map_err(|error| self.failed(error, place))
        };
        let [default, enforced] = ENGINES;
        let enforced = ask(enforced)?;
        match named {
            _ if !enforced.is_empty() => Ok(enforced),
            Some(named) => Ok(named),
            None => ask(default),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_tables() {
        for (text, expected) in [
            ("CREATE TABLE `d`.`made` (a INT) ENGINE=MyISAM", Some("d.made")),
            ("create or replace table made select 1", Some("made")),
            ("CREATE TABLE IF NOT EXISTS d.t SELECT 1", Some("d.t")),
            ("CREATE TEMPORARY TABLE t SELECT 1", None),
            ("CREATE OR REPLACE TEMPORARY TABLE t SELECT 1", None),
            ("CREATE VIEW t AS TABLE u", None),
            ("INSERT INTO t SELECT 1", None),
        ] {
            let all: Vec<Token<'_>> = tokens(text.as_bytes(), &Dialect::mariadb(u32::MAX)).collect();
            assert_eq!(created(text.as_bytes(), &all).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn engines_of_new_tables() {
        for (text, expected) in [
            ("CREATE TABLE t (a INT) ENGINE=MyISAM", Some("MyISAM")),
            ("CREATE TABLE t (a INT) COMMENT 'ENGINE=Aria' engine memory SELECT 1", Some("memory")),
            ("CREATE TABLE t ENGINE `Aria` AS SELECT engine FROM u", Some("Aria")),
            ("CREATE TABLE t SELECT engine FROM u", None),
            ("CREATE TABLE engine (engine INT)", None),
            ("CREATE TABLE t (`k` INT, value INT, KEY (value)) ENGINE=MyISAM SELECT 1 AS k", Some("MyISAM")),
            (
                "CREATE TABLE t (a INT) ENGINE=InnoDB PARTITION BY HASH (a) (PARTITION p ENGINE = MyISAM)",
                Some("InnoDB"),
            ),
        ] {
            let dialect = Dialect::mariadb(u32::MAX);
            let all: Vec<Token<'_>> = tokens(text.as_bytes(), &dialect).collect();
            assert_eq!(named_engine(&all, &dialect).as_deref(), expected, "{text}");
        }
    }
}
