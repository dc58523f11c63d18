//! A segment: its header, its file, and how a spare file becomes a segment.

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::record::{END_BYTES, array, framed_bytes};
use super::segment_pool::SpareSegment;
use super::{Error, Index};

const MAGIC: [u8; 8] = *b"HORTLOG\n";
const VERSION: u32 = 1;
/// The used part of the header.
pub(super) const HEADER_BYTES: usize = 72;
/// Offset of the first record.
pub(super) const RECORDS_START: u64 = 4096;

/// The ending of a segment's name. All files of the log have it: the server's SST script keeps files with this ending.
pub(super) const SEGMENT: &str = ".log";
/// The ending of the segment that replaces the whole log.
pub(super) const RESET: &str = ".reset.log";

/// The length of a file with room for the payload.
pub(super) fn length_for(payload_bytes: u64) -> u64 {
    (RECORDS_START + framed_bytes(payload_bytes) + END_BYTES as u64).next_multiple_of(4096)
}

/// A segment's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub history_uuid: [u8; 16],
    pub first: u64,
    pub previous: u64,
    pub salt: u64,
    pub bytes: u64,
    pub durable: u64,
}

impl Header {
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut out = [0; HEADER_BYTES];
        out[..8].copy_from_slice(&MAGIC);
        out[8..12].copy_from_slice(&VERSION.to_le_bytes());
        out[16..32].copy_from_slice(&self.history_uuid);
        let numbers = [self.first, self.previous, self.salt, self.bytes, self.durable];
        for (at, number) in numbers.into_iter().enumerate() {
            out[32 + 8 * at..40 + 8 * at].copy_from_slice(&number.to_le_bytes());
        }
        let crc = crc32fast::hash(&out);
        out[12..16].copy_from_slice(&crc.to_le_bytes());
        out
    }

    /// Checks the version before the checksum: a newer version may store the checksum elsewhere.
    pub fn decode(bytes: &[u8; HEADER_BYTES], file: &Path) -> Result<Self, Error> {
        let damaged = |byte, what: &str| Error::Damaged {
            file: file.to_owned(),
            byte,
            index: Index(first_of_name(file).unwrap_or(0)),
            what: what.to_owned(),
        };
        if bytes[..8] != MAGIC {
            return Err(damaged(0, "the file does not begin like a segment"));
        }
        let version = u32::from_le_bytes(array(&bytes[8..12]));
        if version > VERSION {
            return Err(Error::Newer { file: file.to_owned(), found: version, known: VERSION });
        }
        let mut plain = *bytes;
        plain[12..16].fill(0);
        if crc32fast::hash(&plain) != u32::from_le_bytes(array(&bytes[12..16])) {
            return Err(damaged(12, "the header's checksum is wrong"));
        }
        let number = |at: usize| u64::from_le_bytes(array(&bytes[32 + 8 * at..40 + 8 * at]));
        Ok(Self {
            history_uuid: array(&bytes[16..32]),
            first: number(0),
            previous: number(1),
            salt: number(2),
            bytes: number(3),
            durable: number(4),
        })
    }

    /// Reads the header, and checks it against the file's name and length.
    pub fn read(file: &File, path: &Path) -> Result<Self, Error> {
        let mut bytes = [0; HEADER_BYTES];
        let length = file.metadata().map_err(Error::io("read", path))?.len();
        let damaged = |byte, what: String| {
            let index = Index(first_of_name(path).unwrap_or(0));
            Error::Damaged { file: path.to_owned(), byte, index, what }
        };
        match file.read_exact_at(&mut bytes, 0) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(damaged(length, "the file is shorter than a header".to_owned()));
            }
            Err(error) => return Err(Error::io("read", path)(error)),
        }
        let header = Self::decode(&bytes, path)?;
        if first_of_name(path).or_else(|| index_of_name(path, RESET)) != Some(header.first) {
            return Err(damaged(
                32,
                format!("the file has the name of another segment, and begins with entry {}", header.first),
            ));
        }
        if length < header.bytes {
            return Err(damaged(length, format!("the file ends here, but was created with {} bytes", header.bytes)));
        }
        Ok(header)
    }
}

/// The prefix of all file names: the files may lie among others, in a server's data folder.
pub(super) const FILE_PREFIX: &str = "hortator-";

/// The index in the name of a segment.
pub(super) fn first_of_name(path: &Path) -> Option<u64> {
    index_of_name(path, SEGMENT)
}

/// The index in a name with the given ending.
pub(super) fn index_of_name(path: &Path, ending: &str) -> Option<u64> {
    let digits = path.file_name()?.to_str()?.strip_prefix(FILE_PREFIX)?.strip_suffix(ending)?;
    if digits.len() != 20 { None } else { digits.parse().ok() }
}

/// The name with the given index and ending.
pub(super) fn name(index: u64, ending: &str) -> String {
    format!("{FILE_PREFIX}{index:020}{ending}")
}

/// A segment in use.
#[derive(Debug)]
pub(super) struct Segment {
    pub header: Header,
    pub file: File,
    pub path: PathBuf,
}

impl Segment {
    /// Turns a spare into a segment. Nothing is written before [`Segment::begin`].
    pub fn from_spare(spare: SpareSegment, history_uuid: [u8; 16], first: u64, previous: u64) -> Self {
        // Each RandomState has other keys, from the system's random numbers.
        let salt = RandomState::new().build_hasher().finish() | 1 << 63;
        let header = Header { history_uuid, first, previous, salt, bytes: spare.bytes, durable: 0 };
        let path = spare.path.with_file_name(name(first, SEGMENT));
        Self { header, file: spare.file, path }
    }

    /// Makes the spare a segment on disk: first the header, then the name.
    pub fn begin(&self, spare: &Path, folder: &Folder, durable: u64) -> Result<(), Error> {
        let mut page = [0; RECORDS_START as usize + END_BYTES];
        page[..HEADER_BYTES].copy_from_slice(&Header { durable, ..self.header }.encode());
        self.file.write_all_at(&page, 0).map_err(Error::io("write", spare))?;
        self.file.sync_all().map_err(Error::io("sync", spare))?;
        fs::rename(spare, &self.path).map_err(Error::io("rename", spare))?;
        folder.sync()
    }

    /// Removes the file; durable with the folder's next sync.
    pub fn remove(&self) -> Result<(), Error> {
        fs::remove_file(&self.path).map_err(Error::io("remove", &self.path))
    }

    pub fn write(&self, bytes: &[u8], at: u64) -> Result<(), Error> {
        self.file.write_all_at(bytes, at).map_err(Error::io("write", &self.path))
    }

    pub fn sync(&self) -> Result<(), Error> {
        self.file.sync_data().map_err(Error::io("sync", &self.path))?;
        #[cfg(test)]
        super::tests::power::synced();
        Ok(())
    }
}

/// The log's folder, open for syncs.
#[derive(Debug)]
pub(super) struct Folder {
    pub path: PathBuf,
    file: File,
}

impl Folder {
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Syncs the folder, after a file was created, renamed or removed.
    pub fn sync(&self) -> Result<(), Error> {
        self.file.sync_all().map_err(Error::io("sync", &self.path))?;
        #[cfg(test)]
        super::tests::power::synced();
        Ok(())
    }
}
