//! The file itself: made, written, read, removed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::SeekFrom;
use rustix::io::Errno;

use super::lines::{self, Contents, FileId};

/// The size of a file, from its beginning on.
pub(super) const FILE_BYTES: u64 = 4 << 20;
/// The longest first line.
const HEADER_LIMIT_BYTES: u64 = 1 << 10;
/// Read at a time.
const BLOCK_BYTES: usize = 64 << 10;
/// Kept free for the line that closes it.
const RESERVED_BYTES: u64 = 64;

/// Only the user that loads may read which tables a dump has.
const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// A file that is being written. What is written is in the page cache: it outlives the load, and not the machine.
#[derive(Debug)]
pub(super) struct JournalFile {
    file: File,
    path: PathBuf,
    end: u64,
}

impl JournalFile {
    /// Makes a file with a header.
    pub(super) fn create(folder: &Path, id: &FileId) -> io::Result<Self> {
        let name = format!("load-{}-{:016x}-{}.journal", id.load_id, id.journal_id, id.generation);
        Self::create_with(folder, &name, &lines::header(id), |_| Ok(()))
    }

    /// Makes one that has the local record too, and is locked as long as it is open.
    pub(super) fn create_record(folder: &Path, id: &FileId, record: &str) -> io::Result<Self> {
        let name = format!("load-{}-{:016x}.{}", id.load_id, id.journal_id, super::local_record::EXTENSION);
        let lines = [lines::header(id), lines::local_record(record)].concat();
        Self::create_with(folder, &name, &lines, |file| Ok(file.try_lock()?))
    }

    fn create_with(
        folder: &Path,
        name: &str,
        lines: &[u8],
        prepare: impl FnOnce(&File) -> io::Result<()>,
    ) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)?;
        let path = fs::canonicalize(folder)?.join(name);
        let file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(&path)?;
        let mut created = Self { file, path, end: 0 };
        let written = prepare(&created.file)
            .and_then(|()| created.file.set_len(FILE_BYTES))
            .and_then(|()| if created.has_room(lines.len()) { Ok(()) } else { Err(ErrorKind::FileTooLarge.into()) })
            .and_then(|()| created.write(lines));
        match written {
            Ok(()) => Ok(created),
            Err(error) => {
                created.remove();
                Err(error)
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether so much more fits.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        self.end + bytes as u64 + RESERVED_BYTES <= FILE_BYTES
    }

    /// Appends a line.
    pub(super) fn write(&mut self, line: &[u8]) -> io::Result<()> {
        self.file.write_all_at(line, self.end)?;
        self.end += line.len() as u64;
        Ok(())
    }

    /// Says that nothing follows, and brings all of it to the disk: it is good for another run of the machine too.
    pub(super) fn close(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        self.write(&lines::closed())?;
        self.file.sync_all()?;
        File::open(self.path.parent().unwrap_or(Path::new("/")))?.sync_all()
    }

    /// What is left behind is of no use, and does no harm.
    pub(super) fn remove(&self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// What tells a file from all others, if it is a journal.
pub(super) fn read_id(path: &Path) -> Option<FileId> {
    let mut beginning = Vec::new();
    File::open(path).ok()?.take(HEADER_LIMIT_BYTES).read_to_end(&mut beginning).ok()?;
    lines::read_id(&beginning)
}

/// Says in a file that nobody writes that its load is on record on the server, in place of a line that was cut short.
pub(super) fn mark_on_server(path: &Path) -> io::Result<()> {
    let bytes = read_written(path)?.0;
    let used = memchr::memchr(0, &bytes).unwrap_or(bytes.len());
    let end = memchr::memrchr(b'\n', &bytes[..used]).map_or(0, |newline| newline + 1);
    let mut line = lines::on_server();
    line.resize(line.len().max(used - end), 0);
    OpenOptions::new().write(true).open(path)?.write_all_at(&line, end as u64)
}

/// Reads a file; an error says why it cannot be used.
pub(super) fn read(path: &Path) -> Result<Contents, String> {
    let (bytes, size) = read_written(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => "it does not exist".to_owned(),
        _ => format!("it cannot be read: {error}"),
    })?;
    if size != FILE_BYTES {
        return Err("it is damaged".to_owned());
    }
    lines::read(&bytes).map_err(|lines::Damaged| "it is damaged".to_owned())
}

/// The bytes of a file up to the first NUL and beyond, and its size. Most of a file was never written: what the file system says
/// it has no blocks for is left out. Nothing before the first NUL depends on what it says.
fn read_written(path: &Path) -> io::Result<(Vec<u8>, u64)> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    let mut bytes = Vec::new();
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let length = file.read_at(&mut block, bytes.len() as u64)?;
        bytes.extend_from_slice(&block[..length]);
        let has_ended = length == 0 || block[length - 1] == 0 && is_hole(&file, bytes.len() as u64);
        if has_ended {
            return Ok((bytes, size));
        }
    }
}

/// Whether nothing behind a position was ever written, as far as the file system knows.
fn is_hole(file: &File, position: u64) -> bool {
    rustix::fs::seek(file, SeekFrom::Data(position)) == Err(Errno::NXIO)
}
