//! From the bytes of events to events: keeps the format description, verifies checksums.

use super::event::{Content, Event};
use super::event_kind::EventKind;
use super::format_description::FormatDescription;
use super::header::{EventHeader, HEADER_BYTES};
use super::mysql::{Payload, PayloadEvents};
use super::table_maps::KnownMaps;
use super::{Error, Handling};

/// Reads the events of one stream, in order.
#[derive(Debug, Default)]
pub struct EventReader {
    format: Option<FormatDescription>,
    maps: KnownMaps,
}

impl EventReader {
    /// How the events of the stream are laid out, as the last format description says.
    #[must_use]
    pub fn format(&self) -> Option<&FormatDescription> {
        self.format.as_ref()
    }

    /// The events of a compressed transaction, without checksums of their own.
    ///
    /// # Errors
    /// Where there is no memory for what it needs.
    pub fn within(&self, payload: Payload) -> Result<PayloadReader, Error> {
        let invalid =
            |found| Error::Invalid { kind: EventKind::TRANSACTION_PAYLOAD.to_string(), end_position: 0, found };
        let format = self.format.clone().map(FormatDescription::without_checksums);
        Ok(PayloadReader {
            events: payload.events().map_err(invalid)?,
            reader: EventReader { format, maps: KnownMaps::default() },
        })
    }

    /// Reads one event of its bytes.
    ///
    /// # Errors
    /// See [`Error`]: damaged bytes, an event before the first format description, an unknown type that must not be
    /// passed over. A known type that stops a source ([`Handling::Refused`]) is an event as others are.
    pub fn read(&mut self, bytes: Vec<u8>) -> Result<Event, Error> {
        let header = EventHeader::read(&bytes)?;
        let invalid =
            |found: String| Error::Invalid { kind: header.kind.to_string(), end_position: header.end_position, found };
        if u32::try_from(bytes.len()) != Ok(header.length_bytes) {
            return Err(invalid(format!("it says that it has {} bytes, and has {}", header.length_bytes, bytes.len())));
        }
        let rest = &bytes[HEADER_BYTES..];
        if header.kind == EventKind::FORMAT_DESCRIPTION {
            let format = FormatDescription::read(rest).map_err(invalid)?;
            if format.has_checksums {
                verify_format(&header, &bytes)?;
            }
            (self.format, self.maps) = (Some(format.clone()), KnownMaps::default());
            return Ok(Event { header, content: Content::Format(Box::new(format)), bytes });
        }
        // Before a file's format description the server sends where the file begins, with a checksum if all have one.
        let format = match (&self.format, header.kind) {
            (Some(format), _) => format,
            (None, EventKind::ROTATE) => {
                let content = rotate_before_format(&bytes).map_err(invalid)?;
                return Ok(Event { header, content, bytes });
            }
            // Of a version that is not read, whatever its format.
            (None, kind) if is_refused(kind) => return Ok(Event { header, content: Content::Other, bytes }),
            (None, kind) => return Err(Error::NoFormat { kind: kind.to_string() }),
        };
        let Some(body_bytes) = rest.len().checked_sub(format.checksum_bytes()) else {
            return Err(invalid("it is shorter than its checksum".to_owned()));
        };
        if format.has_checksums {
            verify(&header, &bytes)?;
        }
        let content = match header.kind.row() {
            Some(_) if is_refused(header.kind) => Content::Other,
            Some(_) => Content::read(&header, &rest[..body_bytes], format, &mut self.maps).map_err(invalid)?,
            None if header.is_ignorable() => Content::Other,
            None => {
                return Err(Error::UnknownKind { number: header.kind.0, end_position: header.end_position });
            }
        };
        Ok(Event { header, content, bytes })
    }
}

/// Reads the events of a compressed transaction, in order.
#[derive(Debug)]
pub struct PayloadReader {
    events: PayloadEvents,
    reader: EventReader,
}

impl PayloadReader {
    /// The next event; `None` behind the last.
    ///
    /// # Errors
    /// As [`EventReader::read`].
    pub fn next_event(&mut self) -> Result<Option<Event>, Error> {
        let invalid =
            |found| Error::Invalid { kind: EventKind::TRANSACTION_PAYLOAD.to_string(), end_position: 0, found };
        let Some(bytes) = self.events.next_event().map_err(invalid)? else { return Ok(None) };
        let event = self.reader.read(bytes)?;
        Ok(Some(Event { header: event.header.within_another(), ..event }))
    }
}

/// Whether events of a type stop the source.
fn is_refused(kind: EventKind) -> bool {
    kind.row().is_some_and(|row| matches!(row.handling, Handling::Refused(_)))
}

/// Whether there is a checksum is not known yet: there is one if it is right.
fn rotate_before_format(bytes: &[u8]) -> Result<Content, String> {
    let end = match bytes.split_last_chunk::<4>() {
        Some((summed, stored)) if crc32fast::hash(summed) == u32::from_le_bytes(*stored) => summed.len(),
        _ => bytes.len(),
    };
    let body = bytes.get(HEADER_BYTES..end).unwrap_or_default();
    let (position, file) = body.split_first_chunk::<8>().ok_or("it has no position")?;
    Ok(Content::Rotate { file: file.to_vec(), position: u64::from_le_bytes(*position) })
}

/// Compares the checksum of a format description: the mark that the file is in use is not summed, since it goes when the
/// file is closed.
fn verify_format(header: &EventHeader, bytes: &[u8]) -> Result<(), Error> {
    let mut summed = bytes.to_vec();
    if header.is_in_use() {
        summed[HEADER_BYTES - 2] &= !1;
    }
    verify(header, &summed)
}

/// Compares the checksum with the event's bytes.
fn verify(header: &EventHeader, bytes: &[u8]) -> Result<(), Error> {
    let Some((summed, stored)) = bytes.split_last_chunk::<4>() else { return Ok(()) };
    let (computed, stored) = (crc32fast::hash(summed), u32::from_le_bytes(*stored));
    if computed == stored {
        return Ok(());
    }
    Err(Error::Checksum { kind: header.kind.to_string(), end_position: header.end_position, stored, computed })
}
