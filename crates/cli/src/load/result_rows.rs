//! Rows that the dump selects, printed as the client does in batch mode: tab-separated, with a line of names.

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;

use hortator_load::Output;
use hortator_mysql::{Column, RowSink};
use indicatif::ProgressBar;

/// Prints result sets to standard output, or to standard error where that is taken.
pub(super) struct BatchRows {
    out: BufWriter<Box<dyn Write>>,
    /// The line of names, until the first row: a result set without rows prints nothing.
    heading: Vec<u8>,
    /// The names, where the rows are printed one value a line; and the rows printed so.
    vertical: Option<(Vec<Vec<u8>>, u64)>,
    /// A line on the terminal that must not be written into.
    bar: Option<ProgressBar>,
    /// The first failure to write; nothing is written behind it.
    failed: io::Result<()>,
}

impl BatchRows {
    pub(super) fn new(to_stderr: bool, bar: Option<ProgressBar>) -> Self {
        let out: Box<dyn Write> = if to_stderr { Box::new(io::stderr()) } else { Box::new(io::stdout()) };
        Self { out: BufWriter::new(out), heading: Vec::new(), vertical: None, bar, failed: Ok(()) }
    }

    /// Writes what is buffered, and tells of the first failure.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.failed.and(flushed)
    }

    fn write(&mut self, line: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> ControlFlow<()> {
        if self.failed.is_ok() {
            self.failed = line(&mut self.out);
        }
        if self.failed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

impl RowSink for BatchRows {
    fn columns(&mut self, columns: &[Column]) -> ControlFlow<()> {
        self.heading.clear();
        if let Some(vertical) = &mut self.vertical {
            *vertical = (columns.iter().map(|column| column.name.clone()).collect(), 0);
            return ControlFlow::Continue(());
        }
        // Names are printed without escapes, as the client does.
        let names: Vec<&[u8]> = columns.iter().map(|column| &column.name[..]).collect();
        self.heading = names.join(&b'\t');
        self.heading.push(b'\n');
        ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
        if let Some((names, count)) = &mut self.vertical {
            *count += 1;
            let (names, count) = (names.clone(), *count);
            return self.write(|out| vertical_row(&names, count, values, out));
        }
        let heading = std::mem::take(&mut self.heading);
        self.write(|out| {
            out.write_all(&heading)?;
            for (index, value) in values.iter().enumerate() {
                separator(index, out)?;
                match value {
                    Some(value) => escaped(value, out)?,
                    None => out.write_all(b"NULL")?,
                }
            }
            out.write_all(b"\n")
        })
    }
}

impl Output for BatchRows {
    fn shape(&mut self, is_vertical: bool) {
        // What the statement before printed is to be seen now, not when the buffer is full.
        if !self.out.buffer().is_empty() {
            let flushed = match &self.bar {
                Some(bar) => bar.suspend(|| self.out.flush()),
                None => self.out.flush(),
            };
            self.failed = std::mem::replace(&mut self.failed, Ok(())).and(flushed);
        }
        self.vertical = is_vertical.then(Default::default);
    }
}

/// One value a line, the names to the right.
fn vertical_row(names: &[Vec<u8>], count: u64, values: &[Option<&[u8]>], out: &mut dyn Write) -> io::Result<()> {
    const STARS: &str = "***************************";
    writeln!(out, "{STARS} {count}. row {STARS}")?;
    let width = names.iter().map(Vec::len).max().unwrap_or_default();
    for (name, value) in names.iter().zip(values) {
        write!(out, "{:width$}", "", width = width - name.len())?;
        out.write_all(name)?;
        out.write_all(b": ")?;
        out.write_all(value.unwrap_or(b"NULL"))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn separator(index: usize, out: &mut dyn Write) -> io::Result<()> {
    if index > 0 { out.write_all(b"\t") } else { Ok(()) }
}

/// A value with the escapes of the client's batch mode.
fn escaped(value: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let mut rest = value;
    while let Some(at) = rest.iter().position(|byte| matches!(byte, 0 | b'\t' | b'\n' | b'\\')) {
        out.write_all(&rest[..at])?;
        out.write_all(match rest[at] {
            0 => b"\\0",
            b'\t' => b"\\t",
            b'\n' => b"\\n",
            _ => b"\\\\",
        })?;
        rest = &rest[at + 1..];
    }
    out.write_all(rest)
}
