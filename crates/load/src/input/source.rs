//! One input, opened and decompressed: a stream of plain bytes with a name.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::Error;
use super::feed::{Feed, Progress};
use super::format::Format;

/// The name of standard input in places.
pub const STANDARD_INPUT: &str = "(standard input)";

/// An input that is open for reading.
pub struct Source {
    name: Arc<str>,
    format: Format,
    decoder: Box<dyn Read + Send>,
    consumed: Arc<AtomicU64>,
    decoded_bytes: u64,
    progress: Arc<Progress>,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Source")
            .field("name", &self.name)
            .field("format", &self.format)
            .field("decoded_bytes", &self.decoded_bytes)
            .finish_non_exhaustive()
    }
}

impl Source {
    /// Opens a file; compression is found by content.
    pub fn open(path: &Path) -> Result<Source, Error> {
        Source::open_with(path, Arc::default())
    }

    /// Standard input, which may be compressed too.
    pub fn stdin() -> Result<Source, Error> {
        Source::stdin_with(Arc::default())
    }

    /// Bytes from anywhere, under a name for messages; they may be compressed.
    pub fn from_reader(name: &str, reader: impl Read + Send + 'static) -> Result<Source, Error> {
        let progress = Arc::<Progress>::default();
        progress.expect(None);
        Source::new(name, Box::new(reader), progress)
    }

    /// Size in bytes of what [`Source::open`] would read, if that can be known: not of a pipe. A compressed file has more
    /// than the bytes that its format is known by.
    pub(crate) fn measure(path: &Path) -> Result<Option<u64>, Error> {
        let metadata = path.metadata().map_err(|cause| Error::Open { file: path.display().to_string(), cause })?;
        if metadata.is_dir() {
            return Err(Error::Directory { file: path.display().to_string() });
        }
        if !metadata.is_file() {
            return Ok(None);
        }
        let (format, byte) = (Format::of_name(&path.to_string_lossy()), metadata.len());
        if format != Format::Plain && byte < Format::MAGIC_BYTES as u64 {
            return Err(Error::CutOff { file: path.display().to_string(), format, byte, decoded_bytes: 0 });
        }
        Ok(Some(byte))
    }

    /// Opens a file whose size `progress` knows already.
    pub(crate) fn open_expected(path: &Path, progress: Arc<Progress>) -> Result<Source, Error> {
        let file = path.display().to_string();
        let open = File::open(path).map_err(|cause| Error::Open { file: file.clone(), cause })?;
        Source::new(&file, Box::new(open), progress)
    }

    /// As [`Source::open_expected`], of a file that is compressed only if its name says so. Its first bytes are data, and can
    /// be those of a compressed file.
    pub(crate) fn open_by_name(path: &Path, progress: Arc<Progress>) -> Result<Source, Error> {
        let file = path.display().to_string();
        if Format::of_name(&file) != Format::Plain {
            return Source::open_expected(path, progress);
        }
        let open = File::open(path).map_err(|cause| Error::Open { file: file.clone(), cause })?;
        let feed = Feed::new(Box::new(open), Arc::clone(&progress));
        Source::with_format(&file, Format::Plain, feed, progress)
    }

    /// As [`Source::open`], counted together with other inputs.
    pub(crate) fn open_with(path: &Path, progress: Arc<Progress>) -> Result<Source, Error> {
        progress.expect(Source::measure(path)?);
        Source::open_expected(path, progress)
    }

    /// A text that is in memory, counted together with other inputs.
    pub(crate) fn of_text(name: &str, text: Arc<[u8]>, progress: Arc<Progress>) -> Result<Source, Error> {
        progress.expect(Some(text.len() as u64));
        Source::new(name, Box::new(io::Cursor::new(text)), progress)
    }

    /// As [`Source::stdin`], counted together with other inputs.
    pub(crate) fn stdin_with(progress: Arc<Progress>) -> Result<Source, Error> {
        progress.expect(None);
        Source::new(STANDARD_INPUT, Box::new(io::stdin()), progress)
    }

    fn new(name: &str, reader: Box<dyn Read + Send>, progress: Arc<Progress>) -> Result<Source, Error> {
        let mut feed = Feed::new(reader, Arc::clone(&progress));
        let format = feed.peek(Format::MAGIC_BYTES).map(Format::of);
        let format = format.map_err(|cause| Error::Read { file: name.to_owned(), byte: 0, cause })?;
        Source::with_format(name, format, feed, progress)
    }

    fn with_format(name: &str, format: Format, feed: Feed, progress: Arc<Progress>) -> Result<Source, Error> {
        let consumed = feed.consumed();
        let decoder = format.decoder(feed);
        let decoder = decoder.map_err(|cause| Error::Read { file: name.to_owned(), byte: 0, cause })?;
        Ok(Source { name: name.into(), format, decoder, consumed, decoded_bytes: 0, progress })
    }

    /// The name for messages: the path as it was given.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// How it is compressed.
    pub fn format(&self) -> Format {
        self.format
    }

    /// How far reading has come, to be shown while it goes on.
    pub fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// Reads plain bytes; 0 is the end of the input, which was complete then.
    pub fn read(&mut self, target: &mut [u8]) -> Result<usize, Error> {
        loop {
            match self.decoder.read(target) {
                Ok(read) => {
                    self.decoded_bytes += read as u64;
                    return Ok(read);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failure(error)),
            }
        }
    }

    fn failure(&self, cause: io::Error) -> Error {
        let file = self.name.to_string();
        let format = self.format;
        let byte = self.consumed.load(Ordering::Relaxed);
        let decoded_bytes = self.decoded_bytes;
        // An error number comes from the system, so from reading; a decoder's own errors have none.
        if format == Format::Plain || cause.raw_os_error().is_some() {
            return Error::Read { file, byte, cause };
        }
        if cause.kind() == io::ErrorKind::UnexpectedEof {
            return Error::CutOff { file, format, byte, decoded_bytes };
        }
        Error::Damaged { file, format, byte, decoded_bytes, reason: cause.to_string() }
    }
}
