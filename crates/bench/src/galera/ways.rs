//! The ways of loading into a cluster that are compared.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::Error;
use crate::employees::{Dump, ENTRY};
use crate::nodes::Nodes;
use crate::server::Server;

/// A way of getting the rows into all nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The server's own client, on the first node: what everything is compared with.
    Client,
    /// `hortator load`, checks as the dump has them.
    AsWritten,
    /// `hortator load`, foreign keys proven at the end.
    Deferred,
    /// The same with unique keys proven at the end too: bulk mode where a table is empty.
    Bulk,
    /// The way of [`Way::Deferred`] into a single server.
    Single,
}

impl Way {
    /// All of them, the one that others are compared with first.
    pub const ALL: [Self; 5] = [Self::Client, Self::AsWritten, Self::Deferred, Self::Bulk, Self::Single];

    /// A line's heading.
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

    /// What is run, and under which rules, for the report.
    #[must_use]
    pub fn rules(self) -> &'static str {
        match self {
            Self::Client => "`mariadb < employees.sql` on node 1; foreign key and unique checks on",
            Self::AsWritten => "`hortator load --nodes … employees.sql`; foreign key and unique checks on",
            Self::Deferred => "`--foreign-keys=deferred`: loaded unchecked, then every foreign key is proven",
            Self::Bulk => {
                "`--foreign-keys=deferred --unique-checks=deferred`: the same for unique keys, but for each table's first statement"
            }
            Self::Single => {
                "`--foreign-keys=deferred` into one server of the same settings: what one node has to do at least"
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
