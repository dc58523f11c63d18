//! A whole transaction in one event, compressed with zstd (`binlog_transaction_compression`).

use std::io::{Cursor, Read};

use zstd::stream::read::Decoder;

use crate::binlog::fields::{Fields, Found};
use crate::binlog::header::HEADER_BYTES;

/// The fields before the compressed bytes: their end, the compressed length, the algorithm, the length without compression.
const END: u64 = 0;
const ALGORITHM: u64 = 2;
const ZSTD: u64 = 0;
const NONE: u64 = 255;
/// Where an event has its length.
const LENGTH_AT: usize = 9;
/// The longest accepted event: the largest packet of a server.
const EVENT_LIMIT_BYTES: usize = 1 << 30;

/// A compressed transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    /// Whether the bytes are compressed at all.
    is_compressed: bool,
    bytes: Vec<u8>,
}

impl Payload {
    /// Reads the event's bytes between header and checksum.
    pub(in crate::binlog) fn read(body: &[u8]) -> Result<Payload, Found> {
        let mut fields = Fields(body);
        let mut is_compressed = true;
        loop {
            let kind = fields.length_encoded("a field's type")?;
            if kind == END {
                return Ok(Payload { is_compressed, bytes: fields.0.to_vec() });
            }
            let length = usize::try_from(fields.length_encoded("a field's length")?).unwrap_or(usize::MAX);
            let mut value = Fields(fields.bytes(length, "a field")?);
            if kind == ALGORITHM {
                is_compressed = match value.length_encoded("the algorithm")? {
                    ZSTD => true,
                    NONE => false,
                    other => return Err(format!("a compression of the unknown kind {other}")),
                };
            }
        }
    }

    /// Its events, one at a time: memory does not grow with the transaction.
    ///
    /// # Errors
    /// Where there is no memory for what zstd needs.
    pub fn events(self) -> Result<PayloadEvents, String> {
        let bytes = Cursor::new(self.bytes);
        Ok(PayloadEvents(match self.is_compressed {
            true => Box::new(Decoder::new(bytes).map_err(|error| format!("it cannot be decompressed: {error}"))?),
            false => Box::new(bytes),
        }))
    }
}

/// The events of a compressed transaction.
pub struct PayloadEvents(Box<dyn Read + Send>);

impl PayloadEvents {
    /// The next event: header and body. It has no checksum, that of the whole is one for all.
    ///
    /// # Errors
    /// What is damaged.
    pub fn next_event(&mut self) -> Result<Option<Vec<u8>>, Found> {
        let mut bytes = vec![0; HEADER_BYTES];
        let damaged = |error: std::io::Error| format!("what is compressed is damaged: {error}");
        // Nothing more may come, which is the end.
        if self.0.read(&mut bytes[..1]).map_err(damaged)? == 0 {
            return Ok(None);
        }
        self.0.read_exact(&mut bytes[1..]).map_err(damaged)?;
        let length = bytes[LENGTH_AT..LENGTH_AT + 4].try_into().map(u32::from_le_bytes).unwrap_or_default() as usize;
        let body_bytes = length.checked_sub(HEADER_BYTES).filter(|_| length <= EVENT_LIMIT_BYTES);
        let Some(body_bytes) = body_bytes else {
            return Err(format!("an event of {length} bytes is in what is compressed"));
        };
        // Not allocated at once: the length may be wrong.
        let read = self.0.by_ref().take(body_bytes as u64).read_to_end(&mut bytes).map_err(damaged)?;
        if read < body_bytes {
            return Err("what is compressed ends in the middle of an event".to_owned());
        }
        Ok(Some(bytes))
    }
}

impl std::fmt::Debug for PayloadEvents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PayloadEvents")
    }
}
