//! Encodes frames.

use super::body::{Field, put_bytes, put_count};
use super::{BODY_LIMIT_BYTES, Error, Frame, HANDSHAKE_VERSION, HEAD_BYTES, Hello, MARK, Signal, SnapshotMeta, kind};
use crate::consensus::raft::{Append, Message};
use crate::protocol::ProtocolVersion;

/// Appends fields to the buffer, in this order.
macro_rules! put {
    ($buffer:ident, $($field:expr),+) => {{$( $field.put($buffer); )+}};
}

/// Appends a frame in that protocol version to the buffer.
///
/// # Errors
/// [`Error::TooLarge`]; the buffer is unchanged then.
///
/// # Panics
/// An append has a different number of entries and payloads.
pub fn encode(buffer: &mut Vec<u8>, frame: &Frame, version: ProtocolVersion) -> Result<(), Error> {
    match frame {
        Frame::Raft { message, payloads } => encode_raft(buffer, message, payloads, version),
        Frame::Forward { term, session, number, payload } => framed(buffer, version, kind::FORWARD, |buffer| {
            put!(buffer, term, session, number);
            put_bytes(buffer, payload);
        }),
        Frame::MemberStatus(status) => framed(buffer, version, kind::PRESENT, |buffer| {
            put!(buffer, status.versions, status.member_id, status.applied, status.oldest_seen, status.has_tables);
            put!(buffer, status.wants_view, status.is_behind, status.donating_to, status.apply_error);
            if version >= ProtocolVersion::WEIGHTS {
                status.weight.put(buffer);
            }
        }),
        Frame::Join { request, donor } => framed(buffer, version, kind::JOIN, |buffer| {
            put_bytes(buffer, request);
            donor.put(buffer);
        }),
        Frame::InstallSnapshot(SnapshotMeta { term, log_id, membership, addresses, upto, lineage, protocol }) => {
            framed(buffer, version, kind::BEGIN_BEHIND, |buffer| {
                put!(buffer, term, log_id, membership);
                put_list(buffer, addresses);
                put!(buffer, upto, lineage);
                if version >= ProtocolVersion::NAMED {
                    protocol.put(buffer);
                }
            })
        }
        Frame::PrepareSstRequest => framed(buffer, version, kind::WANTS_STATE, |_| {}),
        Frame::PrepareSst => framed(buffer, version, kind::PREPARE, |_| {}),
        Frame::StartDonation { request, instance_id, address } => framed(buffer, version, kind::GIVE, |buffer| {
            put_bytes(buffer, request);
            put!(buffer, instance_id, address);
        }),
        Frame::DonorAssigned { node } => framed(buffer, version, kind::DONOR_IS, |buffer| node.put(buffer)),
        Frame::DonationStatusRequest => framed(buffer, version, kind::ASK_DONOR, |_| {}),
        Frame::DonationStatus { status, resolved_upto } => framed(buffer, version, kind::GIVING, |buffer| {
            put!(buffer, status, resolved_upto);
        }),
        Frame::Leave => framed(buffer, version, kind::LEAVE, |_| {}),
        Frame::LeaveReply => framed(buffer, version, kind::LEFT, |_| {}),
        Frame::SnapshotRequired => framed(buffer, version, kind::TOO_FAR_BEHIND, |_| {}),
        Frame::ReadIndex { request_id } => framed(buffer, version, kind::CONFIRM, |buffer| request_id.put(buffer)),
        Frame::ReadIndexReady { request_id, index } => framed(buffer, version, kind::CONFIRMED, |buffer| {
            put!(buffer, request_id, index);
        }),
        Frame::LeaderHint { node, address } => framed(buffer, version, kind::LEADER_IS, |buffer| {
            put!(buffer, node, address);
        }),
        Frame::Refused { text } => framed(buffer, version, kind::REFUSED, |buffer| text.put(buffer)),
    }
}

/// Appends an append in that protocol version to the buffer: the same bytes as [`encode`] of its frame, from payloads that lie elsewhere.
///
/// # Errors
/// [`Error::TooLarge`]; the buffer is unchanged then.
///
/// # Panics
/// The number of entries and payloads differs.
pub fn encode_append<P: AsRef<[u8]>>(
    buffer: &mut Vec<u8>,
    append: &Append,
    payloads: &[P],
    version: ProtocolVersion,
) -> Result<(), Error> {
    assert_eq!(append.entries.len(), payloads.len(), "each entry needs one payload");
    framed(buffer, version, kind::APPEND, |buffer| {
        put!(buffer, append.term, append.prev_log_id, append.leader_commit, append.round);
        put_count(buffer, payloads.len());
        for (meta, payload) in append.entries.iter().zip(payloads) {
            put!(buffer, meta.term, meta.membership);
            put_bytes(buffer, payload.as_ref());
        }
    })
}

/// Appends a signal to the buffer.
///
/// # Errors
/// [`Error::TooLarge`]; the buffer is unchanged then.
pub fn encode_signal(buffer: &mut Vec<u8>, signal: &Signal) -> Result<(), Error> {
    match signal {
        Signal::Hello(hello) => framed(buffer, HANDSHAKE_VERSION, kind::HELLO, |buffer| put_hello(buffer, hello)),
        Signal::Rejected { text } => framed(buffer, HANDSHAKE_VERSION, kind::REJECTED, |buffer| text.put(buffer)),
        Signal::Keepalive => framed(buffer, HANDSHAKE_VERSION, kind::ALIVE, |_| {}),
        Signal::Lineage { history_uuid, lineage } => framed(buffer, HANDSHAKE_VERSION, kind::BELONGS, |buffer| {
            put!(buffer, history_uuid, lineage);
        }),
        Signal::Duplicate { instance_id } => {
            framed(buffer, HANDSHAKE_VERSION, kind::ALREADY, |buffer| instance_id.put(buffer))
        }
        Signal::Challenge { nonce } => framed(buffer, HANDSHAKE_VERSION, kind::CHALLENGE, |buffer| nonce.put(buffer)),
        Signal::Proof { mac } => framed(buffer, HANDSHAKE_VERSION, kind::PROOF, |buffer| mac.put(buffer)),
    }
}

fn put_hello(buffer: &mut Vec<u8>, hello: &Hello) {
    put!(buffer, hello.versions, hello.in_force, hello.history_uuid, hello.lineage, hello.node, hello.instance_id);
    for text in [&hello.cluster_name, &hello.name, &hello.incoming, &hello.address] {
        text.put(buffer);
    }
    buffer.extend_from_slice(&hello.extension);
}

fn encode_raft(
    buffer: &mut Vec<u8>,
    message: &Message,
    payloads: &[Vec<u8>],
    version: ProtocolVersion,
) -> Result<(), Error> {
    match message {
        Message::VoteRequest { is_pre_vote, term, last } => framed(buffer, version, kind::VOTE_REQUEST, |buffer| {
            put!(buffer, is_pre_vote, term, last);
        }),
        Message::VoteReply { is_pre_vote, term, is_granted, is_recovering, memberships } => {
            framed(buffer, version, kind::VOTE_REPLY, |buffer| {
                put!(buffer, is_pre_vote, term, is_granted, is_recovering);
                put_list(buffer, memberships);
            })
        }
        Message::Append(append) => encode_append(buffer, append, payloads, version),
        Message::AppendReply { term, round, is_accepted, upto, last } => {
            framed(buffer, version, kind::APPEND_REPLY, |buffer| {
                put!(buffer, term, round, is_accepted, upto, last);
            })
        }
        Message::TimeoutNow { term } => framed(buffer, version, kind::TAKE_OVER, |buffer| term.put(buffer)),
    }
}

/// The number of the items, and the items.
fn put_list<F: Field>(buffer: &mut Vec<u8>, items: &[F]) {
    put_count(buffer, items.len());
    items.iter().for_each(|item| item.put(buffer));
}

/// Writes the body, and then the head.
fn framed(
    buffer: &mut Vec<u8>,
    version: ProtocolVersion,
    kind: u8,
    put_body: impl FnOnce(&mut Vec<u8>),
) -> Result<(), Error> {
    let start = buffer.len();
    buffer.extend_from_slice(&[0; HEAD_BYTES]);
    put_body(buffer);
    let (head, body) = buffer[start..].split_first_chunk_mut::<HEAD_BYTES>().expect("the head is in the buffer");
    let bytes = body.len() as u64;
    let Some(length) = u32::try_from(bytes).ok().filter(|_| bytes <= BODY_LIMIT_BYTES) else {
        buffer.truncate(start);
        return Err(Error::TooLarge { bytes, limit: BODY_LIMIT_BYTES });
    };
    head[..2].copy_from_slice(&MARK);
    head[2] = version.0;
    head[3] = kind;
    head[4..8].copy_from_slice(&length.to_le_bytes());
    head[8..12].copy_from_slice(&crc32fast::hash(body).to_le_bytes());
    let crc = crc32fast::hash(&head[..12]);
    head[12..].copy_from_slice(&crc.to_le_bytes());
    Ok(())
}
