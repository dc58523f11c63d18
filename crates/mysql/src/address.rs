//! Where a server listens.

use std::fmt;
use std::path::PathBuf;

/// The port that MariaDB and MySQL listen on unless told otherwise.
pub const DEFAULT_PORT: u16 = 3306;

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Address {
    /// A host and a port. `localhost` is a host like any other here: that DBAs mean the socket by it is
    /// the option layer's knowledge.
    Tcp {
        /// A name or an IP address (IPv6 without brackets).
        host: String,
        /// 1 to 65535.
        port: u16,
    },
    /// A Unix socket's path.
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
