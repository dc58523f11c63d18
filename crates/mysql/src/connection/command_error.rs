//! The errors of a command, before the server's address is added for the caller.

use std::io;

use super::fields::Fields;
use crate::{Flavor, ServerError};

/// The error that ended a command.
#[derive(Debug)]
pub(super) enum CommandError {
    /// The byte stream ended or failed.
    Io(io::Error),
    /// The server answered with an error.
    Server(ServerError),
    /// The server violated the protocol.
    Protocol(String),
    /// The server requested something unsupported.
    Unsupported(String),
    /// A statement asked for this file of the client's.
    LocalFile(String),
}

impl CommandError {
    /// Reads an error packet.
    pub(super) fn from_err_packet(packet: &[u8]) -> CommandError {
        fn parse(packet: &[u8]) -> Result<ServerError, CommandError> {
            let mut fields = Fields::new(packet, "an error packet");
            fields.u8()?;
            let code = fields.u16()?;
            let mut sqlstate = *b"HY000";
            // Errors before the end of the handshake may come without it.
            if fields.peek() == Some(b'#') {
                fields.u8()?;
                sqlstate.copy_from_slice(fields.bytes(5)?);
            }
            let message = String::from_utf8_lossy(fields.rest()).into_owned();
            Ok(ServerError { code, sqlstate, message })
        }
        parse(packet).map_or_else(|failure| failure, CommandError::Server)
    }
}

/// Errors with which a server closes the connection: shutdown, a killed or aborted connection, network errors on its
/// side, idle timeout.
const CONNECTION_CLOSING_ERRORS: [u16; 11] = [1053, 1152, 1156, 1157, 1158, 1159, 1160, 1161, 1184, 1927, 3169];

/// MySQL's idle timeout. To MariaDB the number means a trigger that FOLLOWS one which does not exist.
const MYSQL_INTERACTION_TIMEOUT: u16 = 4031;

/// The commit failed. For a commit in progress when its node lost the quorum this is not certain: the other nodes may
/// have received the transaction (seen with MariaDB 10.11 and Galera 26.4).
const ERROR_DURING_COMMIT: u16 = 1180;
const NON_PRIMARY_MESSAGE: &str = "Not connected to Primary Component";

/// Whether the server closes the connection after this error, and the effect of the command is unknown.
pub(super) fn ends_connection(error: &ServerError, flavor: Flavor) -> bool {
    (error.code == MYSQL_INTERACTION_TIMEOUT && flavor == Flavor::MySql)
        || CONNECTION_CLOSING_ERRORS.contains(&error.code)
        || (error.code == ERROR_DURING_COMMIT && error.message.contains(NON_PRIMARY_MESSAGE))
}

/// The error of a broken stream as a message for a DBA.
pub(super) fn describe(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::WriteZero => "the server closed the connection".to_owned(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => "the server did not answer in time".to_owned(),
        _ => error.to_string(),
    }
}
