//! Records: framing, and parsing of unchecked bytes.

/// The largest payload.
pub const PAYLOAD_LIMIT_BYTES: u64 = 1 << 31;
/// Length of a record's head.
pub(super) const HEAD_BYTES: usize = 24;
/// Number of zero bytes after the last record.
pub(super) const END_BYTES: usize = 16;

/// The length of a record with this payload.
pub(super) fn framed_bytes(payload_bytes: u64) -> u64 {
    (HEAD_BYTES as u64 + payload_bytes).next_multiple_of(8)
}

/// Appends a record to `buffer`. The parts together are within [`PAYLOAD_LIMIT_BYTES`].
pub(super) fn frame(buffer: &mut Vec<u8>, salt: u64, index: u64, durable: u64, parts: &[&[u8]]) {
    let start = buffer.len();
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let length = u32::try_from(length).expect("the caller has checked the limit");
    buffer.extend_from_slice(&length.to_le_bytes());
    buffer.extend_from_slice(&[0; 4]);
    buffer.extend_from_slice(&(index ^ salt).to_le_bytes());
    buffer.extend_from_slice(&durable.to_le_bytes());
    for part in parts {
        buffer.extend_from_slice(part);
    }
    let framed = (buffer.len() - start).next_multiple_of(8);
    buffer.resize(start + framed, 0);
    let crc = checksum(&buffer[start..]);
    buffer[start + 4..start + 8].copy_from_slice(&crc.to_le_bytes());
}

fn checksum(framed: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&framed[..4]);
    hasher.update(&framed[8..]);
    hasher.finalize()
}

/// The head of a record, not validated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    pub payload_bytes: u64,
    stamp: u64,
    pub durable: u64,
}

impl Head {
    pub fn read(bytes: &[u8; HEAD_BYTES]) -> Self {
        Self {
            payload_bytes: u64::from(u32::from_le_bytes(array(&bytes[..4]))),
            stamp: u64::from_le_bytes(array(&bytes[8..16])),
            durable: u64::from_le_bytes(array(&bytes[16..])),
        }
    }

    pub fn index(&self, salt: u64) -> u64 {
        self.stamp ^ salt
    }

    pub fn framed_bytes(&self) -> u64 {
        framed_bytes(self.payload_bytes)
    }
}

/// A record with a valid checksum.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    pub durable: u64,
    pub payload: &'a [u8],
    pub framed_bytes: usize,
}

/// Why there is no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadRecord {
    /// The zeros after the last record.
    End,
    /// Bytes that are not this record.
    Other,
    /// The record is longer than the bytes.
    TooLong,
    /// The checksum is wrong.
    Checksum,
}

impl BadRecord {
    pub fn what(self) -> &'static str {
        match self {
            Self::End => "the records end here",
            Self::Other => "there is no record here",
            Self::TooLong => "the record is longer than the file",
            Self::Checksum => "the record's checksum is wrong",
        }
    }
}

/// The record with this index at the start of `bytes`.
pub(super) fn parse(bytes: &[u8], salt: u64, index: u64) -> Result<Record<'_>, BadRecord> {
    if bytes.len() >= END_BYTES && bytes[..END_BYTES] == [0; END_BYTES] {
        return Err(BadRecord::End);
    }
    let head = Head::read(bytes.first_chunk().ok_or(BadRecord::TooLong)?);
    if head.index(salt) != index || head.payload_bytes > PAYLOAD_LIMIT_BYTES {
        return Err(BadRecord::Other);
    }
    let framed_bytes = usize::try_from(head.framed_bytes()).map_err(|_| BadRecord::TooLong)?;
    let framed = bytes.get(..framed_bytes).ok_or(BadRecord::TooLong)?;
    if checksum(framed) != u32::from_le_bytes(array(&framed[4..8])) {
        return Err(BadRecord::Checksum);
    }
    let end = HEAD_BYTES + usize::try_from(head.payload_bytes).map_err(|_| BadRecord::TooLong)?;
    Ok(Record { durable: head.durable, payload: &framed[HEAD_BYTES..end], framed_bytes })
}

/// The slice as an array; the lengths are equal.
pub(super) fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("the slice has this length")
}
