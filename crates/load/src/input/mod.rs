//! What a load reads. `layout` makes an ordered list of members of the files and folders that the user names. The rest reads
//! one member: opens files and standard input, detects compression by content and decompresses, and gives a window over
//! the plain bytes with the position of each, or INSERT statements for the rows of a delimited file. It streams: named
//! limits bound the memory.

pub mod delimited;
mod error;
mod feed;
mod format;
pub mod layout;
mod member;
mod source;
mod window;

pub use error::Error;
pub use feed::Progress;
pub use format::Format;
pub(crate) use format::plain_name;
pub use layout::Input;
pub(crate) use layout::{CountedTable, UndefinedTable, UnnamedCharset, UnreadableRows, is_rowless_engine};
pub(crate) use member::Content;
pub use member::Member;
pub(crate) use member::settings_name;
pub use source::{STANDARD_INPUT, Source};
pub(crate) use window::{Position, Window, WindowMark};

#[cfg(test)]
mod tests;
