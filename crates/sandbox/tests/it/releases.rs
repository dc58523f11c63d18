//! The provider of this release and of the previous one.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::provider::{self, Folders};

const FILE: &str = "libhortator_wsrep.so";

/// The library of this release.
pub fn newest() -> PathBuf {
    provider::build();
    let Folders { target, profile_folder } = provider::folders();
    target.join(profile_folder).join(FILE)
}

/// The library of the previous release: without the newest protocol version. A build of other features in the same folder
/// would replace this release's.
pub fn previous() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let target = provider::folders().target.join("previous-release");
        let packages = ["--package", "hortator-provider", "--lib", "--features", "previous-release"];
        provider::build_in(&target, &packages).join(FILE)
    })
}
