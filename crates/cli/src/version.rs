//! What `hortator --version` prints: version, commit, and what this build can read and connect to.

use std::env::consts::{ARCH, OS};
use std::sync::LazyLock;

use hortator_load::input::Format;

/// The text behind the program's name.
pub static LONG: LazyLock<String> = LazyLock::new(|| {
    let formats: Vec<String> = Format::ALL.iter().map(ToString::to_string).collect();
    let [version, commit] = [env!("CARGO_PKG_VERSION"), env!("HORTATOR_COMMIT")];
    let formats = formats.join(", ");
    format!("{version}\ncommit: {commit}\ndumps: {formats}\nTLS: rustls\nplatform: {ARCH} {OS}")
});
