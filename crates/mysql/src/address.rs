//! The address of a server.

use std::fmt;
use std::path::PathBuf;

/// The default port of MariaDB and MySQL.
pub const DEFAULT_PORT: u16 = 3306;

/// The address of a server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Address {
    /// A host and a port. `localhost` is a host like any other here: only the option layer knows that DBAs mean the
    /// socket by it.
    Tcp {
        /// A name or an IP address (IPv6 without brackets).
        host: String,
        /// 1 to 65535.
        port: u16,
    },
    /// The path of a Unix socket.
    Socket(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Address::Tcp { host, port } => write!(f, "{host}:{port}"),
            Address::Socket(path) => write!(f, "{}", path.display()),
        }
    }
}
