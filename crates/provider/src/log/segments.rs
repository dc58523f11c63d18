//! The segments on disk, oldest first, with the last written entry and the number of truncations.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::segment::Segment;

/// Limit of bookmarks: one for each follower that reads on where it stopped.
const BOOKMARKS_LIMIT: usize = 16;

/// Shared with the readers.
#[derive(Debug)]
pub(super) struct Segments {
    list: RwLock<VecDeque<Arc<Segment>>>,
    written: AtomicU64,
    /// Number of truncations. Counted after `written` is lowered.
    truncations: AtomicU64,
    /// Start of the latest truncation; locked while `truncations` changes.
    latest_truncated_from: Mutex<u64>,
    bookmarks: Mutex<VecDeque<Bookmark>>,
}

/// The position of an entry in a file. Identifies the file by its salt, so that it stays closed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bookmark {
    pub salt: u64,
    pub index: u64,
    pub at: u64,
}

impl Segments {
    pub fn new(list: VecDeque<Arc<Segment>>, written: u64) -> Self {
        Self {
            list: RwLock::new(list),
            written: AtomicU64::new(written),
            truncations: AtomicU64::new(0),
            latest_truncated_from: Mutex::new(0),
            bookmarks: Mutex::default(),
        }
    }

    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Acquire)
    }

    pub fn set_written(&self, written: u64) {
        self.written.store(written, Ordering::Release);
    }

    /// The segment of a written entry, if it is not purged.
    pub fn holding(&self, index: u64) -> Option<Arc<Segment>> {
        let list = self.list();
        let count = list.partition_point(|segment| segment.header.first <= index);
        count.checked_sub(1).and_then(|at| list.get(at)).cloned()
    }

    pub fn first(&self) -> u64 {
        self.list().front().map_or(1, |segment| segment.header.first)
    }

    pub fn list(&self) -> RwLockReadGuard<'_, VecDeque<Arc<Segment>>> {
        self.list.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn list_mut(&self) -> RwLockWriteGuard<'_, VecDeque<Arc<Segment>>> {
        self.list.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn push(&self, segment: Arc<Segment>) {
        self.list_mut().push_back(segment);
    }

    pub fn truncations(&self) -> u64 {
        self.truncations.load(Ordering::Acquire)
    }

    /// No reader returns entries from `from` on any more. Call it before the files change.
    pub fn begin_truncation(&self, from: u64) {
        self.set_written(from - 1);
        let mut latest = self.latest_truncated_from.lock().unwrap_or_else(PoisonError::into_inner);
        *latest = from;
        self.truncations.fetch_add(1, Ordering::AcqRel);
        self.bookmarks().retain(|bookmark| bookmark.index <= from);
    }

    /// The current number of truncations, if the entries before `index` are the same as at number `seen`.
    pub fn truncations_after(&self, seen: u64, index: u64) -> Option<u64> {
        let latest = self.latest_truncated_from.lock().unwrap_or_else(PoisonError::into_inner);
        let truncations = self.truncations();
        (truncations == seen || (truncations == seen + 1 && index <= *latest)).then_some(truncations)
    }

    /// The nearest bookmark before an entry in its file.
    pub fn bookmark(&self, salt: u64, index: u64) -> Option<Bookmark> {
        let fits = |bookmark: &&Bookmark| bookmark.salt == salt && bookmark.index <= index;
        self.bookmarks().iter().filter(fits).max_by_key(|bookmark| bookmark.index).copied()
    }

    /// Saves the bookmark `reached`, valid at number `truncations`, in place of `left`.
    pub fn remember(&self, reached: Bookmark, left: Option<Bookmark>, truncations: u64) {
        let mut bookmarks = self.bookmarks();
        if self.truncations() != truncations {
            return;
        }
        let same = |a: &Bookmark, b: &Bookmark| (a.salt, a.index) == (b.salt, b.index);
        bookmarks.retain(|one| !same(one, &reached) && !left.is_some_and(|left| same(one, &left)));
        if bookmarks.len() == BOOKMARKS_LIMIT {
            bookmarks.pop_front();
        }
        bookmarks.push_back(reached);
    }

    fn bookmarks(&self) -> MutexGuard<'_, VecDeque<Bookmark>> {
        self.bookmarks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
