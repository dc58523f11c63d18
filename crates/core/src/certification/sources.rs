//! Short numbers for the sources, so that a place can keep one in four bytes.

use super::SourceId;
use crate::Seqno;

/// Where a use of a place came from, as far as certification tells sources apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin(u32);

impl Origin {
    /// Under total order isolation: no source. That it equals itself does no harm, because isolation never loses.
    pub(super) const ISOLATED: Self = Self(u32::MAX);
}

/// The sources of which something lies above the cut; as many as there are nodes, and a few incarnations more.
#[derive(Debug, Default)]
pub(super) struct Sources {
    slots: Vec<Slot>,
}

#[derive(Debug)]
struct Slot {
    source: SourceId,
    last: Seqno,
}

impl Sources {
    /// The number of a source, from which `seqno` comes.
    ///
    /// A number passes on to another source when all that the former brought lies at or below the cut: what places
    /// still say of that is not looked at any more.
    pub(super) fn origin(&mut self, source: SourceId, seqno: Seqno, cut: Seqno) -> Origin {
        let known = self.slots.iter().position(|slot| slot.source == source);
        let number = known.or_else(|| self.slots.iter().position(|slot| slot.last <= cut));
        let slot = Slot { source, last: seqno };
        match number {
            Some(number) => self.slots[number] = slot,
            None => self.slots.push(slot),
        }
        let number = number.unwrap_or(self.slots.len() - 1);
        Origin(u32::try_from(number).expect("there are fewer sources than seqnos between two cuts"))
    }

    pub(super) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
    }
}
