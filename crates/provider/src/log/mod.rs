//! The ordered log on disk: all write sets and views, in the order that all nodes follow.
//!
//! The log is a folder of segments: files of a fixed size, created ahead of use, with one record after the other. An
//! appended entry has an index and is in memory; a flushed one is in the file, and with [`Settings::sync`] on disk. All
//! integers are little endian.
//!
//! # Files
//!
//! | name | content |
//! |---|---|
//! | `hortator-<first index, 20 digits>.log` | a segment; only complete ones have this name: header on disk, length allocated |
//! | `hortator-<n>.spare.log` | a spare file of a segment's length; its content has no meaning |
//! | `hortator-<index, 20 digits>.truncate.log` | empty: the entries from that index on are being removed ([`DiskLog::truncate`]) |
//! | `hortator-<first index, 20 digits>.reset.log` | a complete segment that replaces all others ([`DiskLog::install_snapshot`]) |
//! | `hortator-acked.log` | up to which entry the node has told others that it has them on disk: `acked` |
//! | `hortator-lock.log` | locked by flock while a process has the log open |
//!
//! All names end in `.log`, like those of the provider's other files: the server's SST script for mariabackup empties a
//! joiner's data folder while the provider runs, except for names with this ending, and a few others.
//!
//! # Segment
//!
//! | byte | bytes | content |
//! |---|---|---|
//! | 0 | 8 | `HORTLOG\n` |
//! | 8 | 4 | format version: 1 |
//! | 12 | 4 | CRC-32 (IEEE) of bytes 0 to 71, with 0 in this field |
//! | 16 | 16 | history UUID of the cluster |
//! | 32 | 8 | index of the first record |
//! | 40 | 8 | first index of the previous segment; 0 if there never was one |
//! | 48 | 8 | salt: random for each use of a file, highest bit set |
//! | 56 | 8 | length of the file |
//! | 64 | 8 | durable mark: all records up to this index were on disk when the header was written |
//! | 4096 | | the first record; zeros before it |
//!
//! # Record
//!
//! Starts at a multiple of 8, and is padded to one with zeros:
//!
//! | byte | bytes | content |
//! |---|---|---|
//! | 0 | 4 | length of the payload, at most 2 GiB |
//! | 4 | 4 | CRC-32 (IEEE) of bytes 0 to 3, and 8 to the end of the padding |
//! | 8 | 8 | stamp: the index xor the segment's salt |
//! | 16 | 8 | durable mark: all records up to this index were on disk when this one was framed |
//! | 24 | | payload |
//!
//! 16 zero bytes follow the last record. A stamp is never 0, since an index is below 2^63.
//!
//! # Design
//!
//! - A machine crash may leave any part of the unsynced data. So the first bad record ends the log, unless a durable
//!   mark after it says that the record had been on disk: then the log is damaged, and does not open.
//! - Files are reused, since overwriting written blocks makes fdatasync cheaper. Old content cannot pass for records:
//!   its stamps have another salt. Neither can payloads that imitate records: the salt is secret.
//! - Truncated data is overwritten with zeros before anything new is written: else old records of the same salt could
//!   follow new ones.
//! - A header is on disk before the file gets its name, on a page that is not written again. So a file with a bad
//!   header, or one shorter than its header says, is damaged, never torn.
//! - With sync on, a segment is synced before the next one gets its name, so a full segment that is not complete is
//!   damaged too.
//! - The end can be truncated, since no remaining record mentions it: a durable mark, in a record or a header, covers
//!   only earlier records. But a half-truncated end would look damaged, since a later record vouches for an earlier one
//!   that is zeroed already. So a marker file (`.truncate.log`) is created first, and removed last, before the index is
//!   used again; opening completes a marked truncation. In between, segments are removed, newest first, and zeros are
//!   written. After a crash the log is the old one, or ends right there; never a mix.
//! - If the marker exists and an earlier entry is missing, opening removes nothing before the ordinary check: the later
//!   records tell a torn tail from damage.
//! - A log is reset by one name too (`.reset.log`), which its first segment gets when it is complete.
//! - A failed write or sync is final. The kernel may drop what it could not write, and report success for the next
//!   sync; so opening writes again, and syncs, whatever no durable mark covers.
//!
//! # Limits
//!
//! | subject | limit |
//! |---|---|
//! | payload | 2 GiB; one larger than a segment gets its own segment, created at the append |
//! | memory | 64 MiB plus the current append, and as much being written: [`DiskLog::throttle`] waits for room |
//! | memory for followers | 16 MiB of the newest entries, with [`DiskLog::set_keeps_recent`]; older ones are read from the file |
//! | bookmarks | 16, for followers that are behind: each reads on without a search |
//! | disk | [`Settings::retain_bytes`], what [`DiskLog::purge`] must keep, one segment, and two spares |
//! | sync off | a power failure may lose the last five segments; the end of the process loses nothing |
//!
//! Entries at the very end that vanish without a trace (zeros, or a deleted last segment) cannot be told from entries
//! that never were by the log alone: no later record vouches for them. `hortator-acked.log` does, unless the same power
//! failure took it back too. On copy-on-write file systems (btrfs, ZFS), a spare does not
//! guarantee room: a full disk can fail a write, which ends the log until it is opened again.
//!
//! # Measurements
//!
//! Two cores, ext4 on a virtual disk, other load. fdatasync after 4,000 bytes, medians: 252 µs in a growing file, 239
//! in an allocated one, 144 in one filled with zeros, 141 in a reused one; filling 64 MiB takes 0.05 to 0.15 s, beside
//! the flushes. Entries of 300 bytes per second (`cargo bench --bench log`):
//!
//! | threads | sync on | sync off |
//! |---|---|---|
//! | 1 | 800 to 2,200; 5,500 on an idle disk | 230,000 to 320,000 |
//! | 16 | 32,000 to 37,000 | 430,000 to 490,000 |
//! | 200 | 68,000 to 93,000 | 370,000 to 450,000 |
//!
//! Why no existing store: with one thread, and synced batches of 1, 16 and 200 such entries, in the last of five rounds
//! (the disk was busy in three, and the winner varied): this log writes 5,500, 77,000 and 630,000 entries per second;
//! redb 4.5 3,500, 28,000 and 245,000; fjall 3.1 5,700, 59,000 and 340,000. Speed is not the only reason: this log has
//! its own rules for torn tails and damage. Opening checks 1 GiB in 1.1 s.

mod acked;
mod disk;
mod error;
mod group_commit;
mod os;
mod reader;
mod recent;
mod record;
mod records;
mod recovery;
mod reset;
mod segment;
mod segment_pool;
mod segments;
mod truncate;

#[cfg(test)]
mod tests;

pub use acked::LostTail;
pub use disk::DiskLog;
pub use error::Error;
pub(crate) use os::spawn_without_signals;
pub use reader::Reader;
pub use recent::Shared;
pub use record::PAYLOAD_LIMIT_BYTES;
pub use records::LogRecords;
pub use recovery::{Opened, TornTail};

/// Index of an entry in the log; the first is 1. Not the wsrep seqno.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Index(pub u64);

impl Index {
    /// The next index.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl std::fmt::Display for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Settings of a log.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Length of a segment. A larger payload gets a segment of its own length. Rounded up to 4096.
    pub segment_bytes: u64,
    /// Bytes that [`DiskLog::purge`] always keeps.
    pub retain_bytes: u64,
    /// Whether a flush reaches the disk (survives a power failure) or the operating system (survives the process).
    pub sync: bool,
}

impl Settings {
    fn rounded(self) -> Self {
        Self { segment_bytes: self.segment_bytes.next_multiple_of(4096).max(8192), ..self }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self { segment_bytes: 64 << 20, retain_bytes: 1 << 30, sync: true }
    }
}
