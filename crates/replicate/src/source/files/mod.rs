//! The log of a source as files in a folder, for a server that is gone: point-in-time recovery.
//!
//! ```text
//!   folder      which files there are, and their order
//!   log_file    one file from its beginning ──► events ──► transactions
//!   bounds      where the first transaction that the target does not have begins, and where `--until` ends
//!   position    GTIDs that the target has, in a log in which they are mixed with others
//!   file_log    from the one to the other, over all files                 the thread of `read_files`
//! ```
//!
//! A file is read from its beginning, wherever in it the first transaction stands: so a place is known to be one between two
//! transactions, and its GTID position too.

mod bounds;
mod error;
mod file_log;
mod folder;
mod log_file;
mod position;
mod until;

pub use error::{CutOff, Error};
pub use file_log::{Completion, FileLog, read_files};
pub use until::Until;
