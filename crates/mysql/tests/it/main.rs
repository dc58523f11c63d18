//! The connection layer against a real server.

mod bulk;
mod certificates;
mod losing;
mod opening;
mod packets;
mod server;
mod statements;
mod tls;
