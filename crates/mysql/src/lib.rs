//! Talks to MariaDB and MySQL servers.
//!
//! A thin, blocking connection of our own over `mysql_common`'s authentication methods: statements are bytes
//! (dumps hold bytes that are not UTF-8), rows stream, and a command's body goes to the socket without being
//! copied, since loads send hundreds of megabytes of them. Around it: what a DBA's option files say, and what a
//! server says of a table.
//!
//! What it is not: a pool, an ORM, or a parser of SQL. It prints nothing and decides no retries; callers do.

mod address;
pub mod catalog;
mod connection;
pub mod error;
mod lock_waits;
pub mod option_file;
pub mod options;
mod password;
mod quote;
mod tls;
mod version;

pub use address::{Address, DEFAULT_PORT};
pub use connection::{
    BinlogRequest, BinlogStart, BinlogStream, Column, ConnectOptions, Connection, DEFAULT_CONNECT_TIMEOUT, ExecResult,
    Prepared, Row, RowSink, SessionChanges, Status,
};
pub use error::{Error, ServerError};
pub use lock_waits::{LockWaits, awaits_definition};
pub use password::Password;
pub use quote::{quote_identifier, quote_string};
pub use tls::{Identity, Tls, TlsSettings, Verify};
pub use version::{Flavor, Version};
