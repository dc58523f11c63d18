//! Cargo from within a test, or a program that cargo runs, as from a shell.

use std::env;
use std::process::Command;

/// Cargo without the variables that it sets for the package under test. Build scripts that read one (that of ring reads
/// `CARGO_MANIFEST_DIR`) would run anew for each package whose tests build something, and all that depends on them would be
/// compiled anew.
pub fn cargo() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    let is_of_a_package = |name: &str| {
        let exact =
            ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_MANIFEST_LINKS", "CARGO_PRIMARY_PACKAGE", "OUT_DIR"];
        exact.contains(&name)
            || ["CARGO_PKG_", "CARGO_BIN_", "CARGO_CRATE_"].iter().any(|start| name.starts_with(start))
    };
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(is_of_a_package) {
            cargo.env_remove(name);
        }
    }
    cargo
}
