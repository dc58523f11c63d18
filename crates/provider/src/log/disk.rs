//! The log on disk: append, flush, read, purge.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::acked::{AckedMark, LostTail};
use super::group_commit::GroupCommit;
use super::reader::Reader;
use super::recent::Recent;
use super::record::{self, END_BYTES, PAYLOAD_LIMIT_BYTES, framed_bytes};
use super::recovery::{self, Lock, Opened, Recovered};
use super::segment::{Folder, RECORDS_START, Segment, length_for};
use super::segment_pool::{SegmentPool, SpareSegment};
use super::segments::Segments;
use super::{Error, Index, Settings};

/// Limit of bytes in memory. An append beyond it flushes them.
const UNWRITTEN_LIMIT_BYTES: usize = 64 << 20;
/// A buffer up to this size is kept for reuse.
const KEPT_BUFFER_BYTES: usize = 4 << 20;
/// With sync off, this many full segments may be unsynced.
const UNSYNCED_LIMIT: usize = 4;

/// An ordered log in a folder.
///
/// Appends come one at a time, in the caller's order; all other calls may come from any thread at any time. Entries
/// that are appended and not flushed when the log is dropped are lost.
#[derive(Debug)]
pub struct DiskLog {
    settings: Settings,
    history_uuid: [u8; 16],
    pub(super) folder: Arc<Folder>,
    pending: Mutex<Pending>,
    pub(super) group_commit: GroupCommit,
    pub(super) writer: Mutex<Writer>,
    pub(super) segments: Segments,
    pub(super) recent: Recent,
    sync: AtomicBool,
    pub(super) appended: AtomicU64,
    pub(super) durable: AtomicU64,
    pub(super) acked: AckedMark,
    segment_pool: SegmentPool,
    /// The folder's lock; dropped last.
    _lock: Lock,
}

/// Appended entries that no round has taken yet.
#[derive(Debug)]
pub(super) struct Pending {
    pub segment: Arc<Segment>,
    /// Where the next record goes in the segment.
    pub end: u64,
    pub last: u64,
    writes: Vec<SegmentWrite>,
    bytes: usize,
    buffer: Vec<u8>,
}

/// Bytes for one segment.
#[derive(Debug)]
pub(super) struct SegmentWrite {
    segment: Arc<Segment>,
    /// The spare that the segment is made from.
    spare: Option<PathBuf>,
    at: u64,
    bytes: Vec<u8>,
    last: u64,
}

/// State of the leader of a round.
#[derive(Debug, Default)]
pub(super) struct Writer {
    /// Segments with unsynced writes, oldest first.
    pub unsynced: VecDeque<Arc<Segment>>,
}

impl DiskLog {
    /// Opens the log in `folder`, or creates one. Checks all of it, and truncates a torn tail.
    ///
    /// # Errors
    /// Another process has it open; it belongs to another history, has a newer version, or is damaged.
    pub fn open(folder: &Path, settings: Settings, history_uuid: [u8; 16]) -> Result<(Self, Opened), Error> {
        let settings = settings.rounded();
        let recovered = recovery::recover(folder, &settings, history_uuid)?;
        let opened = recovered.opened.clone();
        Ok((Self::from_recovered(recovered, settings, history_uuid)?, opened))
    }

    pub(super) fn from_recovered(
        recovered: Recovered,
        settings: Settings,
        history_uuid: [u8; 16],
    ) -> Result<Self, Error> {
        let Recovered { lock, folder, segment_pool, segments, end, opened } = recovered;
        let last = opened.last.0;
        // After recovery has synced the log.
        let acked = AckedMark::open(&folder, history_uuid, last, settings.sync)?;
        let active = Arc::clone(segments.back().expect("recovery creates the first segment"));
        Ok(Self {
            history_uuid,
            folder,
            pending: Mutex::new(Pending {
                segment: active,
                end,
                last,
                writes: Vec::new(),
                bytes: 0,
                buffer: Vec::new(),
            }),
            group_commit: GroupCommit::default(),
            writer: Mutex::default(),
            segments: Segments::new(segments, last),
            recent: Recent::default(),
            sync: AtomicBool::new(settings.sync),
            appended: AtomicU64::new(last),
            durable: AtomicU64::new(last),
            acked,
            segment_pool,
            _lock: lock,
            settings,
        })
    }

    /// The history UUID of the log.
    pub fn history_uuid(&self) -> [u8; 16] {
        self.history_uuid
    }

    /// The history UUID of the log in `folder`, if there is one. Needs no lock.
    ///
    /// # Errors
    /// The newest segment is damaged or has a newer version.
    pub fn read_history_uuid(folder: &Path) -> Result<Option<[u8; 16]>, Error> {
        recovery::read_history_uuid(folder)
    }

    /// Appends the concatenated parts as one entry. It is in memory until a flush.
    ///
    /// Writes nothing, so it may be called under a lock: the next segment is ready already; only the file of a payload
    /// larger than a segment is created here. [`DiskLog::throttle`] limits the memory.
    ///
    /// # Errors
    /// After [`Error::Full`] and [`Error::TooLarge`] nothing has changed; after [`Error::Broken`] the log accepts
    /// nothing more.
    pub fn append(&self, parts: &[&[u8]]) -> Result<Index, Error> {
        let payload_bytes: u64 = parts.iter().map(|part| part.len() as u64).sum();
        if payload_bytes > PAYLOAD_LIMIT_BYTES {
            return Err(Error::TooLarge { bytes: payload_bytes, limit: PAYLOAD_LIMIT_BYTES });
        }
        if let Some(error) = self.group_commit.broken() {
            return Err(error);
        }
        let framed = framed_bytes(payload_bytes);
        let mut spare = None;
        let index = loop {
            let mut pending = self.pending();
            if pending.has_room(framed) {
                break self.frame_entry(&mut pending, framed, parts, None);
            }
            if let Some(spare) = spare.take() {
                let path = pending.roll(spare, self.history_uuid);
                break self.frame_entry(&mut pending, framed, parts, Some(path));
            }
            drop(pending);
            // Without the lock: flushes continue while a slow disk creates the file.
            spare = Some(self.segment_pool.take(length_for(payload_bytes).max(self.settings.segment_bytes))?);
        };
        if let Some(spare) = spare {
            self.segment_pool.give_back(spare);
        }
        Ok(Index(index))
    }

    /// Whether half of the memory for unwritten entries is taken: the disk is slower than the appends.
    pub fn is_backed_up(&self) -> bool {
        self.pending().bytes > UNWRITTEN_LIMIT_BYTES / 2
    }

    /// Waits while more than 64 MiB are appended and not written. Call it before each append, without locks.
    ///
    /// # Errors
    /// As [`DiskLog::flush`].
    pub fn throttle(&self) -> Result<(), Error> {
        let unwritten = self.pending().bytes;
        if unwritten <= UNWRITTEN_LIMIT_BYTES {
            return Ok(());
        }
        match self.flush(self.last()) {
            // The entries were truncated meanwhile, and there is room.
            Err(Error::Dropped { .. }) => Ok(()),
            result => result,
        }
    }

    /// Returns when everything up to `upto` is written, and with sync on, on disk. One thread writes for all callers.
    ///
    /// # Errors
    /// A failed write or sync is final: the content of the disk is unknown. All later calls fail.
    ///
    /// [`Error::Dropped`]: [`DiskLog::truncate`] has removed the entry. If another entry has taken its index meanwhile,
    /// the call flushes that one.
    pub fn flush(&self, upto: Index) -> Result<(), Error> {
        let is_there = || upto <= if self.sync.load(Ordering::Acquire) { self.durable() } else { self.written() };
        let done = || is_there() || upto > self.last();
        self.group_commit.wait_until(upto.0, done, || self.take_writes(), |writes| self.write(writes))?;
        if upto > self.last() { Err(Error::Dropped { index: upto }) } else { Ok(()) }
    }

    /// Whether later flushes sync the disk.
    ///
    /// # Errors
    /// The mark that says so cannot be written; nothing has changed.
    pub fn set_sync(&self, sync: bool) -> Result<(), Error> {
        if sync {
            self.acked.end_unsynced();
        } else {
            self.acked.begin_unsynced()?;
        }
        self.sync.store(sync, Ordering::Release);
        Ok(())
    }

    /// Writes and syncs everything, also with sync off: a clean end.
    ///
    /// # Errors
    /// As [`DiskLog::flush`].
    pub fn sync_all(&self) -> Result<(), Error> {
        self.sync.store(true, Ordering::Release);
        self.acked.end_unsynced();
        self.flush_to_disk()?;
        self.acked.advance(self.segments.written())
    }

    /// Writes everything, and syncs it also with sync off.
    ///
    /// # Errors
    /// As [`DiskLog::flush`].
    pub fn flush_to_disk(&self) -> Result<(), Error> {
        self.flush(self.last())?;
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        self.sync_oldest(&mut writer, 0, self.segments.written())
    }

    /// Why the log may lack entries that this node has acknowledged.
    pub fn lost_tail(&self) -> Option<LostTail> {
        self.acked.lost_tail()
    }

    /// The log holds again every committed entry that this node had acknowledged.
    ///
    /// # Errors
    /// The mark that says so cannot be written.
    pub fn confirm_tail(&self) -> Result<(), Error> {
        let is_synced = self.sync.load(Ordering::Acquire);
        self.acked.confirm(self.flushed().0, is_synced)
    }

    /// Reads written entries from `from` on, also while more are appended. At the end the reader returns `None`; asked
    /// again, it returns new entries.
    ///
    /// # Errors
    /// `from` is neither in the log nor right after its last entry.
    pub fn read(&self, from: Index) -> Result<Reader<'_>, Error> {
        // The reader first: it must notice a truncation during the checks below.
        let reader = Reader::new(&self.segments, from);
        let (first, last) = (self.first(), self.written());
        if from < first || from > last.next() {
            return Err(Error::Absent { index: from, first, last });
        }
        Ok(reader)
    }

    /// Purges whole segments with entries below `below` only, oldest first, as long as [`Settings::retain_bytes`]
    /// remain. The files are removed a little later.
    pub fn purge(&self, below: Index) {
        let mut list = self.segments.list_mut();
        let mut bytes: u64 = list.iter().map(|segment| segment.header.bytes).sum();
        let mut retired = Vec::new();
        while let (Some(oldest), Some(next)) = (list.front(), list.get(1)) {
            if next.header.first > below.0 || bytes - oldest.header.bytes < self.settings.retain_bytes {
                break;
            }
            bytes -= oldest.header.bytes;
            retired.extend(list.pop_front());
        }
        self.segment_pool.retire(retired);
    }

    /// The first entry; after [`DiskLog::last`] if the log is empty.
    pub fn first(&self) -> Index {
        Index(self.segments.first())
    }

    /// The last appended entry.
    pub fn last(&self) -> Index {
        Index(self.appended.load(Ordering::Acquire))
    }

    /// The last entry that survives the end of the process.
    pub fn written(&self) -> Index {
        Index(self.segments.written())
    }

    /// The last entry that survives a power failure.
    pub fn durable(&self) -> Index {
        Index(self.durable.load(Ordering::Acquire))
    }

    /// The last entry that a flush has reached: with sync on, it survives a power failure.
    pub fn flushed(&self) -> Index {
        if self.sync.load(Ordering::Acquire) { self.durable() } else { self.written() }
    }

    /// Length of all segments, without the spare files: usually two at most.
    pub fn bytes(&self) -> u64 {
        self.segments.list().iter().map(|segment| segment.header.bytes).sum()
    }

    pub(super) fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn frame_entry(&self, pending: &mut Pending, framed: u64, parts: &[&[u8]], spare: Option<PathBuf>) -> u64 {
        let index = pending.append(framed, self.durable.load(Ordering::Acquire), parts, spare);
        // In this order: a follower that received an entry asks for the next one, and the log must know that index
        // then.
        self.appended.store(index, Ordering::Release);
        self.recent.keep(index, parts);
        index
    }

    /// Takes the pending writes for a round, and the last entry in them.
    pub(super) fn take_writes(&self) -> (u64, Vec<SegmentWrite>) {
        let mut pending = self.pending();
        pending.bytes = 0;
        (pending.last, std::mem::take(&mut pending.writes))
    }

    /// The work of a round. One round runs at a time.
    pub(super) fn write(&self, writes: Vec<SegmentWrite>) -> Result<(), Error> {
        let sync = self.sync.load(Ordering::Acquire);
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        for mut segment_write in writes {
            if let Some(spare) = &segment_write.spare {
                // A full segment must be on disk before a later one: the durable mark says so then.
                self.sync_oldest(
                    &mut writer,
                    if sync { 0 } else { UNSYNCED_LIMIT },
                    segment_write.segment.header.first - 1,
                )?;
                segment_write.segment.begin(spare, &self.folder, self.durable.load(Ordering::Acquire))?;
                self.segments.push(Arc::clone(&segment_write.segment));
            }
            if !writer.unsynced.back().is_some_and(|segment| Arc::ptr_eq(segment, &segment_write.segment)) {
                writer.unsynced.push_back(Arc::clone(&segment_write.segment));
            }
            segment_write.bytes.extend_from_slice(&[0; END_BYTES]);
            segment_write.segment.write(&segment_write.bytes, segment_write.at)?;
            self.segments.set_written(segment_write.last);
            self.pending().keep_buffer(segment_write.bytes);
        }
        if sync {
            self.sync_oldest(&mut writer, 0, self.segments.written())?;
            self.acked.advance(self.segments.written())?;
        }
        Ok(())
    }

    /// Syncs all unsynced segments but `leave`. `written`: the last entry in the newest of them.
    fn sync_oldest(&self, writer: &mut Writer, leave: usize, written: u64) -> Result<(), Error> {
        while writer.unsynced.len() > leave {
            let Some(oldest) = writer.unsynced.pop_front() else { break };
            oldest.sync()?;
            let durable = writer.unsynced.front().map_or(written, |next| next.header.first - 1);
            self.durable.store(durable, Ordering::Release);
        }
        Ok(())
    }
}

impl Pending {
    fn has_room(&self, framed: u64) -> bool {
        self.end + framed + END_BYTES as u64 <= self.segment.header.bytes
    }

    /// Continues in a new segment. Returns the path of its spare.
    fn roll(&mut self, spare: SpareSegment, history_uuid: [u8; 16]) -> PathBuf {
        let path = spare.path.clone();
        let previous = self.segment.header.first;
        self.segment = Arc::new(Segment::from_spare(spare, history_uuid, self.last + 1, previous));
        self.end = RECORDS_START;
        path
    }

    /// Frames a record that fits. Returns its index.
    fn append(&mut self, framed: u64, durable: u64, parts: &[&[u8]], spare: Option<PathBuf>) -> u64 {
        if spare.is_some() || self.writes.is_empty() {
            let bytes = std::mem::take(&mut self.buffer);
            let segment = Arc::clone(&self.segment);
            self.writes.push(SegmentWrite { segment, spare, at: self.end, bytes, last: self.last });
        }
        let segment_write = self.writes.last_mut().expect("a write was pushed if there was none");
        self.last += 1;
        segment_write.last = self.last;
        record::frame(&mut segment_write.bytes, self.segment.header.salt, self.last, durable, parts);
        self.end += framed;
        debug_assert_eq!(self.end, segment_write.at + segment_write.bytes.len() as u64);
        self.bytes += usize::try_from(framed).expect("the record is in memory");
        self.last
    }

    fn keep_buffer(&mut self, mut buffer: Vec<u8>) {
        if buffer.capacity() <= KEPT_BUFFER_BYTES && buffer.capacity() > self.buffer.capacity() {
            buffer.clear();
            self.buffer = buffer;
        }
    }
}
