//! The ordered log: every write set and view, in the one order that all nodes follow, on disk.
