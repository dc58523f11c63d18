//! What stands in the log: a write set, a view, a cut, a membership, or nothing, as bytes.
//!
//! Format 2, integers little endian. Head of 80 bytes: kind (u8), format (u8), two bytes of zero, flags (u32),
//! seqno (i64), source (16), transaction (u64), connection (u64), seen (i64), count (u32), data bytes (u32), term (u64),
//! ticket (u64). What takes no seqno bears that of the entry before it. Then, by kind:
//!
//! | kind | what follows | seen | transaction |
//! |---|---|---|---|
//! | 1 write set | `count` keys of 33 bytes (mode, key), and the data | what its origin had seen | its number |
//! | 2 view | `count` members: id of 16 bytes, name, address | how many views there were | |
//! | 3 cut | how many views there were (i64), seqnos that failed (both are the data), `count` members | the cut | judged from (to: in connection) |
//! | 4 nothing | | | |
//! | 5 group | `count` voters: node (u64), address | | |
//! | 6 decision | | the place | the error (how many agree: in connection) |
//!
//! A text has its length as u16 before it. The log below frames and checks the bytes. Format 1, of releases that ran single
//! nodes, is read: its head ends before the term, and its cut has no members and bears itself as its seqno.

use hortator_core::{Key, Mode};

use crate::consensus::NodeId;
use crate::consensus::raft::{EntryMeta, Membership, Term};
use crate::identity::Uuid;
use crate::server::{Flags, Member};
use crate::vote_result::VoteResult;

#[cfg(test)]
mod tests;

/// The format that this release writes, and the newest that it reads.
pub const FORMAT: u8 = 2;

const HEAD_BYTES: usize = 80;
/// Of format 1.
const SHORT_HEAD_BYTES: usize = 64;
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
    /// What that life of the node calls it while it has no place.
    pub request_id: u64,
}

/// Where an entry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Its seqno; of one that takes none, the last before it.
    pub seqno: i64,
    /// Whose leader put it there.
    pub term: Term,
}

/// A cut: nobody will ask for what lies at or before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitCut {
    /// Every member has applied all up to here.
    pub upto: i64,
    /// The verdicts on everything behind this …
    pub verdicts_from: i64,
    /// … and up to here are told:
    pub verdicts_upto: i64,
    /// those failed, all others passed.
    pub failed: Vec<i64>,
    /// How many views there were.
    pub view_number: i64,
    /// The view in force.
    pub members: Vec<Member>,
}

/// A node that votes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voter {
    /// Which.
    pub node: NodeId,
    /// Where the others find it.
    pub address: String,
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
    /// Takes none.
    CommitCut(CommitCut),
    /// Takes none: by it a leader learns what is agreed on.
    NoOp,
    /// Takes none: from here on those decide.
    Membership(Vec<Voter>),
    /// Takes none: what becomes of a place before it that not all nodes could apply.
    VoteResult {
        /// That place.
        seqno: i64,
        /// What holds.
        result: VoteResult,
    },
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
    term: Term,
    request_id: u64,
}

impl Head {
    fn of(kind: u8) -> Self {
        let source = Uuid::UNDEFINED;
        let (term, request_id, seqno) = (Term(0), 0, 0);
        Self { kind, flags: 0, seqno, source, trx: 0, conn: 0, seen: 0, count: 0, data_bytes: 0, term, request_id }
    }

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
        bytes[TERM].copy_from_slice(&self.term.0.to_le_bytes());
        bytes[72..80].copy_from_slice(&self.request_id.to_le_bytes());
        bytes
    }

    /// The head, and what follows it.
    fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), Error> {
        let malformed = Error::Malformed(bytes.len());
        let format = *bytes.get(1).ok_or(malformed.clone())?;
        if format > FORMAT {
            return Err(Error::Newer(format));
        }
        let head_bytes = if format < 2 { SHORT_HEAD_BYTES } else { HEAD_BYTES };
        let (known, rest) = bytes.split_at_checked(head_bytes).ok_or(malformed)?;
        let mut head = [0; HEAD_BYTES];
        head[..known.len()].copy_from_slice(known);
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| head[at + byte]));
        let half = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| head[at + byte]));
        let head = Self {
            kind: head[0],
            flags: half(4),
            seqno: word(8) as i64,
            source: Uuid(std::array::from_fn(|byte| head[16 + byte])),
            trx: word(32),
            conn: word(40),
            seen: word(48) as i64,
            count: half(56) as usize,
            data_bytes: half(60) as usize,
            term: Term(word(64)),
            request_id: word(72),
        };
        Ok((head, rest))
    }

    fn stamp(&self) -> Stamp {
        Stamp { seqno: self.seqno, term: self.term }
    }
}

const WRITE_SET: u8 = 1;
const VIEW: u8 = 2;
const COMMIT_CUT: u8 = 3;
const NO_OP: u8 = 4;
const MEMBERSHIP: u8 = 5;
const VOTE_RESULT: u8 = 6;

const SEQNO: std::ops::Range<usize> = 8..16;
const TERM: std::ops::Range<usize> = 64..72;

/// A write set's head and keys; its data follow as they are. `data_bytes` is less than 4 GiB. It has no place yet.
pub fn encode_write_set(head: &WriteSetHead, keys: &[(Key, Mode)], data_bytes: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD_BYTES + keys.len() * KEY_BYTES);
    let WriteSetHead { flags, source, trx, conn, last_seen, request_id } = *head;
    let (flags, seen, count) = (flags.0, last_seen, keys.len());
    let head = Head { flags, source, trx, conn, seen, count, data_bytes, request_id, ..Head::of(WRITE_SET) };
    bytes.extend(head.encode());
    for (key, mode) in keys {
        bytes.push(MODES.iter().position(|known| known == mode).expect("modes of rows only") as u8);
        bytes.extend(key.to_bytes());
    }
    bytes
}

/// Writes the source and what it had seen into bytes that [`encode_write_set`] made: they are known late.
pub fn set_source(bytes: &mut [u8], head: &WriteSetHead) {
    bytes[16..32].copy_from_slice(&head.source.0);
    bytes[48..56].copy_from_slice(&head.last_seen.to_le_bytes());
}

/// Writes its place into an entry: that is known last.
pub fn set_stamp(bytes: &mut [u8], stamp: Stamp) {
    bytes[SEQNO].copy_from_slice(&stamp.seqno.to_le_bytes());
    bytes[TERM].copy_from_slice(&stamp.term.0.to_le_bytes());
}

/// Whether bytes that a node sent begin as an entry of this format does, so that a place can be written into them.
pub fn has_head(bytes: &[u8]) -> bool {
    bytes.len() >= HEAD_BYTES && bytes[1] == FORMAT
}

/// Whether an entry takes a seqno.
pub fn takes_seqno(bytes: &[u8]) -> bool {
    matches!(bytes.first(), Some(&(WRITE_SET | VIEW)))
}

/// Whether it is a write set that can be decoded, of this format.
pub fn is_write_set(bytes: &[u8]) -> bool {
    let Ok((head, rest)) = Head::decode(bytes) else { return false };
    let keys_bytes = head.count.saturating_mul(KEY_BYTES);
    let is_whole =
        bytes[1] == FORMAT && head.kind == WRITE_SET && rest.len() == keys_bytes.saturating_add(head.data_bytes);
    is_whole && rest[..keys_bytes].chunks_exact(KEY_BYTES).all(|key| usize::from(key[0]) < MODES.len())
}

/// A decision, and the place that it is on. None: something else.
pub fn vote_result(bytes: &[u8]) -> Option<(i64, VoteResult)> {
    // The data of others are not copied for that.
    let (_, entry) = bytes.first().filter(|kind| **kind == VOTE_RESULT).and_then(|_| decode(bytes).ok())?;
    if let Entry::VoteResult { seqno, result } = entry { Some((seqno, result)) } else { None }
}

/// Whether it can be decoded.
pub fn is_whole(bytes: &[u8]) -> bool {
    is_write_set(bytes) || decode(bytes).is_ok()
}

/// A view. It has no place yet.
pub fn encode_view(number: i64, members: &[Member]) -> Vec<u8> {
    let head = Head { seen: number, count: members.len(), ..Head::of(VIEW) };
    let mut bytes = head.encode().to_vec();
    put_members(&mut bytes, members);
    bytes
}

/// A cut. It has no place yet.
pub fn encode_commit_cut(cut: &CommitCut) -> Vec<u8> {
    let CommitCut { upto, verdicts_from: judged_from, verdicts_upto: judged_to, failed, view_number, members } = cut;
    let head = Head {
        seen: *upto,
        trx: *judged_from as u64,
        conn: *judged_to as u64,
        count: members.len(),
        data_bytes: failed.len() * 8 + 8,
        ..Head::of(COMMIT_CUT)
    };
    let mut bytes = head.encode().to_vec();
    bytes.extend(view_number.to_le_bytes());
    failed.iter().for_each(|seqno| bytes.extend(seqno.to_le_bytes()));
    put_members(&mut bytes, members);
    bytes
}

/// Nothing. It has no place yet.
pub fn encode_no_op() -> Vec<u8> {
    Head::of(NO_OP).encode().to_vec()
}

/// Who decides. It has no place yet.
pub fn encode_membership(voters: &[Voter]) -> Vec<u8> {
    let mut bytes = Head { count: voters.len(), ..Head::of(MEMBERSHIP) }.encode().to_vec();
    for Voter { node, address } in voters {
        bytes.extend(node.0.to_le_bytes());
        put_text(&mut bytes, address);
    }
    bytes
}

/// What becomes of a place. It has none of its own yet.
pub fn encode_vote_result(seqno: i64, result: VoteResult) -> Vec<u8> {
    let VoteResult { error, agreeing } = result;
    Head { seen: seqno, trx: error, conn: u64::from(agreeing), ..Head::of(VOTE_RESULT) }.encode().to_vec()
}

fn put_members(bytes: &mut Vec<u8>, members: &[Member]) {
    for Member { id, name, incoming } in members {
        bytes.extend(id.0);
        put_text(bytes, name);
        put_text(bytes, incoming);
    }
}

/// Cut where its length does not fit.
fn put_text(bytes: &mut Vec<u8>, text: &str) {
    let text = &text.as_bytes()[..text.len().min(usize::from(u16::MAX))];
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text);
}

/// Where an entry stands, and what agreement has to know of it.
pub fn meta(bytes: &[u8]) -> Result<(Stamp, EntryMeta), Error> {
    let (head, _) = Head::decode(bytes)?;
    let membership = match head.kind {
        MEMBERSHIP => match decode(bytes)?.1 {
            Entry::Membership(voters) => Some(membership(&voters)),
            _ => None,
        },
        _ => None,
    };
    Ok((head.stamp(), EntryMeta { term: head.term, membership }))
}

/// As agreement sees them.
pub fn membership(voters: &[Voter]) -> Membership {
    Membership { voters: voters.iter().map(|voter| voter.node).collect() }
}

/// The entry, and where it stands.
pub fn decode(bytes: &[u8]) -> Result<(Stamp, Entry), Error> {
    let (head, rest) = Head::decode(bytes)?;
    let mut rest = Rest { bytes: rest, whole: bytes.len() };
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
            let Head { source, trx, conn, seen, request_id, .. } = head;
            let head = WriteSetHead { flags: Flags(head.flags), source, trx, conn, last_seen: seen, request_id };
            Entry::WriteSet { head, keys, data }
        }
        VIEW => Entry::View { number: head.seen, members: rest.members(head.count)? },
        COMMIT_CUT if bytes[1] < 2 => Entry::CommitCut(CommitCut { upto: head.seqno, ..CommitCut::default() }),
        COMMIT_CUT => {
            let listed = head.data_bytes.checked_sub(8).filter(|bytes| bytes.is_multiple_of(8));
            let listed = listed.ok_or(Error::Malformed(rest.whole))?;
            let view_number = rest.word()? as i64;
            let failed = rest.take(listed)?;
            let word = |bytes: &[u8]| i64::from_le_bytes(std::array::from_fn(|byte| bytes[byte]));
            Entry::CommitCut(CommitCut {
                upto: head.seen,
                verdicts_from: head.trx as i64,
                verdicts_upto: head.conn as i64,
                failed: failed.chunks_exact(8).map(word).collect(),
                view_number,
                members: rest.members(head.count)?,
            })
        }
        NO_OP => Entry::NoOp,
        MEMBERSHIP => {
            let mut voters = Vec::new();
            for _ in 0..head.count {
                voters.push(Voter { node: NodeId(rest.word()?), address: rest.text()? });
            }
            Entry::Membership(voters)
        }
        VOTE_RESULT => {
            let agreeing = u32::try_from(head.conn).map_err(|_| Error::Malformed(rest.whole))?;
            Entry::VoteResult { seqno: head.seen, result: VoteResult { error: head.trx, agreeing } }
        }
        _ => return Err(Error::Malformed(bytes.len())),
    };
    if !rest.bytes.is_empty() {
        return Err(Error::Malformed(rest.whole));
    }
    Ok((head.stamp(), entry))
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

    fn word(&mut self) -> Result<u64, Error> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(std::array::from_fn(|byte| bytes[byte])))
    }

    fn members(&mut self, count: usize) -> Result<Vec<Member>, Error> {
        let mut members = Vec::new();
        for _ in 0..count {
            let id = self.take(16)?;
            let id = Uuid(std::array::from_fn(|byte| id[byte]));
            members.push(Member { id, name: self.text()?, incoming: self.text()? });
        }
        Ok(members)
    }

    fn text(&mut self) -> Result<String, Error> {
        let length = self.take(2)?;
        let length = u16::from_le_bytes([length[0], length[1]]);
        Ok(String::from_utf8_lossy(self.take(usize::from(length))?).into_owned())
    }
}
