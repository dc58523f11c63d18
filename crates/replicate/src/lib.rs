//! Applies the binary logs of many sources to one target, in parallel, each transaction exactly once.
//!
//! The flow, and the folder of each step; so far there are the first two:
//!
//! ```text
//!   sources (servers, files)
//!        │
//!     binlog        bytes → events                          binlog/        pure, but for files
//!        │
//!     transaction   events → transactions with a position   transaction/   pure
//!        │
//!     keys, order, apply, position
//! ```
//!
//! An event that cannot be handled stops its source, with its position and what to do. Nothing is skipped silently.
//!
//! Not in this crate: it prints nothing, and reads no SQL dump.

pub mod binlog;
pub mod transaction;
