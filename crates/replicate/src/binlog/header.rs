//! The header of an event: 19 bytes in all versions since MySQL 5.0.

use super::Error;
use super::event_kind::EventKind;

/// The length of a header.
pub const HEADER_BYTES: usize = 19;

/// Its file is not closed: in the format description only.
const IN_USE: u16 = 0x0001;
/// A statement that needs no default schema, and may create or drop the one that it names.
const NO_SCHEMA: u16 = 0x0008;
/// The server made it for this replica; it is in no file.
const ARTIFICIAL: u16 = 0x0020;
/// A replica has written it into its relay log.
const RELAY_LOG: u16 = 0x0040;
/// A replica that does not know the type may pass it over.
const IGNORABLE: u16 = 0x0080;

/// What every event begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventHeader {
    /// When the statement began, in seconds since 1970; 0 for events that the server makes for a replica.
    pub timestamp_s: u32,
    /// The type.
    pub kind: EventKind,
    /// The server on which the change was first made.
    pub server_id: u32,
    /// Of header, body and checksum.
    pub length_bytes: u32,
    /// Where the next event begins in the file, modulo 2³²; 0 where the server does not know it (MariaDB 11.4 and later:
    /// within a transaction that it writes at once).
    pub end_position: u32,
    /// Flags.
    pub flags: u16,
}

impl EventHeader {
    /// Reads the header of an event.
    ///
    /// # Errors
    /// [`Error::NoEvent`] for fewer bytes than a header has.
    pub fn read(event: &[u8]) -> Result<EventHeader, Error> {
        let Some(header) = event.first_chunk::<HEADER_BYTES>() else { return Err(Error::NoEvent(event.len())) };
        // Each event has one: it is read without checks of each field.
        let [t0, t1, t2, t3, kind, s0, s1, s2, s3, l0, l1, l2, l3, e0, e1, e2, e3, f0, f1] = *header;
        Ok(EventHeader {
            timestamp_s: u32::from_le_bytes([t0, t1, t2, t3]),
            kind: EventKind(kind),
            server_id: u32::from_le_bytes([s0, s1, s2, s3]),
            length_bytes: u32::from_le_bytes([l0, l1, l2, l3]),
            end_position: u32::from_le_bytes([e0, e1, e2, e3]),
            flags: u16::from_le_bytes([f0, f1]),
        })
    }

    /// The header of an event that stands within another one: it is in no file by itself.
    pub(super) fn within_another(self) -> EventHeader {
        EventHeader { flags: self.flags | ARTIFICIAL, ..self }
    }

    /// Whether the server made the event for this replica.
    #[must_use]
    pub fn is_artificial(&self) -> bool {
        self.flags & ARTIFICIAL != 0
    }

    /// Whether a statement runs without a default schema.
    #[must_use]
    pub fn needs_no_schema(&self) -> bool {
        self.flags & NO_SCHEMA != 0
    }

    /// Whether a replica that does not know the type may pass the event over.
    #[must_use]
    pub fn is_ignorable(&self) -> bool {
        self.flags & IGNORABLE != 0
    }

    /// Whether a replica has written the event, into its relay log.
    #[must_use]
    pub fn is_of_relay_log(&self) -> bool {
        self.flags & RELAY_LOG != 0
    }

    /// Whether the file of this format description was still being written, or never closed.
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        self.flags & IN_USE != 0
    }
}
