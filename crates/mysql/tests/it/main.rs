//! The connection layer against a real server.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic as the tests do")]

mod batches;
mod bulk;
mod catalog;
mod certificates;
mod losing;
mod opening;
mod packets;
mod sent_ahead;
mod server;
mod sessions;
mod statements;
mod tls;
