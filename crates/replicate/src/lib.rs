//! Applies the binary logs of many sources to one target, in parallel, each transaction exactly once.
//!
//! The flow, and the folder of each step:
//!
//! ```text
//!   sources (servers, files)
//!        │
//!     binlog        bytes → events                          binlog/        pure, but for files
//!        │
//!     from MySQL    its events → those of MariaDB           from_mysql/    pure
//!        │
//!     transaction   events → transactions with a position   transaction/   pure
//!        │
//!     rules         names and changes as the configuration wants them    rules/    pure
//!        │
//!     keys          which rows of the target a transaction uses            keys/          pure
//!        │
//!     apply         transactions → statements for the target, with the source's position in the target   apply/
//! ```
//!
//! `comparison/` compares sources with the target while they are applied. `snapshot/` copies what a source has before its first transaction is applied.
//!
//! An event that cannot be handled stops its source, with its position and what to do. Nothing is skipped silently.
//!
//! Not in this crate: it prints nothing, and reads no SQL dump.

pub mod agent;
pub mod apply;
pub mod binlog;
pub mod comparison;
pub mod config;
pub mod control;
mod event_definition;
mod from_mysql;
mod keys;
pub mod monitoring;
pub mod preflight;
mod query;
mod row_end;
pub mod rules;
pub mod snapshot;
pub mod source;
mod statement_text;
pub mod transaction;
