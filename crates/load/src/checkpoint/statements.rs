//! The SQL for checkpoints. It has the same meaning under all session variables: names in backticks, numbers, and strings
//! as hexadecimal literals only.

use hortator_mysql::quote_identifier;

use super::local_journal::{Anchor, Beginning};
use super::{Checkpoint, State, TakenBack};

/// Version of the tables' meaning: from 2 on, a load may have a local journal.
const FORMAT: u64 = 2;

/// The `state` of the row of a load, whose `first` is 0, where it names a local journal.
const LOCAL_JOURNAL_STATE: u8 = 3;
/// The same where it names none.
const LOAD_STATE: u8 = 4;

/// The `input` of all rows but those of loads.
const NO_INPUT: &str = "NULL";

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

    /// Creates the schema and its table if they are missing: one table, as a server waits for the disk several times for each.
    pub(super) fn create(&self) -> [String; 2] {
        let schema = &self.quoted;
        [
            format!("CREATE DATABASE IF NOT EXISTS {schema} CHARACTER SET utf8mb4"),
            format!(
                "CREATE TABLE IF NOT EXISTS {schema}.`chunks` (\
                 `load_id` BIGINT UNSIGNED NOT NULL, `first` BIGINT UNSIGNED NOT NULL, `last` BIGINT UNSIGNED NOT NULL, \
                 `digest` BINARY(16) NOT NULL, `state` TINYINT UNSIGNED NOT NULL, `name` VARBINARY({NAME_LIMIT_BYTES}) NOT NULL, \
                 `rows` BIGINT UNSIGNED NOT NULL, `last_id` BIGINT UNSIGNED NOT NULL, `recovery_hint` VARBINARY(16384) NOT NULL, `file` VARBINARY({NAME_LIMIT_BYTES}) NOT NULL, \
                 `line` BIGINT UNSIGNED NOT NULL, `byte` BIGINT UNSIGNED NOT NULL, `end_byte` BIGINT UNSIGNED NOT NULL, \
                 `input` LONGBLOB NULL, PRIMARY KEY (`load_id`, `first`)) ENGINE=InnoDB"
            ),
        ]
    }

    /// Writes the row of a load. Columns without a use in it have others: `rows` its format, `last_id` its workers, `byte` its
    /// deferred checks, and `end_byte` its start in seconds.
    pub(super) fn begin(&self, load_id: u64, input: &str, threads: usize) -> Vec<u8> {
        format!(
            "INSERT INTO {}.`chunks` VALUES ({load_id},0,0,X'{:032x}',{LOAD_STATE},X'',{FORMAT},{threads},X'',X'',0,0,UNIX_TIMESTAMP(),{})",
            self.quoted,
            0,
            hex(input),
        )
        .into_bytes()
    }

    /// Writes the row of a load that is on record in a local journal, which the row names; again where it is there already.
    pub(super) fn register(
        &self,
        load_id: u64,
        input: &str,
        threads: usize,
        started_at: u64,
        anchor: &Anchor,
    ) -> Vec<u8> {
        let Beginning { ordinal, file, line } = &anchor.from;
        format!(
            "REPLACE INTO {}.`chunks` VALUES ({load_id},0,{ordinal},X'{:032x}',{LOCAL_JOURNAL_STATE},X'',{FORMAT},{threads},{},{},{line},0,{started_at},{})",
            self.quoted,
            0,
            hex(&anchor.to_text().unwrap_or_default()),
            hex(&file[..floor(file)]),
            hex(input),
        )
        .into_bytes()
    }

    /// All loads: number, input, format.
    pub(super) fn loads(&self) -> Vec<u8> {
        format!(
            "SELECT `load_id`,`input`,`rows` FROM {}.`chunks` WHERE `first`=0 ORDER BY `end_byte`,`load_id`",
            self.quoted
        )
        .into_bytes()
    }

    /// Whether there is another load: the number of these.
    pub(super) fn other_loads(&self, load_id: u64) -> Vec<u8> {
        format!("SELECT COUNT(*) FROM {}.`chunks` WHERE `first`=0 AND `load_id`<>{load_id}", self.quoted).into_bytes()
    }

    /// Asks for something of a load's row.
    pub(super) fn of_load(&self, load_id: u64, expression: &str) -> String {
        format!("SELECT {expression} FROM {}.`chunks` WHERE `load_id`={load_id} AND `first`=0", self.quoted)
    }

    /// Changes a load's row.
    pub(super) fn change_load(&self, load_id: u64, assignment: &str) -> Vec<u8> {
        format!("UPDATE {}.`chunks` SET {assignment} WHERE `load_id`={load_id} AND `first`=0", self.quoted).into_bytes()
    }

    pub(super) fn insert(&self, load_id: u64, checkpoint: &Checkpoint, last_id: LastId) -> Vec<u8> {
        format!("INSERT INTO {}.`chunks` VALUES {}", self.quoted, values(load_id, checkpoint, last_id)).into_bytes()
    }

    /// Writes checkpoints that may be there already, in statements of about so many bytes.
    pub(super) fn replace<'c>(
        &self,
        load_id: u64,
        checkpoints: impl Iterator<Item = &'c Checkpoint>,
        statement_bytes: usize,
    ) -> Vec<Vec<u8>> {
        let mut statements = Vec::new();
        let mut last = String::new();
        for checkpoint in checkpoints {
            if !last.is_empty() {
                last.push(',');
            }
            last.push_str(&values(load_id, checkpoint, LastId::Known));
            if last.len() >= statement_bytes {
                statements.push(self.replace_values(&std::mem::take(&mut last)));
            }
        }
        if !last.is_empty() {
            statements.push(self.replace_values(&last));
        }
        statements
    }

    fn replace_values(&self, values: &str) -> Vec<u8> {
        format!("REPLACE INTO {}.`chunks` VALUES {values}", self.quoted).into_bytes()
    }

    /// Names the local journal in the row of its load. `text`: what says which.
    pub(super) fn set_anchor(&self, load_id: u64, from: &Beginning, text: &str) -> Vec<u8> {
        let Beginning { ordinal, file, line } = from;
        let file = hex(&file[..floor(file)]);
        let assignment = format!(
            "`state`={LOCAL_JOURNAL_STATE},`last`={ordinal},`file`={file},`line`={line},`recovery_hint`={}",
            hex(text)
        );
        self.change_load(load_id, &assignment)
    }

    /// There is no local journal.
    pub(super) fn clear_anchor(&self, load_id: u64) -> Vec<u8> {
        self.change_load(load_id, &format!("`state`={LOAD_STATE},`last`=0,`file`=X'',`line`=0,`recovery_hint`=X''"))
    }

    /// Asks what is set there; no row where there is no local journal.
    pub(super) fn anchor(&self, load_id: u64) -> Vec<u8> {
        let mut question = self.of_load(load_id, "`last`,`file`,`line`,`recovery_hint`");
        question.push_str(&format!(" AND `state`={LOCAL_JOURNAL_STATE}"));
        question.into_bytes()
    }

    /// The number of a load's records: checkpoints, and a local journal.
    pub(super) fn records(&self, load_id: u64) -> String {
        format!(
            "SELECT COUNT(*) FROM {}.`chunks` WHERE `load_id`={load_id} AND (`first`>0 OR `state`={LOCAL_JOURNAL_STATE})",
            self.quoted
        )
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

/// A checkpoint as a row.
fn values(load_id: u64, checkpoint: &Checkpoint, last_id: LastId) -> String {
    let Checkpoint { span, state, table, rows, recovery_hint, .. } = checkpoint;
    format!(
        "({load_id},{},{},X'{:032x}',{},{},{rows},{},{},{},{},{},{},{NO_INPUT})",
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
