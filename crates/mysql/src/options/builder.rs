//! Builds the connection options while the layers override one another.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use super::names::{Known, Meaning, OptionValue};
use super::{DEFAULT_SOCKET, Error, Origin, Resolved};
use crate::Verify;
use crate::{Address, ConnectOptions, DEFAULT_CONNECT_TIMEOUT, DEFAULT_PORT, Identity, Password, Tls, TlsSettings};

/// Character sets that connections cannot use: their ASCII characters are not single bytes.
const UNSUPPORTED_CHARSETS: &[&str] = &["ucs2", "utf16", "utf16le", "utf32"];

#[derive(Default)]
pub(super) struct ConnectOptionsBuilder {
    charset: Option<String>,
    connect_timeout: Option<Duration>,
    database: Option<String>,
    host: Option<String>,
    password: Option<Secret>,
    port: Option<u16>,
    protocol: Option<Protocol>,
    socket: Option<PathBuf>,
    encryption: Option<Encryption>,
    authority: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    verify_authority: bool,
    verify_host: bool,
    user: Option<String>,
    warnings: Vec<String>,
}

enum Secret {
    Value(Password),
    Ask,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Tcp,
    Socket,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Encryption {
    Never,
    Preferred,
    Required,
}

impl ConnectOptionsBuilder {
    /// Applies one option over the earlier ones.
    pub fn apply(&mut self, option: &OptionValue) -> Result<(), Error> {
        let (known, negated) = match option.meaning()? {
            Meaning::Supported { known, negated } => (known, negated),
            Meaning::Harmless => return Ok(()),
            Meaning::Ignored => {
                let OptionValue { origin, name, .. } = option;
                self.warnings
                    .push(format!("{origin}: `{name}` is ignored, because Hortator does not have this option"));
                return Ok(());
            }
        };
        let on_command_line = option.origin == Origin::CommandLine;
        match known {
            Known::Charset => self.charset = charset(option)?,
            Known::ConnectTimeout => {
                let seconds: u32 = number(option, "a number of seconds (0 for the default)")?;
                self.connect_timeout = (seconds > 0).then(|| Duration::from_secs(seconds.into()));
            }
            Known::Database => self.database = name(option)?,
            Known::Host => self.host = name(option)?,
            Known::Password => {
                self.password = Some(match &option.value {
                    _ if negated => Secret::Value(Password::new("")),
                    Some(value) => Secret::Value(Password::new(value.clone())),
                    None => Secret::Ask,
                });
            }
            Known::Port => {
                let port = number(option, "a port from 1 to 65535 (0 for the default)")?;
                self.port = (port > 0).then_some(port);
                if on_command_line {
                    self.protocol = Some(Protocol::Tcp);
                }
            }
            Known::Protocol => self.protocol = Some(protocol(option)?),
            Known::Socket => {
                self.socket = path(option)?;
                if on_command_line {
                    self.protocol = Some(Protocol::Socket);
                }
            }
            Known::Ssl => {
                let wanted = switch(option)? != negated;
                self.encryption = Some(if wanted { Encryption::Required } else { Encryption::Never });
            }
            Known::SslCa => {
                self.authority = path(option)?;
                self.encrypt();
            }
            Known::SslCert => {
                self.certificate = path(option)?;
                self.encrypt();
            }
            Known::SslKey => {
                self.key = path(option)?;
                self.encrypt();
            }
            Known::SslMode => self.set_mode(option)?,
            Known::SslVerify => {
                self.verify_host = switch(option)? != negated;
                if self.verify_host {
                    self.encrypt();
                }
            }
            Known::User => self.user = name(option)?,
        }
        Ok(())
    }

    /// As in the client, an option that needs encryption turns encryption on. Unlike 10.11's client, which silently
    /// continues unencrypted if the server does not support it, this is an error then.
    fn encrypt(&mut self) {
        if self.encryption != Some(Encryption::Preferred) {
            self.encryption = Some(Encryption::Required);
        }
    }

    /// MySQL's equivalent of MariaDB's `ssl` and `ssl-verify-server-cert`.
    fn set_mode(&mut self, option: &OptionValue) -> Result<(), Error> {
        let takes = "DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY";
        let value = option.value.as_deref().unwrap_or_default().to_ascii_uppercase();
        let (encryption, authority, host) = match value.as_slice() {
            b"DISABLED" => (Encryption::Never, false, false),
            b"PREFERRED" => (Encryption::Preferred, false, false),
            b"REQUIRED" => (Encryption::Required, false, false),
            b"VERIFY_CA" => (Encryption::Required, true, false),
            b"VERIFY_IDENTITY" => (Encryption::Required, true, true),
            _ => return Err(wrong(option, takes)),
        };
        self.encryption = Some(encryption);
        self.verify_authority = authority;
        self.verify_host = host;
        Ok(())
    }

    /// The connection options, with defaults for missing values.
    pub fn finish(self, default_user: &dyn Fn() -> Result<String, Error>) -> Result<Resolved, Error> {
        let address = self.address();
        let tls = self.tls(&address);
        let mut options = ConnectOptions::new(address, self.user.map_or_else(default_user, Ok)?);
        options.database = self.database;
        options.tls = tls;
        options.connect_timeout = self.connect_timeout.unwrap_or(DEFAULT_CONNECT_TIMEOUT);
        if let Some(charset) = self.charset {
            options.charset = charset;
        }
        let ask_password = matches!(self.password, Some(Secret::Ask));
        if let Some(Secret::Value(password)) = self.password {
            options.password = Some(password);
        }
        Ok(Resolved { options, ask_password, warnings: self.warnings })
    }

    /// A host other than `localhost` always means TCP, whatever the options say of sockets: the client's rule;
    /// `localhost` in capitals is such a host.
    fn address(&self) -> Address {
        let local = self.host.as_deref().is_none_or(|host| host == "localhost");
        if local && self.protocol != Some(Protocol::Tcp) {
            return Address::Socket(self.socket.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_SOCKET)));
        }
        let host = self.host.clone().unwrap_or_else(|| "localhost".to_owned());
        Address::Tcp { host, port: self.port.unwrap_or(DEFAULT_PORT) }
    }

    /// The default: encrypted over TCP if the server supports it; unencrypted over a socket, on which no other process
    /// can listen and where encryption would only cost time.
    fn tls(&self, address: &Address) -> Tls {
        match (self.encryption, address) {
            (Some(Encryption::Never), _) | (None, Address::Socket(_)) => return Tls::Disabled,
            (Some(Encryption::Preferred), _) | (None, Address::Tcp { .. }) => return Tls::Preferred,
            (Some(Encryption::Required), _) => {}
        }
        let verify = if self.verify_host {
            Verify::Host
        } else if self.verify_authority || self.authority.is_some() {
            Verify::Authority
        } else {
            Verify::Nothing
        };
        // One file may hold both the certificate and the key.
        let certificate = self.certificate.as_ref().or(self.key.as_ref());
        let identity = certificate.map(|certificate| Identity {
            certificate: certificate.clone(),
            key: self.key.as_ref().unwrap_or(certificate).clone(),
        });
        Tls::Required(TlsSettings { verify, ca: self.authority.clone(), identity })
    }
}

fn wrong(option: &OptionValue, takes: &'static str) -> Error {
    let found = option.value.as_deref().map(|value| String::from_utf8_lossy(value).into_owned());
    Error::Value { origin: option.origin.clone(), name: option.name.clone(), found, takes }
}

/// A name; an empty one removes the value of a lower layer.
fn name(option: &OptionValue) -> Result<Option<String>, Error> {
    let value = option.value.clone().and_then(|value| String::from_utf8(value).ok());
    let value = value.ok_or_else(|| wrong(option, "a name in UTF-8"))?;
    Ok(Some(value).filter(|value| !value.is_empty()))
}

fn path(option: &OptionValue) -> Result<Option<PathBuf>, Error> {
    let value = option.value.as_deref().ok_or_else(|| wrong(option, "the name of a file"))?;
    Ok(Some(PathBuf::from(OsStr::from_bytes(value))).filter(|path| !path.as_os_str().is_empty()))
}

fn number<N: std::str::FromStr>(option: &OptionValue, takes: &'static str) -> Result<N, Error> {
    let text = option.value.as_deref().and_then(|value| std::str::from_utf8(value).ok());
    text.and_then(|text| text.parse().ok()).ok_or_else(|| wrong(option, takes))
}

/// The client treats an unknown value as OFF; for encryption this would be dangerous.
fn switch(option: &OptionValue) -> Result<bool, Error> {
    match option.value.as_deref().map(<[u8]>::to_ascii_lowercase).as_deref() {
        None | Some(b"1" | b"on" | b"true") => Ok(true),
        Some(b"0" | b"off" | b"false") => Ok(false),
        Some(_) => Err(wrong(option, "ON, TRUE, 1, OFF, FALSE or 0")),
    }
}

fn protocol(option: &OptionValue) -> Result<Protocol, Error> {
    match option.value.as_deref().unwrap_or_default().to_ascii_lowercase().as_slice() {
        b"tcp" => Ok(Protocol::Tcp),
        b"socket" => Ok(Protocol::Socket),
        _ => Err(wrong(option, "tcp or socket")),
    }
}

/// None for the default. `auto` is the client's word for the charset of its locale, which says nothing about a dump.
fn charset(option: &OptionValue) -> Result<Option<String>, Error> {
    let takes = "a character set of the server that can be used with a client, such as utf8mb4, latin1 or binary";
    let Some(charset) = name(option)?.map(|charset| charset.to_ascii_lowercase()) else { return Ok(None) };
    let is_word = charset.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_word || UNSUPPORTED_CHARSETS.contains(&charset.as_str()) {
        return Err(wrong(option, takes));
    }
    Ok(Some(charset).filter(|charset| charset != "auto"))
}
