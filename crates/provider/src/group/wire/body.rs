//! Fields of a body: each is put behind what is there, and taken from the front of what is left.

use super::frame::Giving;
use crate::decision::Fault;
use crate::group::NodeId;
use crate::group::descent::Descent;
use crate::group::raft::{Membership, Place, Term};
use crate::identity::Uuid;
use crate::log::Index;

/// What a field should be and is not.
pub(super) type Bad = &'static str;

/// What can stand in a body.
pub(super) trait Field: Sized {
    /// The fewest bytes that it takes.
    const LEAST_BYTES: usize;
    fn put(&self, buffer: &mut Vec<u8>);
    fn take(rest: &mut &[u8]) -> Result<Self, Bad>;
}

/// A field of the type that is wanted.
pub(super) fn take<F: Field>(rest: &mut &[u8]) -> Result<F, Bad> {
    F::take(rest)
}

/// Bytes and their length. The whole frame is checked against its limit, which is below what the length can hold.
pub(super) fn put_bytes(buffer: &mut Vec<u8>, bytes: &[u8]) {
    put_count(buffer, bytes.len());
    buffer.extend_from_slice(bytes);
}

/// Bytes and their length.
pub(super) fn take_bytes<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], Bad> {
    let length = u32::take(rest)? as usize;
    rest.split_off(..length).ok_or("a text or payload goes on behind the end")
}

/// How many items follow. A count that does not fit makes the frame too large, and it is not sent.
pub(super) fn put_count(buffer: &mut Vec<u8>, count: usize) {
    u32::try_from(count).unwrap_or(u32::MAX).put(buffer);
}

/// How many items follow: no more than there is room for.
pub(super) fn take_count(rest: &mut &[u8], least_bytes: usize) -> Result<usize, Bad> {
    let count = u32::take(rest)? as usize;
    if count > rest.len() / least_bytes {
        return Err("a list has more items than there are bytes for");
    }
    Ok(count)
}

fn take_array<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], Bad> {
    let (array, behind) = rest.split_first_chunk().ok_or("it ends in the middle of a field")?;
    *rest = behind;
    Ok(*array)
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Field for $integer {
            const LEAST_BYTES: usize = size_of::<$integer>();
            fn put(&self, buffer: &mut Vec<u8>) {
                buffer.extend_from_slice(&self.to_le_bytes());
            }
            fn take(rest: &mut &[u8]) -> Result<Self, Bad> {
                Ok(Self::from_le_bytes(take_array(rest)?))
            }
        }
    )*};
}
integers!(u8, u32, u64, i64);

impl Field for bool {
    const LEAST_BYTES: usize = 1;
    fn put(&self, buffer: &mut Vec<u8>) {
        buffer.push(u8::from(*self));
    }
    fn take(rest: &mut &[u8]) -> Result<Self, Bad> {
        match u8::take(rest)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err("a flag is neither 0 nor 1"),
        }
    }
}

impl Field for Uuid {
    const LEAST_BYTES: usize = 16;
    fn put(&self, buffer: &mut Vec<u8>) {
        buffer.extend_from_slice(&self.0);
    }
    fn take(rest: &mut &[u8]) -> Result<Self, Bad> {
        Ok(Self(take_array(rest)?))
    }
}

macro_rules! numbers {
    ($($number:ident),*) => {$(
        impl Field for $number {
            const LEAST_BYTES: usize = 8;
            fn put(&self, buffer: &mut Vec<u8>) {
                self.0.put(buffer);
            }
            fn take(rest: &mut &[u8]) -> Result<Self, Bad> {
                Ok($number(take(rest)?))
            }
        }
    )*};
}
numbers!(NodeId, Term, Index);

impl Field for Giving {
    const LEAST_BYTES: usize = 9;
    fn put(&self, buffer: &mut Vec<u8>) {
        let (kind, code) = match self {
            Self::Nothing => (0, 0),
            Self::AtWork => (1, 0),
            Self::Sent => (2, 0),
            Self::Failed { code } => (3, *code),
        };
        u8::put(&kind, buffer);
        code.put(buffer);
    }
    fn take(rest: &mut &[u8]) -> Result<Self, Bad> {
        match (u8::take(rest)?, i64::take(rest)?) {
            (0, 0) => Ok(Self::Nothing),
            (1, 0) => Ok(Self::AtWork),
            (2, 0) => Ok(Self::Sent),
            (3, code) => Ok(Self::Failed { code }),
            _ => Err("how it stands with a state is none of what there is"),
        }
    }
}

impl Field for Fault {
    const LEAST_BYTES: usize = 16;
    fn put(&self, buffer: &mut Vec<u8>) {
        self.seqno.put(buffer);
        self.error.put(buffer);
    }
    fn take(rest: &mut &[u8]) -> Result<Self, Bad> {
        Ok(Self { seqno: take(rest)?, error: take(rest)? })
    }
}

impl Field for Place {
    const LEAST_BYTES: usize = 16;
    fn put(&self, buffer: &mut Vec<u8>) {
        self.term.put(buffer);
        self.index.put(buffer);
    }
    fn take(rest: &mut &[u8]) -> Result<Self, Bad> {
        Ok(Self { term: take(rest)?, index: take(rest)? })
    }
}

impl Field for String {
    const LEAST_BYTES: usize = 4;
    fn put(&self, buffer: &mut Vec<u8>) {
        put_bytes(buffer, self.as_bytes());
    }
    fn take(rest: &mut &[u8]) -> Result<Self, Bad> {
        Ok(str::from_utf8(take_bytes(rest)?).map_err(|_| "a text is not UTF-8")?.to_owned())
    }
}

impl Field for (NodeId, String) {
    const LEAST_BYTES: usize = 12;
    fn put(&self, buffer: &mut Vec<u8>) {
        self.0.put(buffer);
        self.1.put(buffer);
    }
    fn take(rest: &mut &[u8]) -> Result<Self, Bad> {
        Ok((take(rest)?, take(rest)?))
    }
}

impl Field for Membership {
    const LEAST_BYTES: usize = 4;
    fn put(&self, buffer: &mut Vec<u8>) {
        put_count(buffer, self.voters.len());
        for voter in &self.voters {
            voter.put(buffer);
        }
    }
    fn take(rest: &mut &[u8]) -> Result<Self, Bad> {
        let count = take_count(rest, NodeId::LEAST_BYTES)?;
        let voters = (0..count).map(|_| take(rest)).collect::<Result<Vec<NodeId>, Bad>>()?;
        if !voters.is_sorted_by(|before, after| before < after) {
            return Err("the nodes of a membership do not ascend");
        }
        Ok(Self { voters: voters.into_iter().collect() })
    }
}

impl Field for Descent {
    const LEAST_BYTES: usize = 4;
    fn put(&self, buffer: &mut Vec<u8>) {
        let generations = self.newest_first();
        put_count(buffer, generations.len());
        for generation in generations {
            generation.put(buffer);
        }
    }
    fn take(rest: &mut &[u8]) -> Result<Self, Bad> {
        let count = take_count(rest, Uuid::LEAST_BYTES)?;
        let generations = (0..count).map(|_| take(rest)).collect::<Result<Vec<Uuid>, Bad>>()?;
        Self::from_newest(&generations).ok_or("a group's generations are too many, or one of them is none")
    }
}

impl<F: Field> Field for Option<F> {
    const LEAST_BYTES: usize = 1;
    fn put(&self, buffer: &mut Vec<u8>) {
        self.is_some().put(buffer);
        if let Some(field) = self {
            field.put(buffer);
        }
    }
    fn take(rest: &mut &[u8]) -> Result<Self, Bad> {
        Ok(if bool::take(rest)? { Some(take(rest)?) } else { None })
    }
}
