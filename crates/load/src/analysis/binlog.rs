//! BINLOG: the events of a binary log as base64, as `mariadb-binlog` and `mysqlbinlog` print them. Row events change the rows
//! of the tables that they name; a format description tells the session how to read the events behind it.
//!
//! The layout of events: <https://mariadb.com/kb/en/2-binlog-event-header/>, <https://mariadb.com/kb/en/table_map_event/>.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{JournalMode, NamedTable, StatementInfo, StatementKind, Trait, Traits};
use crate::lexer::{Kind, Token};

/// Bytes of the header that each event begins with.
const HEADER_BYTES: usize = 19;
/// Where the header has the event's type, and its length in bytes.
const TYPE_AT: usize = 4;
const LENGTH_AT: usize = 9;
/// Behind the header of a table map or of rows stand the table's number and flags.
const FLAGS_AT: usize = HEADER_BYTES + 6;
const BODY_AT: usize = HEADER_BYTES + 8;
/// The flag of the last rows of a statement, and those of rows for which the server checks less than the session asks for.
const STATEMENT_ENDS: u8 = 1;
const CHECKS_LESS: u8 = 2 | 4;

const FORMAT_DESCRIPTION: u8 = 15;
const TABLE_MAP: u8 = 19;
/// Rows that are written, updated or deleted: the first form and the second, MySQL's partial updates, MariaDB's compressed
/// ones.
const ROWS: [u8; 13] = [23, 24, 25, 30, 31, 32, 39, 166, 167, 168, 169, 170, 171];
/// The text of the statement that the rows are of, which the server ignores.
const ROWS_QUERY: u8 = 29;

/// What the events of a BINLOG statement do.
#[derive(Debug, PartialEq, Eq)]
enum Events {
    /// They say how those behind them are to be read.
    Format,
    /// They change rows of these tables, and end their statement.
    Rows {
        tables: Vec<NamedTable>,
        /// Some without checks of keys, as their session had asked.
        skips_checks: bool,
    },
}

/// What a BINLOG statement is.
pub(super) fn binlog(all: &[Token<'_>], info: &mut StatementInfo) -> StatementKind {
    match read(all) {
        Some(Events::Format) => {
            info.journal = JournalMode::Session;
            info.traits = Traits::of(&[Trait::NoRows, Trait::PreparesSession]);
            StatementKind::Exclusive { reason: "BINLOG describes the events behind it" }
        }
        Some(Events::Rows { mut tables, skips_checks }) => {
            info.traits = info.traits.with(Trait::AppliesEvents);
            if skips_checks {
                info.traits = info.traits.with(Trait::SkipsChecks);
                info.schema = tables.first().and_then(|table| table.schema.clone());
            }
            info.changes = tables.pop().filter(|_| tables.is_empty());
            StatementKind::Write { reason: "BINLOG applies row events" }
        }
        None => {
            info.journal = JournalMode::Intent;
            info.traits = Traits::of(&[
                Trait::MayDoAnything,
                Trait::MayCallFunction,
                Trait::SessionBound,
                Trait::MovesTables,
                Trait::NumbersRows,
            ]);
            StatementKind::Exclusive { reason: "BINLOG has events of an unknown kind" }
        }
    }
}

/// BINLOG statements as one, where each is nothing but the word and its literal.
pub(crate) fn merge_binlogs<'t>(texts: impl Iterator<Item = &'t [u8]>) -> Option<Vec<u8>> {
    let mut merged = b"BINLOG '".to_vec();
    for text in texts {
        let word = text.get(..6).filter(|word| word.eq_ignore_ascii_case(b"BINLOG"))?;
        let literal = text[word.len()..].trim_ascii();
        merged.extend_from_slice(literal.strip_prefix(b"'")?.strip_suffix(b"'")?.trim_ascii());
        merged.push(b'\n');
    }
    merged.push(b'\'');
    Some(merged)
}

fn read(all: &[Token<'_>]) -> Option<Events> {
    let [_, Token { kind: Kind::String(text), .. }] = all else { return None };
    let bytes = decode(text.get(1..text.len() - 1)?)?;
    let mut rest = &bytes[..];
    let mut tables: Vec<NamedTable> = Vec::new();
    let (mut is_format, mut ends, mut skips_checks) = (false, false, false);
    while !rest.is_empty() {
        let length = u32::from_le_bytes(rest.get(LENGTH_AT..LENGTH_AT + 4)?.try_into().ok()?) as usize;
        let event = rest.get(..length).filter(|event| event.len() >= HEADER_BYTES)?;
        rest = &rest[length..];
        match event[TYPE_AT] {
            FORMAT_DESCRIPTION => is_format = true,
            TABLE_MAP => {
                let table = table_of(event)?;
                if !tables.contains(&table) {
                    tables.push(table);
                }
            }
            kind if ROWS.contains(&kind) => {
                let flags = event.get(FLAGS_AT)?;
                skips_checks |= flags & CHECKS_LESS != 0;
                ends = flags & STATEMENT_ENDS != 0;
            }
            ROWS_QUERY => {}
            _ => return None,
        }
    }
    let schemas: BTreeSet<_> = tables.iter().map(|table| &table.schema).collect();
    match (is_format, tables.is_empty()) {
        (true, true) => Some(Events::Format),
        // What is to be validated is noted by schema.
        (false, false) if ends && (!skips_checks || schemas.len() == 1) => Some(Events::Rows { tables, skips_checks }),
        _ => None,
    }
}

/// Each event may end with padding of its own.
fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let plain: Vec<u8> = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let mut bytes = Vec::with_capacity(plain.len());
    let mut rest = &plain[..];
    while !rest.is_empty() {
        let padding = rest.iter().position(|byte| *byte == b'=');
        let end = padding.map_or(rest.len(), |at| at + rest[at..].iter().take_while(|byte| **byte == b'=').count());
        bytes.extend(STANDARD.decode(&rest[..end]).ok()?);
        rest = &rest[end..];
    }
    Some(bytes)
}

/// The table of a table map.
fn table_of(event: &[u8]) -> Option<NamedTable> {
    let (schema, behind) = name_at(event.get(BODY_AT..)?)?;
    let (table, _) = name_at(behind)?;
    Some(NamedTable { schema: Some(schema), table })
}

/// A name with its length before it and a zero behind it.
fn name_at(bytes: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let (length, rest) = bytes.split_first()?;
    let name = rest.get(..usize::from(*length))?;
    Some((name.to_vec(), rest.get(name.len() + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::{Dialect, tokens};

    fn events(text: &str) -> Option<Events> {
        let all: Vec<_> = tokens(text.as_bytes(), &Dialect::mariadb(101_119)).collect();
        read(&all)
    }

    fn event(kind: u8, body: &[u8]) -> Vec<u8> {
        let mut event = vec![0; HEADER_BYTES];
        event[TYPE_AT] = kind;
        event.extend_from_slice(body);
        let length = u32::try_from(event.len()).unwrap();
        event[LENGTH_AT..LENGTH_AT + 4].copy_from_slice(&length.to_le_bytes());
        event
    }

    fn table_map(schema: &str, table: &str) -> Vec<u8> {
        let mut body = vec![0; 8];
        for name in [schema, table] {
            body.push(u8::try_from(name.len()).unwrap());
            body.extend_from_slice(name.as_bytes());
            body.push(0);
        }
        event(TABLE_MAP, &body)
    }

    fn rows(kind: u8, flags: u8) -> Vec<u8> {
        event(kind, &[0, 0, 0, 0, 0, 0, flags, 0, 1, 2, 3])
    }

    /// As mariadb-binlog prints them: each event by itself.
    fn statement(events: &[Vec<u8>]) -> String {
        let lines: Vec<_> = events.iter().map(|event| STANDARD.encode(event)).collect();
        format!("BINLOG '\n{}\n'", lines.join("\n"))
    }

    fn named(schema: &str, table: &str) -> NamedTable {
        NamedTable { schema: Some(schema.into()), table: table.into() }
    }

    #[test]
    fn several_as_one() {
        let one = |table: &str| statement(&[table_map("d", table), rows(23, STATEMENT_ENDS)]);
        let texts = [one("t"), one("u").replace("BINLOG '", "binlog\n'")];
        let merged = merge_binlogs(texts.iter().map(String::as_bytes)).unwrap();
        let both = Some(Events::Rows { tables: vec![named("d", "t"), named("d", "u")], skips_checks: false });
        assert_eq!(events(std::str::from_utf8(&merged).unwrap()), both);
        assert_eq!(merge_binlogs([&b"BINLOG -- it's\n''"[..]].into_iter()), None);
    }

    #[test]
    fn what_the_events_do() {
        let end = STATEMENT_ENDS;
        let of = |tables: &[NamedTable]| Some(Events::Rows { tables: tables.to_vec(), skips_checks: false });
        let unchecked = |tables: &[NamedTable]| Some(Events::Rows { tables: tables.to_vec(), skips_checks: true });
        for (text, expected) in [
            (statement(&[event(FORMAT_DESCRIPTION, &[4, 0])]), Some(Events::Format)),
            (statement(&[table_map("d", "t"), rows(23, end)]), of(&[named("d", "t")])),
            (statement(&[table_map("d", "t"), rows(30, 0), rows(30, end)]), of(&[named("d", "t")])),
            (
                statement(&[table_map("d", "t"), table_map("d", "u"), rows(169, end)]),
                of(&[named("d", "t"), named("d", "u")]),
            ),
            // Without checks of foreign keys.
            (statement(&[table_map("d", "t"), rows(23, end | 2)]), unchecked(&[named("d", "t")])),
            (statement(&[table_map("d", "t"), rows(23, 4), rows(23, end)]), unchecked(&[named("d", "t")])),
            (statement(&[table_map("d", "t"), table_map("e", "t"), rows(23, end | 2)]), None),
            // The rest of the statement is in the next BINLOG.
            (statement(&[table_map("d", "t"), rows(23, 0)]), None),
            (statement(&[table_map("d", "t")]), None),
            (statement(&[event(FORMAT_DESCRIPTION, &[4, 0]), table_map("d", "t"), rows(23, end)]), None),
            (statement(&[event(2, b"DROP TABLE t")]), None),
            ("BINLOG 'Zm9v'".to_owned(), None),
            ("BINLOG '*'".to_owned(), None),
            ("BINLOG @a, @b".to_owned(), None),
            ("BINLOG ''".to_owned(), None),
        ] {
            assert_eq!(events(&text), expected, "{text}");
        }
    }
}
