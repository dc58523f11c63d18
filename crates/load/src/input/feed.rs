//! The raw bytes of one input, read in large blocks and counted as they are used, for progress and for error messages.

use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Size of one read from a file.
const BLOCK_BYTES: usize = 256 * 1024;

/// The progress of reading an input and every file that it sources. Shared with the progress line.
#[derive(Debug, Default)]
pub struct Progress {
    consumed_bytes: AtomicU64,
    total_bytes: AtomicU64,
    unbounded: AtomicBool,
}

impl Progress {
    /// Bytes of the files as they are on disk (compressed, where they are) that were used so far.
    pub fn consumed_bytes(&self) -> u64 {
        self.consumed_bytes.load(Ordering::Relaxed)
    }

    /// The size of all regular files opened so far; `None` when one of the inputs is a pipe.
    pub fn total_bytes(&self) -> Option<u64> {
        (!self.unbounded.load(Ordering::Relaxed)).then(|| self.total_bytes.load(Ordering::Relaxed))
    }

    /// So many bytes are not read.
    pub(crate) fn pass(&self, bytes: u64) {
        self.consumed_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn expect(&self, total_bytes: Option<u64>) {
        match total_bytes {
            Some(bytes) => {
                self.total_bytes.fetch_add(bytes, Ordering::Relaxed);
            }
            None => self.unbounded.store(true, Ordering::Relaxed),
        }
    }
}

/// A buffered reader that counts what is consumed, not what is read ahead.
pub(crate) struct Feed {
    reader: Box<dyn Read + Send>,
    block: Vec<u8>,
    start: usize,
    end: usize,
    consumed: Arc<AtomicU64>,
    progress: Arc<Progress>,
}

impl Feed {
    pub(crate) fn new(reader: Box<dyn Read + Send>, progress: Arc<Progress>) -> Feed {
        Feed { reader, block: vec![0; BLOCK_BYTES], start: 0, end: 0, consumed: Arc::default(), progress }
    }

    /// The counter of consumed bytes, which stays readable while a decoder owns the feed.
    pub(crate) fn consumed(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.consumed)
    }

    /// The first `length` bytes, or all where there are fewer. Nothing is consumed.
    pub(crate) fn peek(&mut self, length: usize) -> io::Result<&[u8]> {
        while self.end - self.start < length && self.end < self.block.len() {
            match self.reader.read(&mut self.block[self.end..]) {
                Ok(0) => break,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(&self.block[self.start..self.end.min(self.start + length)])
    }

    fn count(&self, bytes: usize) {
        self.consumed.fetch_add(bytes as u64, Ordering::Relaxed);
        self.progress.consumed_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

impl BufRead for Feed {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            self.end = self.reader.read(&mut self.block)?;
        }
        Ok(&self.block[self.start..self.end])
    }

    fn consume(&mut self, amount: usize) {
        self.start += amount;
        self.count(amount);
    }
}

impl Read for Feed {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        if self.start == self.end && target.len() >= self.block.len() / 2 {
            let read = self.reader.read(target)?;
            self.count(read);
            return Ok(read);
        }
        let read = self.fill_buf()?.read(target)?;
        self.consume(read);
        Ok(read)
    }
}
