//! The format description: how the events behind it are laid out. The first event of every file.

use super::event_kind::EventKind;
use super::fields::{Fields, Found};
use super::header::HEADER_BYTES;
use crate::row_end;

/// The length of the server's version, padded with zero bytes.
const VERSION_BYTES: usize = 50;
/// Behind the lengths stand the checksum's algorithm and its four bytes, whatever the algorithm is.
const ALGORITHM_BYTES: usize = 1;
const CHECKSUM_BYTES: usize = 4;
/// The version of the binary log since MySQL 5.0.
const BINLOG_VERSION: u16 = 4;
const CRC32: u8 = 1;
/// MariaDB replaces the number of a version before 10 in the format description by nothing; servers without checksums are
/// older than these.
const FIRST_WITH_CHECKSUMS: (u32, u32, u32) = (5, 6, 1);
const FIRST_MARIADB_WITH_CHECKSUMS: (u32, u32, u32) = (5, 3, 0);
/// The first MariaDB that has `character_set_collations`.
const FIRST_MARIADB_WITH_COLLATIONS: (u32, u32, u32) = (11, 2, 1);

/// How the events of a file are laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatDescription {
    /// The server that wrote the file, as `10.11.19-MariaDB-log`.
    pub server_version: String,
    /// When the server was started, in seconds since 1970; 0 for a file that only follows another.
    pub created_s: u32,
    /// Whether each event ends with a CRC32 of its other bytes.
    pub has_checksums: bool,
    /// The length of the fixed part of each type's body, by type from 1 on.
    post_header_bytes: Vec<u8>,
}

impl FormatDescription {
    /// One without checksums.
    #[cfg(test)]
    pub(crate) fn plain() -> FormatDescription {
        FormatDescription {
            server_version: String::new(),
            created_s: 0,
            has_checksums: false,
            post_header_bytes: Vec::new(),
        }
    }

    /// One in which a type has a fixed part of so many bytes.
    #[cfg(test)]
    pub(super) fn with_fixed_bytes(kind: EventKind, bytes: u8) -> FormatDescription {
        let mut lengths = vec![0; usize::from(kind.0)];
        lengths[usize::from(kind.0) - 1] = bytes;
        FormatDescription { post_header_bytes: lengths, ..FormatDescription::plain() }
    }

    /// Reads the event's bytes behind its header, its checksum included.
    pub(super) fn read(body: &[u8]) -> Result<FormatDescription, Found> {
        let mut fields = Fields(body);
        let version = fields.u16("the version of the binary log")?;
        if version != BINLOG_VERSION {
            return Err(format!("the version of the binary log is {version}, not {BINLOG_VERSION}"));
        }
        let name = fields.bytes(VERSION_BYTES, "the server's version")?;
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        let server_version = String::from_utf8_lossy(name).into_owned();
        let created_s = fields.u32("the time")?;
        let header_bytes = usize::from(fields.u8("the length of a header")?);
        if header_bytes != HEADER_BYTES {
            return Err(format!("headers have {header_bytes} bytes, not {HEADER_BYTES}"));
        }
        let mut lengths = fields.0;
        let mut has_checksums = false;
        if knows_checksums(&server_version) {
            let Some(split) = lengths.len().checked_sub(ALGORITHM_BYTES + CHECKSUM_BYTES) else {
                return Err("its end is missing".to_owned());
            };
            has_checksums = match lengths[split] {
                0 => false,
                CRC32 => true,
                other => return Err(format!("checksums of the unknown algorithm {other}")),
            };
            lengths = &lengths[..split];
        }
        Ok(FormatDescription { server_version, created_s, has_checksums, post_header_bytes: lengths.to_vec() })
    }

    /// Whether MariaDB wrote the file.
    #[must_use]
    pub fn is_mariadb(&self) -> bool {
        self.server_version.contains("MariaDB")
    }

    /// Whether its TIMESTAMPs may be after 2038.
    pub(crate) fn goes_to_2106(&self) -> bool {
        self.is_mariadb() && version(&self.server_version) >= row_end::SINCE
    }

    /// Whether its server knows `character_set_collations`.
    pub(crate) fn takes_collations(&self) -> bool {
        self.is_mariadb() && version(&self.server_version) >= FIRST_MARIADB_WITH_COLLATIONS
    }

    /// The same for events that have no checksums.
    pub(crate) fn without_checksums(self) -> FormatDescription {
        FormatDescription { has_checksums: false, ..self }
    }

    /// The length of the fixed part of an event's body, in bytes; 0 for types that the server did not know.
    pub(super) fn post_header_bytes(&self, kind: EventKind) -> usize {
        let index = usize::from(kind.0).wrapping_sub(1);
        self.post_header_bytes.get(index).copied().map_or(0, usize::from)
    }

    /// The length of the checksum at the end of each event, in bytes.
    pub(crate) fn checksum_bytes(&self) -> usize {
        if self.has_checksums { CHECKSUM_BYTES } else { 0 }
    }
}

fn version(server_version: &str) -> (u32, u32, u32) {
    let mut numbers = server_version.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    (next(), next(), next())
}

/// Whether a server of this version names the algorithm of its checksums.
fn knows_checksums(server_version: &str) -> bool {
    let version = version(server_version);
    let first = if server_version.contains("MariaDB") { FIRST_MARIADB_WITH_CHECKSUMS } else { FIRST_WITH_CHECKSUMS };
    version >= first
}
