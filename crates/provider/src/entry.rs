//! Log entries as bytes: write sets, views, commit cuts, memberships, vote results, and no-ops.
//!
//! Format 3, integers little endian. Head of 80 bytes: kind (u8), format (u8), protocol version (u8), a zero byte, flags
//! (u32), seqno (i64), source (16), transaction (u64), connection (u64), seen (i64), count (u32), data bytes (u32), term (u64),
//! request id (u64). An entry that takes no seqno has that of the entry before it. The rest depends on the kind:
//!
//! | kind | content after the head | seen | transaction |
//! |---|---|---|---|
//! | 1 write set | `count` keys of 33 bytes (mode, key), and the data | the last-seen seqno of its source | the transaction id |
//! | 2 view | `count` members: id of 16 bytes, name, address; the certification rules are in the flags | number of views so far | |
//! | 3 commit cut | number of views so far (i64), failed seqnos (both are the data), `count` members | upto | verdicts from (upto: in connection) |
//! | 4 no-op | | | |
//! | 5 membership | `count` voters, each as often as it has votes: node (u64), address | | |
//! | 6 vote result | | the seqno | the error (number of agreeing nodes: in connection) |
//!
//! Views and commit cuts name the version of the certification rules that judges the entries after them (0, of earlier
//! releases: 1). A log begins with one of the two. Entries of rules that this release does not have are not read: it
//! would judge differently than the other nodes, or than the release that wrote the log.
//!
//! The protocol version is the one in force from this entry on: that of the entry before it, or a higher one. The leader
//! stamps each entry with it, and the format follows from it. Format 2 names no version: it is the first one. A proposal
//! without stamp has format 2.
//!
//! A text follows its length (u16). The log frames the bytes and adds checksums. Format 1, of releases that ran single
//! nodes, is read as well: its head ends before the term, and its commit cut has no members and uses itself as its
//! seqno.

use hortator_core::{CERTIFICATION_RULES, Key, Mode};

use crate::consensus::NodeId;
use crate::consensus::raft::{EntryMeta, Membership, Term};
use crate::identity::Uuid;
use crate::protocol::{ProtocolRange, ProtocolVersion};
use crate::server::{Flags, Member};
use crate::vote_result::VoteResult;
use fields::Rest;

mod fields;
#[cfg(test)]
mod tests;

/// The latest format that this release reads.
pub const FORMAT: u8 = ProtocolRange::SPOKEN.newest.entry_format();
/// The format of proposals, and the first one with a whole head.
const PROPOSAL_FORMAT: u8 = ProtocolVersion::FIRST.entry_format();
/// The first format with a protocol version.
const NAMED_FORMAT: u8 = ProtocolVersion::NAMED.entry_format();

const HEAD_BYTES: usize = 80;
/// Of format 1.
const SHORT_HEAD_BYTES: usize = 64;
const KEY_BYTES: usize = 1 + Key::BYTES;
/// The order is part of the format.
const MODES: [Mode; 4] = [Mode::RowShared, Mode::RowReference, Mode::RowUpdate, Mode::RowExclusive];

/// The last-seen seqno of a write set without keys, which nothing conflicts with: it has seen everything before it, and
/// no commit cut makes it too old.
pub const SEEN_ALL: i64 = i64::MAX;

/// The head of a write set: a transaction, a fragment of one, or a TOI statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteSetHead {
    /// The wsrep flags.
    pub flags: Flags,
    /// The member ID of the source node.
    pub source: Uuid,
    /// The transaction id on the source.
    pub trx: u64,
    /// The connection id on the source.
    pub conn: u64,
    /// The last seqno that the source had committed.
    pub last_seen: i64,
    /// The source's id for the write set until it has a seqno.
    pub request_id: u64,
}

/// Seqno, term and protocol version of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Its seqno; if it takes none, the last one before it.
    pub seqno: i64,
    /// The term of the leader that appended it.
    pub term: Term,
    /// In force from this entry on.
    pub protocol: ProtocolVersion,
}

/// A commit cut: no later write set that its node waits for has seen less than `upto`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitCut {
    /// Every member has applied everything up to here.
    pub upto: i64,
    /// The cut records the verdicts on everything after this seqno …
    pub verdicts_from: i64,
    /// … up to this one:
    pub verdicts_upto: i64,
    /// these failed, all others passed.
    pub failed: Vec<i64>,
    /// Number of views so far.
    pub view_number: i64,
    /// The members of the current view.
    pub members: Vec<Member>,
}

/// A voter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voter {
    /// The node.
    pub node: NodeId,
    /// Its address for other nodes.
    pub address: String,
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Takes a seqno.
    WriteSet {
        /// The head.
        head: WriteSetHead,
        /// The certification keys.
        keys: Vec<(Key, Mode)>,
        /// The events, which only the server understands.
        data: Vec<u8>,
    },
    /// Takes a seqno.
    View {
        /// Number of views so far.
        number: i64,
        /// The members.
        members: Vec<Member>,
    },
    /// Takes no seqno.
    CommitCut(CommitCut),
    /// Takes no seqno: lets a new leader learn what is committed.
    NoOp,
    /// Takes no seqno: these voters are in force from here on, each listed as often as it has votes.
    Membership(Vec<Voter>),
    /// Takes no seqno: the result of an inconsistency vote on an earlier seqno.
    VoteResult {
        /// The seqno.
        seqno: i64,
        /// The result.
        result: VoteResult,
    },
}

/// Why bytes are not an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A newer release wrote it.
    #[error("an entry has format {0}, this release reads up to format {FORMAT}: use the newer release")]
    Newer(u8),
    /// A newer release wrote it.
    #[error("an entry has protocol version {0}, this release speaks versions {spoken}: use the newer release", spoken = ProtocolRange::SPOKEN)]
    OtherProtocol(ProtocolVersion),
    /// The order has other certification rules from here on.
    #[error(
        "an entry names version {0} of the certification rules, this release has version {CERTIFICATION_RULES}: use a \
         release that has that version, on all nodes"
    )]
    OtherRules(u32),
    /// The checksum is right, so it was written like that.
    #[error("an entry of {0} bytes does not match its head")]
    Malformed(usize),
}

#[derive(Clone, Copy)]
struct Head {
    kind: u8,
    protocol: ProtocolVersion,
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
        let protocol = ProtocolVersion::FIRST;
        Self {
            kind,
            protocol,
            flags: 0,
            seqno,
            source,
            trx: 0,
            conn: 0,
            seen: 0,
            count: 0,
            data_bytes: 0,
            term,
            request_id,
        }
    }

    fn encode(self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[0] = self.kind;
        bytes[1] = PROPOSAL_FORMAT;
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

    /// The head, and the bytes after it.
    fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), Error> {
        let malformed = Error::Malformed(bytes.len());
        let format = *bytes.get(1).ok_or(malformed.clone())?;
        if format > FORMAT {
            return Err(Error::Newer(format));
        }
        let head_bytes = if format < PROPOSAL_FORMAT { SHORT_HEAD_BYTES } else { HEAD_BYTES };
        let (known, rest) = bytes.split_at_checked(head_bytes).ok_or(malformed.clone())?;
        let protocol = if format < NAMED_FORMAT { ProtocolVersion::FIRST } else { ProtocolVersion(bytes[2]) };
        if protocol > ProtocolRange::SPOKEN.newest {
            return Err(Error::OtherProtocol(protocol));
        }
        if format >= NAMED_FORMAT && protocol.entry_format() != format {
            return Err(malformed);
        }
        let mut head = [0; HEAD_BYTES];
        head[..known.len()].copy_from_slice(known);
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| head[at + byte]));
        let half = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| head[at + byte]));
        let head = Self {
            kind: head[0],
            protocol,
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
        Stamp { seqno: self.seqno, term: self.term, protocol: self.protocol }
    }
}

const WRITE_SET: u8 = 1;
const VIEW: u8 = 2;
const COMMIT_CUT: u8 = 3;
const NO_OP: u8 = 4;
const MEMBERSHIP: u8 = 5;
const VOTE_RESULT: u8 = 6;

/// Of views and commit cuts.
const RULES: std::ops::Range<usize> = 4..8;
const SEQNO: std::ops::Range<usize> = 8..16;
const TERM: std::ops::Range<usize> = 64..72;

/// Encodes a write set's head and keys; the data follow unchanged. `data_bytes` is below 4 GiB. Without stamp.
pub fn encode_write_set(head: &WriteSetHead, keys: &[(Key, Mode)], data_bytes: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD_BYTES + keys.len() * KEY_BYTES);
    let WriteSetHead { flags, source, trx, conn, last_seen, request_id } = *head;
    let (flags, seen, count) = (flags.0, last_seen, keys.len());
    let head = Head { flags, source, trx, conn, seen, count, data_bytes, request_id, ..Head::of(WRITE_SET) };
    bytes.extend(head.encode());
    for (key, mode) in keys {
        bytes.push(MODES.iter().position(|known| known == mode).expect("only row modes") as u8);
        bytes.extend(key.to_bytes());
    }
    bytes
}

/// Writes the source and its last-seen seqno into the bytes of [`encode_write_set`]: they are known late.
pub fn set_source(bytes: &mut [u8], head: &WriteSetHead) {
    bytes[16..32].copy_from_slice(&head.source.0);
    bytes[48..56].copy_from_slice(&head.last_seen.to_le_bytes());
}

/// Writes the stamp into an entry: it is known last. The format follows from the protocol version.
pub fn set_stamp(bytes: &mut [u8], stamp: Stamp) {
    bytes[1] = stamp.protocol.entry_format();
    bytes[2] = if bytes[1] < NAMED_FORMAT { 0 } else { stamp.protocol.0 };
    if matches!(bytes[0], VIEW | COMMIT_CUT) {
        bytes[RULES].copy_from_slice(&u32::from(stamp.protocol.certification_rules()).to_le_bytes());
    }
    bytes[SEQNO].copy_from_slice(&stamp.seqno.to_le_bytes());
    bytes[TERM].copy_from_slice(&stamp.term.0.to_le_bytes());
}

/// Whether bytes of another node have a whole head, so that a stamp can be written into them.
pub fn has_head(bytes: &[u8]) -> bool {
    bytes.len() >= HEAD_BYTES && (PROPOSAL_FORMAT..=FORMAT).contains(&bytes[1])
}

/// Whether an entry takes a seqno.
pub fn takes_seqno(bytes: &[u8]) -> bool {
    matches!(bytes.first(), Some(&(WRITE_SET | VIEW)))
}

/// Whether it is a valid write set with a whole head.
pub fn is_write_set(bytes: &[u8]) -> bool {
    let Ok((head, rest)) = Head::decode(bytes) else { return false };
    let keys_bytes = head.count.saturating_mul(KEY_BYTES);
    let is_whole =
        has_head(bytes) && head.kind == WRITE_SET && rest.len() == keys_bytes.saturating_add(head.data_bytes);
    is_whole && rest[..keys_bytes].chunks_exact(KEY_BYTES).all(|key| usize::from(key[0]) < MODES.len())
}

/// A vote result and its seqno. None: another kind.
pub fn vote_result(bytes: &[u8]) -> Option<(i64, VoteResult)> {
    // Does not copy the data of other kinds.
    let (_, entry) = bytes.first().filter(|kind| **kind == VOTE_RESULT).and_then(|_| decode(bytes).ok())?;
    if let Entry::VoteResult { seqno, result } = entry { Some((seqno, result)) } else { None }
}

/// Whether the entry is valid.
pub fn is_whole(bytes: &[u8]) -> bool {
    is_write_set(bytes) || decode(bytes).is_ok()
}

/// Encodes a view, without stamp.
pub fn encode_view(number: i64, members: &[Member]) -> Vec<u8> {
    let head = Head { flags: CERTIFICATION_RULES.into(), seen: number, count: members.len(), ..Head::of(VIEW) };
    let mut bytes = head.encode().to_vec();
    put_members(&mut bytes, members);
    bytes
}

/// Encodes a commit cut, without stamp.
pub fn encode_commit_cut(cut: &CommitCut) -> Vec<u8> {
    let CommitCut { upto, verdicts_from: judged_from, verdicts_upto: judged_to, failed, view_number, members } = cut;
    let head = Head {
        flags: CERTIFICATION_RULES.into(),
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

/// Encodes a no-op, without stamp.
pub fn encode_no_op() -> Vec<u8> {
    Head::of(NO_OP).encode().to_vec()
}

/// Encodes a membership, without stamp.
pub fn encode_membership(voters: &[Voter]) -> Vec<u8> {
    let mut bytes = Head { count: voters.len(), ..Head::of(MEMBERSHIP) }.encode().to_vec();
    for Voter { node, address } in voters {
        bytes.extend(node.0.to_le_bytes());
        put_text(&mut bytes, address);
    }
    bytes
}

/// Encodes a vote result, without stamp.
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

/// Appends a text, cut if it is too long for its length field.
fn put_text(bytes: &mut Vec<u8>, text: &str) {
    let text = &text.as_bytes()[..text.len().min(usize::from(u16::MAX))];
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text);
}

/// The stamp of an entry, and its metadata for Raft.
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

/// The membership of these voters, each listed as often as it has votes.
pub fn membership(voters: &[Voter]) -> Membership {
    Membership::of(voters.iter().map(|voter| voter.node))
}

/// Decodes an entry.
pub fn decode(bytes: &[u8]) -> Result<(Stamp, Entry), Error> {
    let (head, rest) = Head::decode(bytes)?;
    if matches!(head.kind, VIEW | COMMIT_CUT) && ![0, head.protocol.certification_rules().into()].contains(&head.flags)
    {
        return Err(Error::OtherRules(head.flags));
    }
    let mut rest = Rest { bytes: rest, whole: bytes.len() };
    let entry = match head.kind {
        WRITE_SET => {
            // The count is unchecked: allocate only for the bytes that are there.
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
        COMMIT_CUT if bytes[1] < PROPOSAL_FORMAT => {
            Entry::CommitCut(CommitCut { upto: head.seqno, ..CommitCut::default() })
        }
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
