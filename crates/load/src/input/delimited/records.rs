//! The records of a source: feeds [`split_record`], and knows where in the file each record is.

use memchr::{memchr_iter, memmem};

use super::split::{Found, Malformed, Record, split_record};
use super::{Content, Format};
use crate::input::{Error, Position, Source};

/// Size of one read.
const BLOCK_BYTES: usize = 256 * 1024;

/// Why there is no next record.
#[derive(Debug)]
pub(crate) enum RecordError {
    Input(Error),
    /// The records go on behind `last_line`.
    Malformed {
        what: Malformed,
        position: Position,
        last_line: u64,
    },
    TooLarge {
        limit_bytes: usize,
        position: Position,
    },
}

/// The records of a source.
#[derive(Debug)]
pub(super) struct RecordReader {
    source: Source,
    format: Format,
    /// Of the fields, as far as they matter.
    contents: Vec<Content>,
    block: Vec<u8>,
    start: usize,
    end: usize,
    at_end: bool,
    limit_bytes: usize,
    /// Of `block[start]`.
    position: Position,
    /// How often a record was split, or as much of it as was there.
    #[cfg(test)]
    pub(super) splits: u64,
}

impl RecordReader {
    pub(super) fn new(source: Source, format: Format, contents: Vec<Content>, limit_bytes: usize) -> Self {
        let is_plain = contents.iter().all(|content| *content == Content::default());
        Self {
            source,
            format,
            contents: if is_plain { Vec::new() } else { contents },
            block: vec![0; BLOCK_BYTES],
            start: 0,
            end: 0,
            at_end: false,
            limit_bytes,
            position: Position { line: 1, byte: 0 },
            #[cfg(test)]
            splits: 0,
        }
    }

    /// Where the next record begins.
    pub(super) fn position(&self) -> Position {
        self.position
    }

    /// Passes a line, whatever is in it: nothing but the end of a line ends a field. False at the end of the input. A dump
    /// escapes a line end within a name.
    pub(super) fn skip_line(&mut self) -> Result<bool, RecordError> {
        let (format, mut record) = (self.format.clone(), Record::default());
        let escaped = format.escaped.filter(|_| format.is_of_dump);
        let plain = Format { fields_terminated: format.lines_terminated.clone(), enclosed: None, escaped, ..format };
        self.read(&plain, &[], &mut record)
    }

    /// Reads the next record; false at the end of the input.
    pub(super) fn next(&mut self, record: &mut Record) -> Result<bool, RecordError> {
        let format = std::mem::replace(&mut self.format, Format::csv());
        let contents = std::mem::take(&mut self.contents);
        let read = self.read(&format, &contents, record);
        (self.format, self.contents) = (format, contents);
        read
    }

    /// Passes a byte order mark at the beginning.
    pub(super) fn skip_byte_order_mark(&mut self) -> Result<(), RecordError> {
        const MARK: &[u8] = b"\xef\xbb\xbf";
        while self.end - self.start < MARK.len() && !self.at_end {
            self.fill().map_err(RecordError::Input)?;
        }
        if self.block[self.start..self.end].starts_with(MARK) {
            self.start += MARK.len();
            self.position.byte += MARK.len() as u64;
        }
        Ok(())
    }

    fn read(&mut self, format: &Format, contents: &[Content], record: &mut Record) -> Result<bool, RecordError> {
        loop {
            let text = &self.block[self.start..self.end];
            let position = self.position;
            if text.is_empty() && self.at_end {
                return Ok(false);
            }
            #[cfg(test)]
            (self.splits += 1);
            match split_record(text, self.at_end, format, contents, record) {
                Found::Record(length) => {
                    self.pass(length);
                    return Ok(true);
                }
                Found::Malformed(what @ Malformed::AmbiguousBits, _) => {
                    // Its line may end anywhere.
                    (self.at_end, self.start) = (true, self.end);
                    return Err(RecordError::Malformed { what, position, last_line: position.line });
                }
                Found::Malformed(what, read) => {
                    let last_line = self.pass_malformed(read, &format.lines_terminated).map_err(RecordError::Input)?;
                    return Err(RecordError::Malformed { what, position, last_line });
                }
                Found::Incomplete if text.len() >= self.limit_bytes => {
                    self.at_end = true;
                    self.start = self.end;
                    return Err(RecordError::TooLarge { limit_bytes: self.limit_bytes, position });
                }
                Found::Incomplete => self.fill_record().map_err(RecordError::Input)?,
            }
        }
    }

    fn pass(&mut self, length: usize) {
        let text = &self.block[self.start..self.start + length];
        self.position.line += memchr_iter(b'\n', text).count() as u64;
        self.position.byte += length as u64;
        self.start += length;
    }

    /// Goes on behind a record of which this many bytes were read before it was known to be malformed: behind the line that
    /// they end in, which it returns. A line end among them may be one in quotes.
    fn pass_malformed(&mut self, read: usize, line_end: &[u8]) -> Result<u64, Error> {
        self.pass(read);
        loop {
            let (text, line) = (&self.block[self.start..self.end], self.position.line);
            if let Some(at) = memmem::find(text, line_end) {
                self.pass(at + line_end.len());
                return Ok(line);
            }
            // The rest may be the first bytes of a line end.
            let kept = if self.at_end { 0 } else { line_end.len() - 1 };
            self.pass(text.len().saturating_sub(kept));
            if self.at_end {
                return Ok(line);
            }
            self.fill()?;
        }
    }

    /// Reads on in a record. Each time that a large one is split again, twice as much of it is there: all splits together read
    /// no more than a few times its bytes.
    fn fill_record(&mut self) -> Result<(), Error> {
        let held = self.end - self.start;
        let wanted = if held < BLOCK_BYTES { held + 1 } else { (held * 2).min(self.limit_bytes) };
        self.fill()?;
        while self.end - self.start < wanted && !self.at_end {
            self.fill()?;
        }
        Ok(())
    }

    fn fill(&mut self) -> Result<(), Error> {
        if self.start > 0 {
            self.block.copy_within(self.start..self.end, 0);
        }
        self.end -= self.start;
        self.start = 0;
        if self.end == self.block.len() {
            self.block.resize(self.block.len() * 2, 0);
        }
        let read = self.source.read(&mut self.block[self.end..])?;
        self.end += read;
        self.at_end = read == 0;
        Ok(())
    }
}
