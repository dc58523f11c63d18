//! Which columns row images hold, a bit each: without memory of its own for tables of the usual width.

use std::ops::Deref;

/// Columns of this number of bytes are kept in place: 176 columns.
const INLINE_BYTES: usize = 22;

/// The bits, as they stand in an event.
#[derive(Clone, Debug)]
pub struct ColumnSet(Bits);

#[derive(Clone, Debug)]
enum Bits {
    Inline { length: u8, bytes: [u8; INLINE_BYTES] },
    Heap(Box<[u8]>),
}

impl From<&[u8]> for ColumnSet {
    fn from(bits: &[u8]) -> ColumnSet {
        let mut bytes = [0; INLINE_BYTES];
        ColumnSet(match (bytes.get_mut(..bits.len()), u8::try_from(bits.len())) {
            (Some(taken), Ok(length)) => {
                taken.copy_from_slice(bits);
                Bits::Inline { length, bytes }
            }
            _ => Bits::Heap(bits.into()),
        })
    }
}

impl Default for ColumnSet {
    fn default() -> ColumnSet {
        ColumnSet::from([].as_slice())
    }
}

impl Deref for ColumnSet {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bits::Inline { length, bytes } => &bytes[..usize::from(*length)],
            Bits::Heap(bytes) => bytes,
        }
    }
}

impl PartialEq for ColumnSet {
    fn eq(&self, other: &ColumnSet) -> bool {
        **self == **other
    }
}

impl Eq for ColumnSet {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_any_width() {
        for width in [0, 1, INLINE_BYTES - 1, INLINE_BYTES, INLINE_BYTES + 1, 255, 256, 512] {
            let bits: Vec<u8> = (0..width).map(|byte| u8::try_from(byte % 251 + 1).unwrap()).collect();
            let set = ColumnSet::from(bits.as_slice());
            assert_eq!((&*set, set.is_empty()), (bits.as_slice(), width == 0), "{width}");
            assert_eq!(set, set.clone());
            assert_ne!(set, ColumnSet::from([bits.as_slice(), &[1]].concat().as_slice()), "{width}");
        }
    }
}
