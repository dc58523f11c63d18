//! The events of a source's log in the form that the target reads, from the bytes that the source wrote.

use super::Error;
use crate::binlog::{Content, Event, EventReader, PayloadReader};
use crate::from_mysql::FromMySql;
use crate::transaction::{self, LogPosition};

/// Reads the events of one stream, in order.
#[derive(Debug, Default)]
pub(super) struct LogEvents {
    reader: EventReader,
    from_mysql: FromMySql,
    /// The compressed transaction whose events come next.
    payload: Option<PayloadReader>,
}

impl LogEvents {
    /// Reads an event. `at` is where it begins, for a message.
    ///
    /// # Errors
    /// Of the bytes, and what the target cannot have.
    pub(super) fn read(&mut self, bytes: Vec<u8>, at: &LogPosition) -> Result<Event, Error> {
        let cannot = |error| Error::Binlog { file: file(at), error };
        let event = self.reader.read(bytes).map_err(cannot)?;
        self.translate(event, at, false)
    }

    /// The next event of the compressed transaction that has come.
    ///
    /// # Errors
    /// As [`LogEvents::read`].
    pub(super) fn next_within(&mut self, at: &LogPosition) -> Result<Option<Event>, Error> {
        let Some(payload) = &mut self.payload else { return Ok(None) };
        let event = payload.next_event().map_err(|error| Error::Binlog { file: file(at), error })?;
        match event {
            Some(event) => self.translate(event, at, true).map(Some),
            None => {
                self.payload = None;
                Ok(None)
            }
        }
    }

    /// Whether a compressed transaction has come whose events are not all read.
    pub(super) fn is_within_payload(&self) -> bool {
        self.payload.is_some()
    }

    /// The reader of the bytes.
    pub(super) fn reader(&self) -> &EventReader {
        &self.reader
    }

    fn translate(&mut self, event: Event, at: &LogPosition, is_within: bool) -> Result<Event, Error> {
        let header = event.header;
        let mut event = self.from_mysql.event(event, is_within).map_err(|reason| transaction::Error::Refused {
            kind: header.kind.to_string(),
            file: file(at),
            end_position: if header.end_position == 0 { at.position } else { header.end_position.into() },
            reason,
        })?;
        if let Content::Payload(payload) = &mut event.content {
            // What is compressed is not kept twice.
            let payload = std::mem::take(payload);
            event.bytes.truncate(crate::binlog::HEADER_BYTES);
            let payload = self.reader.within(payload).map_err(|error| Error::Binlog { file: file(at), error })?;
            self.payload = Some(payload);
        }
        Ok(event)
    }
}

fn file(at: &LogPosition) -> String {
    String::from_utf8_lossy(&at.file).into_owned()
}

#[cfg(test)]
mod tests;
