//! Authenticates with the method that the server requests.
//!
//! The methods themselves are `mysql_common`'s; this module exchanges the packets, and enforces which method may be
//! used on which transport.
//!
//! Source: MariaDB knowledge base, "Connecting", "Authentication Plugins".

use std::io::{Read, Write};

use mysql_common::auth::plugins::{AuthProc, ChallengeResponsePlugin, Context, Error as MethodError, Response};
use mysql_common::packets::AuthPlugin;

use super::command_error::CommandError;
use super::fields::Fields;
use super::response::{ExecResult, Status};
use super::result::read_ok;
use super::wire::{ERR_HEADER, Wire};

/// A server that has not decided after this many packets never will.
const AUTH_PACKETS_LIMIT: usize = 32;
const NATIVE: &[u8] = b"mysql_native_password";
/// Methods that identify the account by the operating system's user, without data from the client.
const SILENT_METHODS: [&[u8]; 2] = [b"unix_socket", b"auth_socket"];

/// The input of the methods. No `Debug`: it holds the password.
#[derive(Clone, Copy)]
pub(super) struct Credentials<'a> {
    pub(super) password: &'a [u8],
    /// The server's nonce in the handshake.
    pub(super) nonce: &'a [u8],
    pub(super) is_encrypted: bool,
    /// Whether the transport protects against eavesdroppers.
    pub(super) is_private: bool,
}

impl Context for &Credentials<'_> {
    fn pass(&self) -> &[u8] {
        self.password
    }

    fn is_ipc_transport(&self) -> bool {
        self.is_private && !self.is_encrypted
    }

    fn is_tls_transport(&self) -> bool {
        self.is_encrypted
    }

    fn scramble(&self) -> &[u8] {
        self.nonce
    }

    fn server_key_pem(&self) -> Option<&[u8]> {
        None
    }
}

/// A method in use.
#[derive(Debug)]
enum Method {
    Silent,
    Spoken(AuthProc),
}

impl Method {
    fn new(name: &[u8], credentials: &Credentials<'_>) -> Result<Method, CommandError> {
        if SILENT_METHODS.contains(&name) {
            return Ok(Method::Silent);
        }
        let shown = String::from_utf8_lossy(name);
        let plugin = AuthPlugin::from_bytes(name);
        match plugin {
            AuthPlugin::MysqlOldPassword => Err(CommandError::Unsupported(
                "the account has a password in the format before MySQL 4.1 (mysql_old_password), which anyone on the network \
                 can recover: set the password again on the server"
                    .to_owned(),
            )),
            AuthPlugin::MysqlClearPassword if !credentials.is_private => Err(CommandError::Unsupported(
                "the account needs its password in clear text (mysql_clear_password), which is sent over TLS or a \
                 Unix socket only: use TLS"
                    .to_owned(),
            )),
            AuthPlugin::Parsec | AuthPlugin::Other(_) => Err(CommandError::Unsupported(format!(
                "the account needs the authentication method `{shown}`, but Hortator supports only mysql_native_password, \
                 caching_sha2_password, sha256_password, client_ed25519, mysql_clear_password and unix_socket"
            ))),
            _ => match plugin.init() {
                Ok(method) => Ok(Method::Spoken(method)),
                Err(error) => Err(CommandError::Unsupported(error.to_string())),
            },
        }
    }

    fn answer(&mut self, challenge: &[u8], credentials: &Credentials<'_>) -> Result<Option<Vec<u8>>, CommandError> {
        let method = match self {
            Method::Silent => return Ok(Some(Vec::new())),
            Method::Spoken(method) => method,
        };
        match method.run(credentials, challenge) {
            Ok(Response::Next { packet } | Response::Last { packet }) => Ok(packet),
            Err(MethodError::Logic | MethodError::Challenge) => {
                Err(CommandError::Protocol("the server's challenge does not fit the authentication method".to_owned()))
            }
            Err(error) => Err(CommandError::Unsupported(format!("the authentication method failed: {error}"))),
        }
    }
}

/// The authentication, started with the handshake response.
pub(super) struct Authentication {
    method: Method,
    /// The method's name, for the handshake response.
    pub(super) name: Vec<u8>,
    /// The method's first data, for the handshake response.
    pub(super) first: Vec<u8>,
}

impl Authentication {
    /// Starts with the server's preferred method if that reveals nothing, else with mysql_native_password: the server
    /// names another method if the account needs one.
    pub(super) fn begin(favourite: &[u8], credentials: &Credentials<'_>) -> Authentication {
        let name = match AuthPlugin::from_bytes(favourite) {
            AuthPlugin::CachingSha2Password => favourite,
            _ => NATIVE,
        };
        let begun = Method::new(name, credentials).and_then(|mut method| {
            let first = method.answer(credentials.nonce, credentials)?;
            Ok((method, first.unwrap_or_default()))
        });
        // A nonce that does not fit either method belongs to another one, which the server will name.
        let (method, first) = begun.unwrap_or((Method::Silent, Vec::new()));
        Authentication { method, name: name.to_vec(), first }
    }

    /// Exchanges packets until the server accepts or refuses.
    pub(super) fn converse<T: Read + Write>(
        mut self,
        wire: &mut Wire<T>,
        credentials: &Credentials<'_>,
    ) -> Result<Status, CommandError> {
        for _ in 0..AUTH_PACKETS_LIMIT {
            let packet = wire.receive()?;
            let answer = match packet.first() {
                Some(0x00) => {
                    let mut status = Status::default();
                    read_ok(packet, &mut ExecResult::default(), &mut status)?;
                    return Ok(status);
                }
                Some(&ERR_HEADER) => return Err(CommandError::from_err_packet(packet)),
                Some(0xfe) => {
                    let mut fields = Fields::new(packet, "a change of the authentication method");
                    fields.u8()?;
                    // Only the header: a server that does not know methods by name.
                    let name = if fields.is_empty() { b"mysql_old_password" } else { fields.nul_terminated() };
                    self.method = Method::new(name, credentials)?;
                    self.method.answer(challenge(name, fields.rest()), credentials)?
                }
                Some(0x01) => self.method.answer(&packet[1..], credentials)?,
                _ => self.method.answer(packet, credentials)?,
            };
            if let Some(answer) = answer {
                wire.send(&[], &answer).map_err(CommandError::Io)?;
            }
        }
        Err(CommandError::Protocol(format!("the authentication did not end after {AUTH_PACKETS_LIMIT} packets")))
    }
}

/// Methods with a nonce of 20 bytes get it with or without a trailing NUL.
fn challenge<'a>(name: &[u8], data: &'a [u8]) -> &'a [u8] {
    match (AuthPlugin::from_bytes(name), data) {
        (
            AuthPlugin::MysqlNativePassword | AuthPlugin::CachingSha2Password | AuthPlugin::Sha256Password,
            [nonce @ .., 0],
        ) if nonce.len() == 20 => nonce,
        _ => data,
    }
}

#[cfg(test)]
mod tests;
