//! Patterns of file names, for a shell that has not expanded them: `*` and `?` in the last part of a path.

use std::path::{Path, PathBuf};

use super::{Error, Folder};

/// Whether the last part of a path is a pattern.
pub(super) fn is_pattern(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().iter().any(|byte| matches!(byte, b'*' | b'?')))
}

/// The files that match, in the order of their names.
pub(super) fn matches(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let pattern = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => Folder::list(parent)?,
        _ => Folder::list(Path::new("."))?,
    };
    let found: Vec<PathBuf> = folder
        .files()
        .filter(|name| is_match(pattern.as_bytes(), name.as_bytes()))
        .map(|name| path.with_file_name(name))
        .collect();
    if found.is_empty() { Err(Error::NoMatch { pattern: path.display().to_string() }) } else { Ok(found) }
}

/// Whether `name` is one of those that `pattern` stands for.
pub(super) fn is_match(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut in_name) = (0, 0);
    // The last `*`, and the part of the name that it stands for so far.
    let mut star = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(&byte) if byte == b'?' || byte == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => {
                let Some((star_at, taken)) = star else { return false };
                star = Some((star_at, taken + 1));
                at = star_at + 1;
                in_name = taken + 1;
            }
        }
    }
    pattern[at..].iter().all(|&byte| byte == b'*')
}
