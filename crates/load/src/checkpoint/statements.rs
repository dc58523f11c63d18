//! The SQL for checkpoints. It has the same meaning under all session variables: names in backticks, numbers, and strings
//! as hexadecimal literals only.

use hortator_mysql::quote_identifier;

use super::{Checkpoint, State, TakenBack};

/// Version of the tables' meaning.
pub(super) const FORMAT: u64 = 1;

/// Bytes kept of a file's or a table's name.
const NAME_LIMIT_BYTES: usize = 1024;

/// Where LAST_INSERT_ID() behind the statements comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastId {
    /// The checkpoint has it.
    Known,
    /// The session that writes the checkpoint has it: asked by the same statement, which leaves FOUND_ROWS() alone.
    OfSession,
}

impl LastId {
    fn expression(self, checkpoint: &Checkpoint) -> String {
        match self {
            Self::Known => checkpoint.last_id.to_string(),
            Self::OfSession => "LAST_INSERT_ID()".to_owned(),
        }
    }
}

/// SQL for the checkpoints in one schema.
#[derive(Clone, Debug)]
pub(super) struct Statements {
    schema: String,
    /// Quoted.
    quoted: String,
}

impl Statements {
    pub(super) fn new(schema: &str) -> Self {
        let quoted = String::from_utf8_lossy(&quote_identifier(schema)).into_owned();
        Self { schema: schema.to_owned(), quoted }
    }

    pub(super) fn schema(&self) -> &str {
        &self.schema
    }

    /// The schema's name in quotes.
    pub(super) fn quoted(&self) -> &str {
        &self.quoted
    }

    /// Creates the schema and its tables if they are missing.
    pub(super) fn create(&self) -> [String; 3] {
        let schema = &self.quoted;
        [
            format!("CREATE DATABASE IF NOT EXISTS {schema} CHARACTER SET utf8mb4"),
            format!(
                "CREATE TABLE IF NOT EXISTS {schema}.`loads` (\
                 `load_id` BIGINT UNSIGNED NOT NULL PRIMARY KEY, `format` INT UNSIGNED NOT NULL, \
                 `input` LONGBLOB NOT NULL, `threads` INT UNSIGNED NOT NULL, \
                 `deferred` TINYINT UNSIGNED NOT NULL DEFAULT 0, \
                 `begun` TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP) ENGINE=InnoDB"
            ),
            format!(
                "CREATE TABLE IF NOT EXISTS {schema}.`chunks` (\
                 `load_id` BIGINT UNSIGNED NOT NULL, `first` BIGINT UNSIGNED NOT NULL, `last` BIGINT UNSIGNED NOT NULL, \
                 `digest` BINARY(16) NOT NULL, `state` TINYINT UNSIGNED NOT NULL, `name` VARBINARY({NAME_LIMIT_BYTES}) NOT NULL, \
                 `rows` BIGINT UNSIGNED NOT NULL, `last_id` BIGINT UNSIGNED NOT NULL, `recovery_hint` VARBINARY(16384) NOT NULL, `file` VARBINARY({NAME_LIMIT_BYTES}) NOT NULL, \
                 `line` BIGINT UNSIGNED NOT NULL, `byte` BIGINT UNSIGNED NOT NULL, `end_byte` BIGINT UNSIGNED NOT NULL, \
                 PRIMARY KEY (`load_id`, `first`)) ENGINE=InnoDB"
            ),
        ]
    }

    pub(super) fn insert(&self, load_id: u64, checkpoint: &Checkpoint, last_id: LastId) -> Vec<u8> {
        let Checkpoint { span, state, table, rows, recovery_hint, .. } = checkpoint;
        format!(
            "INSERT INTO {}.`chunks` VALUES ({load_id},{},{},X'{:032x}',{},{},{rows},{},{},{},{},{},{})",
            self.quoted,
            span.first,
            span.last,
            span.digest,
            *state as u8,
            hex(&table[..floor(table)]),
            last_id.expression(checkpoint),
            hex(&recovery_hint.to_text()),
            hex(&span.file[..floor(&span.file)]),
            span.line,
            span.byte,
            span.end_byte,
        )
        .into_bytes()
    }

    pub(super) fn close(&self, load_id: u64, checkpoint: &Checkpoint, last_id: LastId) -> Vec<u8> {
        let Checkpoint { span, state, rows, recovery_hint, .. } = checkpoint;
        format!(
            "UPDATE {}.`chunks` SET `last`={},`digest`=X'{:032x}',`state`={},`rows`={rows},`last_id`={},`recovery_hint`={},`end_byte`={} \
             WHERE `load_id`={load_id} AND `first`={} AND `state`={}",
            self.quoted,
            span.last,
            span.digest,
            *state as u8,
            last_id.expression(checkpoint),
            hex(&recovery_hint.to_text()),
            span.end_byte,
            span.first,
            State::Intent as u8,
        )
        .into_bytes()
    }

    pub(super) fn retract(&self, load_id: u64, first: u64) -> Vec<u8> {
        format!("DELETE FROM {}.`chunks` WHERE `load_id`={load_id} AND `first`={first}", self.quoted).into_bytes()
    }

    pub(super) fn take_back(&self, load_id: u64, table: &str, first: u64, taken_back: TakenBack) -> Vec<u8> {
        let chunks = format!("{}.`chunks`", self.quoted);
        let change = match taken_back {
            TakenBack::Undone => format!("DELETE FROM {chunks}"),
            TakenBack::ByDump => format!("UPDATE {chunks} SET `rows`=0,`recovery_hint`=X''"),
        };
        let name = hex(&table[..floor(table)]);
        format!("{change} WHERE `load_id`={load_id} AND `first`>={first} AND `name`={name}").into_bytes()
    }

    pub(super) fn unmark(&self, load_id: u64, first: u64) -> Vec<u8> {
        format!(
            "UPDATE {}.`chunks` SET `recovery_hint`=X'' WHERE `load_id`={load_id} AND `first`={first}",
            self.quoted,
        )
        .into_bytes()
    }

    pub(super) fn marked(&self, load_id: u64, first: u64) -> Vec<u8> {
        format!(
            "SELECT 1 FROM {}.`chunks` WHERE `load_id`={load_id} AND `first`={first} AND `recovery_hint`<>X''",
            self.quoted,
        )
        .into_bytes()
    }

    pub(super) fn look_up(&self, load_id: u64, first: u64) -> Vec<u8> {
        let done = State::Applied as u8;
        format!(
            "SELECT 1 FROM {}.`chunks` WHERE `load_id`={load_id} AND `first`={first} AND `state`>={done}",
            self.quoted,
        )
        .into_bytes()
    }

    /// The next checkpoints after statement number `behind`.
    pub(super) fn page(&self, load_id: u64, behind: u64, limit: usize) -> Vec<u8> {
        self.checkpoints(load_id, &format!("`first`>{behind}"), limit)
    }

    /// The first intents.
    pub(super) fn intents(&self, load_id: u64, limit: usize) -> Vec<u8> {
        self.checkpoints(load_id, &format!("`state`={}", State::Intent as u8), limit)
    }

    fn checkpoints(&self, load_id: u64, condition: &str, limit: usize) -> Vec<u8> {
        format!(
            "SELECT `first`,`last`,HEX(`digest`),`state`,`name`,`rows`,`recovery_hint`,`file`,`line`,`byte`,`end_byte`,`last_id` \
             FROM {}.`chunks` WHERE `load_id`={load_id} AND {condition} ORDER BY `first` LIMIT {limit}",
            self.quoted,
        )
        .into_bytes()
    }
}

/// A string as a literal that no SQL mode and no character set reads differently.
pub(super) fn hex(text: &str) -> String {
    use std::fmt::Write as _;
    let mut literal = String::with_capacity(text.len() * 2 + 3);
    literal.push_str("X'");
    for byte in text.bytes() {
        let _ = write!(literal, "{byte:02x}");
    }
    literal.push('\'');
    literal
}

/// The end of the longest beginning that the column takes.
fn floor(text: &str) -> usize {
    let mut end = text.len().min(NAME_LIMIT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}
