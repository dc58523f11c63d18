//! Rows that the dump selects, printed as the client does in batch mode: tab-separated, with a line of names.
//!
//! The client stores a result set before it prints the first row. So it prints nothing of a result set that fails midway.

use std::io::{self, BufWriter, IntoInnerError, Seek, Write};
use std::ops::ControlFlow;

use hortator_load::Output;
use hortator_mysql::{Column, RowSink};
use indicatif::ProgressBar;
use tempfile::SpooledTempFile;

/// A result set that takes more is stored in a temporary file until it is complete.
const STORED_IN_MEMORY_BYTES: usize = 8 << 20;

/// Prints result sets to standard output, or to standard error with `--json`.
pub(super) struct BatchRows {
    out: Box<dyn Write>,
    /// The printed form of a result set that is not complete yet; `None` before its first row.
    stored: Option<BufWriter<SpooledTempFile>>,
    /// The line of names, until the first row: a result set without rows prints nothing.
    heading: Vec<u8>,
    /// The names, where the rows are printed one value a line; and the rows printed so.
    vertical: Option<(Vec<Vec<u8>>, u64)>,
    /// The progress line on the terminal, which other text must not overwrite.
    bar: Option<ProgressBar>,
    /// The first failure to write; nothing is written behind it.
    failed: io::Result<()>,
}

impl BatchRows {
    pub(super) fn new(to_stderr: bool, bar: Option<ProgressBar>) -> Self {
        Self::to(if to_stderr { Box::new(io::stderr()) } else { Box::new(io::stdout()) }, bar)
    }

    fn to(out: Box<dyn Write>, bar: Option<ProgressBar>) -> Self {
        Self { out, stored: None, heading: Vec::new(), vertical: None, bar, failed: Ok(()) }
    }

    /// Returns the first failure.
    pub(super) fn finish(self) -> io::Result<()> {
        self.failed
    }

    fn store(&mut self, row: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> ControlFlow<()> {
        if self.failed.is_ok() {
            let new = || BufWriter::new(SpooledTempFile::new(STORED_IN_MEMORY_BYTES));
            self.failed = row(self.stored.get_or_insert_with(new));
        }
        if self.failed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

impl RowSink for BatchRows {
    fn columns(&mut self, columns: &[Column]) -> ControlFlow<()> {
        self.stored = None;
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
            return self.store(|out| vertical_row(&names, count, values, out));
        }
        let heading = std::mem::take(&mut self.heading);
        self.store(|out| {
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

    fn end(&mut self) {
        let Some(stored) = self.stored.take().filter(|_| self.failed.is_ok()) else { return };
        self.failed = match &self.bar {
            Some(bar) => bar.suspend(|| print(stored, &mut self.out)),
            None => print(stored, &mut self.out),
        };
    }
}

impl Output for BatchRows {
    fn shape(&mut self, is_vertical: bool) {
        // What is stored now is of a result set that has failed.
        self.stored = None;
        self.vertical = is_vertical.then(Default::default);
    }
}

/// Prints a complete result set, to be seen at once.
fn print(stored: BufWriter<SpooledTempFile>, out: &mut dyn Write) -> io::Result<()> {
    let mut stored = stored.into_inner().map_err(IntoInnerError::into_error)?;
    stored.rewind()?;
    io::copy(&mut stored, out)?;
    out.flush()
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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// What was printed, for the test to look at.
    #[derive(Clone, Default)]
    struct Printed(Arc<Mutex<Vec<u8>>>);

    impl Printed {
        fn rows(&self) -> BatchRows {
            BatchRows::to(Box::new(self.clone()), None)
        }

        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Printed {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// One column, `v`, with these values.
    fn add(rows: &mut BatchRows, values: &[&[u8]]) {
        let column = Column { name: b"v".to_vec(), ..Column::default() };
        assert!(rows.columns(&[column]).is_continue());
        for value in values {
            assert!(rows.row(&[Some(value)]).is_continue());
        }
    }

    #[test]
    fn a_result_set_is_printed_at_its_end() {
        let printed = Printed::default();
        let mut rows = printed.rows();
        rows.shape(false);
        add(&mut rows, &[b"1"]);
        assert_eq!(printed.text(), "");
        rows.end();
        assert_eq!(printed.text(), "v\n1\n");
    }

    #[test]
    fn nothing_is_printed_of_a_result_set_without_an_end() {
        let printed = Printed::default();
        let mut rows = printed.rows();
        rows.shape(false);
        add(&mut rows, &[b"1"]);
        rows.end();
        add(&mut rows, &[b"2"]);
        rows.shape(true);
        add(&mut rows, &[b"3"]);
        add(&mut rows, &[b"4"]);
        rows.end();
        add(&mut rows, &[b"5"]);
        rows.finish().unwrap();
        let stars = "*".repeat(27);
        assert_eq!(printed.text(), format!("v\n1\n{stars} 1. row {stars}\nv: 4\n"));
    }

    #[test]
    fn a_result_set_larger_than_the_memory_is_printed_whole() {
        let printed = Printed::default();
        let mut rows = printed.rows();
        let value = vec![b'x'; STORED_IN_MEMORY_BYTES / 2];
        rows.shape(false);
        add(&mut rows, &[&value, &value, &value]);
        rows.end();
        add(&mut rows, &[b"1"]);
        rows.end();
        rows.finish().unwrap();
        let line = String::from_utf8(value).unwrap();
        assert!(printed.text() == format!("v\n{line}\n{line}\n{line}\nv\n1\n"));
    }
}
