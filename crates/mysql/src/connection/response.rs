//! The parts of a server's response: rows, columns, counts and status.

use std::ops::ControlFlow;

/// Receives the rows of a statement's result sets as they arrive.
///
/// `Break` means that no more rows of this statement are wanted: the connection reads and drops the rest, and can then
/// execute the next statement.
pub trait RowSink {
    /// A result set starts. A `CALL` may have several.
    fn columns(&mut self, columns: &[Column]) -> ControlFlow<()>;
    /// One row of the latest result set: the text of each value in the connection's character set, `None` for
    /// NULL.
    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()>;
}

/// A column of a result set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Column {
    /// The schema of the table it comes from; empty for an expression.
    pub schema: Vec<u8>,
    /// The table's alias; empty for an expression.
    pub table: Vec<u8>,
    /// The column's alias, which a client shows as its heading.
    pub name: Vec<u8>,
    /// The id of the values' collation; 63 is binary.
    pub collation: u16,
    /// The longest value's length in bytes.
    pub length_bytes: u32,
    /// The protocol's type number, as `mysql_common::constants::ColumnType` lists them.
    pub kind: u8,
    /// The protocol's column flags, as `mysql_common::constants::ColumnFlags` lists them.
    pub flags: u16,
    /// Digits after the decimal point; 31 if not applicable.
    pub decimals: u8,
}

/// A row of a small result: the text of each value, `None` for NULL.
pub type Row = Vec<Option<Vec<u8>>>;

/// The result of a statement, from the last packet of its response.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExecResult {
    /// Rows inserted, deleted or changed.
    pub affected_rows: u64,
    /// The first AUTO_INCREMENT value that the statement generated; 0 for none.
    pub last_insert_id: u64,
    /// The number of warnings that `SHOW WARNINGS` would return; the protocol counts up to 65535.
    pub warnings: u16,
    /// The server's information text, such as `Records: 3  Duplicates: 0  Warnings: 0`.
    pub info: Vec<u8>,
    /// Rows received in all result sets.
    pub rows: u64,
}

/// A prepared statement. Its id is valid on its own connection only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prepared {
    /// The server's id of the statement.
    pub id: u32,
    /// The number of `?` parameters.
    pub parameters: u16,
}

/// The session's status flags in the server's last OK packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Status(pub(crate) u16);

const STATUS_IN_TRANSACTION: u16 = 0x0001;
const STATUS_AUTOCOMMIT: u16 = 0x0002;
const STATUS_MORE_RESULTS: u16 = 0x0008;
const STATUS_NO_BACKSLASH_ESCAPES: u16 = 0x0200;

impl Status {
    /// Whether a transaction is open.
    pub fn in_transaction(self) -> bool {
        self.0 & STATUS_IN_TRANSACTION != 0
    }

    /// Whether autocommit is on.
    pub fn autocommit(self) -> bool {
        self.0 & STATUS_AUTOCOMMIT != 0
    }

    /// Whether `sql_mode` contains NO_BACKSLASH_ESCAPES: a backslash in a string is an ordinary character.
    pub fn no_backslash_escapes(self) -> bool {
        self.0 & STATUS_NO_BACKSLASH_ESCAPES != 0
    }

    pub(crate) fn more_results(self) -> bool {
        self.0 & STATUS_MORE_RESULTS != 0
    }
}
