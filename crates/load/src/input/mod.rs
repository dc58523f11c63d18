//! The bytes of a dump: opens files and standard input, detects compression by content and decompresses, and gives a window
//! over the plain bytes with the position of each. It streams: named limits bound the memory.

mod error;
mod feed;
mod format;
mod source;
mod window;

pub use error::Error;
pub use feed::Progress;
pub use format::Format;
pub use source::{STANDARD_INPUT, Source};
pub(crate) use window::{Position, Window, WindowMark};

#[cfg(test)]
mod tests;
