//! Small files that are either as they were or as they are to be, whatever happens while they are written.
//!
//! Drafts end in `.log`, as all names of the provider's do: see `log`.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Puts `text` in the file of that name. When it returns, that is on the disk, whole.
///
/// # Errors
/// What the system says; then the file holds what it held before, or all of `text`.
pub fn replace(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let draft = folder.join(name).with_extension("new.log");
    let mut file = File::create(&draft)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&draft, folder.join(name))?;
    File::open(folder)?.sync_all()
}
