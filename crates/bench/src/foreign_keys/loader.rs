//! What loads the sample.

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use super::dumps::Dumps;
use crate::Error;
use crate::employees::ForeignKeys;
use crate::nodes::Nodes;

/// What loads the sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loader {
    /// The client, from the sample's files, which one script sources.
    ClientSource,
    /// The client, from one file as `mariadb-dump` writes it.
    ClientDump,
    /// `hortator load` from the sample's files.
    Load,
    /// The same with foreign keys deferred.
    Deferred,
}

impl Loader {
    /// Those of a schema: without foreign keys there is nothing to defer.
    #[must_use]
    pub fn of(keys: ForeignKeys) -> &'static [Self] {
        match keys {
            ForeignKeys::With => &[Self::ClientSource, Self::ClientDump, Self::Load, Self::Deferred],
            ForeignKeys::Without => &[Self::ClientSource, Self::ClientDump, Self::Load],
        }
    }

    /// What it does, for the report.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::ClientSource => {
                "mariadb < employees.sql on node 1, one connection; statements of 1 MB, all checks on."
            }
            Self::ClientDump => {
                "mariadb < FILE on node 1, with a file that mariadb-dump wrote of the same rows: it sets \
                 foreign_key_checks=0 and unique_checks=0."
            }
            Self::Load => "hortator load employees.sql; all checks on.",
            Self::Deferred => {
                "hortator load --foreign-keys=deferred employees.sql: rows load without checks, then every foreign key is \
                 validated, within the measured time."
            }
        }
    }

    /// Whether the server checks each row's foreign keys.
    pub(super) fn is_checked(self) -> bool {
        matches!(self, Self::ClientSource | Self::Load)
    }

    /// The command, to be run in the folder of the sample's files.
    pub(super) fn command(
        self,
        keys: ForeignKeys,
        dumps: &Dumps,
        nodes: &Nodes,
        hortator: &Path,
    ) -> Result<Command, Error> {
        let script = dumps.script(keys);
        let mut command = match self {
            Self::ClientSource => client(nodes, &script)?,
            Self::ClientDump => client(nodes, &dumps.dumped(keys))?,
            Self::Load | Self::Deferred => {
                let mut command = nodes.hortator(hortator);
                if self == Self::Deferred {
                    command.arg("--foreign-keys=deferred");
                }
                command.arg(script).stdin(Stdio::null());
                command
            }
        };
        command.current_dir(dumps.folder());
        Ok(command)
    }
}

fn client(nodes: &Nodes, input: &Path) -> Result<Command, Error> {
    let mut command = nodes.client();
    command.stdin(Stdio::from(File::open(input).map_err(Error::io(format!("opening {}", input.display())))?));
    Ok(command)
}

impl fmt::Display for Loader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ClientSource => "client, SOURCE files",
            Self::ClientDump => "client, mariadb-dump form",
            Self::Load => "hortator load",
            Self::Deferred => "hortator load, keys deferred",
        })
    }
}
