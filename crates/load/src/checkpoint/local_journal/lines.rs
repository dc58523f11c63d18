//! The text of the file: a header, then one line for each step of a statement. Pure.
//!
//! ```text
//!   <check> H <format> <load> <journal> <generation> <boot id>
//!   <check> L <record>                                              what it says of the load: see `local_record`
//!   <check> S                                                       the load is on record on the server too
//!   <check> T <schema> <table>                                      the load creates this table, behind an L
//!   <check> B <first> <last> <digest> <state> <rows> <last id> <line> <byte> <end byte> <file> <table> <hint>    begun
//!   <check> E <first> <last> <digest> <state> <rows> <last id> <end byte> <hint>                                 ended
//!   <check> R <first>                                                                   nothing of it is there
//!   <check> C                                                              closed: synced, and nothing follows
//! ```
//!
//! The file has its full size from the beginning, and NUL bytes behind the last line: a file that was cut is noticed. A
//! line that is cut short by those is the one that was being written when the load was killed. It counts for nothing: a
//! statement is sent only when its line is there, and one whose end is not there has begun.

use std::collections::BTreeMap;

use hortator_mysql::catalog::TableName;
use xxhash_rust::xxh3::xxh3_64;

use crate::checkpoint::{Checkpoint, RecoveryHint, Span, State};

/// The version of the lines.
const FORMAT: u32 = 1;
/// Says that the load is on record on the server.
const ON_SERVER: &str = "S";
/// Hexadecimal digits of the hash before each line.
const CHECK_DIGITS: usize = 8;

/// What tells a file from all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileId {
    pub(super) load_id: u64,
    /// A random number of the process that writes it.
    pub(super) journal_id: u64,
    /// Of one process, from 1.
    pub(super) generation: u64,
    /// The run of the kernel that holds it in its page cache.
    pub(super) boot_id: String,
}

/// What a file says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contents {
    pub(super) id: FileId,
    /// What it says of the load itself, which is on record nowhere else.
    pub(super) local_record: Option<String>,
    /// Tables that the load was to create while that was so.
    pub(super) created: Vec<TableName>,
    /// In the order of the stream.
    pub(super) checkpoints: Vec<Checkpoint>,
    /// All of it is on disk, and nothing was written behind it.
    pub(super) is_closed: bool,
}

/// The file is not what was written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Damaged;

/// The first line.
pub(super) fn header(id: &FileId) -> Vec<u8> {
    checked(&format!("H {FORMAT} {} {:016x} {} {}", id.load_id, id.journal_id, id.generation, id.boot_id))
}

/// The second line, where the load is on record nowhere else.
pub(super) fn local_record(record: &str) -> Vec<u8> {
    let mut line = Line::new("L", 16 + 2 * record.len());
    line.hex(record.as_bytes());
    line.finish()
}

/// The load is on record on the server.
pub(super) fn on_server() -> Vec<u8> {
    checked(ON_SERVER)
}

/// The load creates this table.
pub(super) fn created(table: &TableName) -> Vec<u8> {
    let mut line = Line::new("T", 32 + 2 * (table.schema.len() + table.table.len()));
    line.hex(&table.schema);
    line.hex(&table.table);
    line.finish()
}

/// A statement begins, or is recorded at once.
pub(super) fn begun(checkpoint: &Checkpoint) -> Vec<u8> {
    let Checkpoint { span, state, table, rows, last_id, recovery_hint } = checkpoint;
    let mut line = Line::new("B", 224 + 2 * (span.file.len() + table.len()));
    line.numbers(span, *state);
    for number in [*rows, *last_id, span.line, span.byte, span.end_byte] {
        line.number(number);
    }
    line.hex(span.file.as_bytes());
    line.hex(table.as_bytes());
    line.word(&recovery_hint.to_text());
    line.finish()
}

/// It has ended so.
pub(super) fn ended(checkpoint: &Checkpoint) -> Vec<u8> {
    let Checkpoint { span, state, rows, last_id, recovery_hint, .. } = checkpoint;
    let mut line = Line::new("E", 192);
    line.numbers(span, *state);
    for number in [*rows, *last_id, span.end_byte] {
        line.number(number);
    }
    line.word(&recovery_hint.to_text());
    line.finish()
}

/// Nothing of it is there.
pub(super) fn retracted(first: u64) -> Vec<u8> {
    let mut line = Line::new("R", 32);
    line.number(first);
    line.finish()
}

/// Nothing follows.
pub(super) fn closed() -> Vec<u8> {
    checked("C")
}

/// The first line of a file that begins so.
pub(super) fn read_id(beginning: &[u8]) -> Option<FileId> {
    let end = memchr::memchr(b'\n', beginning)?;
    unchecked(&beginning[..end]).and_then(read_header)
}

/// Whether all bytes are NUL. Most of a file is: they are compared by the thousand, which is fast without an optimiser too.
fn is_zero(bytes: &[u8]) -> bool {
    const ZEROS: [u8; 4096] = [0; 4096];
    bytes.chunks(ZEROS.len()).all(|chunk| *chunk == ZEROS[..chunk.len()])
}

/// Reads a whole file.
pub(super) fn read(bytes: &[u8]) -> Result<Contents, Damaged> {
    let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
    if !is_zero(&bytes[end..]) {
        return Err(Damaged);
    }
    let mut lines = bytes[..end].split_inclusive(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"));
    let id = lines.next().and_then(unchecked).and_then(read_header).ok_or(Damaged)?;
    let mut found: BTreeMap<u64, Checkpoint> = BTreeMap::new();
    let mut local_record = None;
    let mut created = Vec::new();
    let mut is_closed = false;
    for line in lines {
        // What is said of the load may be added by another process.
        let line = unchecked(line).filter(|line| !is_closed || *line == ON_SERVER).ok_or(Damaged)?;
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        match kind {
            "B" => {
                let checkpoint = read_begun(rest).ok_or(Damaged)?;
                found.insert(checkpoint.span.first, checkpoint);
            }
            "E" => read_ended(rest, &mut found).ok_or(Damaged)?,
            "R" => drop(rest.parse().ok().and_then(|first: u64| found.remove(&first)).ok_or(Damaged)?),
            "L" => local_record = Some(unhex(rest).ok_or(Damaged)?),
            "T" => created.push(read_created(rest).ok_or(Damaged)?),
            ON_SERVER => local_record = None,
            "C" => is_closed = true,
            _ => return Err(Damaged),
        }
    }
    Ok(Contents { id, local_record, created, checkpoints: found.into_values().collect(), is_closed })
}

fn read_header(line: &str) -> Option<FileId> {
    let mut words = line.strip_prefix("H ")?.split(' ');
    let format: u32 = words.next()?.parse().ok()?;
    let load_id = words.next()?.parse().ok()?;
    let journal_id = u64::from_str_radix(words.next()?, 16).ok()?;
    let generation = words.next()?.parse().ok()?;
    let boot_id = words.next()?.to_owned();
    (format == FORMAT && words.next().is_none()).then_some(FileId { load_id, journal_id, generation, boot_id })
}

fn read_created(line: &str) -> Option<TableName> {
    let (schema, table) = line.split_once(' ')?;
    Some(TableName { schema: unhex_bytes(schema)?, table: unhex_bytes(table)? })
}

fn read_begun(line: &str) -> Option<Checkpoint> {
    let mut words = line.splitn(12, ' ');
    let mut number = || -> Option<u64> { words.next()?.parse().ok() };
    let (first, last) = (number()?, number()?);
    let digest = u128::from_str_radix(words.next()?, 16).ok()?;
    let mut number = || -> Option<u64> { words.next()?.parse().ok() };
    let state = State::from_number(number()?)?;
    let (rows, last_id, line, byte, end_byte) = (number()?, number()?, number()?, number()?, number()?);
    let (file, table) = (unhex(words.next()?)?, unhex(words.next()?)?);
    let span = Span { first, last, digest, file, line, byte, end_byte };
    Some(Checkpoint { span, state, table, rows, last_id, recovery_hint: RecoveryHint::from_text(words.next()?) })
}

fn read_ended(line: &str, found: &mut BTreeMap<u64, Checkpoint>) -> Option<()> {
    let mut words = line.splitn(8, ' ');
    let mut number = || -> Option<u64> { words.next()?.parse().ok() };
    let checkpoint = found.get_mut(&number()?)?;
    checkpoint.span.last = number()?;
    checkpoint.span.digest = u128::from_str_radix(words.next()?, 16).ok()?;
    let mut number = || -> Option<u64> { words.next()?.parse().ok() };
    checkpoint.state = State::from_number(number()?)?;
    (checkpoint.rows, checkpoint.last_id, checkpoint.span.end_byte) = (number()?, number()?, number()?);
    checkpoint.recovery_hint = RecoveryHint::from_text(words.next()?);
    Some(())
}

fn checked(line: &str) -> Vec<u8> {
    Line::new(line, CHECK_DIGITS + line.len() + 2).finish()
}

/// A line that is being written, word by word: without the machinery of `format!`, since there are two for each
/// statement.
struct Line(Vec<u8>);

impl Line {
    /// Begins with this word.
    fn new(word: &str, bytes: usize) -> Self {
        let mut line = Vec::with_capacity(bytes);
        line.extend_from_slice(&[b'0'; CHECK_DIGITS]);
        line.push(b' ');
        line.extend_from_slice(word.as_bytes());
        Self(line)
    }

    fn word(&mut self, word: &str) {
        self.0.push(b' ');
        self.0.extend_from_slice(word.as_bytes());
    }

    fn number(&mut self, mut number: u64) {
        // The most that 64 bits hold has 20 digits.
        let mut digits = [0; 20];
        let mut from = digits.len();
        loop {
            from -= 1;
            digits[from] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.0.push(b' ');
        self.0.extend_from_slice(&digits[from..]);
    }

    /// A text of any bytes as one word; `-` is the empty one.
    fn hex(&mut self, text: &[u8]) {
        self.0.push(b' ');
        push_hex(&mut self.0, text);
    }

    /// First and last statement, their hash, and the state.
    fn numbers(&mut self, span: &Span, state: State) {
        self.number(span.first);
        self.number(span.last);
        self.0.push(b' ');
        self.0.extend_from_slice(&hex_digits::<16, 32>(span.digest.to_be_bytes()));
        self.number(state as u64);
    }

    /// With its hash, and its end.
    fn finish(mut self) -> Vec<u8> {
        let digits = check(&self.0[CHECK_DIGITS + 1..]);
        self.0[..CHECK_DIGITS].copy_from_slice(&digits);
        self.0.push(b'\n');
        self.0
    }
}

fn unchecked(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line).ok()?;
    let (found, rest) = (line.get(..CHECK_DIGITS)?, line.get(CHECK_DIGITS..)?.strip_prefix(' ')?);
    (found.as_bytes() == check(rest.as_bytes())).then_some(rest)
}

/// The last half of a line's hash.
fn check(line: &[u8]) -> [u8; CHECK_DIGITS] {
    let [.., a, b, c, d] = xxh3_64(line).to_be_bytes();
    hex_digits::<4, CHECK_DIGITS>([a, b, c, d])
}

/// The digits of these bytes: `DIGITS` are twice as many.
fn hex_digits<const BYTES: usize, const DIGITS: usize>(bytes: [u8; BYTES]) -> [u8; DIGITS] {
    std::array::from_fn(|at| hex_digit(bytes[at / 2] >> if at % 2 == 0 { 4 } else { 0 }))
}

fn hex_digit(half: u8) -> u8 {
    b"0123456789abcdef"[usize::from(half & 15)]
}

/// A text of any bytes as one word; `-` is the empty one.
fn push_hex(target: &mut Vec<u8>, text: &[u8]) {
    if text.is_empty() {
        target.push(b'-');
    }
    target.extend(text.iter().flat_map(|byte| [hex_digit(byte >> 4), hex_digit(*byte)]));
}

/// A text as it stands in a line.
pub(super) fn hexed(text: &str) -> String {
    let mut word = Vec::with_capacity(2 * text.len() + 1);
    push_hex(&mut word, text.as_bytes());
    word.into_iter().map(char::from).collect()
}

pub(super) fn unhex(word: &str) -> Option<String> {
    String::from_utf8(unhex_bytes(word)?).ok()
}

fn unhex_bytes(word: &str) -> Option<Vec<u8>> {
    if word == "-" {
        return Some(Vec::new());
    }
    (0..word.len()).step_by(2).map(|at| u8::from_str_radix(word.get(at..at + 2)?, 16).ok()).collect()
}
