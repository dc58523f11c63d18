//! A log, as its readers see it: recovery and Raft read it from its begin, on disk or in the simulator.

use std::sync::Arc;

use super::{DiskLog, Error, Index};

/// A log that is read from its first entry on.
pub trait LogRecords {
    /// The first entry.
    fn first(&self) -> Index;
    /// The last entry; the one before the first if the log is empty.
    fn last(&self) -> Index;
    /// Whether the log may end before entries that this node has acknowledged.
    fn has_lost_tail(&self) -> bool;
    /// All entries.
    ///
    /// # Errors
    /// The log cannot be read.
    fn records(&self) -> Result<impl Iterator<Item = Result<(Index, Vec<u8>), Error>>, Error>;
}

impl LogRecords for DiskLog {
    fn first(&self) -> Index {
        Self::first(self)
    }

    fn last(&self) -> Index {
        Self::last(self)
    }

    fn has_lost_tail(&self) -> bool {
        self.lost_tail().is_some()
    }

    fn records(&self) -> Result<impl Iterator<Item = Result<(Index, Vec<u8>), Error>>, Error> {
        self.read(Self::first(self))
    }
}

impl<L: LogRecords> LogRecords for Arc<L> {
    fn first(&self) -> Index {
        L::first(self)
    }

    fn last(&self) -> Index {
        L::last(self)
    }

    fn has_lost_tail(&self) -> bool {
        L::has_lost_tail(self)
    }

    fn records(&self) -> Result<impl Iterator<Item = Result<(Index, Vec<u8>), Error>>, Error> {
        L::records(self)
    }
}
