//! Fields of a body: writing appends a field, reading takes it from the front of the rest.

use super::frame::DonationStatus;
use crate::consensus::NodeId;
use crate::consensus::lineage::Lineage;
use crate::consensus::raft::{LogId, Membership, Term, WEIGHT_LIMIT};
use crate::identity::Uuid;
use crate::log::Index;
use crate::protocol::{ProtocolRange, ProtocolVersion};
use crate::vote_result::ApplyError;

/// What is wrong with a field.
pub(super) type InvalidField = &'static str;

/// A type that can be a field.
pub(super) trait Field: Sized {
    /// The fewest bytes that it takes.
    const MIN_BYTES: usize;
    fn put(&self, buffer: &mut Vec<u8>);
    fn take(rest: &mut &[u8]) -> Result<Self, InvalidField>;
}

/// Reads a field of the inferred type.
pub(super) fn take<F: Field>(rest: &mut &[u8]) -> Result<F, InvalidField> {
    F::take(rest)
}

/// Length and bytes. The whole frame is checked against its limit, which is below the range of the length.
pub(super) fn put_bytes(buffer: &mut Vec<u8>, bytes: &[u8]) {
    put_count(buffer, bytes.len());
    buffer.extend_from_slice(bytes);
}

/// Length and bytes.
pub(super) fn take_bytes<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], InvalidField> {
    let length = u32::take(rest)? as usize;
    rest.split_off(..length).ok_or("a text or payload is longer than the rest of the frame")
}

/// The number of items that follow. A number out of range makes the frame too large, and it is not sent.
pub(super) fn put_count(buffer: &mut Vec<u8>, count: usize) {
    u32::try_from(count).unwrap_or(u32::MAX).put(buffer);
}

/// The number of items that follow: not more than the rest can hold.
pub(super) fn take_count(rest: &mut &[u8], least_bytes: usize) -> Result<usize, InvalidField> {
    let count = u32::take(rest)? as usize;
    if count > rest.len() / least_bytes {
        return Err("a list has more items than the frame can hold");
    }
    Ok(count)
}

fn take_array<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], InvalidField> {
    let (array, behind) = rest.split_first_chunk().ok_or("the frame ends within a field")?;
    *rest = behind;
    Ok(*array)
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Field for $integer {
            const MIN_BYTES: usize = size_of::<$integer>();
            fn put(&self, buffer: &mut Vec<u8>) {
                buffer.extend_from_slice(&self.to_le_bytes());
            }
            fn take(rest: &mut &[u8]) -> Result<Self, InvalidField> {
                Ok(Self::from_le_bytes(take_array(rest)?))
            }
        }
    )*};
}
integers!(u8, u32, u64, i64);

impl Field for ProtocolVersion {
    const MIN_BYTES: usize = 1;
    fn put(&self, buffer: &mut Vec<u8>) {
        buffer.push(self.0);
    }
    fn take(rest: &mut &[u8]) -> Result<Self, InvalidField> {
        u8::take(rest).map(Self)
    }
}

impl Field for ProtocolRange {
    const MIN_BYTES: usize = 2;
    fn put(&self, buffer: &mut Vec<u8>) {
        self.lowest.put(buffer);
        self.newest.put(buffer);
    }
    fn take(rest: &mut &[u8]) -> Result<Self, InvalidField> {
        let (lowest, newest) = (take(rest)?, take(rest)?);
        if lowest > newest { Err("a range of protocol versions is empty") } else { Ok(Self { lowest, newest }) }
    }
}

impl Field for bool {
    const MIN_BYTES: usize = 1;
    fn put(&self, buffer: &mut Vec<u8>) {
        buffer.push(u8::from(*self));
    }
    fn take(rest: &mut &[u8]) -> Result<Self, InvalidField> {
        match u8::take(rest)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err("a flag is neither 0 nor 1"),
        }
    }
}

impl Field for [u8; 32] {
    const MIN_BYTES: usize = 32;
    fn put(&self, buffer: &mut Vec<u8>) {
        buffer.extend_from_slice(self);
    }
    fn take(rest: &mut &[u8]) -> Result<Self, InvalidField> {
        take_array(rest)
    }
}

impl Field for Uuid {
    const MIN_BYTES: usize = 16;
    fn put(&self, buffer: &mut Vec<u8>) {
        buffer.extend_from_slice(&self.0);
    }
    fn take(rest: &mut &[u8]) -> Result<Self, InvalidField> {
        Ok(Self(take_array(rest)?))
    }
}

macro_rules! numbers {
    ($($number:ident),*) => {$(
        impl Field for $number {
            const MIN_BYTES: usize = 8;
            fn put(&self, buffer: &mut Vec<u8>) {
                self.0.put(buffer);
            }
            fn take(rest: &mut &[u8]) -> Result<Self, InvalidField> {
                Ok($number(take(rest)?))
            }
        }
    )*};
}
numbers!(NodeId, Term, Index);

impl Field for DonationStatus {
    const MIN_BYTES: usize = 9;
    fn put(&self, buffer: &mut Vec<u8>) {
        let (kind, code) = match self {
            Self::NotStarted => (0, 0),
            Self::InProgress => (1, 0),
            Self::Sent => (2, 0),
            Self::Failed { code } => (3, *code),
        };
        u8::put(&kind, buffer);
        code.put(buffer);
    }
    fn take(rest: &mut &[u8]) -> Result<Self, InvalidField> {
        match (u8::take(rest)?, i64::take(rest)?) {
            (0, 0) => Ok(Self::NotStarted),
            (1, 0) => Ok(Self::InProgress),
            (2, 0) => Ok(Self::Sent),
            (3, code) => Ok(Self::Failed { code }),
            _ => Err("a donation status is unknown"),
        }
    }
}

impl Field for ApplyError {
    const MIN_BYTES: usize = 16;
    fn put(&self, buffer: &mut Vec<u8>) {
        self.seqno.put(buffer);
        self.error.put(buffer);
    }
    fn take(rest: &mut &[u8]) -> Result<Self, InvalidField> {
        Ok(Self { seqno: take(rest)?, error: take(rest)? })
    }
}

impl Field for LogId {
    const MIN_BYTES: usize = 16;
    fn put(&self, buffer: &mut Vec<u8>) {
        self.term.put(buffer);
        self.index.put(buffer);
    }
    fn take(rest: &mut &[u8]) -> Result<Self, InvalidField> {
        Ok(Self { term: take(rest)?, index: take(rest)? })
    }
}

impl Field for String {
    const MIN_BYTES: usize = 4;
    fn put(&self, buffer: &mut Vec<u8>) {
        put_bytes(buffer, self.as_bytes());
    }
    fn take(rest: &mut &[u8]) -> Result<Self, InvalidField> {
        Ok(str::from_utf8(take_bytes(rest)?).map_err(|_| "a text is not UTF-8")?.to_owned())
    }
}

impl Field for (NodeId, String) {
    const MIN_BYTES: usize = 12;
    fn put(&self, buffer: &mut Vec<u8>) {
        self.0.put(buffer);
        self.1.put(buffer);
    }
    fn take(rest: &mut &[u8]) -> Result<Self, InvalidField> {
        Ok((take(rest)?, take(rest)?))
    }
}

impl Field for Membership {
    const MIN_BYTES: usize = 4;
    fn put(&self, buffer: &mut Vec<u8>) {
        let votes: Vec<NodeId> = self.votes().collect();
        put_count(buffer, votes.len());
        votes.iter().for_each(|voter| voter.put(buffer));
    }
    fn take(rest: &mut &[u8]) -> Result<Self, InvalidField> {
        let count = take_count(rest, NodeId::MIN_BYTES)?;
        let votes = (0..count).map(|_| take(rest)).collect::<Result<Vec<NodeId>, InvalidField>>()?;
        if !votes.is_sorted() {
            return Err("the voters of a membership do not ascend");
        }
        let membership = Self::of(votes);
        if membership.voters.iter().any(|voter| membership.weight(*voter) > WEIGHT_LIMIT) {
            return Err("a voter has too many votes");
        }
        Ok(membership)
    }
}

impl Field for Lineage {
    const MIN_BYTES: usize = 4;
    fn put(&self, buffer: &mut Vec<u8>) {
        let generations = self.newest_first();
        put_count(buffer, generations.len());
        for generation in generations {
            generation.put(buffer);
        }
    }
    fn take(rest: &mut &[u8]) -> Result<Self, InvalidField> {
        let count = take_count(rest, Uuid::MIN_BYTES)?;
        let generations = (0..count).map(|_| take(rest)).collect::<Result<Vec<Uuid>, InvalidField>>()?;
        Self::from_newest(&generations).ok_or("a lineage has too many generations, or an undefined one")
    }
}

impl<F: Field> Field for Option<F> {
    const MIN_BYTES: usize = 1;
    fn put(&self, buffer: &mut Vec<u8>) {
        self.is_some().put(buffer);
        if let Some(field) = self {
            field.put(buffer);
        }
    }
    fn take(rest: &mut &[u8]) -> Result<Self, InvalidField> {
        Ok(if bool::take(rest)? { Some(take(rest)?) } else { None })
    }
}
