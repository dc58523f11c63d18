//! Ids: UUIDs and GTIDs.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::str::FromStr;

/// A UUID: a history UUID, a member ID, or another random id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Uuid(pub [u8; 16]);

impl Uuid {
    /// No id: of a server that never was in a cluster.
    pub const UNDEFINED: Self = Self([0; 16]);

    /// A random UUID (RFC 9562, version 4).
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 16];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        Ok(Self(bytes))
    }

    /// Whether it is undefined.
    pub fn is_undefined(self) -> bool {
        self == Self::UNDEFINED
    }

    /// 64 bits of it, for tables in memory.
    pub fn bits(self) -> u64 {
        let (low, high) = self.0.split_at(8);
        let word = |half: &[u8]| u64::from_le_bytes(half.try_into().expect("half of sixteen bytes"));
        word(low) ^ word(high).rotate_left(32)
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            if [4, 6, 8, 10].contains(&index) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is not a UUID.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a UUID")]
pub struct NotUuid(String);

impl FromStr for Uuid {
    type Err = NotUuid;

    fn from_str(text: &str) -> Result<Self, NotUuid> {
        let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'-').collect();
        if text.len() != 36 || digits.len() != 32 {
            return Err(NotUuid(text.to_owned()));
        }
        let mut bytes = [0; 16];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |at: usize| char::from(pair[at]).to_digit(16).ok_or_else(|| NotUuid(text.to_owned()));
            *byte = (digit(0)? * 16 + digit(1)?) as u8;
        }
        Ok(Self(bytes))
    }
}

/// A GTID: a seqno in a history. The first write set or view has seqno 1; -1 is undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gtid {
    /// The history UUID.
    pub history_uuid: Uuid,
    /// The seqno.
    pub seqno: i64,
}

impl Gtid {
    /// The undefined GTID.
    pub const UNDEFINED: Self = Self { history_uuid: Uuid::UNDEFINED, seqno: -1 };

    /// Whether it is undefined.
    pub fn is_undefined(self) -> bool {
        self.history_uuid.is_undefined() || self.seqno < 0
    }
}

impl fmt::Display for Gtid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.history_uuid, self.seqno)
    }
}
