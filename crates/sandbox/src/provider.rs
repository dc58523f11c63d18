//! Finds Hortator's own wsrep provider, and copies it into a sandbox.
//!
//! It is a copy, because the servers' account often cannot reach the folder of a build, and because a build must not
//! change the library of a running server. Only this module reads HORTATOR_PROVIDER.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::error::At;

/// The environment variable with the library's path.
const VARIABLE: &str = "HORTATOR_PROVIDER";
const FILE: &str = "libhortator_wsrep.so";
/// The folder of an installed library.
const INSTALLED: &str = "/usr/lib/hortator";
/// Every account may read and load it.
const MODE: u32 = 0o755;

/// The library that a sandbox's servers load.
pub(crate) fn copy_in(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// The library that the caller names, or that was built or installed with the running program.
pub(crate) fn find() -> Result<PathBuf, Error> {
    if let Some(named) = named()? {
        return Ok(named);
    }
    let program = env::current_exe().unwrap_or_default();
    let folders: Vec<PathBuf> = folders_of(&program).chain([PathBuf::from(INSTALLED)]).collect();
    folders.iter().map(|folder| folder.join(FILE)).find(|path| path.is_file()).ok_or_else(|| {
        let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        Error::Invalid(format!(
            "{FILE} is not in any of these folders: {}. Build it with `cargo build{} -p hortator-provider`, or set {VARIABLE} to its path",
            folders.join(", "),
            profile_of(&program)
        ))
    })
}

/// The folders of libraries for a program: beside the program. cargo runs tests in a folder below that.
fn folders_of(program: &Path) -> impl Iterator<Item = PathBuf> {
    let own = program.parent();
    let above = own.filter(|folder| folder.ends_with("deps")).and_then(Path::parent);
    own.into_iter().chain(above).map(Path::to_owned)
}

/// The cargo option that builds the library in this folder: only a debug build uses an unoptimised library.
fn profile_of(program: &Path) -> &'static str {
    let is_debug = program.components().any(|folder| folder.as_os_str() == "debug");
    if is_debug { "" } else { " --release" }
}

/// The library that the caller names, if any.
pub(crate) fn named() -> Result<Option<PathBuf>, Error> {
    match env::var_os(VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from) {
        Some(path) => Ok(Some(path.canonicalize().at("find the file in HORTATOR_PROVIDER,", &path)?)),
        None => Ok(None),
    }
}

/// Replaces the sandbox's copy by `source`. A running server keeps the library that it has loaded.
pub(crate) fn copy(source: &Path, folder: &Path) -> Result<(), Error> {
    let new = folder.join(format!("{FILE}.new"));
    fs::copy(source, &new).at("copy", source)?;
    fs::set_permissions(&new, fs::Permissions::from_mode(MODE)).at("change the mode of", &new)?;
    fs::rename(&new, copy_in(folder)).at("write", &copy_in(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_provider_is_looked_for_where_builds_put_it() {
        let folders = |program: &str| folders_of(Path::new(program)).collect::<Vec<_>>();
        assert_eq!(folders("/p/target/debug/hortator"), [Path::new("/p/target/debug")]);
        assert_eq!(folders("/p/target/debug/deps/it-1f"), ["/p/target/debug/deps", "/p/target/debug"].map(Path::new));
    }

    #[test]
    fn the_advice_names_the_profile_of_the_program() {
        assert_eq!(profile_of(Path::new("/p/target/debug/deps/it-1f")), "");
        for program in ["/p/target/release/hortator", "/usr/bin/hortator"] {
            assert_eq!(profile_of(Path::new(program)), " --release");
        }
    }

    #[test]
    fn a_copy_replaces_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let built = folder.path().join("built.so");
        for contents in ["one", "two"] {
            fs::write(&built, contents).unwrap();
            copy(&built, folder.path()).unwrap();
            assert_eq!(fs::read_to_string(copy_in(folder.path())).unwrap(), contents);
        }
        assert_eq!(fs::metadata(copy_in(folder.path())).unwrap().permissions().mode() & 0o777, MODE);
    }
}
