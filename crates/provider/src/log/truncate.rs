//! Truncation: removes the end of the log that a new leader's log does not have; it was never committed.
//!
//! The removed records may hold durable marks, by which the rest would look damaged after a crash half way. So a marker
//! file `hortator-<from>.truncate.log` comes first. While it exists, opening the log completes the truncation. It is
//! removed, durably, before a new append.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use super::reader::ReadCursor;
use super::record::END_BYTES;
use super::segment::{Folder, Segment, name};
use super::{DiskLog, Error, Index, os};

/// The ending of the marker of a running truncation.
pub(super) const TRUNCATE: &str = ".truncate.log";
/// Zeros are written in chunks of this size.
const ZEROS_BYTES: usize = 1 << 20;

impl DiskLog {
    /// Removes all entries from `from` on; the next append takes that index. Does nothing if `from` is right after the
    /// end.
    ///
    /// When it returns, the entries are gone from the disk too, whatever [`Settings::sync`](super::Settings) says;
    /// after a crash in between, the log has either all of them or ends right before `from`. No append may run
    /// meanwhile. Other threads may flush and read: a flush of a removed entry returns [`Error::Dropped`], and so does
    /// a reader beyond `from`.
    ///
    /// # Errors
    /// [`Error::Absent`], if `from` is before the first entry or beyond the index after the last; it and
    /// [`Error::Full`] change nothing. After any other error the log accepts nothing more.
    pub fn truncate(&self, from: Index) -> Result<(), Error> {
        let refused = RefCell::new(None);
        let is_done = Cell::new(false);
        // This round serves all waiting threads: removed entries need no flush, and the rest is written.
        let take = || (u64::MAX, self.take_writes().1);
        let work = |writes| {
            self.write(writes)?;
            match self.truncate_in_round(from) {
                Ok(()) => {}
                Err(error @ (Error::Absent { .. } | Error::Full { .. })) => *refused.borrow_mut() = Some(error),
                Err(error) => return Err(error),
            }
            is_done.set(true);
            Ok(())
        };
        self.group_commit.wait_until(u64::MAX, || is_done.get(), take, work)?;
        refused.into_inner().map_or(Ok(()), Err)
    }

    /// The same, for entries that others may count on: after a crash before [`Self::confirm_tail`], the log has lost them.
    ///
    /// # Errors
    /// As [`Self::truncate`].
    pub fn abandon_tail(&self, from: Index) -> Result<(), Error> {
        self.acked.keep_mark(self.last().0)?;
        self.truncate(from)
    }

    /// Runs in its own round, with everything written.
    fn truncate_in_round(&self, from: Index) -> Result<(), Error> {
        let (first, last) = (self.first(), self.last());
        if from == last.next() {
            return Ok(());
        }
        if from < first || from > last {
            return Err(Error::Absent { index: from, first, last });
        }
        let segment = {
            let list = self.segments.list();
            Arc::clone(&list[last_kept(&list, from.0)])
        };
        let active = Arc::clone(&self.pending().segment);
        let end = ReadCursor::offset_of(Arc::clone(&segment), from.0)?;
        let until =
            if Arc::ptr_eq(&segment, &active) { self.pending().end + END_BYTES as u64 } else { segment.header.bytes };
        let mark = Mark::make(&self.folder, from.0)?;
        self.acked.lower(from.0 - 1)?;

        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut list = self.segments.list_mut();
        let Some(at) = list.iter().position(|one| Arc::ptr_eq(one, &segment)) else {
            // Purged just now. Impossible: purged entries are committed.
            drop(list);
            mark.remove()?;
            return Err(Error::Absent { index: from, first: self.first(), last });
        };
        self.segments.begin_truncation(from.0);
        self.recent.truncate(from.0);
        self.durable.fetch_min(from.0 - 1, Ordering::AcqRel);
        let mut gone = list.split_off(at + 1);
        drop(list);
        writer.unsynced.retain(|unsynced| !gone.iter().any(|segment| Arc::ptr_eq(unsynced, segment)));
        {
            let mut pending = self.pending();
            pending.segment = Arc::clone(&segment);
            pending.end = end;
            pending.last = from.0 - 1;
            self.appended.store(from.0 - 1, Ordering::Release);
        }
        remove(&mut gone, &self.folder)?;
        zero(&segment, end, until)?;
        mark.remove()
    }
}

/// The segment that stays as the last: the one with the entry before `from`, or the first, since a log has at least
/// one.
fn last_kept(segments: &VecDeque<Arc<Segment>>, from: u64) -> usize {
    segments.partition_point(|segment| segment.header.first < from).saturating_sub(1)
}

/// Completes a truncation after a crash. The marker stays: the caller checks the rest first.
///
/// If an entry before `from` is missing, nothing is done: that is a torn tail or damage, which the ordinary check tells
/// apart by the records after it.
pub(super) fn finish(segments: &mut VecDeque<Arc<Segment>>, from: u64, folder: &Folder) -> Result<(), Error> {
    let at = last_kept(segments, from);
    let Some(segment) = segments.get(at).map(Arc::clone) else { return Ok(()) };
    let end = match ReadCursor::offset_of(Arc::clone(&segment), from) {
        Ok(end) => end,
        Err(Error::Damaged { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    remove(&mut segments.split_off(at + 1), folder)?;
    zero(&segment, end, segment.header.bytes)
}

/// Newest first: at any time the folder holds a log without gaps.
fn remove(segments: &mut VecDeque<Arc<Segment>>, folder: &Folder) -> Result<(), Error> {
    if segments.is_empty() {
        return Ok(());
    }
    while let Some(segment) = segments.pop_back() {
        segment.remove()?;
    }
    folder.sync()
}

fn zero(segment: &Segment, from: u64, until: u64) -> Result<(), Error> {
    let zeros = vec![0; ZEROS_BYTES.min(usize::try_from(until - from).unwrap_or(usize::MAX))];
    let mut at = from;
    while at < until {
        let length = zeros.len().min(usize::try_from(until - at).unwrap_or(usize::MAX));
        segment.write(&zeros[..length], at)?;
        at += length as u64;
    }
    segment.sync()
}

/// The marker file of a running truncation.
#[derive(Debug)]
pub(super) struct Mark<'a> {
    folder: &'a Folder,
    path: PathBuf,
}

impl<'a> Mark<'a> {
    /// Creates the marker, durably.
    fn make(folder: &'a Folder, from: u64) -> Result<Self, Error> {
        let path = folder.path.join(name(from, TRUNCATE));
        let file = File::create(&path).map_err(|error| {
            if os::is_full(&error) {
                Error::Full { folder: folder.path.clone(), bytes: 4096, source: Arc::new(error) }
            } else {
                Error::io("make", &path)(error)
            }
        })?;
        file.sync_all().map_err(Error::io("sync", &path))?;
        folder.sync()?;
        Ok(Self { folder, path })
    }

    /// A marker that was found.
    pub fn found(folder: &'a Folder, path: &Path) -> Self {
        Self { folder, path: path.to_owned() }
    }

    /// Removes the marker, durably: the truncation is complete.
    pub fn remove(self) -> Result<(), Error> {
        fs::remove_file(&self.path).map_err(Error::io("remove", &self.path))?;
        self.folder.sync()
    }
}
