//! `libhortator_wsrep.so`: a provider of the wsrep API (version 26) that a stock mariadbd loads in place of Galera's.
//!
//! What a transaction changed comes in through the functions of `ffi`, gets its place in the ordered `log`, its verdict,
//! and its turn to commit: a node that is alone orders for itself, several agree on one order (`group`). After a crash a
//! node gives its server back what the server's own storage had not kept. EXPERIMENTAL: docs/provider.md says what it promises
//! and what not yet.
//!
//! *Absent*: SQL, the contents of write sets, which only the server understands.

mod counters;
mod decision;
pub mod entry;
mod events;
mod ffi;
mod former_names;
mod gate;
mod grastate;
mod group;
mod identity;
mod limits;
pub mod log;
mod node;
mod options;
mod recovery;
mod saved_state;
mod server;
mod status;
mod transaction;
mod transactions;
mod turns;
mod whole_file;
mod write_set;
