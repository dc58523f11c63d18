//! Finds out whether what is on a server is what should be there.
//!
//! [`compare`] holds two servers or schemas against each other while both are there, in parallel. [`state`] is all of one
//! schema, kept to be held against another that comes later. Both read definitions and rows in the same way.
//! [`constraints`] proves what a schema declares of its rows.
//!
//! What it is not: it repairs nothing and writes nothing. It prints nothing, and reads no dump.

pub mod compare;
pub mod constraints;
mod definitions;
mod row_source;
pub mod state;
