//! The errors of connections, and their handling.

use std::fmt;

/// An error that the server sent: the statement failed, the connection is still usable.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerError {
    /// The server's error number, such as 1062 for a duplicate key.
    pub code: u16,
    /// The five characters of the SQLSTATE; `HY000` if the server gave none.
    pub sqlstate: [u8; 5],
    /// The server's message. Bytes that are not UTF-8 are replaced.
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

/// Any error of a connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The server answered with an error. The connection stays usable, except for errors of the handshake.
    #[error("{0}")]
    Server(ServerError),

    /// The connection ended during a command, or the server itself does not know how the command ended. Whether it took
    /// effect is unknown, and every further call on the connection fails with this error.
    #[error("lost the connection to the server at {address} while {action}: {reason}")]
    Lost {
        /// The server's address.
        address: String,
        /// The action, as in "waiting for the answer to a statement".
        action: String,
        /// The reason: the message of the operating system, or the server's last message.
        reason: String,
    },

    /// The connection failed.
    #[error("cannot connect to the server at {address}: {reason}")]
    Connect {
        /// The server's address.
        address: String,
        /// The reason, and the remedy if it is known.
        reason: String,
    },

    /// The connection could not be encrypted as the options require.
    #[error("cannot encrypt the connection to {address}: {reason}")]
    Tls {
        /// The server's address.
        address: String,
        /// The reason, and the remedy if it is known.
        reason: String,
    },

    /// The peer violated the protocol. The connection is not used any further.
    #[error("the server at {address} broke the protocol: {found}")]
    Protocol {
        /// The server's address.
        address: String,
        /// The violation and its position.
        found: String,
    },

    /// The server or the options request something that Hortator does not support.
    #[error("{0}")]
    Unsupported(String),
}

/// Deadlock found when trying to get lock; the server rolled the whole transaction back.
pub const DEADLOCK: u16 = 1213;
/// Lock wait timeout exceeded.
pub const LOCK_WAIT_TIMEOUT: u16 = 1205;
/// Unknown command: the answer of a Galera node to every statement while the node is not ready.
pub const UNKNOWN_COMMAND: u16 = 1047;
/// Got a packet bigger than `max_allowed_packet` bytes.
pub const PACKET_TOO_LARGE: u16 = 1153;

impl Error {
    /// The server's error number, if the server sent the error.
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

    /// Whether a retry of the same transaction may succeed: after a deadlock, a lock wait, or on a node that is not
    /// ready.
    pub fn is_transient(&self) -> bool {
        matches!(self.code(), Some(DEADLOCK | LOCK_WAIT_TIMEOUT)) || self.is_unready()
    }

    /// Whether a Galera node takes no statements, because it is outside of the primary component or not ready yet:
    /// nothing was executed, and another node may execute it.
    pub fn is_unready(&self) -> bool {
        let Error::Server(ServerError { code, message, .. }) = self else { return false };
        *code == UNKNOWN_COMMAND && message.starts_with("WSREP")
    }
}
