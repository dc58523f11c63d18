//! Reads the fields of a packet: little-endian integers, length-encoded and NUL-terminated strings.
//!
//! Source: MariaDB knowledge base, "Protocol Data Types".

use super::command_error::CommandError;

/// Marks NULL in place of a length.
pub(super) const NULL: u8 = 0xfb;

/// The rest of a packet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
    /// The kind of packet, for error messages.
    packet: &'static str,
}

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8], packet: &'static str) -> Fields<'a> {
        Fields { rest: bytes, packet }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// All remaining bytes.
    pub(super) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    pub(super) fn bytes(&mut self, length: usize) -> Result<&'a [u8], CommandError> {
        let Some((bytes, rest)) = self.rest.split_at_checked(length) else { return Err(self.truncated()) };
        self.rest = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], CommandError> {
        let Some((bytes, rest)) = self.rest.split_first_chunk() else { return Err(self.truncated()) };
        self.rest = rest;
        Ok(*bytes)
    }

    pub(super) fn u8(&mut self) -> Result<u8, CommandError> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Result<u16, CommandError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, CommandError> {
        self.array().map(u32::from_le_bytes)
    }

    /// An integer of one, three, four or nine bytes.
    pub(super) fn length_encoded(&mut self) -> Result<u64, CommandError> {
        match self.u8()? {
            0xfc => self.u16().map(u64::from),
            0xfd => self.array().map(|[a, b, c]| u64::from(u32::from_le_bytes([a, b, c, 0]))),
            0xfe => self.array().map(u64::from_le_bytes),
            NULL | 0xff => {
                Err(CommandError::Protocol(format!("a length in {} begins with an unknown byte", self.packet)))
            }
            short => Ok(u64::from(short)),
        }
    }

    /// A length, then that many bytes.
    pub(super) fn length_encoded_bytes(&mut self) -> Result<&'a [u8], CommandError> {
        let length = self.length_encoded()?;
        let length = usize::try_from(length).map_err(|_| self.truncated())?;
        self.bytes(length)
    }

    /// The bytes up to a NUL byte, which is skipped, or to the packet's end.
    pub(super) fn nul_terminated(&mut self) -> &'a [u8] {
        let end = memchr::memchr(0, self.rest).unwrap_or(self.rest.len());
        let text = &self.rest[..end];
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        text
    }

    fn truncated(&self) -> CommandError {
        CommandError::Protocol(format!("{} ends in the middle of a field", self.packet))
    }
}

/// Appends an integer of one, three, four or nine bytes.
pub(super) fn put_length(packet: &mut Vec<u8>, length: usize) {
    let bytes = (length as u64).to_le_bytes();
    match length {
        0..=250 => packet.push(bytes[0]),
        251..=0xffff => packet.extend([0xfc, bytes[0], bytes[1]]),
        0x1_0000..=0xff_ffff => packet.extend([0xfd, bytes[0], bytes[1], bytes[2]]),
        _ => {
            packet.push(0xfe);
            packet.extend(bytes);
        }
    }
}

/// Appends a length, then that many bytes.
pub(super) fn put_length_encoded(packet: &mut Vec<u8>, bytes: &[u8]) {
    put_length(packet, bytes.len());
    packet.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests;
