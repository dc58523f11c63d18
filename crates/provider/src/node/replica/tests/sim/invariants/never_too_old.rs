//! No write set fails as too old while its client waits and its node stays in the view: commit cuts wait for it, however
//! long flow control and elections hold it back. (A leaving node that was out of the view for a moment keeps its member ID.)
//! The exception, an index that is full, needs more write sets than a run has.

use hortator_core::Failure;

use super::super::world::Slot;

pub fn check(slot: Slot, seqno: i64, failure: Failure) {
    panic!("a commit cut does not wait for the write set of {slot:?} at seqno {seqno}: {failure}");
}
