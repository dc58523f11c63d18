//! The ordered log: every write set and view, in the one order that all nodes follow, on disk.
//!
//! A folder of segments, each a file of a fixed size made ahead of its use, and in them records one behind the other.
//! An entry is appended (it has its place, and lies in memory), then committed (it is in the file, and with
//! [`Settings::sync`] on the disk). All integers are little endian.
//!
//! # Files
//!
//! | name | what |
//! |---|---|
//! | `hortator-<first index, 20 digits>.log` | a segment; only whole ones bear this name: header on disk, length allocated |
//! | `hortator-<n>.spare.log` | a file of a segment's length that waits for its use; its content means nothing |
//! | `hortator-<index, 20 digits>.cut.log` | empty: the entries from that one on are being taken away ([`DiskLog::truncate`]) |
//! | `hortator-<first index, 20 digits>.reset.log` | a whole segment that takes the place of all others ([`DiskLog::begin_behind`]) |
//! | `hortator-lock.log` | held by flock while a process has the log open |
//!
//! All end in `.log`, and so do the provider's other files in the folder: the server's script for state transfers by
//! mariabackup empties a joiner's data folder below the running provider, but for names that end so, or in a few other ways.
//!
//! # Segment
//!
//! | byte | bytes | what |
//! |---|---|---|
//! | 0 | 8 | `HORTLOG\n` |
//! | 8 | 4 | format version: 1 |
//! | 12 | 4 | CRC-32 (IEEE) of bytes 0 to 71, this field taken as 0 |
//! | 16 | 16 | history: the UUID of the cluster's history |
//! | 32 | 8 | index of the first record |
//! | 40 | 8 | first index of the segment before; 0 if there never was one |
//! | 48 | 8 | salt: random for every use of a file, highest bit set |
//! | 56 | 8 | length of the file |
//! | 64 | 8 | durable mark: all records up to this index were on disk when the header was written |
//! | 4096 | | the first record; what lies between is 0 |
//!
//! # Record
//!
//! At a multiple of 8, filled up to one with zeros:
//!
//! | byte | bytes | what |
//! |---|---|---|
//! | 0 | 4 | length of the payload, at most 2 GiB |
//! | 4 | 4 | CRC-32 (IEEE) of bytes 0 to 3, and 8 to the end of the filling |
//! | 8 | 8 | stamp: the index xor the segment's salt |
//! | 16 | 8 | durable mark: all records up to this index were on disk when this one was framed |
//! | 24 | | payload |
//!
//! Behind the last record stand 16 zero bytes. A stamp is never 0, as an index is below 2^63.
//!
//! # Why it is so
//!
//! - A crash of the machine may leave any part of what was not yet synced. So the first bad record ends the log, unless a
//!   durable mark that stands behind it says that it had been on disk: then it is damage, and the log does not open.
//! - Files are used again, as writing to blocks that were written before makes fdatasync cheaper. What they held
//!   cannot be taken for records: the stamp holds another salt. Nor can payloads that look like records: nobody knows
//!   the salt.
//! - What is cut is overwritten with zeros before anything new is written: old records of the same salt
//!   could else stand right behind new ones.
//! - A header is on disk before the file gets its name, and lies on a page of its own that is not written again. So
//!   a named file with a bad header, or a shorter one than its header says, is damaged and never merely torn.
//! - With sync on, a segment is synced before the next one gets its name, so that a full one that is not whole is
//!   damage too.
//! - The end can be taken away, as nothing that stays says anything of it: a durable mark, in a record or a header, only
//!   covers what stands before it. But half taken away it would look like damage, as a later record bears witness to an earlier
//!   one that is zeros by now. So the decision is on disk first, by one name (`.cut.log`), and off the disk last, before
//!   the place is given again; opening finishes what it finds decided. In between segments go, the newest first, and then
//!   zeros are written. What a crash leaves is the old log, or one that ends right there; never a mix.
//! - With the name there and entries before it missing, opening takes nothing away before the ordinary check: what stands
//!   behind is what tells a torn end from damage.
//! - A log begins anew by one name too (`.reset.log`), which its first segment gets when it is whole.
//! - A failed write or sync is final. The kernel may drop what it could not write and call the next sync a success; so
//!   opening writes again, and syncs, whatever no durable mark covers.
//!
//! # Limits
//!
//! | what | limit |
//! |---|---|
//! | payload | 2 GiB; one larger than a segment has a segment of its own, made when it is appended |
//! | in memory | 64 MiB and what is being appended, and as much being written: [`DiskLog::throttle`] waits for room |
//! | kept in memory for followers | 16 MiB of the newest entries, if [`DiskLog::set_keeps_recent`]; a larger one is read from its file |
//! | places in files remembered | 16, for followers that are behind: each reads on without a search |
//! | on disk | [`Settings::retain_bytes`], what [`DiskLog::purge`] was not allowed, one segment, and two spares |
//! | with sync off | the last five segments may be lost in a power cut, never by the end of the process |
//!
//! Entries at the very end that vanish without a trace (zeros, or a deleted last segment) cannot be told from ones that
//! never were: nothing behind them bears witness. On filesystems that copy on write (btrfs, ZFS) a segment made ahead
//! is no promise of room: a full disk can fail a write there, which ends the log until it is opened again.
//!
//! # Measured
//!
//! Two cores, ext4 on a virtual disk, other work beside. fdatasync after 4,000 bytes, medians: 252 µs in a growing file,
//! 239 in an allocated one, 144 in one filled with zeros before, 141 in one used again; filling 64 MiB takes 0.05 to
//! 0.15 s, beside the commits. Entries of 300 bytes a second (`cargo bench --bench log`):
//!
//! | threads | sync on | sync off |
//! |---|---|---|
//! | 1 | 800 to 2,200; 5,500 with the disk to itself | 230,000 to 320,000 |
//! | 16 | 32,000 to 37,000 | 430,000 to 490,000 |
//! | 200 | 68,000 to 93,000 | 370,000 to 450,000 |
//!
//! Why not a store off the shelf: one thread, synced batches of 1, 16 and 200 such entries, in the last of five
//! rounds (the disk was busy in three, and then any of them came first): this log 5,500, 77,000 and 630,000 a second;
//! redb 4.5 3,500, 28,000 and 245,000; fjall 3.1 5,700, 59,000 and 340,000. So it is not speed alone: what was torn and
//! what is damage has rules of its own here. Opening checks 1 GiB in 1.1 s.

mod disk;
mod error;
mod group_commit;
mod os;
mod reader;
mod recent;
mod record;
mod recovery;
mod reset;
mod segment;
mod segment_pool;
mod segments;
mod truncate;

#[cfg(test)]
mod tests;

pub use disk::DiskLog;
pub use error::Error;
pub(crate) use os::spawn_without_signals;
pub use reader::Reader;
pub use recent::Shared;
pub use record::PAYLOAD_LIMIT_BYTES;
pub use recovery::{Opened, TornTail};

/// Place of an entry in the log; the first is 1. Not the wsrep seqno.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Index(pub u64);

impl Index {
    /// The place behind this one.
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

/// How a log is kept.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Length of a segment. A payload that does not fit gets a segment of its own length. Rounded up to 4096.
    pub segment_bytes: u64,
    /// What [`DiskLog::purge`] leaves, whatever else may go.
    pub retain_bytes: u64,
    /// Whether a commit ends on the disk (survives a power cut) or in the operating system (survives the process).
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
