//! x
pub(in super::super) fn synced() {}
