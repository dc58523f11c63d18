//! Finds out whether what is on a server is what should be there.
//!
//! [`state`] is all of a schema, to be held against another: definitions and rows.
//!
//! What it is not: it repairs nothing and writes nothing. It prints nothing, and reads no dump.

pub mod state;
