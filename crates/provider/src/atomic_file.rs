//! Atomic writes of small files: after a crash, a file has its old or its new content.
//!
//! Drafts end in `.log`, like all files of the provider: see `log`.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Writes `text` to the file. When it returns, the file is whole and on disk.
///
/// # Errors
/// A system call failed; the file has its old content, or all of `text`.
pub fn replace(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let draft = folder.join(name).with_extension("new.log");
    let mut file = File::create(&draft)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&draft, folder.join(name))?;
    File::open(folder)?.sync_all()
}
