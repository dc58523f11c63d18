//! From events to transactions: what is applied together or not at all.
//!
//! ```text
//!             GTID, or BEGIN without one                 XID, COMMIT, ROLLBACK
//!   Outside ──────────────────────────────► Within ──────────────────────────────► a transaction, Outside
//!      │                                       │ rows, statements
//!      │                                       ▼
//!      │ a statement by itself (DDL)         Within
//!      └──────────────────────────────────────────────────────────────────────────► a transaction, Outside
//! ```
//!
//! A replica starts again between transactions only: table maps and the values that a statement needs stand before it in
//! its transaction.

mod assembler;

pub use assembler::{Assembler, Error};

use crate::binlog::{Content, Event, GtidEvent, GtidState, MySqlGtid};

/// Where a source stands: behind a transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogPosition {
    /// The file's name, as SHOW BINARY LOGS prints it.
    pub file: Vec<u8>,
    /// The position in it, in bytes.
    pub position: u64,
}

impl LogPosition {
    /// Whether it stands behind another one of the same log. Numbers of files have six digits, and then more.
    #[must_use]
    pub fn is_behind(&self, other: &LogPosition) -> bool {
        (self.file.len(), &self.file, self.position) > (other.file.len(), &other.file, other.position)
    }
}

/// What is applied together or not at all.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// MariaDB: its id, and what the source knows of it.
    pub gtid: Option<GtidEvent>,
    /// MySQL: its id.
    pub mysql_gtid: Option<MySqlGtid>,
    /// Its statements, table maps and rows, in order, without what begins and ends it.
    pub events: Vec<Event>,
    /// How it ends.
    pub end: End,
    /// When its last statement began on the source, in seconds since 1970.
    pub timestamp_s: u32,
    /// The server on which it was first made.
    pub server_id: u32,
    /// Behind it.
    pub position: LogPosition,
}

impl Transaction {
    /// Whether nothing of it stays if the target rolls it back. For a source that does not say, its engines are taken for
    /// ones that can.
    #[must_use]
    pub fn can_roll_back(&self) -> bool {
        self.end == End::Commit && can_roll_back(self.gtid, &self.events)
    }

    /// It is applied now.
    pub fn advance(&self, state: &mut GtidState) {
        if let Some(event) = self.gtid {
            state.advance(event.gtid);
        }
        if let Some(gtid) = &self.mysql_gtid {
            state.add(gtid);
        }
    }

    /// What it is, in words for a person: its first statement, or the tables of its rows.
    #[must_use]
    pub fn text(&self) -> Vec<u8> {
        text_of(&self.events)
    }
}

/// MySQL does not say that a transaction creates a table: CREATE TABLE … SELECT is one.
fn can_roll_back(gtid: Option<GtidEvent>, events: &[Event]) -> bool {
    match gtid {
        Some(gtid) => gtid.is_transactional() && !gtid.is_ddl(),
        None => !creates_table(events),
    }
}

/// Whether one of these is CREATE TABLE.
pub(crate) fn creates_table(events: &[Event]) -> bool {
    events.iter().any(|event| {
        matches!(&event.content, Content::Query(query) if query.text.get(..CREATE_TABLE.len())
            .is_some_and(|verb| verb.eq_ignore_ascii_case(CREATE_TABLE)))
    })
}

const CREATE_TABLE: &[u8] = b"CREATE TABLE";

/// Events in words for a person: the first statement, or the tables of the rows.
pub(crate) fn text_of(events: &[Event]) -> Vec<u8> {
    let mut tables: Vec<(&[u8], &[u8])> = Vec::new();
    for event in events {
        match &event.content {
            Content::Query(query) => return query.text.clone(),
            Content::TableMap(map) if tables.len() < TABLES_LIMIT => {
                let name = (&map.schema[..], &map.table[..]);
                if !tables.contains(&name) {
                    tables.push(name);
                }
            }
            _ => {}
        }
    }
    if tables.is_empty() && !events.is_empty() {
        // Its tables are named in an earlier part.
        return b"rows of a large transaction".to_vec();
    }
    let names: Vec<Vec<u8>> = tables.iter().map(|(schema, table)| [schema, &b"."[..], table].concat()).collect();
    [b"rows of ".as_slice(), &names.join(&b", "[..])].concat()
}

/// Tables of a transaction that are named.
const TABLES_LIMIT: usize = 3;

/// Events of a transaction that is too large to be kept: those behind them follow as further parts, and as the
/// [`Transaction`].
#[derive(Clone, Debug)]
pub struct Part {
    /// The events, in order. The last one is of rows, or a statement.
    pub events: Vec<Event>,
    /// Whether nothing stays if the target rolls back.
    pub can_roll_back: bool,
    /// The server on which it was first made.
    pub server_id: u32,
    /// Behind them, in the middle of the transaction.
    pub position: LogPosition,
}

/// How a transaction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With COMMIT.
    Commit,
    /// With ROLLBACK: it is in the log for what could not be rolled back.
    Rollback,
    /// It is one statement that commits by itself.
    ByItself,
}
