//! Short numbers for the sources, so that an entry can store one in four bytes.

use super::SourceId;
use crate::Seqno;

/// The source of a use, as far as certification distinguishes sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SourceIndex(u32);

impl SourceIndex {
    /// Total order isolation: no source. That it equals itself does no harm, because isolation never fails.
    pub(super) const ISOLATED: Self = Self(u32::MAX);
}

/// The sources that have a write set above the purged seqno; as many as there are nodes, and a few more incarnations.
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
    /// Returns the number of a source, from which `seqno` comes.
    ///
    /// A number passes to another source when everything of the former source lies at or below the purged seqno:
    /// certification does not read those uses any more.
    pub(super) fn index_of(&mut self, source: SourceId, seqno: Seqno, purged_upto: Seqno) -> SourceIndex {
        let known = self.slots.iter().position(|slot| slot.source == source);
        let number = known.or_else(|| self.slots.iter().position(|slot| slot.last <= purged_upto));
        let slot = Slot { source, last: seqno };
        match number {
            Some(number) => self.slots[number] = slot,
            None => self.slots.push(slot),
        }
        let number = number.unwrap_or(self.slots.len() - 1);
        SourceIndex(u32::try_from(number).expect("there are fewer sources than seqnos between two purges"))
    }

    pub(super) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
    }
}
