//! Resets a log to a snapshot: the node has received the state of another node, and its old log is void.
//!
//! The new first segment gets the name `hortator-<first>.reset.log` when it is complete. From then on the old segments
//! are void: they are removed, and the new one gets its final name. Opening completes this after a crash.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::recovery::{self, Listing, Lock, Opened, Recovered};
use super::segment::{Folder, RESET, SEGMENT, Segment, index_of_name, name};
use super::{DiskLog, Error, Index, Settings};

impl DiskLog {
    /// Removes the log in `folder`, if there is one, damaged or not, and creates a new one that begins right after
    /// `snapshot_index`. After a crash in between, the folder holds the old log, complete, or the new one.
    ///
    /// # Errors
    /// The log is open, in another process or in this one.
    ///
    /// # Panics
    /// If `snapshot_index` is not below 2^63 - 1.
    pub fn install_snapshot(
        folder: &Path,
        settings: Settings,
        history_uuid: [u8; 16],
        snapshot_index: Index,
    ) -> Result<Self, Error> {
        assert!(snapshot_index.0 < i64::MAX as u64, "an index is below 2^63");
        let settings = settings.rounded();
        let lock = Lock::take(folder)?;
        let folder = Arc::new(Folder::open(folder)?);
        finish(&folder)?;
        let listing = Listing::of(&folder.path)?;
        let segment_pool = recovery::segment_pool(&folder, listing.spares, &settings)?;
        let spare = segment_pool.take(settings.segment_bytes)?;
        let spare_path = spare.path.clone();
        let first = snapshot_index.next();
        let mut segment = Segment::from_spare(spare, history_uuid, first.0, 0);
        segment.path = folder.path.join(name(first.0, RESET));
        segment.begin(&spare_path, &folder, 0)?;
        segment.path = finish(&folder)?.unwrap_or(segment.path);
        let opened = Opened { first, last: snapshot_index, torn_tail: None };
        let segments = [Arc::new(segment)].into();
        let end = super::segment::RECORDS_START;
        Self::from_recovered(Recovered { lock, folder, segment_pool, segments, end, opened }, settings, history_uuid)
    }
}

/// The segment that replaces the whole log, if there is one, and its first entry.
pub(super) fn found(folder: &Path) -> Result<Option<(u64, PathBuf)>, Error> {
    for entry in fs::read_dir(folder).map_err(Error::io("list", folder))? {
        let file = entry.map_err(Error::io("list", folder))?.path();
        if let Some(first) = index_of_name(&file, RESET) {
            return Ok(Some((first, file)));
        }
    }
    Ok(None)
}

/// Completes the reset, and returns the segment's final path.
pub(super) fn finish(folder: &Folder) -> Result<Option<PathBuf>, Error> {
    let Some((first, reset)) = found(&folder.path)? else { return Ok(None) };
    let listing = Listing::of(&folder.path)?;
    let old = listing.logs.into_iter().rev().chain(listing.truncations.into_iter().map(|(_, path)| path));
    for file in old {
        fs::remove_file(&file).map_err(Error::io("remove", &file))?;
    }
    folder.sync()?;
    let file = reset.with_file_name(name(first, SEGMENT));
    fs::rename(&reset, &file).map_err(Error::io("rename", &reset))?;
    folder.sync()?;
    Ok(Some(file))
}
