//! Opens the conversation: the server's greeting, encryption, our answer, authentication.
//!
//! Source: MariaDB knowledge base, "Connecting".

use std::io;
use std::net::{IpAddr, Ipv4Addr};

use mysql_common::constants::{CapabilityFlags, MariadbCapabilities};
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};

use super::auth::{Authentication, Credentials};
use super::charset;
use super::command_error::{CommandError, describe};
use super::connect_options::ConnectOptions;
use super::fields::{Fields, put_length, put_length_encoded};
use super::response::Status;
use super::transport::{Socket, Transport};
use super::wire::{ERR_HEADER, Wire};
use crate::tls::{self, Tls, TlsSettings, Verify};
use crate::{Address, Error, Version};

const PROTOCOL_VERSION: u8 = 10;
/// The longest packet that we say to take: the largest that servers know.
const MAX_PACKET_BYTES: u32 = 1 << 30;
const NONCE_BYTES: usize = 20;

/// What we can and ask for, if the server can too.
const WANTED: CapabilityFlags = CapabilityFlags::CLIENT_LONG_FLAG
    .union(CapabilityFlags::CLIENT_PROTOCOL_41)
    .union(CapabilityFlags::CLIENT_TRANSACTIONS)
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION)
    .union(CapabilityFlags::CLIENT_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PS_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA)
    .union(CapabilityFlags::CLIENT_CONNECT_ATTRS)
    // So that the refusal is ours, and names the file.
    .union(CapabilityFlags::CLIENT_LOCAL_FILES)
    .union(CapabilityFlags::CLIENT_SESSION_TRACK)
    .union(CapabilityFlags::CLIENT_DEPRECATE_EOF);
/// What every server since MySQL 4.1 can.
const NEEDED: CapabilityFlags = CapabilityFlags::CLIENT_PROTOCOL_41.union(CapabilityFlags::CLIENT_SECURE_CONNECTION);
/// Of MariaDB's own. Its metadata cache would leave out columns that the reader of answers counts on.
const WANTED_OF_MARIADB: MariadbCapabilities = MariadbCapabilities::MARIADB_CLIENT_STMT_BULK_OPERATIONS;

/// An open connection's parts.
pub(super) struct Opened {
    pub(super) wire: Wire<Transport>,
    pub(super) version: Version,
    pub(super) id: u32,
    pub(super) status: Status,
    pub(super) deprecate_eof: bool,
    pub(super) supports_bulk: bool,
    pub(super) tracks_session: bool,
}

/// Connects and authenticates.
pub(super) fn open(options: &ConnectOptions) -> Result<Opened, Error> {
    check_names(options)?;
    let mut socket = Socket::connect(&options.address, options.connect_timeout)?;
    let cannot = |reason: String| Error::Connect { address: options.address.to_string(), reason };
    socket.set_read_timeout(Some(options.connect_timeout)).map_err(|error| cannot(error.to_string()))?;
    let explain = |failure: CommandError| match failure {
        CommandError::Io(error) => cannot(format!("{} during the handshake", describe(&error))),
        CommandError::Server(error) => Error::Server(error),
        CommandError::Unsupported(message) => Error::Unsupported(message),
        CommandError::LocalFile(name) => Error::LocalFile(name),
        CommandError::Protocol(found) => Error::Protocol { address: options.address.to_string(), found },
    };

    let mut wire = Wire::new(Transport::Plain(socket));
    let greeting = wire.receive().and_then(Greeting::parse).map_err(explain)?;
    let collation = charset::collation(&options.charset, &greeting.version)?;
    let encryption = encryption(options, &wire, &greeting)?;
    let mut request = Request::new(options, &greeting, collation);
    if let Some(settings) = encryption {
        request.capabilities |= CapabilityFlags::CLIENT_SSL;
        wire.send(&[], &request.fixed_part()).map_err(|error| explain(CommandError::Io(error)))?;
        let (transport, sequence) = wire.suspend().map_err(explain)?;
        wire = Wire::resume(encrypt(transport, options, &settings)?, sequence);
    }

    let credentials = Credentials {
        password: options.password.as_ref().map_or(b"", |password| password.reveal()),
        nonce: &greeting.nonce,
        is_encrypted: wire.stream().is_encrypted(),
        is_private: wire.stream().is_private(),
    };
    let authentication = Authentication::begin(&greeting.method, &credentials);
    let packet = request.with_authentication(options, &authentication);
    wire.send(&[], &packet).map_err(|error| explain(CommandError::Io(error)))?;
    let status = authentication.converse(&mut wire, &credentials).map_err(explain)?;
    wire.stream_mut().socket_mut().set_read_timeout(options.read_timeout).map_err(|error| cannot(error.to_string()))?;
    Ok(Opened {
        wire,
        version: greeting.version,
        id: greeting.id,
        status,
        deprecate_eof: request.capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF),
        tracks_session: request.capabilities.contains(CapabilityFlags::CLIENT_SESSION_TRACK),
        supports_bulk: request.of_mariadb.contains(MariadbCapabilities::MARIADB_CLIENT_STMT_BULK_OPERATIONS),
    })
}

/// Names end with a NUL in the handshake, so one inside would make another field of the rest.
fn check_names(options: &ConnectOptions) -> Result<(), Error> {
    let database = options.database.as_deref().unwrap_or_default();
    for (what, name) in [("user", options.user.as_str()), ("database", database)] {
        if name.contains('\0') {
            return Err(Error::Unsupported(format!("the {what} name {name:?} holds a NUL character")));
        }
    }
    Ok(())
}

/// The settings to encrypt with, or `None` to go on in the clear.
fn encryption(
    options: &ConnectOptions,
    wire: &Wire<Transport>,
    greeting: &Greeting,
) -> Result<Option<TlsSettings>, Error> {
    let is_offered = greeting.capabilities.contains(CapabilityFlags::CLIENT_SSL);
    match &options.tls {
        Tls::Disabled => Ok(None),
        Tls::Preferred => Ok((is_offered && !wire.stream().socket().is_unix()).then(TlsSettings::default)),
        Tls::Required(settings) if is_offered => Ok(Some(settings.clone())),
        Tls::Required(_) => Err(Error::Tls {
            address: options.address.to_string(),
            reason: "the server has no TLS (`SHOW VARIABLES LIKE 'have_ssl'` tells why); set ssl_cert and ssl_key on \
                     it, or do not ask for TLS"
                .to_owned(),
        }),
    }
}

fn encrypt(transport: Transport, options: &ConnectOptions, settings: &TlsSettings) -> Result<Transport, Error> {
    let refused = |reason: String| Error::Tls { address: options.address.to_string(), reason };
    let Transport::Plain(mut socket) = transport else {
        return Err(refused("it is encrypted already".to_owned()));
    };
    let host = match &options.address {
        Address::Tcp { host, .. } => host.as_str(),
        Address::Socket(_) => "localhost",
    };
    let name = match ServerName::try_from(host.to_owned()) {
        Ok(name) => name,
        Err(_) if settings.verify != Verify::Host => IpAddr::V4(Ipv4Addr::UNSPECIFIED).into(),
        Err(_) => return Err(refused(format!("`{host}` is not a name that a certificate can hold"))),
    };
    let config = tls::client_config(settings).map_err(refused)?;
    let mut session = ClientConnection::new(config.into(), name).map_err(|error| refused(error.to_string()))?;
    while session.is_handshaking() {
        session.complete_io(&mut socket).map_err(|error| refused(explain_tls(&error, host)))?;
    }
    Ok(Transport::Encrypted(Box::new(StreamOwned::new(session, socket))))
}

fn explain_tls(error: &io::Error, host: &str) -> String {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(inner) => tls::explain(inner, host),
        None => describe(error),
    }
}

/// What the server says of itself before anything else.
#[derive(Debug)]
struct Greeting {
    version: Version,
    id: u32,
    nonce: Vec<u8>,
    capabilities: CapabilityFlags,
    of_mariadb: MariadbCapabilities,
    /// The server's favourite authentication method.
    method: Vec<u8>,
}

impl Greeting {
    fn parse(packet: &[u8]) -> Result<Greeting, CommandError> {
        let mut fields = Fields::new(packet, "the server's greeting");
        match fields.u8()? {
            PROTOCOL_VERSION => {}
            // Too many connections, a blocked host: refused before a word is said.
            ERR_HEADER => return Err(CommandError::from_err_packet(packet)),
            other => {
                return Err(CommandError::Protocol(format!(
                    "a greeting of protocol version {other}; is it a MariaDB or MySQL server that listens there?"
                )));
            }
        }
        let version = Version::parse(&String::from_utf8_lossy(fields.nul_terminated()));
        let id = fields.u32()?;
        let mut nonce = fields.bytes(8)?.to_vec();
        fields.u8()?;
        let low = fields.u16()?;
        let _collation_and_status = fields.bytes(3)?;
        let high = fields.u16()?;
        let capabilities = CapabilityFlags::from_bits_truncate(u32::from(low) | u32::from(high) << 16);
        if !capabilities.contains(NEEDED) {
            return Err(CommandError::Unsupported(format!("the server ({}) is older than MySQL 4.1", version.text)));
        }
        let nonce_bytes = usize::from(fields.u8()?);
        fields.bytes(6)?;
        let of_mariadb = fields.u32()?;
        // MariaDB says that it is no MySQL by leaving the first flag out; MySQL has nothing in this field.
        let of_mariadb = match capabilities.contains(CapabilityFlags::CLIENT_LONG_PASSWORD) {
            true => MariadbCapabilities::empty(),
            false => MariadbCapabilities::from_bits_truncate(of_mariadb),
        };
        nonce.extend_from_slice(fields.bytes(nonce_bytes.saturating_sub(8).max(13))?);
        nonce.truncate(NONCE_BYTES);
        let method = fields.nul_terminated().to_vec();
        Ok(Greeting { version, id, nonce, capabilities, of_mariadb, method })
    }
}

/// Our answer to the greeting.
#[derive(Debug)]
struct Request {
    capabilities: CapabilityFlags,
    of_mariadb: MariadbCapabilities,
    collation: u8,
}

impl Request {
    fn new(options: &ConnectOptions, greeting: &Greeting, collation: u8) -> Request {
        let mut wanted = WANTED;
        if options.database.is_some() {
            wanted |= CapabilityFlags::CLIENT_CONNECT_WITH_DB;
        }
        // Leaving this flag out in turn is what makes MariaDB look at its own capabilities.
        wanted |= CapabilityFlags::CLIENT_LONG_PASSWORD;
        Request {
            capabilities: wanted & greeting.capabilities,
            of_mariadb: WANTED_OF_MARIADB & greeting.of_mariadb,
            collation,
        }
    }

    /// What also serves as the request to encrypt.
    fn fixed_part(&self) -> Vec<u8> {
        let mut packet = Vec::with_capacity(256);
        packet.extend(self.capabilities.bits().to_le_bytes());
        packet.extend(MAX_PACKET_BYTES.to_le_bytes());
        packet.push(self.collation);
        packet.extend([0; 19]);
        packet.extend(self.of_mariadb.bits().to_le_bytes());
        packet
    }

    fn with_authentication(&self, options: &ConnectOptions, authentication: &Authentication) -> Vec<u8> {
        let mut packet = self.fixed_part();
        packet.extend_from_slice(options.user.as_bytes());
        packet.push(0);
        // Shorter than 251 bytes, so that both ways to give its length are the same byte.
        put_length_encoded(&mut packet, &authentication.first);
        if self.capabilities.contains(CapabilityFlags::CLIENT_CONNECT_WITH_DB)
            && let Some(database) = &options.database
        {
            packet.extend_from_slice(database.as_bytes());
            packet.push(0);
        }
        if self.capabilities.contains(CapabilityFlags::CLIENT_PLUGIN_AUTH) {
            packet.extend_from_slice(&authentication.name);
            packet.push(0);
        }
        if self.capabilities.contains(CapabilityFlags::CLIENT_CONNECT_ATTRS) {
            let mut attributes = Vec::new();
            for text in ["_client_name", "hortator", "program_name", "hortator"] {
                put_length_encoded(&mut attributes, text.as_bytes());
            }
            put_length(&mut packet, attributes.len());
            packet.extend(attributes);
        }
        packet
    }
}

#[cfg(test)]
mod tests;
