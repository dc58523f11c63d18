//! The provider as the tests load it: built from what is here now.

use std::env;
use std::path::Path;
use std::process::Command;
use std::sync::Once;

/// `cargo test` builds the provider only when the tests are of the whole workspace, and then maybe an old one stays.
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
