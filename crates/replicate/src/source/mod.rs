//! One source: where its log starts for us, and the thread that reads it ahead of what is applied.
//!
//! ```text
//!   start       config, recorded position ──► what to ask the source for
//!   reader      stream ──► events ──► transactions ──► queue          a thread
//!   queue       transactions that are read and not applied; bounded by their bytes
//! ```

mod error;
mod log_files;
mod queue;
mod reader;
mod start;

pub use error::Error;
pub use log_files::{LogFile, bytes_behind, lag_bytes};
pub use queue::{Arrival, Popped, Queue};
pub use reader::read;
pub use start::{check_history, first_position, log_end, request};
