//! The contenders that load into a cluster.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::Error;
use crate::employees::{Dump, ENTRY};
use crate::nodes::Nodes;
use crate::server::Server;

/// A way of loading the rows into all nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// The server's own client, on the first node: the baseline.
    Client,
    /// `hortator load` with the checks of the dump.
    AsWritten,
    /// `hortator load` that validates foreign keys at the end.
    Deferred,
    /// The same with unique keys validated at the end too: bulk mode where a table is empty.
    Bulk,
    /// As [`Contender::Deferred`], into a single server.
    Single,
}

impl Contender {
    /// All contenders, the baseline first.
    pub const ALL: [Self; 5] = [Self::Client, Self::AsWritten, Self::Deferred, Self::Bulk, Self::Single];

    /// The heading of its line.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Client => "mariadb client",
            Self::AsWritten => "hortator load",
            Self::Deferred => "hortator load, keys deferred",
            Self::Bulk => "hortator load, all deferred",
            Self::Single => "hortator load, single server",
        }
    }

    /// The command and its rules, for the report.
    #[must_use]
    pub fn rules(self) -> &'static str {
        match self {
            Self::Client => "`mariadb < employees.sql` on node 1; foreign key and unique checks on",
            Self::AsWritten => "`hortator load --nodes … employees.sql`; foreign key and unique checks on",
            Self::Deferred => "`--foreign-keys=deferred`: loaded unchecked, then every foreign key is validated",
            Self::Bulk => {
                "`--foreign-keys=deferred --unique-checks=deferred`: the same for unique keys, except the first statement of each table"
            }
            Self::Single => {
                "`--foreign-keys=deferred` into one server of the same settings: the minimum work of one node"
            }
        }
    }

    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Client | Self::AsWritten => &[],
            Self::Deferred | Self::Single => &["--foreign-keys=deferred"],
            Self::Bulk => &["--foreign-keys=deferred", "--unique-checks=deferred"],
        }
    }

    pub(super) fn command(
        self,
        hortator: &Path,
        threads: Option<usize>,
        cluster: &Nodes,
        single: &Server,
        dump: &Dump,
    ) -> Result<Command, Error> {
        if self == Self::Client {
            let mut command = cluster.client();
            command.stdin(Stdio::from(dump.open()?));
            return Ok(command);
        }
        let mut command = match self {
            Self::Single => single.client(hortator, &["load"]),
            _ => cluster.hortator(hortator),
        };
        if let Some(threads) = threads {
            command.arg("--threads").arg(threads.to_string());
        }
        command.args(self.options()).arg(ENTRY).stdin(Stdio::null());
        Ok(command)
    }
}
