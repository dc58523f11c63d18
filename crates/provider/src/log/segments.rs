//! The segments on disk, the oldest first: how far they are written, and how often their end was taken away.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::segment::Segment;

/// Places that are remembered, for those who read on where they ended: one for each follower that is behind.
const BOOKMARKS_LIMIT: usize = 16;

/// Shared with readers.
#[derive(Debug)]
pub(super) struct Segments {
    list: RwLock<VecDeque<Arc<Segment>>>,
    written: AtomicU64,
    /// How many times the end was cut off. Never before `written` says so.
    truncations: AtomicU64,
    /// Where the latest of these began; locked while `truncations` is counted up.
    latest_truncated_from: Mutex<u64>,
    bookmarks: Mutex<VecDeque<Bookmark>>,
}

/// Where in a file an entry stands. Names the file by its salt, so that it keeps none open.
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

    /// The segment that holds an entry, if it has not been purged. The entry is written.
    pub fn holding(&self, index: u64) -> Option<Arc<Segment>> {
        let list = self.list();
        let behind = list.partition_point(|segment| segment.header.first <= index);
        behind.checked_sub(1).and_then(|at| list.get(at)).cloned()
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

    /// From here on nobody is given what stands at `from` or behind: to be called before the files change.
    pub fn begin_truncation(&self, from: u64) {
        self.set_written(from - 1);
        let mut latest = self.latest_truncated_from.lock().unwrap_or_else(PoisonError::into_inner);
        *latest = from;
        self.truncations.fetch_add(1, Ordering::AcqRel);
        self.bookmarks().retain(|bookmark| bookmark.index <= from);
    }

    /// What the count of cuts is now, if what stands before `index` is still what it was when there were `seen`.
    pub fn truncations_after(&self, seen: u64, index: u64) -> Option<u64> {
        let latest = self.latest_truncated_from.lock().unwrap_or_else(PoisonError::into_inner);
        let truncations = self.truncations();
        (truncations == seen || (truncations == seen + 1 && index <= *latest)).then_some(truncations)
    }

    /// The nearest place before an entry that is remembered in its file.
    pub fn bookmark(&self, salt: u64, index: u64) -> Option<Bookmark> {
        let fits = |bookmark: &&Bookmark| bookmark.salt == salt && bookmark.index <= index;
        self.bookmarks().iter().filter(fits).max_by_key(|bookmark| bookmark.index).copied()
    }

    /// Remembers a place that was reached when there were so many `truncations`, in place of one that was left for it.
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
