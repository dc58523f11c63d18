//! What can go wrong between us and a server, and what may be done about it.

use std::fmt;

/// An error that the server itself sent: the statement failed, the connection is still good.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerError {
    /// The server's error number, such as 1062 for a duplicate key.
    pub code: u16,
    /// Five characters of the SQL standard's classification; `HY000` when the server gave none.
    pub sqlstate: [u8; 5],
    /// The server's words. Bytes that are not UTF-8 are replaced.
    pub message: String,
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = String::from_utf8_lossy(&self.sqlstate);
        write!(f, "ERROR {} ({state}): {}", self.code, self.message)
    }
}

impl fmt::Debug for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Any failure of this crate's connections.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The server answered with an error. The connection stays usable, but for the handshake's errors.
    #[error("{0}")]
    Server(ServerError),

    /// The connection ended during a command, or the server says itself that it does not know how the command ended.
    /// Whether it took effect is unknown, and every further call on the connection fails with this error.
    #[error("lost the connection to the server at {address} while {doing}: {reason}")]
    Lost {
        /// The server's address.
        address: String,
        /// What was under way, as in "waiting for the answer to a statement".
        doing: String,
        /// What ended it: the operating system's words, or the server's last ones.
        reason: String,
    },

    /// No connection came about.
    #[error("cannot connect to the server at {address}: {reason}")]
    Connect {
        /// The server's address.
        address: String,
        /// What was found, and what to do where that is known.
        reason: String,
    },

    /// The connection could not be encrypted as the options ask for.
    #[error("cannot encrypt the connection to {address}: {reason}")]
    Tls {
        /// The server's address.
        address: String,
        /// What was found, and what to do where that is known.
        reason: String,
    },

    /// The peer sent what the protocol does not allow. The connection is not used any further.
    #[error("the server at {address} broke the protocol: {found}")]
    Protocol {
        /// The server's address.
        address: String,
        /// What was found where.
        found: String,
    },

    /// The statement asks for a file of this machine, by its name. It was given an empty one, and the connection stays
    /// usable.
    #[error(
        "the statement asks for the file {0:?} of this machine (LOAD DATA LOCAL INFILE); no file is sent to a server at a \
         statement's request. Load that file on its own"
    )]
    LocalFile(String),

    /// Something that the server or the options ask for and that Hortator does not do.
    #[error("{0}")]
    Unsupported(String),
}

/// Deadlock found when trying to get lock; the server rolled the whole transaction back.
pub const DEADLOCK: u16 = 1213;
/// A key or column to be dropped is not there.
pub const CANT_DROP_FIELD_OR_KEY: u16 = 1091;
/// Lock wait timeout exceeded.
pub const LOCK_WAIT_TIMEOUT: u16 = 1205;
/// MySQL: a row is locked that NOWAIT asks for. MariaDB says [`LOCK_WAIT_TIMEOUT`].
pub const LOCK_NOWAIT: u16 = 3572;
/// Unknown command: what a node of a Galera cluster says to every statement while it is not ready for any.
pub const UNKNOWN_COMMAND: u16 = 1047;
/// No database selected.
pub const NO_DATABASE: u16 = 1046;
/// Unknown database.
pub const UNKNOWN_DATABASE: u16 = 1049;
/// Access denied to a database.
pub const DATABASE_DENIED: u16 = 1044;
/// The user may not do this to the table.
pub const TABLE_DENIED: u16 = 1142;
/// Incorrect table name.
pub const WRONG_TABLE_NAME: u16 = 1103;
/// Unknown column.
pub const UNKNOWN_COLUMN: u16 = 1054;
/// Identifier name is too long.
pub const NAME_TOO_LONG: u16 = 1059;
/// Column specified twice.
pub const DUPLICATE_COLUMN: u16 = 1110;
/// Incorrect column name.
pub const WRONG_COLUMN_NAME: u16 = 1166;
/// Invalid character string.
pub const WRONG_CHARACTERS: u16 = 1300;
/// Unknown table, said of `information_schema`.
pub const UNKNOWN_TABLE: u16 = 1109;
/// No such table.
pub const NO_SUCH_TABLE: u16 = 1146;
/// Unable to open an underlying table of a MERGE table.
pub const WRONG_MERGE_TABLE: u16 = 1168;
/// MySQL: the session's next transaction would have no GTID, which the server does not permit.
pub const ANONYMOUS_TRANSACTION: u16 = 1782;
/// Unknown system variable.
pub const UNKNOWN_SYSTEM_VARIABLE: u16 = 1193;
/// Got a packet bigger than `max_allowed_packet` bytes.
pub const PACKET_TOO_LARGE: u16 = 1153;
/// The statement is not of the language; nothing of it has run.
pub const PARSE_ERROR: u16 = 1064;

impl Error {
    /// The server's error number, when it was the server who refused.
    pub fn code(&self) -> Option<u16> {
        match self {
            Error::Server(error) => Some(error.code),
            _ => None,
        }
    }

    /// Whether the connection ended during a command, so that its effect is unknown.
    pub fn is_lost(&self) -> bool {
        matches!(self, Error::Lost { .. })
    }

    /// Whether the same transaction may well pass when it is replayed: a deadlock, a lock wait, or a node that is not
    /// ready.
    pub fn is_transient(&self) -> bool {
        matches!(self.code(), Some(DEADLOCK | LOCK_WAIT_TIMEOUT)) || self.is_unready()
    }

    /// Whether a node of a Galera cluster takes no statements, because it is outside of the cluster's primary component
    /// or not ready yet: nothing was done, and another node may do it.
    pub fn is_unready(&self) -> bool {
        let Error::Server(ServerError { code, message, .. }) = self else { return false };
        *code == UNKNOWN_COMMAND && message.starts_with("WSREP")
    }
}
