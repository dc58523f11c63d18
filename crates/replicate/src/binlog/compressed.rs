//! What MariaDB compresses in events (`log_bin_compress`): a byte that names algorithm and length of a length, that length
//! with its highest byte first, and a zlib stream.

use std::io::Read;

use flate2::read::ZlibDecoder;

use super::fields::{Fields, Found};

/// The upper three bits: compressed, by algorithm 0, zlib.
const ALGORITHM_MASK: u8 = 0xf8;
const ZLIB: u8 = 0x80;
const LENGTH_MASK: u8 = 0x07;
/// The longest accepted text: the largest `max_allowed_packet` of a server.
const LENGTH_LIMIT_BYTES: usize = 1 << 30;

/// What was compressed.
pub(super) fn uncompress(compressed: &[u8]) -> Result<Vec<u8>, Found> {
    let mut fields = Fields(compressed);
    let head = fields.u8("the kind of compression")?;
    if head & ALGORITHM_MASK != ZLIB {
        return Err(format!("a compression of the unknown kind {head:02x}"));
    }
    let length = fields.bytes((head & LENGTH_MASK).into(), "the length before compression")?;
    let length = length.iter().fold(0usize, |length, byte| length << 8 | usize::from(*byte));
    if length > LENGTH_LIMIT_BYTES {
        return Err(format!("{length} bytes before compression, more than any server sends"));
    }
    let mut text = Vec::new();
    // One byte more than it may have, to notice that.
    let read = ZlibDecoder::new(fields.0).take(length as u64 + 1).read_to_end(&mut text);
    match read {
        Ok(found) if found == length => Ok(text),
        Ok(found) => Err(format!("{length} bytes were compressed, and at least {found} come out")),
        Err(error) => Err(format!("what is compressed is damaged: {error}")),
    }
}
