//! Blank lines of CSV before the first record: rows if the records have one field, and nothing otherwise. Only the first
//! record tells, so they are kept until then, as runs of lines of one length.

use std::collections::VecDeque;

use crate::input::Position;

/// Runs that are kept: a file has line ends of one kind, or was put together from a few.
const RUNS_LIMIT: usize = 1024;

/// The blank lines that are not given out yet.
#[derive(Debug, Default)]
pub(super) struct BlankLines {
    runs: VecDeque<Run>,
}

#[derive(Debug)]
struct Run {
    first: Position,
    line_bytes: u64,
    lines: u64,
}

impl BlankLines {
    /// False where it cannot be kept.
    pub(super) fn push(&mut self, position: Position, end: Position) -> bool {
        let line_bytes = end.byte - position.byte;
        let is_full = self.runs.len() >= RUNS_LIMIT;
        match self.runs.back_mut().filter(|run| run.line_bytes == line_bytes) {
            Some(run) => run.lines += 1,
            None if is_full => return false,
            None => self.runs.push_back(Run { first: position, line_bytes, lines: 1 }),
        }
        true
    }

    /// Where the next one begins and ends.
    pub(super) fn next(&mut self) -> Option<(Position, Position)> {
        let run = self.runs.front_mut()?;
        let position = run.first;
        let end = Position { line: position.line + 1, byte: position.byte + run.line_bytes };
        (run.first, run.lines) = (end, run.lines - 1);
        if run.lines == 0 {
            self.runs.pop_front();
        }
        Some((position, end))
    }

    pub(super) fn clear(&mut self) {
        self.runs.clear();
    }
}
