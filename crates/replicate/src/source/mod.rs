//! One source: where its log starts for us, and the thread that reads it ahead of what is applied.
//!
//! ```text
//!   start       config, recorded position ──► what to ask the source for
//!   restart     whether the source's sessions have ended since then
//!   reader      stream ──► events ──► transactions ──► queue          a thread
//!   files       the same from the files of a folder, to their end or a place before it
//!   queue       transactions that are read and not applied; bounded by their bytes
//! ```

mod error;
pub mod files;
mod log_events;
mod log_files;
mod mysql_gtids;
mod queue;
mod reader;
mod restart;
mod start;

pub use error::Error;
pub use files::{Completion, FileLog, Until, read_files};
pub use log_files::{LogFile, LogOrder, bytes_behind, lag_bytes};
pub(crate) use mysql_gtids::has_gtids;
pub use queue::{Arrival, Popped, Queue, Receiver, Sender};
pub use reader::read;
pub use restart::has_restarted;
pub use start::{check_first, check_history, first_position, log_end, request};
pub(crate) use start::{log_end_in, log_end_query, with_gtid};
