//! A file of extended INSERTs, written row by row: one statement is open at a time and ends when it is long enough.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// A statement ends with the row that brings it to this length, as with dump tools.
const STATEMENT_LIMIT_BYTES: usize = 1_000_000;

/// Writes the rows of one table to one file.
#[derive(Debug)]
pub struct Statements {
    table: &'static str,
    file: BufWriter<File>,
    open_bytes: usize,
    rows: u64,
    written_bytes: u64,
}

impl Statements {
    /// Creates or truncates the file.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn create(path: &Path, table: &'static str) -> io::Result<Self> {
        let file = BufWriter::with_capacity(1 << 18, File::create(path)?);
        Ok(Self { table, file, open_bytes: 0, rows: 0, written_bytes: 0 })
    }

    /// Adds a row; `values` is the text between its parentheses.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn row(&mut self, values: &[u8]) -> io::Result<()> {
        if self.open_bytes == 0 {
            let start = format!("INSERT INTO `{}` VALUES (", self.table);
            self.put(start.as_bytes())?;
        } else {
            self.put(b",\n(")?;
        }
        self.put(values)?;
        self.put(b")")?;
        self.rows += 1;
        if self.open_bytes >= STATEMENT_LIMIT_BYTES { self.end_statement() } else { Ok(()) }
    }

    /// Rows written so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Ends the open statement and the file; returns its rows and bytes.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish(mut self) -> io::Result<(u64, u64)> {
        if self.open_bytes > 0 {
            self.end_statement()?;
        }
        self.file.flush()?;
        Ok((self.rows, self.written_bytes))
    }

    fn end_statement(&mut self) -> io::Result<()> {
        self.put(b";\n")?;
        self.open_bytes = 0;
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.open_bytes += bytes.len();
        self.written_bytes += bytes.len() as u64;
        self.file.write_all(bytes)
    }
}
