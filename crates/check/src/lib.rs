//! Checks whether a server has the expected data.
//!
//! [`compare`] compares two servers or schemas directly, in parallel. [`state`] records the content of one schema for a
//! later comparison. Both read definitions and rows in the same way. [`constraints`] validates the declared constraints
//! of a schema.
//!
//! Not in this crate: it repairs nothing and writes nothing. It prints nothing, and reads no dump.

pub mod compare;
pub mod constraints;
mod definitions;
mod row_source;
pub mod state;
