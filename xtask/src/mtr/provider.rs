//! The two providers, and where their libraries are.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use cargo_metadata::MetadataCommand;

/// Names a library that is ours already built.
const VARIABLE: &str = "HORTATOR_PROVIDER";
/// Where Debian's package galera-4 puts Galera's.
const GALERA: &str = "/usr/lib/galera/libgalera_smm.so";

/// Whose library the servers load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Provider {
    Ours,
    Galera,
}

impl Provider {
    /// What tables call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Provider::Ours => "Hortator",
            Provider::Galera => "Galera",
        }
    }

    /// Its library. Ours is built when it is not the one that HORTATOR_PROVIDER names.
    pub(super) fn library(self, repository: &Path) -> anyhow::Result<PathBuf> {
        match (self, env::var_os(VARIABLE)) {
            (Provider::Galera, _) if Path::new(GALERA).is_file() => Ok(PathBuf::from(GALERA)),
            (Provider::Galera, _) => bail!("{GALERA} is missing; on Debian: apt-get install galera-4"),
            (Provider::Ours, Some(named)) => Ok(PathBuf::from(named)),
            (Provider::Ours, None) => built(repository),
        }
    }
}

fn built(repository: &Path) -> anyhow::Result<PathBuf> {
    let mut build = Command::new(env!("CARGO"));
    build.current_dir(repository).args(["build", "--locked", "--release", "--package", "hortator-provider"]);
    if !build.status().context("cannot run cargo")?.success() {
        bail!("the provider could not be built");
    }
    let metadata = MetadataCommand::new().current_dir(repository).no_deps().exec().context("asking cargo")?;
    Ok(metadata.target_directory.join("release/libhortator_wsrep.so").into_std_path_buf())
}
