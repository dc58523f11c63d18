//! Replaces a file as a whole: a reader, and a run that ends meanwhile, sees the old one or the new one.
//!
//! Each call has a draft of its own, because nodes of one sandbox may be started at the same time, also by two programs.

use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::Error;
use crate::error::At;

/// Writes `path` with what `fill` writes into a new file of this mode.
pub(crate) fn replace<F>(path: &Path, mode: u32, fill: F) -> Result<(), Error>
where
    F: FnOnce(&mut File, &Path) -> Result<(), Error>,
{
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default();
    let mut draft = tempfile::Builder::new().prefix(name).suffix(".new").tempfile_in(folder).at("write", path)?;
    let draft_path = draft.path().to_owned();
    fill(draft.as_file_mut(), &draft_path)?;
    draft.as_file().set_permissions(Permissions::from_mode(mode)).at("change the mode of", &draft_path)?;
    draft.persist(path).map(drop).map_err(|failed| failed.error).at("write", path)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    /// Two nodes that start at the same moment copied the provider by the same draft.
    #[test]
    fn a_file_may_be_replaced_by_many_at_once() {
        const WRITERS: usize = 4;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("library.so");
        let all = Barrier::new(WRITERS);
        let text = vec![7; 100_000];
        thread::scope(|scope| {
            for _ in 0..WRITERS {
                scope.spawn(|| {
                    for _ in 0..50 {
                        all.wait();
                        replace(&path, 0o755, |file, draft| file.write_all(&text).at("write", draft)).unwrap();
                        assert_eq!(fs::read(&path).unwrap(), text);
                    }
                });
            }
        });
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
    }
}
