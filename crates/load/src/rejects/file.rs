//! The file itself: opened, appended to, read again by a load that resumes.
//!
//! What is appended is on the disk before anybody counts it. Of an append that fails nothing stays, and a record that a crash
//! has cut off goes when the file is opened again.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::RejectError;
use super::entry::{FIRST_LINE, HEADER_LIMIT_BYTES, Header, NOTE_ONLY, STATEMENT, WITHDRAWN, read_header};
use super::session_script::Scripts;

/// One takes the other's place.
const _: () = assert!(STATEMENT.len() == WITHDRAWN.len() && NOTE_ONLY.len() == WITHDRAWN.len());

/// Only the user that loads may read the rows of a dump.
const FILE_MODE: u32 = 0o600;
/// How often it is tried to lock the file, and the pause between.
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(50);
/// The most of a script that is read again.
const SCRIPT_LIMIT_BYTES: u64 = 1 << 20;
/// The most that is blanked at a time.
const BLANK_BYTES: usize = 64 << 10;

/// Where a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    start: u64,
    header_bytes: u64,
    body_bytes: u64,
    pub(super) is_statement: bool,
}

impl Extent {
    /// Of a record that is appended at `start`.
    pub(super) fn new(start: u64, record: &[u8], is_statement: bool) -> Self {
        let header_bytes = record.iter().position(|byte| *byte == b'\n').map_or(record.len(), |end| end + 1);
        let (header_bytes, all) = (header_bytes as u64, record.len() as u64);
        Self { start, header_bytes, body_bytes: all - header_bytes, is_statement }
    }
}

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// The load that it is of; `None` of an empty file.
    pub(super) load_id: Option<u64>,
    /// Its statements, by number.
    pub(super) statements: BTreeMap<u64, Extent>,
    /// Of sessions.
    pub(super) scripts: Scripts,
    end: u64,
}

/// A file that is open.
#[derive(Debug)]
pub(super) struct RejectFile {
    file: File,
    path: PathBuf,
    is_regular: bool,
    pub(super) end: u64,
}

impl RejectFile {
    /// Opens the file; makes one if there is none. `is_resume`: it may hold what an earlier run of the load has rejected.
    pub(super) fn open(path: &Path, is_resume: bool) -> Result<(Self, Contents), RejectError> {
        let fail =
            |doing: &'static str| move |cause: io::Error| RejectError::Io { path: path.to_owned(), doing, cause };
        let not_regular = || RejectError::NotRegular { path: path.to_owned() };
        match fs::metadata(path) {
            // To open a FIFO would wait for its reader.
            Ok(found) if !found.is_file() && !found.file_type().is_char_device() => return Err(not_regular()),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(fail("open")(error)),
            _ => {}
        }
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(FILE_MODE).open(path);
        let file = file.map_err(fail("open"))?;
        let metadata = file.metadata().map_err(fail("open"))?;
        let is_regular = metadata.is_file();
        if is_regular {
            match lock(&file) {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(RejectError::InUse { path: path.to_owned() }),
                Err(TryLockError::Error(error)) => return Err(fail("lock")(error)),
            }
        }
        let mut opened = Self { file, path: path.to_owned(), is_regular, end: 0 };
        if !is_regular || metadata.len() == 0 {
            return Ok((opened, Contents::default()));
        }
        if !is_resume {
            return Err(RejectError::NotEmpty { path: path.to_owned() });
        }
        let contents = opened.read()?;
        opened.cut(contents.end).map_err(fail("read"))?;
        Ok((opened, contents))
    }

    /// Reads the records of the file.
    pub(super) fn read(&self) -> Result<Contents, RejectError> {
        let fail = |cause| RejectError::Io { path: self.path.clone(), doing: "read", cause };
        let not_ours = || RejectError::NotOurs { path: self.path.clone() };
        let length = self.file.metadata().map_err(fail)?.len();
        let mut reader = BufReader::new(&self.file);
        reader.seek(SeekFrom::Start(0)).map_err(fail)?;
        let mut contents = Contents::default();
        let mut line = Vec::new();
        let first = read_line(&mut reader, &mut line).map_err(fail)?;
        let id = line.strip_prefix(FIRST_LINE.as_bytes()).map(|rest| rest.split(|byte| *byte == b'.').next());
        match id.flatten().and_then(|id| std::str::from_utf8(id).ok()?.parse().ok()) {
            Some(id) if first.is_whole => contents.load_id = Some(id),
            // A crash has cut it off.
            _ if !first.is_whole && FIRST_LINE.as_bytes().starts_with(&line[..line.len().min(FIRST_LINE.len())]) => {
                return Ok(contents);
            }
            _ => return Err(not_ours()),
        }
        contents.end = first.bytes;
        loop {
            let header = read_line(&mut reader, &mut line).map_err(fail)?;
            if header.bytes == 0 || !header.is_whole {
                return Ok(contents);
            }
            let (kind, body_bytes) = read_header(&line).ok_or_else(not_ours)?;
            let start = contents.end;
            let end = start.saturating_add(header.bytes).saturating_add(body_bytes);
            if end > length {
                return Ok(contents);
            }
            let extent = |is_statement| Extent { start, header_bytes: header.bytes, body_bytes, is_statement };
            let mut unread_bytes = body_bytes;
            match kind {
                Header::Session if body_bytes <= SCRIPT_LIMIT_BYTES => {
                    let mut script = Vec::new();
                    reader.by_ref().take(body_bytes).read_to_end(&mut script).map_err(fail)?;
                    contents.scripts.note(&script);
                    unread_bytes = 0;
                }
                Header::Session => return Err(not_ours()),
                Header::Statement { ordinal } => drop(contents.statements.insert(ordinal, extent(true))),
                Header::NoteOnly { ordinal } => drop(contents.statements.insert(ordinal, extent(false))),
                Header::Withdrawn => {}
            }
            // What is read ahead is kept.
            reader.seek_relative(i64::try_from(unread_bytes).map_err(|_| not_ours())?).map_err(fail)?;
            contents.end = end;
        }
    }

    /// Appends, and waits for the disk. Where that fails, nothing of it stays.
    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.file.write_all_at(bytes, self.end).and_then(|()| self.sync());
        if written.is_err() {
            let _ = self.cut(self.end);
            return written;
        }
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Blanks a record, since its statement is done after all.
    pub(super) fn withdraw(&self, extent: Extent) -> io::Result<()> {
        let blank = vec![b'\n'; BLANK_BYTES.min(usize::try_from(extent.body_bytes).unwrap_or(BLANK_BYTES))];
        let body = extent.start + extent.header_bytes;
        let mut done = 0;
        while done < extent.body_bytes {
            let bytes = (extent.body_bytes - done).min(BLANK_BYTES as u64);
            self.file.write_all_at(&blank[..usize::try_from(bytes).unwrap_or(BLANK_BYTES)], body + done)?;
            done += bytes;
        }
        self.file.write_all_at(WITHDRAWN.as_bytes(), extent.start)?;
        self.sync()
    }

    fn sync(&self) -> io::Result<()> {
        match self.file.sync_data() {
            // A device has nothing to wait for.
            Err(error) if !self.is_regular && error.kind() == ErrorKind::InvalidInput => Ok(()),
            outcome => outcome,
        }
    }

    fn cut(&mut self, end: u64) -> io::Result<()> {
        if self.is_regular {
            self.file.set_len(end)?;
        }
        self.end = end;
        Ok(())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Locks a file for this load. One that has just ended may hold it for a moment more.
fn lock(file: &File) -> Result<(), TryLockError> {
    let mut tries = 0;
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if tries < LOCK_TRIES => tries += 1,
            outcome => return outcome,
        }
        thread::sleep(LOCK_PAUSE);
    }
}

/// A line that was read.
struct Line {
    bytes: u64,
    is_whole: bool,
}

fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    let bytes = reader.by_ref().take(HEADER_LIMIT_BYTES as u64).read_until(b'\n', line)?;
    Ok(Line { bytes: bytes as u64, is_whole: line.pop_if(|byte| *byte == b'\n').is_some() })
}
