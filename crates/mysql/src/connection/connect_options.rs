//! The options of a connection.

use std::time::Duration;

use crate::{Address, Password, Tls};

/// The default time limit for opening a connection.
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The options of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectOptions {
    /// The server's address.
    pub address: Address,
    /// The account's user name.
    pub user: String,
    /// The account's password; None differs from an empty one only in the error message.
    pub password: Option<Password>,
    /// The default database.
    pub database: Option<String>,
    /// The character set of statements and results: a name for `SET NAMES`, except ucs2, utf16 and utf32, which clients
    /// cannot use.
    pub charset: String,
    /// Whether the connection is encrypted.
    pub tls: Tls,
    /// The time limit for each step of opening the connection.
    pub connect_timeout: Duration,
    /// The time limit for receiving data during a command; None for no limit, because a statement may take any time.
    pub read_timeout: Option<Duration>,
    /// A statement that every new connection runs first.
    pub init_command: Option<String>,
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
            init_command: None,
        }
    }
}
