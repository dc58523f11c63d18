//! The names in a folder, and the content of its small files. This is the only part of `layout` that touches a disk.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use super::Error;
use crate::input::{Source, plain_name};

/// Largest file that is read to learn about others.
const DESCRIPTION_LIMIT_BYTES: usize = 64 << 20;

/// A folder's content. Hidden files are left out, as by a shell's `*`.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Sizes by name.
    files: BTreeMap<String, u64>,
    folders: Vec<String>,
}

impl Folder {
    pub(super) fn list(path: &Path) -> Result<Self, Error> {
        let failed = |cause| Error::List { folder: path.display().to_string(), cause };
        let mut found = Self { path: path.to_owned(), files: BTreeMap::new(), folders: Vec::new() };
        for entry in fs::read_dir(path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().into_string().map_err(|name| Error::Name {
                folder: path.display().to_string(),
                name: name.to_string_lossy().into_owned(),
            })?;
            if name.starts_with('.') {
                continue;
            }
            // As opening does, this follows links.
            let metadata = fs::metadata(entry.path()).map_err(failed)?;
            if metadata.is_dir() {
                found.folders.push(name);
            } else {
                found.files.insert(name, metadata.len());
            }
        }
        found.folders.sort();
        Ok(found)
    }

    /// Its name for messages.
    pub(super) fn shown(&self) -> String {
        self.path.display().to_string()
    }

    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The names of its files, in the order of their bytes.
    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    /// The file of this name, plain or compressed.
    pub(super) fn find(&self, plain: &str) -> Option<&str> {
        let from = self.files.range::<str, _>((Bound::Included(plain), Bound::Unbounded));
        let mut alike = from.map(|(name, _)| name.as_str()).take_while(|name| name.starts_with(plain));
        alike.find(|name| plain_name(name) == plain)
    }

    pub(super) fn folders(&self) -> &[String] {
        &self.folders
    }

    pub(super) fn size_bytes(&self) -> u64 {
        self.files.values().sum()
    }

    /// Size of one file as stored.
    pub(super) fn size_of(&self, name: &str) -> u64 {
        self.files.get(name).copied().unwrap_or_default()
    }

    pub(super) fn file_count(&self) -> usize {
        self.files.len()
    }

    /// The plain content of a small file.
    pub(super) fn read(&self, name: &str) -> Result<Vec<u8>, Error> {
        let path = self.path_of(name);
        let mut source = Source::open(&path)?;
        let mut content = Vec::new();
        loop {
            let length = content.len();
            if length > DESCRIPTION_LIMIT_BYTES {
                let file = path.display().to_string();
                return Err(Error::TooLarge { file, limit_bytes: DESCRIPTION_LIMIT_BYTES });
            }
            content.resize(length + (64 << 10), 0);
            let read = source.read(&mut content[length..])?;
            content.truncate(length + read);
            if read == 0 {
                return Ok(content);
            }
        }
    }

    /// Refuses a file that is there twice, plain and compressed: it would be loaded twice.
    pub(super) fn refuse_twins(&self) -> Result<(), Error> {
        let mut by_plain_name = BTreeMap::new();
        for second in self.files() {
            if let Some(first) = by_plain_name.insert(plain_name(second), second) {
                return Err(Error::Twice { folder: self.shown(), first: first.to_owned(), second: second.to_owned() });
            }
        }
        Ok(())
    }

    /// Refuses these names, if there are any.
    pub(super) fn refuse(&self, layout: &'static str, names: Vec<String>) -> Result<(), Error> {
        if names.is_empty() { Ok(()) } else { Err(Error::Strange { folder: self.shown(), layout, names }) }
    }
}
