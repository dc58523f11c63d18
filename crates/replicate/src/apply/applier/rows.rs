//! Row events on their way into BINLOG statements.

use super::Applier;
use crate::apply::binlog_statement::BinlogStatement;
use crate::apply::error::Error;
use crate::binlog::{Content, Event};

impl Applier {
    /// Adds a table map or rows to a BINLOG statement; sends it before that if it is full.
    ///
    /// A server forgets the table maps at the end of a BINLOG statement, and passes over rows without one as if they were
    /// filtered (seen with 10.11). So each begins with those of the statement that it is in the middle of.
    pub(super) fn add_rows(&mut self, event: &Event, rows: &mut BinlogStatement, place: &str) -> Result<(), Error> {
        if rows.text_bytes_with(event.bytes.len()) > self.packet_limit_bytes && !rows.is_empty() {
            self.send_rows(rows, place)?;
        }
        if let Content::Rows(found) = &event.content {
            if rows.is_empty() {
                self.open_maps.iter().for_each(|map| rows.push(map));
            }
            if found.ends_statement {
                self.open_maps.clear();
            }
        } else {
            self.open_maps.push(event.bytes.clone());
        }
        rows.push(&event.bytes);
        Ok(())
    }

    /// A single event can be larger than a statement may be.
    pub(super) fn send_rows(&mut self, rows: &mut BinlogStatement, place: &str) -> Result<(), Error> {
        if rows.text_bytes_with(0) <= self.packet_limit_bytes {
            return self.execute(&rows.take_text(), place);
        }
        rows.take_fragments().iter().try_for_each(|statement| self.execute(statement, place))
    }
}
