//! Rows that the dump selects, printed as the client does in batch mode: tab-separated, with a line of names.

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;

use hortator_mysql::{Column, Rows};

/// Prints result sets to standard output, or to standard error where that is taken.
pub(super) struct BatchRows {
    out: BufWriter<Box<dyn Write>>,
    /// The line of names, until the first row: a result set without rows prints nothing.
    heading: Vec<u8>,
    /// The first failure to write; nothing is written behind it.
    failed: io::Result<()>,
}

impl BatchRows {
    pub(super) fn new(to_stderr: bool) -> Self {
        let out: Box<dyn Write> = if to_stderr { Box::new(io::stderr()) } else { Box::new(io::stdout()) };
        Self { out: BufWriter::new(out), heading: Vec::new(), failed: Ok(()) }
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

impl Rows for BatchRows {
    fn columns(&mut self, columns: &[Column]) -> ControlFlow<()> {
        self.heading.clear();
        for (index, column) in columns.iter().enumerate() {
            // Writing to memory cannot fail.
            let _ = separator(index, &mut self.heading).and_then(|()| escaped(&column.name, &mut self.heading));
        }
        self.heading.push(b'\n');
        ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
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
