//! The file that a generator writes: one dump, streamed, with a checksum that shows whether it is the same as before.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use crate::Error;
use crate::employees::random::Random;

/// Every dump comes from this seed.
const SEED: u64 = 0x7368_6170_6573;

/// A dump on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Number of statements.
    pub statements: u64,
    /// Checksum over the content.
    pub checksum: u128,
}

/// A dump that is being written.
pub(super) struct Script {
    path: PathBuf,
    file: BufWriter<File>,
    scale: f64,
    hash: Xxh3,
    bytes: u64,
    statements: u64,
    /// The numbers that decide the content.
    pub(super) random: Random,
}

impl Script {
    /// Creates the file, or empties it.
    pub(super) fn create(path: &Path, scale: f64) -> Result<Self, Error> {
        let file = File::create(path).map_err(Error::io(format!("creating {}", path.display())))?;
        Ok(Self {
            path: path.to_owned(),
            file: BufWriter::with_capacity(1 << 18, file),
            scale,
            hash: Xxh3::new(),
            bytes: 0,
            statements: 0,
            random: Random::new(SEED),
        })
    }

    /// Where the file is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The dump's size relative to that of the quick experiment.
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    /// A number of rows or objects at this scale, at least 1.
    pub(super) fn count(&self, at_scale_1: u64) -> u64 {
        ((at_scale_1 as f64 * self.scale).round() as u64).max(1)
    }

    /// Writes text. Text that ends in a semicolon and a newline ends a statement.
    pub(super) fn text(&mut self, text: impl AsRef<[u8]>) -> Result<(), Error> {
        let text = text.as_ref();
        self.hash.update(text);
        self.bytes += text.len() as u64;
        self.statements += u64::from(text.ends_with(b";\n"));
        self.file.write_all(text).map_err(|error| Error::io(format!("writing {}", self.path.display()))(error))
    }

    /// Writes the lines of a text that holds several statements.
    pub(super) fn lines(&mut self, text: &str) -> Result<(), Error> {
        text.split_inclusive('\n').try_for_each(|line| self.text(line))
    }

    /// Writes one statement, and the semicolon behind it.
    pub(super) fn statement(&mut self, statement: impl AsRef<[u8]>) -> Result<(), Error> {
        self.text(statement)?;
        self.text(b";\n")
    }

    /// Ends the file.
    pub(super) fn finish(mut self) -> Result<Dump, Error> {
        self.file.flush().map_err(Error::io(format!("writing {}", self.path.display())))?;
        let Self { path, bytes, statements, hash, .. } = self;
        Ok(Dump { path, bytes, statements, checksum: hash.digest128() })
    }
}
