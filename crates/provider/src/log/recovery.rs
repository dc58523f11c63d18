//! Opening the log: checks all files and finds the end.
//!
//! Reads and checks everything. The log ends at the first bad record; if a later durable mark says that the record was
//! on disk, it was not torn by a crash, and the log is refused.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::record::{self, BadRecord};
use super::segment::{FILE_PREFIX, Folder, Header, RECORDS_START, SEGMENT, Segment, first_of_name, index_of_name};
use super::segment_pool::{SPARES_LIMIT, SegmentPool, SpareSegment};
use super::truncate::{self, Mark, TRUNCATE};
use super::{Error, Index, Settings, reset};

/// The state of a log after opening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// The first entry.
    pub first: Index,
    /// The last entry; the one before `first` if the log is empty.
    pub last: Index,
    /// A torn tail that was truncated. [`super::DiskLog::lost_tail`] tells whether something of it was confirmed.
    pub torn_tail: Option<TornTail>,
}

/// A torn tail that was truncated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TornTail {
    /// The segment that now ends there.
    pub file: PathBuf,
    /// The byte in the file.
    pub byte: u64,
    /// The torn entry.
    pub index: Index,
    /// Length of the rest in all files, used or not.
    pub bytes: u64,
}

impl std::fmt::Display for TornTail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { file, byte, index, .. } = self;
        write!(f, "{}: truncated at byte {byte}, where entry {index} was torn", file.display())
    }
}

/// The parts of an open log.
pub(super) struct Recovered {
    pub lock: Lock,
    pub folder: Arc<Folder>,
    pub segment_pool: SegmentPool,
    pub segments: VecDeque<Arc<Segment>>,
    /// Where the next record goes in the last segment.
    pub end: u64,
    pub opened: Opened,
}

pub(super) fn recover(path: &Path, settings: &Settings, history_uuid: [u8; 16]) -> Result<Recovered, Error> {
    let lock = Lock::take(path)?;
    let folder = Arc::new(Folder::open(path)?);
    reset::finish(&folder)?;
    let Listing { logs, spares, truncations } = Listing::of(path)?;
    let mut segments = VecDeque::new();
    for file in logs {
        segments.push_back(Arc::new(open(file, history_uuid)?));
    }
    let (mut last, mut end, mut torn_tail) = (0, RECORDS_START, None);
    if let Some((from, _)) = truncations.first() {
        truncate::finish(&mut segments, *from, &folder)?;
    }
    if !segments.is_empty() {
        (last, end, torn_tail) = check(&mut segments, &folder)?;
        for segment in &segments {
            segment.sync()?;
        }
    }
    for (_, mark) in truncations {
        Mark::found(&folder, &mark).remove()?;
    }
    // Not before: the folder of a refused log stays unchanged.
    let segment_pool = segment_pool(&folder, spares, settings)?;
    if segments.is_empty() {
        let spare = segment_pool.take(settings.segment_bytes)?;
        let spare_path = spare.path.clone();
        let segment = Segment::from_spare(spare, history_uuid, 1, 0);
        segment.begin(&spare_path, &folder, 0)?;
        segments.push_back(Arc::new(segment));
    }
    let first = Index(segments.front().map_or(1, |segment| segment.header.first));
    Ok(Recovered { lock, folder, segment_pool, segments, end, opened: Opened { first, last: Index(last), torn_tail } })
}

/// Takes over the spares of an earlier run, as far as they fit.
pub(super) fn segment_pool(
    folder: &Arc<Folder>,
    spares: Vec<(u64, PathBuf)>,
    settings: &Settings,
) -> Result<SegmentPool, Error> {
    let next_number = spares.iter().map(|(number, _)| *number).max().unwrap_or(0);
    let mut kept = Vec::new();
    for (_, file) in spares {
        match SpareSegment::adopt(&file, settings.segment_bytes).filter(|_| kept.len() < SPARES_LIMIT) {
            Some(spare) => kept.push(spare),
            None => fs::remove_file(&file).map_err(Error::io("remove", &file))?,
        }
    }
    SegmentPool::start(Arc::clone(folder), settings.segment_bytes, kept, next_number)
}

pub(super) fn read_history_uuid(path: &Path) -> Result<Option<[u8; 16]>, Error> {
    if !path.exists() {
        return Ok(None);
    }
    let newest = reset::found(path)?.map_or_else(|| Ok(Listing::of(path)?.logs.pop()), |(_, reset)| Ok(Some(reset)))?;
    let Some(newest) = newest else { return Ok(None) };
    let file = File::open(&newest).map_err(Error::io("open", &newest))?;
    Header::read(&file, &newest).map(|header| Some(header.history_uuid))
}

/// The folder's lock. Unlocked explicitly: a child process that another thread is forking also holds the descriptor for
/// a moment.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Lock {
    pub fn take(path: &Path) -> Result<Self, Error> {
        if !path.exists() {
            fs::create_dir_all(path).map_err(Error::io("make", path))?;
            if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                Folder::open(parent)?.sync()?;
            }
        }
        let name = path.join(format!("{FILE_PREFIX}lock{SEGMENT}"));
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(&name);
        let file = file.map_err(Error::io("open", &name))?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(Error::Locked { folder: path.to_owned() }),
            Err(TryLockError::Error(error)) => Err(Error::io("lock", &name)(error)),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The end of the process unlocks it otherwise.
        let _ = self.0.unlock();
    }
}

/// The log's files, in order. Other files are ignored.
pub(super) struct Listing {
    pub logs: Vec<PathBuf>,
    pub spares: Vec<(u64, PathBuf)>,
    /// Incomplete truncations and their first index; normally at most one.
    pub truncations: Vec<(u64, PathBuf)>,
}

impl Listing {
    pub fn of(path: &Path) -> Result<Self, Error> {
        let mut listing = Self { logs: Vec::new(), spares: Vec::new(), truncations: Vec::new() };
        for entry in fs::read_dir(path).map_err(Error::io("list", path))? {
            let file = entry.map_err(Error::io("list", path))?.path();
            if first_of_name(&file).is_some() {
                listing.logs.push(file);
            } else if let Some(number) = SpareSegment::number(&file) {
                listing.spares.push((number, file));
            } else if let Some(from) = index_of_name(&file, TRUNCATE) {
                listing.truncations.push((from, file));
            }
        }
        listing.logs.sort();
        listing.spares.sort();
        listing.truncations.sort();
        Ok(listing)
    }
}

fn open(path: PathBuf, history_uuid: [u8; 16]) -> Result<Segment, Error> {
    let file = OpenOptions::new().read(true).write(true).open(&path).map_err(Error::io("open", &path))?;
    let header = Header::read(&file, &path)?;
    if header.history_uuid != history_uuid {
        return Err(Error::OtherHistory { file: path, found: header.history_uuid, expected: history_uuid });
    }
    Ok(Segment { header, file, path })
}

/// Checks all records and truncates a torn tail. Returns the last entry, the offset after it, and the torn tail.
fn check(segments: &mut VecDeque<Arc<Segment>>, folder: &Folder) -> Result<(u64, u64, Option<TornTail>), Error> {
    let mut at = 0;
    let mut durable = 0;
    let (bytes, scan) = loop {
        let segment = &segments[at];
        let bytes = segment.content()?;
        let scan = scan(&bytes, &segment.header);
        durable = durable.max(segment.header.durable).max(scan.durable);
        let Some(next) = segments.get(at + 1) else { break (bytes, scan) };
        if next.header.previous != segment.header.first {
            let what = format!("the previous segment, which begins with entry {}, is missing", next.header.previous);
            return Err(next.damaged(32, next.header.first, what));
        }
        if next.header.first <= scan.last {
            let what = format!("the previous segment ends only at entry {}", scan.last);
            return Err(next.damaged(32, next.header.first, what));
        }
        if next.header.first > scan.last + 1 {
            break (bytes, scan);
        }
        at += 1;
    };
    let torn = Arc::clone(&segments[at]);
    let index = scan.last + 1;
    let mut proof = scan.later_durable;
    for later in segments.range(at + 1..) {
        let scan = self::scan(&later.content()?, &later.header);
        proof = proof.max(later.header.durable).max(scan.durable).max(scan.later_durable);
    }
    if proof >= index {
        let what = format!("{}, but a later record proves that entries up to {proof} were on disk", scan.bad.what());
        return Err(torn.damaged(scan.end as u64, index, what));
    }

    let rest_bytes = (bytes.len() - scan.end) as u64;
    let mut torn_tail = (scan.bad != BadRecord::End || scan.later || at + 1 < segments.len()).then(|| TornTail {
        file: torn.path.clone(),
        byte: scan.end as u64,
        index: Index(index),
        bytes: rest_bytes,
    });
    // Newest first: after a crash in between, the rest is again a log with a torn tail.
    while segments.len() > at + 1 {
        let Some(segment) = segments.pop_back() else { break };
        fs::remove_file(&segment.path).map_err(Error::io("remove", &segment.path))?;
        folder.sync()?;
        if let Some(torn_tail) = &mut torn_tail {
            torn_tail.bytes += segment.header.bytes;
        }
    }
    rewrite_undurable(&torn, bytes, &scan, durable)?;
    Ok((scan.last, scan.end as u64, torn_tail))
}

/// Writes again what no durable mark covers, since a failed sync of an earlier process may have left pages that are
/// only in memory; and zeros after the end.
fn rewrite_undurable(segment: &Segment, mut bytes: Vec<u8>, scan: &Scan, durable: u64) -> Result<(), Error> {
    let mut from = usize::try_from(RECORDS_START).expect("a page");
    for index in segment.header.first..=durable.min(scan.last) {
        let Ok(record) = record::parse(&bytes[from..], segment.header.salt, index) else { break };
        from += record.framed_bytes;
    }
    let rest = &mut bytes[scan.end..];
    if leading_zeros(rest) < rest.len() {
        rest.fill(0);
    } else {
        bytes.truncate(scan.end);
    }
    if from < bytes.len() {
        segment.write(&bytes[from..], from as u64)?;
    }
    Ok(())
}

/// The content of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scan {
    /// The last of the consecutive records from the start.
    pub last: u64,
    /// Where they end, and why.
    pub end: usize,
    pub bad: BadRecord,
    /// Their highest durable mark.
    pub durable: u64,
    /// Whether there are whole records after the end, and their highest durable mark.
    pub later: bool,
    pub later_durable: u64,
}

/// Scans the unchecked bytes of a segment.
pub(super) fn scan(bytes: &[u8], header: &Header) -> Scan {
    let start = usize::try_from(RECORDS_START).expect("a page").min(bytes.len());
    let last = header.first.wrapping_sub(1);
    let mut scan = Scan { last, end: start, bad: BadRecord::End, durable: 0, later: false, later_durable: 0 };
    loop {
        match record::parse(&bytes[scan.end..], header.salt, scan.last.wrapping_add(1)) {
            Ok(record) => {
                scan.last = scan.last.wrapping_add(1);
                scan.end += record.framed_bytes;
                scan.durable = scan.durable.max(record.durable);
            }
            Err(bad) => {
                scan.bad = bad;
                break;
            }
        }
    }
    let rest = &bytes[scan.end..];
    let possible = (rest.len() / record::HEAD_BYTES) as u64;
    let mut at = 0;
    while let Some(head) = rest.get(at..).and_then(|bytes| bytes.first_chunk()).map(record::Head::read) {
        let zeros = leading_zeros(&rest[at..]);
        if zeros >= record::END_BYTES {
            // No record begins with so many: to the first place that is followed by fewer.
            at += (zeros - record::END_BYTES) / 8 * 8 + 8;
            continue;
        }
        let index = head.index(header.salt);
        if index.wrapping_sub(scan.last).wrapping_sub(2) < possible
            && record::parse(&rest[at..], header.salt, index).is_ok()
        {
            scan.later = true;
            scan.later_durable = scan.later_durable.max(head.durable);
        }
        at += 8;
    }
    scan
}

/// The number of zeros at the beginning. A segment is mostly zeros, so they are compared by the block.
fn leading_zeros(bytes: &[u8]) -> usize {
    const ZEROS: [u8; 4096] = [0; 4096];
    let blocks = bytes.chunks_exact(ZEROS.len()).take_while(|block| *block == ZEROS).count() * ZEROS.len();
    blocks + bytes[blocks..].iter().take_while(|byte| **byte == 0).count()
}

impl Segment {
    fn content(&self) -> Result<Vec<u8>, Error> {
        let length = usize::try_from(self.header.bytes).expect("a segment fits into memory");
        let mut bytes = vec![0; length];
        std::os::unix::fs::FileExt::read_exact_at(&self.file, &mut bytes, 0).map_err(Error::io("read", &self.path))?;
        Ok(bytes)
    }

    fn damaged(&self, byte: u64, index: u64, what: String) -> Error {
        Error::Damaged { file: self.path.clone(), byte, index: Index(index), what }
    }
}
