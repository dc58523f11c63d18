//! `libhortator_wsrep.so`: a provider of the wsrep API (version 26). A stock mariadbd loads it in place of Galera's.
//!
//! The server passes a transaction's changes to the functions of `ffi`. The provider appends the write set to the
//! ordered `log`, certifies it and lets it commit in seqno order. A single node orders write sets by itself; several
//! nodes agree on one order by Raft (`consensus`). After a crash the provider applies again what the server's storage
//! engine has lost. EXPERIMENTAL: docs/provider.md describes the guarantees and the gaps.
//!
//! *Absent*: SQL. Only the server understands the content of a write set.

mod atomic_file;
mod binary_log;
mod commit_monitor;
mod consensus;
mod counters;
pub mod entry;
mod events;
mod ffi;
mod file_systems;
mod galera_lines;
mod gate;
mod grastate;
mod identity;
mod legacy_file_names;
mod limits;
pub mod log;
mod metrics;
mod node;
mod node_state;
mod options;
pub mod protocol;
mod recovery;
mod resource_errors;
mod saved_state;
#[cfg(test)]
mod seeds;
mod server;
mod statistics;
mod status;
mod transaction;
mod transactions;
mod vote_result;
mod write_set;

pub use node::witness;
