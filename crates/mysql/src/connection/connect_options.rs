//! Everything that a connection is opened with.

use std::time::Duration;

use crate::{Address, Password, Tls};

/// How long opening a connection may take unless told otherwise.
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Everything that a connection is opened with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectOptions {
    /// Where the server listens.
    pub address: Address,
    /// The account's user name.
    pub user: String,
    /// The account's password; none is not the same as an empty one to whoever reads the error message only.
    pub password: Option<Password>,
    /// The default database.
    pub database: Option<String>,
    /// The character set of statements and results: a name that `SET NAMES` takes, but for ucs2, utf16 and
    /// utf32, which cannot be used with a client.
    pub charset: String,
    /// Whether the connection is encrypted.
    pub tls: Tls,
    /// Bounds each step of opening the connection.
    pub connect_timeout: Duration,
    /// How long to wait for the server to say anything during a command; without one, forever, as a statement
    /// may take.
    pub read_timeout: Option<Duration>,
}

impl ConnectOptions {
    /// Options with every default: no password, no database, utf8mb4, no encryption.
    pub fn new(address: Address, user: impl Into<String>) -> ConnectOptions {
        ConnectOptions {
            address,
            user: user.into(),
            password: None,
            database: None,
            charset: "utf8mb4".to_owned(),
            tls: Tls::Disabled,
            connect_timeout: DEFAULT_CONNECT_TIMEOUT,
            read_timeout: None,
        }
    }
}
