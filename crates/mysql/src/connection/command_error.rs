//! What ends a command early, before it is told to the caller with the server's address.

use std::io;

use super::fields::Fields;
use crate::ServerError;

/// What ends a command early.
#[derive(Debug)]
pub(super) enum Failure {
    /// The byte stream ended or broke.
    Io(io::Error),
    /// The server answered with an error.
    Server(ServerError),
    /// The server sent what the protocol does not allow.
    Protocol(String),
    /// The server asks for something that we do not do.
    Unsupported(String),
}

impl Failure {
    /// Reads an error packet.
    pub(super) fn from_err_packet(packet: &[u8]) -> Failure {
        fn parse(packet: &[u8]) -> Result<ServerError, Failure> {
            let mut fields = Fields::new(packet, "an error packet");
            fields.u8()?;
            let code = fields.u16()?;
            let mut sqlstate = *b"HY000";
            // Errors before the handshake's end may come without it.
            if fields.peek() == Some(b'#') {
                fields.u8()?;
                sqlstate.copy_from_slice(fields.bytes(5)?);
            }
            let message = String::from_utf8_lossy(fields.rest()).into_owned();
            Ok(ServerError { code, sqlstate, message })
        }
        parse(packet).map_or_else(|failure| failure, Failure::Server)
    }
}

/// Errors with which a server announces that it ends the connection: shutdown, a killed connection, an aborted
/// one, network trouble seen from its side, idle for too long.
const LAST_WORDS: [u16; 12] = [1053, 1152, 1156, 1157, 1158, 1159, 1160, 1161, 1184, 1927, 3169, 4031];

/// The commit failed. Said of one that was under way when its node was cut off from the cluster, it is a guess: the
/// other nodes may have got the transaction (seen with MariaDB 10.11 and Galera 26.4).
const ERROR_DURING_COMMIT: u16 = 1180;
const CUT_OFF: &str = "Not connected to Primary Component";

/// Whether the connection is over with this error, and what the command did unknown.
pub(super) fn is_last_word(error: &ServerError) -> bool {
    LAST_WORDS.contains(&error.code) || (error.code == ERROR_DURING_COMMIT && error.message.contains(CUT_OFF))
}

/// The operating system's words for a broken stream, in a DBA's.
pub(super) fn describe(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::WriteZero => "the server closed the connection".to_owned(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => "the server did not answer in time".to_owned(),
        _ => error.to_string(),
    }
}
