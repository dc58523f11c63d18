//! In which character set the session reads texts.
//!
//! ```text
//!   Names        what Hortator asks: names of row events are in UTF-8
//!   Bytes        large BINLOG statements
//!   OfSource     as the last statement of the source was written
//! ```

use super::Applier;
use crate::apply::error::Error;
use crate::apply::session::READ_BYTES;

/// From this number of bytes on, a BINLOG statement is worth a round trip.
const LARGE_STATEMENT_BYTES: usize = 32 << 10;

/// The character set of a session's texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionCharset {
    Names,
    Bytes,
    OfSource,
}

impl Applier {
    /// What follows has names in UTF-8.
    pub(super) fn use_own_charset(&mut self, place: &str) -> Result<(), Error> {
        if self.charset != SessionCharset::Names {
            self.execute(b"SET NAMES utf8mb4", place)?;
            self.charset = SessionCharset::Names;
        }
        Ok(())
    }

    /// What follows is about the table of positions. All of it but the schema's name is the same in every character set.
    pub(super) fn use_charset_for_positions(&mut self, place: &str) -> Result<(), Error> {
        if self.charset == SessionCharset::OfSource && !self.table.schema().is_ascii() {
            self.use_own_charset(place)?;
        }
        Ok(())
    }

    /// What follows is a BINLOG statement of so many bytes.
    pub(super) fn use_charset_for_rows(&mut self, statement_bytes: usize, place: &str) -> Result<(), Error> {
        if statement_bytes >= LARGE_STATEMENT_BYTES && self.charset != SessionCharset::Bytes {
            self.execute(READ_BYTES, place)?;
            self.charset = SessionCharset::Bytes;
        }
        Ok(())
    }
}
