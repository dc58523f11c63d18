//! Finds Hortator's own wsrep provider and the program of its witness, and copies them into a sandbox.
//!
//! They are copies, because the servers' account often cannot reach the folder of a build, and because a build must not
//! change the library of a running server. Only this module reads HORTATOR_PROVIDER and HORTATOR_WITNESS.

use std::env;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::error::At;
use crate::replaced_file::replace;

/// Every account may read, load and run it.
const MODE: u32 = 0o755;

/// A file that a build makes and a sandbox copies.
pub(crate) struct Artifact {
    file: &'static str,
    /// The environment variable with its path.
    variable: &'static str,
    /// The folder of an installed one.
    installed: &'static str,
    package: &'static str,
}

/// The library that servers load.
pub(crate) const PROVIDER: Artifact = Artifact {
    file: "libhortator_wsrep.so",
    variable: "HORTATOR_PROVIDER",
    installed: "/usr/lib/hortator",
    package: "hortator-provider",
};

/// The program of a witness.
pub(crate) const WITNESS: Artifact = Artifact {
    file: "hortator-witness",
    variable: "HORTATOR_WITNESS",
    installed: "/usr/bin",
    package: "hortator-witness",
};

impl Artifact {
    /// The copy in a sandbox.
    pub(crate) fn copy_in(&self, folder: &Path) -> PathBuf {
        folder.join(self.file)
    }

    /// The one that the caller names, or that was built or installed with the running program.
    pub(crate) fn find(&self) -> Result<PathBuf, Error> {
        if let Some(named) = self.named()? {
            return Ok(named);
        }
        let program = env::current_exe().unwrap_or_default();
        let folders: Vec<PathBuf> = folders_of(&program).chain([PathBuf::from(self.installed)]).collect();
        folders.iter().map(|folder| folder.join(self.file)).find(|path| path.is_file()).ok_or_else(|| {
            let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
            Error::Invalid(format!(
                "{} is not in any of these folders: {}. {}",
                self.file,
                folders.join(", "),
                self.advice(&program)
            ))
        })
    }

    /// How to get one where this program runs: a build puts it beside the program only if the program was built there too.
    fn advice(&self, program: &Path) -> String {
        let Self { package, variable, file, .. } = self;
        let build = format!("cargo build{} -p {package}", profile_of(program));
        match is_of_a_build(program) {
            true => format!("Build it with `{build}`, or set {variable} to its path"),
            false => format!(
                "Install the package {package}; or build it with `{build}` in Hortator's repository, and set {variable} to the path \
                 of target/release/{file}"
            ),
        }
    }

    /// The one that the caller names, if any.
    pub(crate) fn named(&self) -> Result<Option<PathBuf>, Error> {
        match env::var_os(self.variable).filter(|name| !name.is_empty()).map(PathBuf::from) {
            Some(path) => {
                let found = path.canonicalize();
                found.map(Some).map_err(|error| {
                    Error::Invalid(format!("cannot find the file in {}, {}: {error}", self.variable, path.display()))
                })
            }
            None => Ok(None),
        }
    }

    /// Replaces the sandbox's copy by `source`. A running process keeps the one that it has loaded.
    pub(crate) fn copy(&self, source: &Path, folder: &Path) -> Result<(), Error> {
        replace(&self.copy_in(folder), MODE, |copy, _| {
            File::open(source).and_then(|mut source| io::copy(&mut source, copy)).map(drop).at("copy", source)
        })
    }
}

/// The folders of libraries for a program: beside the program. cargo runs tests in a folder below that.
fn folders_of(program: &Path) -> impl Iterator<Item = PathBuf> {
    let own = program.parent();
    let above = own.filter(|folder| folder.ends_with("deps")).and_then(Path::parent);
    own.into_iter().chain(above).map(Path::to_owned)
}

/// Whether cargo has built a program where it is, and not installed it elsewhere.
fn is_of_a_build(program: &Path) -> bool {
    folders_of(program).any(|folder| ["debug", "release"].iter().any(|profile| folder.ends_with(profile)))
}

/// The cargo option that builds the library in this folder: only a debug build uses an unoptimised library.
fn profile_of(program: &Path) -> &'static str {
    let is_debug = program.components().any(|folder| folder.as_os_str() == "debug");
    if is_debug { "" } else { " --release" }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

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

    /// `cargo install` moves the program, and a build of the library does not go there.
    #[test]
    fn an_installed_program_is_told_to_set_the_path() {
        let built = PROVIDER.advice(Path::new("/p/target/debug/deps/it-1f"));
        assert_eq!(built, "Build it with `cargo build -p hortator-provider`, or set HORTATOR_PROVIDER to its path");
        for program in ["/p/.cargo/bin/hortator", "/usr/bin/hortator"] {
            let installed = WITNESS.advice(Path::new(program));
            assert!(installed.starts_with("Install the package hortator-witness; or build it with "), "{installed}");
            let end = "set HORTATOR_WITNESS to the path of target/release/hortator-witness";
            assert!(installed.ends_with(end), "{installed}");
        }
    }

    #[test]
    fn a_copy_replaces_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let built = folder.path().join("built.so");
        for contents in ["one", "two"] {
            fs::write(&built, contents).unwrap();
            PROVIDER.copy(&built, folder.path()).unwrap();
            assert_eq!(fs::read_to_string(PROVIDER.copy_in(folder.path())).unwrap(), contents);
        }
        assert_eq!(fs::metadata(PROVIDER.copy_in(folder.path())).unwrap().permissions().mode() & 0o777, MODE);
    }
}
