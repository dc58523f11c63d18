//! Taking the log's end away: what a new leader's log does not have was never agreed on.
//!
//! What is taken away may hold durable marks that would make what is left of it, after a crash half way, look like damage. So
//! a file whose name says from where on comes first, `hortator-<from>.cut.log`. While it is there, opening does the rest. It is
//! gone from the disk before anything new is appended.

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

/// How the name of a cut that is under way ends.
pub(super) const TRUNCATE: &str = ".truncate.log";
/// Zeros are written in pieces of this size.
const ZEROS_BYTES: usize = 1 << 20;

impl DiskLog {
    /// Drops all entries from `from` on; the next append gets that place. Does nothing if `from` is right behind the end.
    ///
    /// When it returns they are gone from the disk too, whatever [`Settings::sync`](super::Settings) says; after a crash in
    /// between, the log either has all of them or ends right before `from`. Nobody may append meanwhile. Other threads
    /// may commit and read: a commit of what is dropped gives [`Error::Dropped`], and so does a reader that has gone past
    /// `from`.
    ///
    /// # Errors
    /// [`Error::Absent`], if `from` is before the first entry or beyond the place behind the last, and [`Error::Full`] have
    /// changed nothing; after any other the log takes nothing any more.
    pub fn truncate(&self, from: Index) -> Result<(), Error> {
        let refused = RefCell::new(None);
        let is_done = Cell::new(false);
        // Everybody who waits is served by this round: what is dropped is done with, and the rest is written.
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

    /// In a round of its own, with everything written.
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

        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut list = self.segments.list_mut();
        let Some(at) = list.iter().position(|one| Arc::ptr_eq(one, &segment)) else {
            // Purged in this moment. It cannot be: what is purged was agreed on.
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

/// Which segment stays as the last: the one with the entry before `from`, or the first of all, as a log has one always.
fn last_kept(segments: &VecDeque<Arc<Segment>>, from: u64) -> usize {
    segments.partition_point(|segment| segment.header.first < from).saturating_sub(1)
}

/// Does what a crash has left undone of a cut. The mark stays: the caller looks at what is left first.
///
/// Where not all entries before `from` are there, nothing is done: that is a torn end, or damage, and the ordinary check
/// tells which, by what stands behind.
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

/// The newest first: whoever looks at the folder meanwhile sees a log without holes.
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

/// The file that says that a cut is under way.
#[derive(Debug)]
pub(super) struct Mark<'a> {
    folder: &'a Folder,
    path: PathBuf,
}

impl<'a> Mark<'a> {
    /// Puts it on disk.
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

    /// One that was found.
    pub fn found(folder: &'a Folder, path: &Path) -> Self {
        Self { folder, path: path.to_owned() }
    }

    /// Takes it off the disk: the cut is done.
    pub fn remove(self) -> Result<(), Error> {
        fs::remove_file(&self.path).map_err(Error::io("remove", &self.path))?;
        self.folder.sync()
    }
}
