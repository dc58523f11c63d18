//! The text of the file: a first line, and records of one header line and so many bytes below it.
//!
//! ```text
//!   -- Statements that hortator load rejected; version 1, load 7. Load them again with …
//!   -- Session (210 bytes below)
//!   USE `shop`; \C utf8mb4; SET SESSION `sql_mode` = …                  what holds from here on
//!   -- Statement 17 (61 bytes below): line 9, byte 2345 of shop.sql: ERROR 1062 (23000): Duplicate entry '1' …
//!   INSERT INTO `item` VALUES (1,'one');
//!   -- Note only 18 (70 bytes below): …                                 a statement that cannot be repeated, as a comment
//!   -- Withdrawn 21 (98 bytes below): …                                 blank: the statement is done after all
//! ```
//!
//! The number is the statement's in the stream. All of it is SQL for the client and for a load. Whether a statement is read
//! as it was is tried with the splitter that a load reads it with.

use std::io::Cursor;

use memchr::memmem;

use super::repeat::Repeat;
use crate::input::Source;
use crate::lexer::{Dialect, Item, Statements, StatementsOptions};
use crate::report::Failure;
use crate::session::SessionState;

/// How the first line begins; the load's ID follows.
pub(super) const FIRST_LINE: &str = "-- Statements that hortator load rejected; version 1, load ";
/// The beginnings of header lines; those of statements have one length, so that one can take the other's place.
pub(super) const SESSION: &str = "-- Session (";
pub(super) const STATEMENT: &str = "-- Statement ";
pub(super) const NOTE_ONLY: &str = "-- Note only ";
pub(super) const WITHDRAWN: &str = "-- Withdrawn ";

/// The longest header line, which has the server's message in it.
pub(super) const HEADER_LIMIT_BYTES: usize = 4 << 10;

/// What ends a statement: the first one with which it is read as it was.
const DELIMITERS: [&str; 5] = [";", ";;", "$$", "//", "~statement~"];

/// Stands behind a statement that is tried, and must be read as one of its own.
const NEXT: &[u8] = b"DO 0;\n";

/// A statement that failed in a forced load.
#[derive(Debug)]
pub(crate) struct Rejected<'r> {
    /// Its number in the stream.
    pub(crate) ordinal: u64,
    /// What is to be loaded again.
    pub(crate) text: &'r [u8],
    pub(crate) failure: &'r Failure,
    /// The state of the dump's session at the statement.
    pub(crate) session: &'r SessionState,
    pub(crate) dialect: Dialect,
    pub(crate) repeat: Repeat,
}

/// How the load reads statements, and so must who loads the file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reading {
    pub(super) comments: bool,
    pub(super) binary_mode: bool,
}

/// The first line.
pub(super) fn first_line(load_id: u64, reading: Reading) -> Vec<u8> {
    let options = match (reading.binary_mode, reading.comments) {
        (false, false) => "",
        (true, false) => " --binary-mode",
        (false, true) => " --comments",
        (true, true) => " --binary-mode --comments",
    };
    format!("{FIRST_LINE}{load_id}. Load them again with mariadb{options} or hortator load{options}.\n").into_bytes()
}

/// The record of a session.
pub(super) fn session_record(script: &[u8]) -> Vec<u8> {
    [format!("{SESSION}{} bytes below)\n", script.len()).as_bytes(), script].concat()
}

/// The record of a statement, and whether it can be loaded again.
pub(super) fn statement_record(rejected: &Rejected<'_>, reading: Reading) -> (Vec<u8>, bool) {
    let (body, is_statement) = body(rejected, reading);
    let word = if is_statement { STATEMENT } else { NOTE_ONLY };
    let place = place(rejected.failure);
    let mut header = format!("{word}{} ({} bytes below): {place}", rejected.ordinal, body.len()).into_bytes();
    header.iter_mut().filter(|byte| byte.is_ascii_control()).for_each(|byte| *byte = b' ');
    header.truncate(HEADER_LIMIT_BYTES - 1);
    header.push(b'\n');
    header.extend_from_slice(&body);
    (header, is_statement)
}

/// `line 9, byte 2345 of shop.sql: ERROR 1062 (23000): …`
fn place(failure: &Failure) -> String {
    let Failure { file, line, byte, code, sqlstate, message, .. } = failure;
    let code = match (code, sqlstate) {
        (Some(code), Some(sqlstate)) => format!("ERROR {code} ({sqlstate})"),
        _ => "ERROR".to_owned(),
    };
    format!("line {line}, byte {byte} of {file}: {code}: {message}")
}

fn body(rejected: &Rejected<'_>, reading: Reading) -> (Vec<u8>, bool) {
    let (notes, written) = match rejected.repeat {
        Repeat::AsWritten => (None, written(rejected.text, &rejected.dialect, reading)),
        Repeat::WithNote(note) => (Some(note), written(rejected.text, &rejected.dialect, reading)),
        Repeat::Never(reason) => (Some(reason), None),
    };
    let note = |note: &str| format!("-- NOTE: {note}\n").into_bytes();
    let mut body = notes.map(note).unwrap_or_default();
    match written {
        Some(written) => {
            body.extend_from_slice(&written);
            (body, true)
        }
        None => {
            if !matches!(rejected.repeat, Repeat::Never(_)) {
                body.extend_from_slice(&note("the statement would be read differently from a file"));
            }
            for line in rejected.text.split(|byte| *byte == b'\n') {
                body.extend_from_slice(b"-- ");
                body.extend(line.iter().map(|&byte| if matches!(byte, 0 | b'\r') { b' ' } else { byte }));
                body.push(b'\n');
            }
            (body, false)
        }
    }
}

/// The statement with what ends it; `None` where no delimiter lets it be read as it was.
fn written(text: &[u8], dialect: &Dialect, reading: Reading) -> Option<Vec<u8>> {
    DELIMITERS.iter().enumerate().find_map(|(number, delimiter)| {
        let is_contained = memmem::find(text, delimiter.as_bytes()).is_some();
        if is_contained && number > 0 {
            return None;
        }
        // A comment at its end takes in what stands on its line.
        [&b""[..], b"\n"].into_iter().find_map(|line_end| {
            let mut written = Vec::with_capacity(text.len() + 64);
            if number > 0 {
                written.extend_from_slice(format!("DELIMITER {delimiter}\n").as_bytes());
            }
            written.extend_from_slice(text);
            written.extend_from_slice(line_end);
            written.extend_from_slice(delimiter.as_bytes());
            written.push(b'\n');
            if number > 0 {
                written.extend_from_slice(b"DELIMITER ;\n");
            }
            is_read_as(&written, text, dialect, reading).then_some(written)
        })
    })
}

/// Whether what is written is read as this statement, and nothing else.
fn is_read_as(written: &[u8], text: &[u8], dialect: &Dialect, reading: Reading) -> bool {
    let options = StatementsOptions {
        comments: reading.comments,
        binary_mode: reading.binary_mode,
        ..StatementsOptions::new(*dialect)
    };
    let Ok(source) = Source::from_reader("", Cursor::new([written, NEXT].concat())) else { return false };
    let mut items = Statements::new(source, options);
    let mut is_next = |expected: &[u8]| {
        matches!(items.next(), Some(Ok(Item::Statement(statement)))
            if statement.text.trim_ascii_end() == expected.trim_ascii_end())
    };
    is_next(text) && is_next(b"DO 0") && items.next().is_none()
}

/// What a header line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    Session,
    Statement { ordinal: u64 },
    NoteOnly { ordinal: u64 },
    Withdrawn,
}

/// Reads a header line: what it says, and how many bytes stand below it.
pub(super) fn read_header(line: &[u8]) -> Option<(Header, u64)> {
    let line = std::str::from_utf8(line.get(..line.len().min(80))?).or_else(|error| {
        // A character may be cut off.
        std::str::from_utf8(&line[..error.valid_up_to()])
    });
    let line = line.ok()?;
    let bytes = |rest: &str| rest.split_once(" bytes below)")?.0.parse().ok();
    if let Some(rest) = line.strip_prefix(SESSION) {
        return Some((Header::Session, bytes(rest)?));
    }
    let kinds = [STATEMENT, NOTE_ONLY, WITHDRAWN];
    let kind = kinds.into_iter().find(|kind| line.starts_with(kind))?;
    let (ordinal, rest) = line[kind.len()..].split_once(" (")?;
    let ordinal = ordinal.parse().ok()?;
    let header = match kind {
        STATEMENT => Header::Statement { ordinal },
        NOTE_ONLY => Header::NoteOnly { ordinal },
        _ => Header::Withdrawn,
    };
    Some((header, bytes(rest)?))
}
