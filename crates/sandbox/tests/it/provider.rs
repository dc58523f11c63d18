//! The provider that the tests load, built from the current sources.

use std::env;
use std::path::Path;
use std::process::Command;
use std::sync::Once;

/// `cargo test` builds the provider only for tests of the whole workspace; otherwise an old build may remain.
pub fn build() {
    static BUILT: Once = Once::new();
    BUILT.call_once(|| {
        let program = env::current_exe().unwrap();
        let [target, profile] = [3, 2].map(|above| program.ancestors().nth(above).unwrap());
        // The folder of the profile `dev` has another name.
        let profile = profile.file_name().unwrap().to_str().unwrap();
        let profile = if profile == "debug" { "dev" } else { profile };
        let mut build = Command::new(env!("CARGO"));
        build.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        build.args(["build", "--quiet", "--locked", "--package", "hortator-provider"]);
        build.args(["--profile", profile, "--target-dir"]);
        assert!(build.arg(target).status().unwrap().success(), "the provider could not be built");
    });
}
