//! Decodes frames. All bytes are validated.

use super::body::{Field, InvalidField, take, take_bytes, take_count};
use super::frame_reader::IncomingFrame;
use super::{Error, Frame, HANDSHAKE_VERSION, HEAD_BYTES, Hello, MARK, MemberStatus, Signal, SnapshotMeta, kind};
use crate::consensus::raft::{Append, EntryMeta, Membership, Message, Term};
use crate::protocol::{ProtocolRange, ProtocolVersion};

/// The first bytes of a TLS connection: a handshake record of version 3 (RFC 8446, 5.1).
const TLS_HANDSHAKE: [u8; 2] = [0x16, 3];

/// The head of a frame, with a valid checksum.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    version: ProtocolVersion,
    kind: u8,
    pub body_bytes: u64,
    body_crc: u32,
}

impl Head {
    /// The head at the start of the input; None: not complete yet.
    pub fn read(received: &[u8], limit: u64, versions: ProtocolRange) -> Result<Option<Self>, Error> {
        if received.starts_with(&TLS_HANDSHAKE) {
            return Err(Error::Tls);
        }
        if received.iter().zip(MARK).any(|(byte, mark)| *byte != mark) {
            return Err(Error::NotAFrame { found: received[..received.len().min(8)].to_owned() });
        }
        let Some(head) = received.first_chunk::<HEAD_BYTES>() else { return Ok(None) };
        let [_, _, version, kind, l0, l1, l2, l3, b0, b1, b2, b3, h0, h1, h2, h3] = *head;
        if crc32fast::hash(&head[..12]) != u32::from_le_bytes([h0, h1, h2, h3]) {
            return Err(Error::Checksum { part: "head" });
        }
        let version = ProtocolVersion(version);
        match kind {
            kind::REJECTED => {}
            ..kind::FIRST_MESSAGE if version != HANDSHAKE_VERSION => {
                return Err(Error::OtherHandshake { found: version });
            }
            kind::FIRST_MESSAGE.. if !versions.contains(version) => {
                return Err(Error::OtherVersion { found: version, spoken: versions });
            }
            _ => {}
        }
        let body_bytes = u64::from(u32::from_le_bytes([l0, l1, l2, l3]));
        if body_bytes > limit {
            return Err(Error::TooLarge { bytes: body_bytes, limit });
        }
        Ok(Some(Self { version, kind, body_bytes, body_crc: u32::from_le_bytes([b0, b1, b2, b3]) }))
    }

    /// Decodes the body.
    pub fn decode(self, body: &[u8]) -> Result<IncomingFrame, Error> {
        if crc32fast::hash(body) != self.body_crc {
            return Err(Error::Checksum { part: "body" });
        }
        let mut rest = body;
        let received = decode(self.kind, self.version, &mut rest).and_then(|received| match rest {
            [] => Ok(received),
            _ => Err("the body is longer than its fields"),
        });
        received.map_err(|what| Error::InvalidBody { kind: self.kind, what })
    }
}

fn decode(kind: u8, version: ProtocolVersion, rest: &mut &[u8]) -> Result<IncomingFrame, InvalidField> {
    let signal = match kind {
        kind::HELLO => Signal::Hello(Hello {
            versions: take(rest)?,
            in_force: take(rest)?,
            history_uuid: take(rest)?,
            lineage: take(rest)?,
            node: take(rest)?,
            instance_id: take(rest)?,
            cluster_name: take(rest)?,
            name: take(rest)?,
            incoming: take(rest)?,
            address: take(rest)?,
            extension: std::mem::take(rest).to_owned(),
        }),
        kind::REJECTED => Signal::Rejected { text: take(rest)? },
        kind::ALIVE => Signal::Keepalive,
        kind::BELONGS => Signal::Lineage { history_uuid: take(rest)?, lineage: take(rest)? },
        kind::ALREADY => Signal::Duplicate { instance_id: take(rest)? },
        kind::CHALLENGE => Signal::Challenge { nonce: take(rest)? },
        kind::PROOF => Signal::Proof { mac: take(rest)? },
        _ => return decode_frame(kind, version, rest).map(IncomingFrame::Frame),
    };
    Ok(IncomingFrame::Signal(signal))
}

fn decode_frame(kind: u8, version: ProtocolVersion, rest: &mut &[u8]) -> Result<Frame, InvalidField> {
    Ok(match kind {
        kind::FORWARD => Frame::Forward {
            term: take(rest)?,
            session: take(rest)?,
            number: take(rest)?,
            payload: take_bytes(rest)?.to_owned(),
        },
        kind::PRESENT => Frame::MemberStatus(MemberStatus {
            versions: take(rest)?,
            member_id: take(rest)?,
            applied: take(rest)?,
            oldest_seen: take(rest)?,
            has_tables: take(rest)?,
            wants_view: take(rest)?,
            is_behind: take(rest)?,
            donating_to: take(rest)?,
            apply_error: take(rest)?,
            weight: if version < ProtocolVersion::WEIGHTS { 1 } else { take(rest)? },
        }),
        kind::JOIN => Frame::Join { request: take_bytes(rest)?.to_owned(), donor: take(rest)? },
        kind::BEGIN_BEHIND => Frame::InstallSnapshot(SnapshotMeta {
            term: take(rest)?,
            log_id: take(rest)?,
            membership: take(rest)?,
            addresses: take_list(rest)?,
            upto: take(rest)?,
            lineage: take(rest)?,
            protocol: if version < ProtocolVersion::NAMED { ProtocolVersion::FIRST } else { take(rest)? },
        }),
        kind::WANTS_STATE => Frame::PrepareSstRequest,
        kind::PREPARE => Frame::PrepareSst,
        kind::GIVE => Frame::StartDonation {
            request: take_bytes(rest)?.to_owned(),
            instance_id: take(rest)?,
            address: take(rest)?,
        },
        kind::DONOR_IS => Frame::DonorAssigned { node: take(rest)? },
        kind::ASK_DONOR => Frame::DonationStatusRequest,
        kind::GIVING => Frame::DonationStatus { status: take(rest)?, resolved_upto: take(rest)? },
        kind::LEAVE => Frame::Leave,
        kind::LEFT => Frame::LeaveReply,
        kind::TOO_FAR_BEHIND => Frame::SnapshotRequired,
        kind::CONFIRM => Frame::ReadIndex { request_id: take(rest)? },
        kind::CONFIRMED => Frame::ReadIndexReady { request_id: take(rest)?, index: take(rest)? },
        kind::LEADER_IS => Frame::LeaderHint { node: take(rest)?, address: take(rest)? },
        kind::REFUSED => Frame::Refused { text: take(rest)? },
        kind::APPEND => decode_append(rest)?,
        _ => Frame::Raft { message: decode_message(kind, rest)?, payloads: Vec::new() },
    })
}

fn decode_message(kind: u8, rest: &mut &[u8]) -> Result<Message, InvalidField> {
    Ok(match kind {
        kind::VOTE_REQUEST => Message::VoteRequest { is_pre_vote: take(rest)?, term: take(rest)?, last: take(rest)? },
        kind::VOTE_REPLY => Message::VoteReply {
            is_pre_vote: take(rest)?,
            term: take(rest)?,
            is_granted: take(rest)?,
            is_recovering: take(rest)?,
            memberships: take_list(rest)?,
        },
        kind::APPEND_REPLY => Message::AppendReply {
            term: take(rest)?,
            round: take(rest)?,
            is_accepted: take(rest)?,
            upto: take(rest)?,
            last: take(rest)?,
        },
        kind::TAKE_OVER => Message::TimeoutNow { term: take(rest)? },
        _ => return Err("the kind is unknown"),
    })
}

fn decode_append(rest: &mut &[u8]) -> Result<Frame, InvalidField> {
    /// A term, no membership, an empty payload.
    const ENTRY_LEAST_BYTES: usize = Term::MIN_BYTES + Option::<Membership>::MIN_BYTES + 4;
    let (term, prev_log_id, leader_commit, round) = (take(rest)?, take(rest)?, take(rest)?, take(rest)?);
    let count = take_count(rest, ENTRY_LEAST_BYTES)?;
    let mut entries = Vec::with_capacity(count);
    let mut payloads = Vec::with_capacity(count);
    for _ in 0..count {
        entries.push(EntryMeta { term: take(rest)?, membership: take(rest)? });
        payloads.push(take_bytes(rest)?.to_owned());
    }
    Ok(Frame::Raft { message: Message::Append(Append { term, prev_log_id, leader_commit, round, entries }), payloads })
}

fn take_list<F: Field>(rest: &mut &[u8]) -> Result<Vec<F>, InvalidField> {
    let count = take_count(rest, F::MIN_BYTES)?;
    (0..count).map(|_| take(rest)).collect()
}
