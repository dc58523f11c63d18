//! Encodes frames.

use super::body::{Field, put_bytes, put_count};
use super::{BODY_LIMIT_BYTES, Error, Frame, HEAD_BYTES, Hello, MARK, PROTOCOL_VERSION, Signal, SnapshotMeta, kind};
use crate::consensus::raft::{Append, Message};

/// Appends a frame to the buffer.
///
/// # Errors
/// [`Error::TooLarge`]; the buffer is unchanged then.
///
/// # Panics
/// An append has a different number of entries and payloads.
pub fn encode(buffer: &mut Vec<u8>, frame: &Frame) -> Result<(), Error> {
    match frame {
        Frame::Raft { message, payloads } => encode_raft(buffer, message, payloads),
        Frame::Forward { term, session, number, payload } => framed(buffer, kind::FORWARD, |buffer| {
            term.put(buffer);
            session.put(buffer);
            number.put(buffer);
            put_bytes(buffer, payload);
        }),
        Frame::MemberStatus(status) => framed(buffer, kind::PRESENT, |buffer| {
            status.member_id.put(buffer);
            status.applied.put(buffer);
            status.oldest_seen.put(buffer);
            status.has_tables.put(buffer);
            status.wants_view.put(buffer);
            status.is_behind.put(buffer);
            status.donating_to.put(buffer);
            status.apply_error.put(buffer);
        }),
        Frame::Join { request, donor } => framed(buffer, kind::JOIN, |buffer| {
            put_bytes(buffer, request);
            donor.put(buffer);
        }),
        Frame::InstallSnapshot(SnapshotMeta { term, log_id, membership, addresses, upto, lineage }) => {
            framed(buffer, kind::BEGIN_BEHIND, |buffer| {
                term.put(buffer);
                log_id.put(buffer);
                membership.put(buffer);
                put_count(buffer, addresses.len());
                for address in addresses {
                    address.put(buffer);
                }
                upto.put(buffer);
                lineage.put(buffer);
            })
        }
        Frame::PrepareSstRequest => framed(buffer, kind::WANTS_STATE, |_| {}),
        Frame::PrepareSst => framed(buffer, kind::PREPARE, |_| {}),
        Frame::StartDonation { request, instance_id, address } => framed(buffer, kind::GIVE, |buffer| {
            put_bytes(buffer, request);
            instance_id.put(buffer);
            address.put(buffer);
        }),
        Frame::DonorAssigned { node } => framed(buffer, kind::DONOR_IS, |buffer| node.put(buffer)),
        Frame::DonationStatusRequest => framed(buffer, kind::ASK_DONOR, |_| {}),
        Frame::DonationStatus { status, resolved_upto } => framed(buffer, kind::GIVING, |buffer| {
            status.put(buffer);
            resolved_upto.put(buffer);
        }),
        Frame::Leave => framed(buffer, kind::LEAVE, |_| {}),
        Frame::LeaveReply => framed(buffer, kind::LEFT, |_| {}),
        Frame::SnapshotRequired => framed(buffer, kind::TOO_FAR_BEHIND, |_| {}),
        Frame::ReadIndex { request_id } => framed(buffer, kind::CONFIRM, |buffer| request_id.put(buffer)),
        Frame::ReadIndexReady { request_id, index } => framed(buffer, kind::CONFIRMED, |buffer| {
            request_id.put(buffer);
            index.put(buffer);
        }),
        Frame::LeaderHint { node, address } => framed(buffer, kind::LEADER_IS, |buffer| {
            node.put(buffer);
            address.put(buffer);
        }),
        Frame::Refused { text } => framed(buffer, kind::REFUSED, |buffer| text.put(buffer)),
    }
}

/// Appends an append to the buffer: the same bytes as [`encode`] of its frame, from payloads that lie elsewhere.
///
/// # Errors
/// [`Error::TooLarge`]; the buffer is unchanged then.
///
/// # Panics
/// The number of entries and payloads differs.
pub fn encode_append<P: AsRef<[u8]>>(buffer: &mut Vec<u8>, append: &Append, payloads: &[P]) -> Result<(), Error> {
    assert_eq!(append.entries.len(), payloads.len(), "each entry needs one payload");
    framed(buffer, kind::APPEND, |buffer| {
        append.term.put(buffer);
        append.prev_log_id.put(buffer);
        append.leader_commit.put(buffer);
        append.round.put(buffer);
        put_count(buffer, payloads.len());
        for (meta, payload) in append.entries.iter().zip(payloads) {
            meta.term.put(buffer);
            meta.membership.put(buffer);
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
        Signal::Hello(hello) => framed(buffer, kind::HELLO, |buffer| put_hello(buffer, hello)),
        Signal::Rejected { text } => framed(buffer, kind::REJECTED, |buffer| text.put(buffer)),
        Signal::Keepalive => framed(buffer, kind::ALIVE, |_| {}),
        Signal::Lineage { history_uuid, lineage } => framed(buffer, kind::BELONGS, |buffer| {
            history_uuid.put(buffer);
            lineage.put(buffer);
        }),
        Signal::Duplicate { instance_id } => framed(buffer, kind::ALREADY, |buffer| instance_id.put(buffer)),
        Signal::Challenge { nonce } => framed(buffer, kind::CHALLENGE, |buffer| nonce.put(buffer)),
        Signal::Proof { mac } => framed(buffer, kind::PROOF, |buffer| mac.put(buffer)),
    }
}

fn put_hello(buffer: &mut Vec<u8>, hello: &Hello) {
    hello.history_uuid.put(buffer);
    hello.lineage.put(buffer);
    hello.node.put(buffer);
    hello.instance_id.put(buffer);
    for text in [&hello.cluster_name, &hello.name, &hello.incoming, &hello.address] {
        text.put(buffer);
    }
}

fn encode_raft(buffer: &mut Vec<u8>, message: &Message, payloads: &[Vec<u8>]) -> Result<(), Error> {
    match message {
        Message::VoteRequest { is_pre_vote, term, last } => framed(buffer, kind::VOTE_REQUEST, |buffer| {
            is_pre_vote.put(buffer);
            term.put(buffer);
            last.put(buffer);
        }),
        Message::VoteReply { is_pre_vote, term, is_granted, is_recovering } => {
            framed(buffer, kind::VOTE_REPLY, |buffer| {
                is_pre_vote.put(buffer);
                term.put(buffer);
                is_granted.put(buffer);
                is_recovering.put(buffer);
            })
        }
        Message::Append(append) => encode_append(buffer, append, payloads),
        Message::AppendReply { term, round, is_accepted, upto, last } => framed(buffer, kind::APPEND_REPLY, |buffer| {
            term.put(buffer);
            round.put(buffer);
            is_accepted.put(buffer);
            upto.put(buffer);
            last.put(buffer);
        }),
        Message::TimeoutNow { term } => framed(buffer, kind::TAKE_OVER, |buffer| term.put(buffer)),
    }
}

/// Writes the body, and then the head.
fn framed(buffer: &mut Vec<u8>, kind: u8, put_body: impl FnOnce(&mut Vec<u8>)) -> Result<(), Error> {
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
    head[2] = PROTOCOL_VERSION;
    head[3] = kind;
    head[4..8].copy_from_slice(&length.to_le_bytes());
    head[8..12].copy_from_slice(&crc32fast::hash(body).to_le_bytes());
    let crc = crc32fast::hash(&head[..12]);
    head[12..].copy_from_slice(&crc.to_le_bytes());
    Ok(())
}
