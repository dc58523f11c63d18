//! Connections to MariaDB and MySQL servers.
//!
//! A thin, blocking connection on top of `mysql_common`'s authentication methods: statements are bytes (dumps hold
//! bytes that are not UTF-8), rows stream, and a command's body goes to the socket without being copied, because loads
//! send hundreds of megabytes. Also here: option files, and catalog information of tables.
//!
//! Not in this crate: a pool, an ORM, or an SQL parser. It prints nothing and does not retry; callers do.

mod address;
pub mod catalog;
mod connection;
pub mod error;
pub mod option_file;
pub mod options;
mod password;
mod quote;
mod tls;
mod version;

pub use address::{Address, DEFAULT_PORT};
pub use connection::{
    Column, ConnectOptions, Connection, DEFAULT_CONNECT_TIMEOUT, ExecResult, Prepared, Row, RowSink, Status,
};
pub use error::{Error, ServerError};
pub use password::Password;
pub use quote::{quote_identifier, quote_string};
pub use tls::{Identity, Tls, TlsSettings, Verify};
pub use version::{Flavor, Version};
