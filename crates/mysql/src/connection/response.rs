//! What a server answers, as callers see it: rows, columns, counts and status.

use std::ops::ControlFlow;

/// Takes the rows of a statement's result sets as they arrive.
///
/// `Break` says that nothing more of this statement is wanted: the rest is read and dropped, so that the
/// connection can go on with the next statement.
pub trait RowSink {
    /// A result set begins. A `CALL` may have several.
    fn columns(&mut self, columns: &[Column]) -> ControlFlow<()>;
    /// One row of the latest result set: the text of each value in the connection's character set, `None` for
    /// NULL.
    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()>;
    /// The latest result set is complete. A result set that fails midway has no end.
    fn end(&mut self) {}
}

/// A column of a result set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Column {
    /// The schema of the table it comes from; empty for an expression.
    pub schema: Vec<u8>,
    /// The table's alias; empty for an expression.
    pub table: Vec<u8>,
    /// The column's alias: what a client shows as its heading.
    pub name: Vec<u8>,
    /// The id of the values' collation; 63 is binary.
    pub collation: u16,
    /// The longest value's length in bytes.
    pub length_bytes: u32,
    /// The protocol's type number, as `mysql_common::constants::ColumnType` lists them.
    pub kind: u8,
    /// The protocol's column flags, as `mysql_common::constants::ColumnFlags` lists them.
    pub flags: u16,
    /// Digits after the point; 31 where that has no meaning.
    pub decimals: u8,
}

/// A row of a small answer: the text of each value, `None` for NULL.
pub type Row = Vec<Option<Vec<u8>>>;

/// What a statement did, from the last packet of its answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExecResult {
    /// Rows inserted, deleted or changed.
    pub affected_rows: u64,
    /// The first AUTO_INCREMENT value that the statement generated; 0 for none.
    pub last_insert_id: u64,
    /// How many warnings `SHOW WARNINGS` would show; the protocol counts up to 65535.
    pub warnings: u16,
    /// The server's remark, such as `Records: 3  Duplicates: 0  Warnings: 0`.
    pub info: Vec<u8>,
    /// Rows received in all result sets.
    pub rows: u64,
    /// The session's state after the statement.
    pub status: Status,
}

/// A statement that the server has prepared. Its id means something on its own connection only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prepared {
    /// The server's id of it.
    pub id: u32,
    /// The number of `?` in it.
    pub parameters: u16,
}

/// The session's state as the server's last OK packet gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Status(pub(crate) u16);

const STATUS_IN_TRANSACTION: u16 = 0x0001;
const STATUS_AUTOCOMMIT: u16 = 0x0002;
const STATUS_MORE_RESULTS: u16 = 0x0008;
const STATUS_NO_BACKSLASH_ESCAPES: u16 = 0x0200;
const STATUS_SESSION_STATE_CHANGED: u16 = 0x4000;

impl Status {
    /// A transaction is open.
    pub fn in_transaction(self) -> bool {
        self.0 & STATUS_IN_TRANSACTION != 0
    }

    /// The session commits each statement by itself.
    pub fn autocommit(self) -> bool {
        self.0 & STATUS_AUTOCOMMIT != 0
    }

    /// `sql_mode` holds NO_BACKSLASH_ESCAPES: a backslash in a string is a character like any other.
    pub fn no_backslash_escapes(self) -> bool {
        self.0 & STATUS_NO_BACKSLASH_ESCAPES != 0
    }

    /// The OK packet holds changes of the session.
    pub(crate) fn has_session_changes(self) -> bool {
        self.0 & STATUS_SESSION_STATE_CHANGED != 0
    }

    pub(crate) fn more_results(self) -> bool {
        self.0 & STATUS_MORE_RESULTS != 0
    }
}
