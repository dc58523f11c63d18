//! Getting at the bytes of a dump: opening files and standard input, undoing compression (known by content, never by
//! name), and a window over the plain bytes that knows the place of each. Streams: memory is bounded by named limits.

mod error;
mod feed;
mod format;
mod source;
mod window;

pub use error::Error;
pub use feed::Progress;
pub use format::Format;
pub use source::{STANDARD_INPUT, Source};
pub(crate) use window::{Position, Window};

#[cfg(test)]
mod tests;
