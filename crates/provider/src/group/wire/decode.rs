//! Bytes to frames. Nothing in the bytes is believed.

use super::arriving::Arrived;
use super::body::{Bad, Field, take, take_bytes, take_count};
use super::{Begin, Error, Frame, HEAD_BYTES, Hello, MARK, PROTOCOL_VERSION, Signal, kind};
use crate::group::raft::{Append, Membership, Message, Shape, Term};

/// The fixed part of a frame whose checksum is right.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    kind: u8,
    pub body_bytes: u64,
    body_crc: u32,
}

impl Head {
    /// The head at the beginning of what arrived; none: the rest of it is not there yet.
    pub fn read(arrived: &[u8], limit: u64) -> Result<Option<Self>, Error> {
        if arrived.iter().zip(MARK).any(|(byte, mark)| *byte != mark) {
            return Err(Error::Strange { found: arrived[..arrived.len().min(8)].to_owned() });
        }
        let Some(head) = arrived.first_chunk::<HEAD_BYTES>() else { return Ok(None) };
        let [_, _, version, kind, l0, l1, l2, l3, b0, b1, b2, b3, h0, h1, h2, h3] = *head;
        if crc32fast::hash(&head[..12]) != u32::from_le_bytes([h0, h1, h2, h3]) {
            return Err(Error::Checksum { part: "head" });
        }
        if version != PROTOCOL_VERSION && kind != kind::REJECTED {
            return Err(Error::OtherVersion { found: version });
        }
        let body_bytes = u64::from(u32::from_le_bytes([l0, l1, l2, l3]));
        if body_bytes > limit {
            return Err(Error::TooLarge { bytes: body_bytes, limit });
        }
        Ok(Some(Self { kind, body_bytes, body_crc: u32::from_le_bytes([b0, b1, b2, b3]) }))
    }

    /// What the frame says.
    pub fn decode(self, body: &[u8]) -> Result<Arrived, Error> {
        if crc32fast::hash(body) != self.body_crc {
            return Err(Error::Checksum { part: "body" });
        }
        let mut rest = body;
        let arrived = decode(self.kind, &mut rest).and_then(|arrived| match rest {
            [] => Ok(arrived),
            _ => Err("there is more in it than its fields"),
        });
        arrived.map_err(|what| Error::Meaningless { kind: self.kind, what })
    }
}

fn decode(kind: u8, rest: &mut &[u8]) -> Result<Arrived, Bad> {
    let signal = match kind {
        kind::HELLO => Signal::Hello(Hello {
            history: take(rest)?,
            descent: take(rest)?,
            node: take(rest)?,
            life: take(rest)?,
            group: take(rest)?,
            name: take(rest)?,
            incoming: take(rest)?,
            address: take(rest)?,
        }),
        kind::REJECTED => Signal::Rejected { text: take(rest)? },
        kind::ALIVE => Signal::Alive,
        kind::BELONGS => Signal::Belongs { history: take(rest)?, descent: take(rest)? },
        kind::ALREADY => Signal::Already { life: take(rest)? },
        _ => return decode_frame(kind, rest).map(Arrived::Frame),
    };
    Ok(Arrived::Signal(signal))
}

fn decode_frame(kind: u8, rest: &mut &[u8]) -> Result<Frame, Bad> {
    Ok(match kind {
        kind::FORWARD => Frame::Forward {
            term: take(rest)?,
            origin: take(rest)?,
            number: take(rest)?,
            payload: take_bytes(rest)?.to_owned(),
        },
        kind::PRESENT => Frame::Present {
            life: take(rest)?,
            applied: take(rest)?,
            wants_view: take(rest)?,
            is_behind: take(rest)?,
            gives_to: take(rest)?,
            fault: take(rest)?,
        },
        kind::JOIN => Frame::Join { request: take_bytes(rest)?.to_owned(), donor: take(rest)? },
        kind::BEGIN_BEHIND => Frame::BeginBehind(Begin {
            term: take(rest)?,
            place: take(rest)?,
            membership: take(rest)?,
            addresses: take_list(rest)?,
            upto: take(rest)?,
            descent: take(rest)?,
        }),
        kind::WANTS_STATE => Frame::WantsState,
        kind::PREPARE => Frame::Prepare,
        kind::GIVE => Frame::Give { request: take_bytes(rest)?.to_owned(), life: take(rest)?, address: take(rest)? },
        kind::DONOR_IS => Frame::DonorIs { node: take(rest)? },
        kind::ASK_DONOR => Frame::AskDonor,
        kind::GIVING => Frame::Giving { standing: take(rest)?, heeded_to: take(rest)? },
        kind::LEAVE => Frame::Leave,
        kind::LEFT => Frame::Left,
        kind::TOO_FAR_BEHIND => Frame::TooFarBehind,
        kind::CONFIRM => Frame::Confirm { ticket: take(rest)? },
        kind::CONFIRMED => Frame::Confirmed { ticket: take(rest)?, index: take(rest)? },
        kind::LEADER_IS => Frame::LeaderIs { node: take(rest)?, address: take(rest)? },
        kind::REFUSED => Frame::Refused { text: take(rest)? },
        kind::APPEND => decode_append(rest)?,
        _ => Frame::Raft { message: decode_message(kind, rest)?, payloads: Vec::new() },
    })
}

fn decode_message(kind: u8, rest: &mut &[u8]) -> Result<Message, Bad> {
    Ok(match kind {
        kind::VOTE_REQUEST => Message::VoteRequest { is_trial: take(rest)?, term: take(rest)?, last: take(rest)? },
        kind::VOTE_REPLY => Message::VoteReply { is_trial: take(rest)?, term: take(rest)?, is_granted: take(rest)? },
        kind::APPEND_REPLY => {
            Message::AppendReply { term: take(rest)?, round: take(rest)?, is_taken: take(rest)?, upto: take(rest)? }
        }
        kind::TAKE_OVER => Message::TakeOver { term: take(rest)? },
        _ => return Err("there is no such kind"),
    })
}

fn decode_append(rest: &mut &[u8]) -> Result<Frame, Bad> {
    /// A term, no membership, an empty payload.
    const ENTRY_LEAST_BYTES: usize = Term::LEAST_BYTES + Option::<Membership>::LEAST_BYTES + 4;
    let (term, before, committed, round) = (take(rest)?, take(rest)?, take(rest)?, take(rest)?);
    let count = take_count(rest, ENTRY_LEAST_BYTES)?;
    let mut entries = Vec::with_capacity(count);
    let mut payloads = Vec::with_capacity(count);
    for _ in 0..count {
        entries.push(Shape { term: take(rest)?, membership: take(rest)? });
        payloads.push(take_bytes(rest)?.to_owned());
    }
    Ok(Frame::Raft { message: Message::Append(Append { term, before, committed, round, entries }), payloads })
}

fn take_list<F: Field>(rest: &mut &[u8]) -> Result<Vec<F>, Bad> {
    let count = take_count(rest, F::LEAST_BYTES)?;
    (0..count).map(|_| take(rest)).collect()
}
