//! What stands in the log: a write set, a view, or a cut, as bytes.
//!
//! Format 1, integers little endian. Head of 64 bytes: kind (u8), format (u8), two bytes of zero, flags (u32),
//! seqno (i64), source (16), transaction (u64), connection (u64), seen (i64), count (u32), data bytes (u32). Then `count`
//! keys of 33 bytes (mode, key) and the data; or `count` members (id of 16 bytes, then name and address, each with
//! its length as u16 before it). The log below frames and checks the bytes.

use hortator_core::{Key, Mode};

use crate::identity::Uuid;
use crate::server::{Flags, Member};

#[cfg(test)]
mod tests;

/// The format that this release writes, and the newest that it reads.
pub const FORMAT: u8 = 1;

const HEAD_BYTES: usize = 64;
const KEY_BYTES: usize = 1 + Key::BYTES;
/// The order of this table is the format's.
const MODES: [Mode; 4] = [Mode::RowShared, Mode::RowReference, Mode::RowUpdate, Mode::RowExclusive];

/// A transaction's changes (or a part of them), or a statement that runs alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteSetHead {
    /// What it is.
    pub flags: Flags,
    /// The life of the node that it comes from.
    pub source: Uuid,
    /// The transaction's number there.
    pub trx: u64,
    /// The connection's number there.
    pub conn: u64,
    /// What had committed there when it was sent off.
    pub last_seen: i64,
}

/// Something that is in the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Takes a seqno.
    WriteSet {
        /// Where it comes from.
        head: WriteSetHead,
        /// What it touches.
        keys: Vec<(Key, Mode)>,
        /// What only the server understands.
        data: Vec<u8>,
    },
    /// Takes a seqno.
    View {
        /// How many views there were.
        number: i64,
        /// Who is there.
        members: Vec<Member>,
    },
    /// Takes none: everything up to the seqno has been seen by all nodes.
    Cut,
}

/// Bytes that are not an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A later release wrote it.
    #[error("an entry has format {0}, and this release reads up to {FORMAT}: use the newer release")]
    Newer(u8),
    /// The frame was good, so it was written like that.
    #[error("an entry of {0} bytes does not hold what its head says")]
    Malformed(usize),
}

#[derive(Clone, Copy)]
struct Head {
    kind: u8,
    flags: u32,
    seqno: i64,
    source: Uuid,
    trx: u64,
    conn: u64,
    seen: i64,
    count: usize,
    data_bytes: usize,
}

impl Head {
    fn encode(self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[0] = self.kind;
        bytes[1] = FORMAT;
        bytes[4..8].copy_from_slice(&self.flags.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.seqno.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.source.0);
        bytes[32..40].copy_from_slice(&self.trx.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.conn.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.seen.to_le_bytes());
        bytes[56..60].copy_from_slice(&(self.count as u32).to_le_bytes());
        bytes[60..64].copy_from_slice(&(self.data_bytes as u32).to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let head = bytes.get(..HEAD_BYTES).ok_or(Error::Malformed(bytes.len()))?;
        if head[1] > FORMAT {
            return Err(Error::Newer(head[1]));
        }
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| head[at + byte]));
        let half = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| head[at + byte]));
        Ok(Self {
            kind: head[0],
            flags: half(4),
            seqno: word(8) as i64,
            source: Uuid(std::array::from_fn(|byte| head[16 + byte])),
            trx: word(32),
            conn: word(40),
            seen: word(48) as i64,
            count: half(56) as usize,
            data_bytes: half(60) as usize,
        })
    }
}

const WRITE_SET: u8 = 1;
const VIEW: u8 = 2;
const CUT: u8 = 3;

/// A write set's head and keys; its data follow as they are. `data_bytes` is less than 4 GiB.
pub fn encode_write_set(seqno: i64, head: &WriteSetHead, keys: &[(Key, Mode)], data_bytes: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD_BYTES + keys.len() * KEY_BYTES);
    let WriteSetHead { flags, source, trx, conn, last_seen } = *head;
    let head = Head {
        kind: WRITE_SET,
        flags: flags.0,
        seqno,
        source,
        trx,
        conn,
        seen: last_seen,
        count: keys.len(),
        data_bytes,
    };
    bytes.extend(head.encode());
    for (key, mode) in keys {
        bytes.push(MODES.iter().position(|known| known == mode).expect("modes of rows only") as u8);
        bytes.extend(key.to_bytes());
    }
    bytes
}

/// Writes the seqno, the source and what it had seen into bytes that [`encode_write_set`] made: they are known last.
pub fn place(bytes: &mut [u8], seqno: i64, head: &WriteSetHead) {
    bytes[8..16].copy_from_slice(&seqno.to_le_bytes());
    bytes[16..32].copy_from_slice(&head.source.0);
    bytes[48..56].copy_from_slice(&head.last_seen.to_le_bytes());
}

/// A view.
pub fn encode_view(seqno: i64, number: i64, members: &[Member]) -> Vec<u8> {
    let head = Head {
        kind: VIEW,
        flags: 0,
        seqno,
        source: Uuid::UNDEFINED,
        trx: 0,
        conn: 0,
        seen: number,
        count: members.len(),
        data_bytes: 0,
    };
    let mut bytes = head.encode().to_vec();
    for Member { id, name, incoming } in members {
        bytes.extend(id.0);
        for text in [name, incoming] {
            let text = &text.as_bytes()[..text.len().min(usize::from(u16::MAX))];
            bytes.extend((text.len() as u16).to_le_bytes());
            bytes.extend(text);
        }
    }
    bytes
}

/// A cut.
pub fn encode_cut(seqno: i64) -> Vec<u8> {
    let head =
        Head { kind: CUT, flags: 0, seqno, source: Uuid::UNDEFINED, trx: 0, conn: 0, seen: 0, count: 0, data_bytes: 0 };
    head.encode().to_vec()
}

/// The entry and its seqno (of a cut: up to where).
pub fn decode(bytes: &[u8]) -> Result<(i64, Entry), Error> {
    let head = Head::decode(bytes)?;
    let mut rest = Rest { bytes: &bytes[HEAD_BYTES..], whole: bytes.len() };
    let entry = match head.kind {
        WRITE_SET => {
            // The count is not believed before its bytes are seen.
            let mut keys = Vec::with_capacity(head.count.min(rest.bytes.len() / KEY_BYTES));
            for _ in 0..head.count {
                let bytes = rest.take(KEY_BYTES)?;
                let mode = *MODES.get(usize::from(bytes[0])).ok_or(Error::Malformed(rest.whole))?;
                keys.push((Key::from_bytes(&std::array::from_fn(|byte| bytes[1 + byte])), mode));
            }
            let data = rest.take(head.data_bytes)?.to_vec();
            let Head { source, trx, conn, seen, .. } = head;
            let head = WriteSetHead { flags: Flags(head.flags), source, trx, conn, last_seen: seen };
            Entry::WriteSet { head, keys, data }
        }
        VIEW => {
            let mut members = Vec::new();
            for _ in 0..head.count {
                let id = rest.take(16)?;
                let id = Uuid(std::array::from_fn(|byte| id[byte]));
                members.push(Member { id, name: rest.text()?, incoming: rest.text()? });
            }
            Entry::View { number: head.seen, members }
        }
        CUT => Entry::Cut,
        _ => return Err(Error::Malformed(bytes.len())),
    };
    if !rest.bytes.is_empty() {
        return Err(Error::Malformed(rest.whole));
    }
    Ok((head.seqno, entry))
}

struct Rest<'a> {
    bytes: &'a [u8],
    whole: usize,
}

impl<'a> Rest<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(Error::Malformed(self.whole))?;
        self.bytes = rest;
        Ok(taken)
    }

    fn text(&mut self) -> Result<String, Error> {
        let length = self.take(2)?;
        let length = u16::from_le_bytes([length[0], length[1]]);
        Ok(String::from_utf8_lossy(self.take(usize::from(length))?).into_owned())
    }
}
