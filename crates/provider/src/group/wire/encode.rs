//! Frames to bytes.

use super::body::{Field, put_bytes, put_count};
use super::{BODY_LIMIT_BYTES, Begin, Error, Frame, HEAD_BYTES, Hello, MARK, PROTOCOL_VERSION, Signal, kind};
use crate::group::raft::{Append, Message};

/// Puts a frame behind what the buffer holds.
///
/// # Errors
/// [`Error::TooLarge`]; the buffer is then as it was.
///
/// # Panics
/// When an append has not one payload for each entry.
pub fn encode(buffer: &mut Vec<u8>, frame: &Frame) -> Result<(), Error> {
    match frame {
        Frame::Raft { message, payloads } => encode_raft(buffer, message, payloads),
        Frame::Forward { term, origin, number, payload } => framed(buffer, kind::FORWARD, |buffer| {
            term.put(buffer);
            origin.put(buffer);
            number.put(buffer);
            put_bytes(buffer, payload);
        }),
        Frame::Present { life, applied, wants_view, is_behind, gives_to, fault } => {
            framed(buffer, kind::PRESENT, |buffer| {
                life.put(buffer);
                applied.put(buffer);
                wants_view.put(buffer);
                is_behind.put(buffer);
                gives_to.put(buffer);
                fault.put(buffer);
            })
        }
        Frame::Join { request, donor } => framed(buffer, kind::JOIN, |buffer| {
            put_bytes(buffer, request);
            donor.put(buffer);
        }),
        Frame::BeginBehind(Begin { term, place, membership, addresses, upto, descent }) => {
            framed(buffer, kind::BEGIN_BEHIND, |buffer| {
                term.put(buffer);
                place.put(buffer);
                membership.put(buffer);
                put_count(buffer, addresses.len());
                for address in addresses {
                    address.put(buffer);
                }
                upto.put(buffer);
                descent.put(buffer);
            })
        }
        Frame::WantsState => framed(buffer, kind::WANTS_STATE, |_| {}),
        Frame::Prepare => framed(buffer, kind::PREPARE, |_| {}),
        Frame::Give { request, life, address } => framed(buffer, kind::GIVE, |buffer| {
            put_bytes(buffer, request);
            life.put(buffer);
            address.put(buffer);
        }),
        Frame::DonorIs { node } => framed(buffer, kind::DONOR_IS, |buffer| node.put(buffer)),
        Frame::AskDonor => framed(buffer, kind::ASK_DONOR, |_| {}),
        Frame::Giving { standing, heeded_to } => framed(buffer, kind::GIVING, |buffer| {
            standing.put(buffer);
            heeded_to.put(buffer);
        }),
        Frame::Leave => framed(buffer, kind::LEAVE, |_| {}),
        Frame::Left => framed(buffer, kind::LEFT, |_| {}),
        Frame::TooFarBehind => framed(buffer, kind::TOO_FAR_BEHIND, |_| {}),
        Frame::Confirm { ticket } => framed(buffer, kind::CONFIRM, |buffer| ticket.put(buffer)),
        Frame::Confirmed { ticket, index } => framed(buffer, kind::CONFIRMED, |buffer| {
            ticket.put(buffer);
            index.put(buffer);
        }),
        Frame::LeaderIs { node, address } => framed(buffer, kind::LEADER_IS, |buffer| {
            node.put(buffer);
            address.put(buffer);
        }),
        Frame::Refused { text } => framed(buffer, kind::REFUSED, |buffer| text.put(buffer)),
    }
}

/// Puts an append behind what the buffer holds: the same bytes as [`encode`] of its frame, from payloads that lie elsewhere.
///
/// # Errors
/// [`Error::TooLarge`]; the buffer is then as it was.
///
/// # Panics
/// When there is not one payload for each entry.
pub fn encode_append<P: AsRef<[u8]>>(buffer: &mut Vec<u8>, append: &Append, payloads: &[P]) -> Result<(), Error> {
    assert_eq!(append.entries.len(), payloads.len(), "an entry travels with its payload");
    framed(buffer, kind::APPEND, |buffer| {
        append.term.put(buffer);
        append.before.put(buffer);
        append.committed.put(buffer);
        append.round.put(buffer);
        put_count(buffer, payloads.len());
        for (shape, payload) in append.entries.iter().zip(payloads) {
            shape.term.put(buffer);
            shape.membership.put(buffer);
            put_bytes(buffer, payload.as_ref());
        }
    })
}

/// Puts a signal behind what the buffer holds.
///
/// # Errors
/// [`Error::TooLarge`]; the buffer is then as it was.
pub fn encode_signal(buffer: &mut Vec<u8>, signal: &Signal) -> Result<(), Error> {
    match signal {
        Signal::Hello(hello) => framed(buffer, kind::HELLO, |buffer| put_hello(buffer, hello)),
        Signal::Rejected { text } => framed(buffer, kind::REJECTED, |buffer| text.put(buffer)),
        Signal::Alive => framed(buffer, kind::ALIVE, |_| {}),
        Signal::Belongs { history, descent } => framed(buffer, kind::BELONGS, |buffer| {
            history.put(buffer);
            descent.put(buffer);
        }),
        Signal::Already { life } => framed(buffer, kind::ALREADY, |buffer| life.put(buffer)),
    }
}

fn put_hello(buffer: &mut Vec<u8>, hello: &Hello) {
    hello.history.put(buffer);
    hello.descent.put(buffer);
    hello.node.put(buffer);
    hello.life.put(buffer);
    for text in [&hello.group, &hello.name, &hello.incoming, &hello.address] {
        text.put(buffer);
    }
}

fn encode_raft(buffer: &mut Vec<u8>, message: &Message, payloads: &[Vec<u8>]) -> Result<(), Error> {
    match message {
        Message::VoteRequest { is_trial, term, last } => framed(buffer, kind::VOTE_REQUEST, |buffer| {
            is_trial.put(buffer);
            term.put(buffer);
            last.put(buffer);
        }),
        Message::VoteReply { is_trial, term, is_granted } => framed(buffer, kind::VOTE_REPLY, |buffer| {
            is_trial.put(buffer);
            term.put(buffer);
            is_granted.put(buffer);
        }),
        Message::Append(append) => encode_append(buffer, append, payloads),
        Message::AppendReply { term, round, is_taken, upto } => framed(buffer, kind::APPEND_REPLY, |buffer| {
            term.put(buffer);
            round.put(buffer);
            is_taken.put(buffer);
            upto.put(buffer);
        }),
        Message::TakeOver { term } => framed(buffer, kind::TAKE_OVER, |buffer| term.put(buffer)),
    }
}

/// Puts the head once the body is known.
fn framed(buffer: &mut Vec<u8>, kind: u8, put_body: impl FnOnce(&mut Vec<u8>)) -> Result<(), Error> {
    let start = buffer.len();
    buffer.extend_from_slice(&[0; HEAD_BYTES]);
    put_body(buffer);
    let (head, body) = buffer[start..].split_first_chunk_mut::<HEAD_BYTES>().expect("the head was put above");
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
