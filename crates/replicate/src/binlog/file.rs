//! A binary log as a file: events one behind the other, behind four bytes.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::Error;
use super::header::{EventHeader, HEADER_BYTES};

/// What a binary log begins with, and an encrypted one of MySQL.
const MAGIC: [u8; 4] = *b"\xfebin";
const ENCRYPTED_MAGIC: [u8; 4] = *b"\xfdbin";
/// What is read at once, and the memory that an event gets before its bytes are there.
const BUFFER_BYTES: usize = 256 << 10;
/// The longest accepted event: `max_allowed_packet` at most, and what MariaDB adds.
const EVENT_LIMIT_BYTES: u32 = (1 << 30) + (1 << 20);

/// Reads the events of a file.
#[derive(Debug)]
pub struct BinlogFile {
    path: PathBuf,
    file: BufReader<File>,
    position: u64,
}

impl BinlogFile {
    /// Opens a file at its first event.
    ///
    /// # Errors
    /// [`Error::File`], and [`Error::NoBinlog`] for a file that is something else.
    pub fn open(path: &Path) -> Result<BinlogFile, Error> {
        let cannot = |error| Error::File { path: path.to_owned(), error };
        let mut file = BufReader::with_capacity(BUFFER_BYTES, File::open(path).map_err(cannot)?);
        let mut magic = [0; MAGIC.len()];
        let hint = match file.read_exact(&mut magic) {
            Ok(()) if magic == MAGIC => {
                return Ok(BinlogFile { path: path.to_owned(), file, position: MAGIC.len() as u64 });
            }
            Ok(()) if magic == ENCRYPTED_MAGIC => return Err(Error::Encrypted { path: path.to_owned() }),
            Ok(()) => "",
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => ", and has less than four bytes",
            Err(error) => return Err(cannot(error)),
        };
        Err(Error::NoBinlog { path: path.to_owned(), hint })
    }

    /// Where the next event begins, in bytes.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Goes to the event at `position`, in bytes. The format description must have been read before.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn seek(&mut self, position: u64) -> Result<(), Error> {
        let sought = self.file.seek(SeekFrom::Start(position));
        sought.map_err(|error| Error::File { path: self.path.clone(), error })?;
        self.position = position;
        Ok(())
    }

    /// The bytes of the next event; `None` at the end of the file.
    ///
    /// # Errors
    /// [`Error::CutOff`] for a file that ends within an event, [`Error::NoEvent`] for an impossible length,
    /// [`Error::File`].
    pub fn next_event(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let mut head = [0; HEADER_BYTES];
        match self.fill(&mut head) {
            Ok(0) => return Ok(None),
            Ok(HEADER_BYTES) => {}
            Ok(_) => return Err(self.cut_off()),
            Err(error) => return Err(error),
        }
        let header = EventHeader::read(&head)?;
        let length = header.length_bytes;
        let length = match usize::try_from(length) {
            Ok(bytes) if bytes >= HEADER_BYTES && length <= EVENT_LIMIT_BYTES => bytes,
            _ => return Err(Error::NoEvent(length as usize)),
        };
        // No more memory than the file has bytes, whatever the event says of itself.
        let mut bytes = Vec::with_capacity(length.min(BUFFER_BYTES));
        bytes.extend_from_slice(&head);
        let body = (length - HEADER_BYTES) as u64;
        let read = self.file.by_ref().take(body).read_to_end(&mut bytes);
        read.map_err(|error| Error::File { path: self.path.clone(), error })?;
        if bytes.len() < length {
            return Err(self.not_whole(&header));
        }
        self.position += length as u64;
        Ok(Some(bytes))
    }

    /// Reads until the buffer is full or the file ends.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.file.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::File { path: self.path.clone(), error }),
            }
        }
        Ok(filled)
    }

    /// An event whose end is not in the file: the file is cut off, or the length is wrong.
    fn not_whole(&self, header: &EventHeader) -> Error {
        let end = self.position + u64::from(header.length_bytes);
        if header.end_position == 0 || end & u64::from(u32::MAX) == u64::from(header.end_position) {
            return self.cut_off();
        }
        Error::Invalid {
            kind: header.kind.to_string(),
            end_position: header.end_position,
            found: format!(
                "it begins at {} and says that it has {} bytes: the log is damaged",
                self.position, header.length_bytes
            ),
        }
    }

    fn cut_off(&self) -> Error {
        Error::CutOff { path: self.path.clone(), position: self.position }
    }
}
