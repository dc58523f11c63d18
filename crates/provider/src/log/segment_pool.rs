//! The pool of spare segment files: a thread creates them before they are needed.
//!
//! The blocks of a spare are allocated and written, so a full disk shows here and not during a flush, and fdatasync
//! need not write metadata. Purged segments become spares again.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::segment::{FILE_PREFIX, Folder, Segment};
use super::{Error, os};

/// The ending of a spare's name.
const SPARE: &str = ".spare.log";
/// Limit of spares; more are removed.
pub(super) const SPARES_LIMIT: usize = 2;
/// Zeros are written in chunks of this size.
const FILL_BYTES: usize = 1 << 20;

/// A spare file; its content has no meaning.
#[derive(Debug)]
pub(super) struct SpareSegment {
    pub path: PathBuf,
    pub file: File,
    pub bytes: u64,
}

impl SpareSegment {
    /// Creates a spare. `fill` writes all blocks once, which makes later fdatasyncs cheaper.
    fn create(folder: &Path, number: u64, bytes: u64, fill: bool) -> Result<Self, Error> {
        let path = folder.join(format!("{FILE_PREFIX}{number}{SPARE}"));
        let made = Self::allocated(&path, bytes, fill);
        made.map(|file| Self { path: path.clone(), file, bytes }).map_err(|error| {
            // A partial file would only use the missing space; else the next open removes it.
            let _ = fs::remove_file(&path);
            if os::is_full(&error) {
                Error::Full { folder: folder.to_owned(), bytes, source: Arc::new(error) }
            } else {
                Error::io("make", &path)(error)
            }
        })
    }

    fn allocated(path: &Path, bytes: u64, fill: bool) -> io::Result<File> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
        os::allocate(&file, bytes)?;
        if fill || file.metadata()?.len() < bytes {
            let zeros = vec![0; FILL_BYTES];
            let mut at = 0;
            while at < bytes {
                let length = zeros.len().min(usize::try_from(bytes - at).unwrap_or(usize::MAX));
                file.write_all_at(&zeros[..length], at)?;
                at += length as u64;
            }
        }
        file.sync_all()?;
        Ok(file)
    }

    /// Takes over a spare of an earlier run, if its length fits.
    pub fn adopt(path: &Path, bytes: u64) -> Option<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path).ok()?;
        let fits = file.metadata().ok()?.len() == bytes;
        fits.then(|| Self { path: path.to_owned(), file, bytes })
    }

    /// The number in the name of a spare.
    pub fn number(path: &Path) -> Option<u64> {
        path.file_name()?.to_str()?.strip_prefix(FILE_PREFIX)?.strip_suffix(SPARE)?.parse().ok()
    }
}

/// The spares, and the thread that creates them.
#[derive(Debug)]
pub(super) struct SegmentPool {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    folder: Arc<Folder>,
    segment_bytes: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    spares: Vec<SpareSegment>,
    /// Why the last spare could not be created. No other one is tried until it is cleared.
    failure: Option<Error>,
    retired: Vec<Arc<Segment>>,
    /// A segment could not be removed. Later ones stay too: the next open would find a gap.
    is_removal_blocked: bool,
    next_number: u64,
    is_stopping: bool,
}

impl SegmentPool {
    pub fn start(
        folder: Arc<Folder>,
        segment_bytes: u64,
        spares: Vec<SpareSegment>,
        next_number: u64,
    ) -> Result<Self, Error> {
        let state = Mutex::new(State { spares, next_number, ..State::default() });
        let shared = Arc::new(Shared { folder, segment_bytes, state, changed: Condvar::new() });
        let worker = Arc::clone(&shared);
        let thread = os::spawn_without_signals("hortator-log", move || worker.run())
            .map_err(Error::io("start a thread for", &shared.folder.path))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Takes a file with room for `bytes`. Waits if none is ready; after a failure it tries once more.
    pub fn take(&self, bytes: u64) -> Result<SpareSegment, Error> {
        let mut state = self.shared.lock();
        if bytes > self.shared.segment_bytes {
            let number = state.number();
            drop(state);
            // The file is written once from start to end, so filling it first only costs.
            return SpareSegment::create(&self.shared.folder.path, number, bytes, false);
        }
        let mut tried = false;
        loop {
            if let Some(spare) = state.spares.pop() {
                self.shared.changed.notify_all();
                return Ok(spare);
            }
            match &state.failure {
                Some(error) if tried => return Err(error.clone()),
                Some(_) => {
                    state.failure = None;
                    self.shared.changed.notify_all();
                }
                None => {}
            }
            tried = true;
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes back an unused spare.
    pub fn give_back(&self, spare: SpareSegment) {
        if spare.bytes == self.shared.segment_bytes {
            self.shared.lock().spares.push(spare);
        } else {
            // Else the next open removes it.
            let _ = fs::remove_file(&spare.path);
        }
    }

    /// Removes purged segments, oldest first.
    pub fn retire(&self, segments: Vec<Arc<Segment>>) {
        self.shared.lock().retired.extend(segments);
        self.shared.changed.notify_all();
    }
}

impl Drop for SegmentPool {
    fn drop(&mut self) {
        self.shared.lock().is_stopping = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic was printed on standard error; nothing needs to be undone.
            let _ = thread.join();
        }
    }
}

impl State {
    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut state = self.lock();
        loop {
            if state.is_removal_blocked {
                state.retired.clear();
            }
            if !state.retired.is_empty() {
                let segment = state.retired.remove(0);
                let keep = (state.spares.len() < SPARES_LIMIT).then(|| state.number());
                drop(state);
                let spare = self.retire(segment, keep);
                state = self.lock();
                match spare {
                    Ok(spare) => state.spares.extend(spare),
                    Err(_) => state.is_removal_blocked = true,
                }
                // There is more room now than at the failure.
                state.failure = None;
                self.changed.notify_all();
            } else if state.is_stopping {
                return;
            } else if state.spares.is_empty() && state.failure.is_none() {
                let number = state.number();
                drop(state);
                let made = SpareSegment::create(&self.folder.path, number, self.segment_bytes, true);
                state = self.lock();
                match made {
                    Ok(spare) => state.spares.push(spare),
                    Err(error) => state.failure = Some(error),
                }
                self.changed.notify_all();
            } else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Removes the segment's name, durably: only then may its blocks be reused.
    fn retire(&self, segment: Arc<Segment>, keep: Option<u64>) -> Result<Option<SpareSegment>, Error> {
        let path = segment.path.clone();
        // A reader that still has the file open would see the new content.
        let unshared = Arc::into_inner(segment).filter(|segment| segment.header.bytes == self.segment_bytes);
        let spare = match (unshared, keep) {
            (Some(segment), Some(number)) => {
                let spare_path = self.folder.path.join(format!("{FILE_PREFIX}{number}{SPARE}"));
                fs::rename(&path, &spare_path).map_err(Error::io("rename", &path))?;
                Some(SpareSegment { path: spare_path, file: segment.file, bytes: self.segment_bytes })
            }
            _ => {
                fs::remove_file(&path).map_err(Error::io("remove", &path))?;
                None
            }
        };
        self.folder.sync()?;
        Ok(spare)
    }
}
