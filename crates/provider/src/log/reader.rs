//! Reads entries in order while others are appended.

use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::record::{self, HEAD_BYTES, Head};
use super::segment::{RECORDS_START, Segment};
use super::segments::{Bookmark, Segments};
use super::{Error, Index};

/// Bytes per read.
const WINDOW_BYTES: usize = 256 << 10;

/// Iterates over the entries of a log. `None`: nothing more is written yet; ask again later.
///
/// After an error it returns nothing more. When the log is truncated ([`DiskLog::truncate`](super::DiskLog::truncate)),
/// a reader before that index continues; a reader beyond it, or one that misses two truncations in a row, returns
/// [`Error::Dropped`].
#[derive(Debug)]
pub struct Reader<'a> {
    segments: &'a Segments,
    cursor: Option<ReadCursor>,
    /// The next entry to return.
    next: u64,
    /// Number of truncations at the start.
    truncations: u64,
    /// Where the reader started in a file.
    start_bookmark: Option<Bookmark>,
    failed: bool,
}

/// A position in a segment, and the bytes read from there.
#[derive(Debug)]
pub(super) struct ReadCursor {
    segment: Arc<Segment>,
    /// The entry at this position.
    index: u64,
    at: u64,
    /// Bytes of the file from `window_at` on.
    window: Vec<u8>,
    window_at: u64,
    /// The last written entry when the window was read.
    window_written: u64,
}

impl<'a> Reader<'a> {
    pub(super) fn new(segments: &'a Segments, from: Index) -> Self {
        Self {
            segments,
            cursor: None,
            next: from.0,
            truncations: segments.truncations(),
            start_bookmark: None,
            failed: false,
        }
    }

    /// Reads the entry, again if a truncation came in between: the bytes may be gone, or another entry's.
    fn entry(&mut self) -> Result<Option<Vec<u8>>, Error> {
        loop {
            let entry = self.read_entry();
            if self.segments.truncations() == self.truncations {
                return entry;
            }
            let truncations = self.segments.truncations_after(self.truncations, self.next);
            self.truncations = truncations.ok_or(Error::Dropped { index: Index(self.next) })?;
            self.cursor = None;
        }
    }

    fn read_entry(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let written = self.segments.written();
        if self.next > written {
            return Ok(None);
        }
        let segment = self.segments.holding(self.next);
        let mut cursor = match self.cursor.take() {
            Some(cursor) if segment.as_ref().is_some_and(|segment| Arc::ptr_eq(segment, &cursor.segment)) => cursor,
            _ => {
                let (first, last) = (Index(self.segments.first()), Index(written));
                let segment = segment.ok_or(Error::Absent { index: Index(self.next), first, last })?;
                self.start_bookmark = self.segments.bookmark(segment.header.salt, self.next);
                ReadCursor::at(segment, self.start_bookmark)
            }
        };
        while cursor.index < self.next {
            cursor.entry(written)?;
        }
        let payload = cursor.entry(written)?;
        self.cursor = Some(cursor);
        Ok(Some(payload))
    }
}

impl Reader<'_> {
    /// The current position.
    pub(super) fn bookmark(&self) -> Option<Bookmark> {
        let cursor = self.cursor.as_ref()?;
        Some(Bookmark { salt: cursor.segment.header.salt, index: cursor.index, at: cursor.at })
    }

    /// Saves the position for a later reader that starts there.
    pub(super) fn save_bookmark(self, end: Option<Bookmark>) {
        if let Some(end) = end {
            self.segments.remember(end, self.start_bookmark, self.truncations);
        }
    }
}

impl Iterator for Reader<'_> {
    type Item = Result<(Index, Vec<u8>), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        match self.entry().transpose()? {
            Ok(payload) => {
                let index = Index(self.next);
                self.next += 1;
                Some(Ok((index, payload)))
            }
            Err(error) => {
                self.failed = true;
                Some(Err(error))
            }
        }
    }
}

impl ReadCursor {
    /// At the bookmark, or at the start of the segment.
    fn at(segment: Arc<Segment>, bookmark: Option<Bookmark>) -> Self {
        let (index, at) =
            bookmark.map_or((segment.header.first, RECORDS_START), |bookmark| (bookmark.index, bookmark.at));
        Self { segment, index, at, window: Vec::new(), window_at: at, window_written: 0 }
    }

    /// The offset of an entry in the segment, or of the next one after its last.
    ///
    /// # Errors
    /// [`Error::Damaged`]: an earlier entry is missing.
    pub(super) fn offset_of(segment: Arc<Segment>, index: u64) -> Result<u64, Error> {
        let mut cursor = Self::at(segment, None);
        while cursor.index < index {
            cursor.entry(index - 1)?;
        }
        Ok(cursor.at)
    }

    /// Reads the entry at this position and moves on.
    fn entry(&mut self, written: u64) -> Result<Vec<u8>, Error> {
        if self.index > self.window_written {
            self.window.clear();
            self.window_at = self.at;
            self.window_written = written;
        }
        let head = self.bytes(HEAD_BYTES as u64)?.first_chunk().map(Head::read);
        let head = head.ok_or_else(|| self.damaged("the file ends here"))?;
        let left_bytes = self.segment.header.bytes.saturating_sub(self.at);
        let framed = head.framed_bytes().min(left_bytes);
        let (salt, index) = (self.segment.header.salt, self.index);
        let record = record::parse(self.bytes(framed)?, salt, index);
        let (payload, framed) = match record {
            Ok(record) => (record.payload.to_vec(), record.framed_bytes as u64),
            Err(bad) => return Err(self.damaged(bad.what())),
        };
        self.at += framed;
        self.index += 1;
        Ok(payload)
    }

    /// Up to `wanted` bytes from here; fewer only at the end of the file.
    fn bytes(&mut self, wanted: u64) -> Result<&[u8], Error> {
        let wanted = usize::try_from(wanted).expect("a record is at most 2 GiB");
        let mut from =
            usize::try_from(self.at - self.window_at).expect("the position is in the window or right after it");
        if self.window.len() < from + wanted {
            self.window.clear();
            let left_bytes = usize::try_from(self.segment.header.bytes.saturating_sub(self.at)).unwrap_or(usize::MAX);
            self.window.resize(wanted.max(WINDOW_BYTES.min(left_bytes)), 0);
            let mut read = 0;
            while read < self.window.len() {
                let target = &mut self.window[read..];
                match self.segment.file.read_at(target, self.at + read as u64) {
                    Ok(0) => break,
                    Ok(bytes) => read += bytes,
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(Error::io("read", &self.segment.path)(error)),
                }
            }
            self.window.truncate(read);
            self.window_at = self.at;
            from = 0;
        }
        let to = self.window.len().min(from + wanted);
        Ok(&self.window[from..to])
    }

    fn damaged(&self, what: &str) -> Error {
        Error::Damaged {
            file: self.segment.path.clone(),
            byte: self.at,
            index: Index(self.index),
            what: what.to_owned(),
        }
    }
}
