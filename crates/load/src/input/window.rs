//! The part of an input that is in memory: the next bytes, the lookahead, and their position in the file.

use std::sync::Arc;

use memchr::{memchr, memchr_iter};

use super::error::Error;
use super::source::Source;

/// Bytes read ahead. Small enough to stay in a core's second-level cache, large enough for few system calls.
const WINDOW_BYTES: usize = 256 * 1024;

/// A position in the plain bytes of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// Counted from 1.
    pub(crate) line: u64,
    /// Bytes before it.
    pub(crate) byte: u64,
}

/// A window over an input that moves forward only.
#[derive(Debug)]
pub(crate) struct Window {
    source: Source,
    block: Vec<u8>,
    /// Index of the next byte in `block`.
    position: usize,
    /// Index behind the last byte in `block`.
    end: usize,
    /// Bytes of the input before `block`.
    base: u64,
    at_end: bool,
    /// Newlines before this index are in `line`.
    counted: usize,
    line: u64,
    /// Nothing is read: see [`Window::hold`].
    is_held: bool,
    /// Bytes that are not in memory were wanted while it was held.
    fell_short: bool,
}

/// A place in a window to come back to. It holds until the window reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowMark {
    position: usize,
    counted: usize,
    line: u64,
}

impl Window {
    pub(crate) fn new(source: Source) -> Window {
        Window {
            source,
            block: vec![0; WINDOW_BYTES],
            position: 0,
            end: 0,
            base: 0,
            at_end: false,
            counted: 0,
            line: 1,
            is_held: false,
            fell_short: false,
        }
    }

    /// Over a part of a file, which begins here.
    pub(crate) fn of_part(source: Source, start: Position) -> Window {
        Window { base: start.byte, line: start.line, ..Window::new(source) }
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        self.source.name()
    }

    /// The position of the next byte.
    pub(crate) fn position(&mut self) -> Position {
        self.line += memchr_iter(b'\n', &self.block[self.counted..self.position]).count() as u64;
        self.counted = self.position;
        Position { line: self.line, byte: self.byte() }
    }

    /// Bytes of the input before the next one.
    pub(crate) fn byte(&self) -> u64 {
        self.base + self.position as u64
    }

    /// What is in memory from the next byte on.
    pub(crate) fn ahead(&self) -> &[u8] {
        &self.block[self.position..self.end]
    }

    /// Makes at least `length` bytes of [`Window::ahead`] available, or the rest of the line with its newline, or all
    /// that are left. What stands behind the line is not waited for: a person may type it later.
    pub(crate) fn ensure(&mut self, length: usize) -> Result<(), Error> {
        let mut searched = 0;
        while self.end - self.position < length && !self.at_end {
            let ahead = self.ahead();
            if memchr(b'\n', &ahead[searched..]).is_some() {
                return Ok(());
            }
            searched = ahead.len();
            if self.is_held {
                self.fell_short = true;
                return Ok(());
            }
            self.fill(length)?;
        }
        Ok(())
    }

    /// Makes at least `length` bytes of [`Window::ahead`] available, or all that are left, of an input that nobody types.
    pub(crate) fn ensure_of_file(&mut self, length: usize) -> Result<(), Error> {
        while self.end - self.position < length && !self.at_end {
            self.fill(length)?;
        }
        Ok(())
    }

    /// From here on, nothing is read: [`Window::ensure`] gives what is in memory. Until [`Window::release`].
    pub(crate) fn hold(&mut self) -> WindowMark {
        self.is_held = true;
        self.fell_short = false;
        WindowMark { position: self.position, counted: self.counted, line: self.line }
    }

    /// Reads again where more is wanted; tells whether all that was wanted since [`Window::hold`] was in memory.
    pub(crate) fn release(&mut self) -> bool {
        self.is_held = false;
        !self.fell_short
    }

    /// Goes back to a mark, since which nothing was read.
    pub(crate) fn rewind(&mut self, mark: WindowMark) {
        debug_assert!(mark.position <= self.position);
        WindowMark { position: self.position, counted: self.counted, line: self.line } = mark;
    }

    fn fill(&mut self, length: usize) -> Result<(), Error> {
        if self.position > 0 {
            self.position();
            self.block.copy_within(self.position..self.end, 0);
            self.base += self.position as u64;
            self.end -= self.position;
            self.position = 0;
            self.counted = 0;
        }
        if self.block.len() < length {
            self.block.resize(length.next_power_of_two(), 0);
        }
        let read = self.source.read(&mut self.block[self.end..])?;
        self.end += read;
        self.at_end = read == 0;
        Ok(())
    }

    /// Moves past `length` bytes, which must be ahead.
    pub(crate) fn advance(&mut self, length: usize) {
        debug_assert!(length <= self.end - self.position);
        self.position += length;
    }
}
