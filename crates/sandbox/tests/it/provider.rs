//! The provider of the clusters under test.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Once;

use self::cargo::cargo;

#[path = "cargo.rs"]
mod cargo;

/// Builds the provider's library and the witness: `cargo test` puts neither where servers find it. With all libraries, which
/// are compiled already, with the same features, where the whole workspace is tested.
pub fn build() {
    static BUILT: Once = Once::new();
    BUILT.call_once(|| drop(build_in(&folders().target, &["--workspace", "--lib", "--bin", "hortator-witness"])));
}

/// Where cargo puts this program.
pub struct Folders {
    /// The target folder.
    pub target: PathBuf,
    /// The name of the profile's folder in it.
    pub profile_folder: String,
}

/// The folders of this program.
pub fn folders() -> Folders {
    let program = env::current_exe().unwrap();
    let [target, folder] = [3, 2].map(|above| program.ancestors().nth(above).unwrap());
    let profile_folder = folder.file_name().unwrap().to_str().unwrap().to_owned();
    Folders { target: target.to_owned(), profile_folder }
}

/// Builds packages in that target folder; returns the folder of their files.
pub fn build_in(target: &Path, packages: &[&str]) -> PathBuf {
    let Folders { profile_folder, .. } = folders();
    // The folder of the profile `dev` has another name.
    let profile = if profile_folder == "debug" { "dev" } else { &profile_folder };
    let mut build = cargo();
    build.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    build.args(["build", "--quiet", "--locked"]).args(packages);
    build.args(["--profile", profile, "--target-dir"]);
    assert!(build.arg(target).status().unwrap().success(), "{packages:?} could not be built");
    target.join(profile_folder)
}
