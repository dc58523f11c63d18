//! The programs and methods of loading.

use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::Experiment;
use crate::employees::{Dump, ENTRY, SCHEMA};
use crate::measure::{self, Usage};
use crate::nodes::Nodes;
use crate::{Error, server_copy};

/// Threads of myloader: the best number on few cores.
const MYLOADER_THREADS: &str = "4";
/// Rows after which mydumper starts a new file; with one file, one thread would load the whole big table.
const MYDUMPER_FILE_ROWS: &str = "250000";

/// A way of loading the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// The server's own client with the dump: the baseline.
    Client,
    /// `hortator load` with the dump.
    Load,
    /// `hortator load` with foreign keys deferred, including their validation.
    Deferred,
    /// `hortator load` with foreign and unique keys deferred.
    Bulk,
    /// The server's own copy: the lower bound.
    ServerCopy,
    /// mydumper's loader with mydumper's directory of the same rows.
    Myloader,
    /// `hortator load` into one server of the same settings: the work of one node.
    Single,
}

impl Contender {
    /// Those for one server, the baseline first.
    pub const ON_SERVER: [Self; 5] = [Self::Client, Self::Load, Self::Deferred, Self::ServerCopy, Self::Myloader];
    /// Those for a cluster.
    pub const ON_CLUSTER: [Self; 5] = [Self::Client, Self::Load, Self::Deferred, Self::Bulk, Self::Single];

    /// The command and its rules, for the report.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Client => "mariadb < employees.sql on the first node; foreign key and unique checks on.",
            Self::Load => "hortator load employees.sql; foreign key and unique checks on.",
            Self::Deferred => {
                "hortator load --foreign-keys=deferred employees.sql: rows load without checks, then every foreign key is \
                 validated, within the measured time; unique checks on."
            }
            Self::Bulk => {
                "--foreign-keys=deferred --unique-checks=deferred: the same for unique keys, except the first statement of \
                 each table."
            }
            Self::ServerCopy => {
                "INSERT … SELECT from a loaded schema on the same server over 2 connections, tables only; checks on: the lower \
                 bound, without reading or sending rows."
            }
            Self::Myloader => {
                "4 threads on mydumper's own directory of the same rows, created in advance; with its own rules, which switch \
                 foreign key and unique checks off and create keys with the tables."
            }
            Self::Single => {
                "hortator load --foreign-keys=deferred into one server of the same settings: the least work of one node."
            }
        }
    }

    /// Whether it makes only the tables, and not the views.
    pub(super) fn is_of_tables(self) -> bool {
        matches!(self, Self::ServerCopy | Self::Myloader)
    }

    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Deferred | Self::Single => &["--foreign-keys=deferred"],
            Self::Bulk => &["--foreign-keys=deferred", "--unique-checks=deferred"],
            Self::Client | Self::Load | Self::ServerCopy | Self::Myloader => &[],
        }
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Client => "mariadb client",
            Self::Load => "hortator load",
            Self::Deferred => "hortator load, keys deferred",
            Self::Bulk => "hortator load, unique keys too",
            Self::ServerCopy => "server's own copy",
            Self::Myloader => "myloader",
            Self::Single => "hortator load, single server",
        })
    }
}

impl Experiment {
    /// Loads the rows into servers without the dump's schema. Returns no usage for the server's own copy: no program runs but
    /// the server.
    pub(super) fn load(&self, contender: Contender, dump: &Dump, nodes: &Nodes) -> Result<Option<Usage>, Error> {
        let mut command = match contender {
            Contender::ServerCopy => return server_copy::run(nodes).map(|()| None),
            Contender::Client => {
                let mut command = nodes.client();
                command.stdin(Stdio::from(dump.open()?));
                command
            }
            Contender::Myloader => {
                let mut command = Command::new("myloader");
                command.arg("--socket").arg(nodes.socket()).args(["--user", "root", "--database", SCHEMA]);
                command.args(["--threads", MYLOADER_THREADS]).arg("--directory").arg(self.mydumper_folder());
                command.stdin(Stdio::null());
                command
            }
            Contender::Load | Contender::Deferred | Contender::Bulk | Contender::Single => {
                let mut command = nodes.hortator(&self.hortator);
                command.args(contender.options());
                if let Some(threads) = self.threads {
                    command.arg("--threads").arg(threads.to_string());
                }
                command.arg(ENTRY);
                command
            }
        };
        command.current_dir(&dump.folder);
        measure::run(&mut command, &self.log(&contender.to_string()), &self.extent.stop).map(Some)
    }

    /// Creates mydumper's directory from the schema that has just been loaded.
    pub(super) fn dump_for_myloader(&self, nodes: &Nodes) -> Result<(), Error> {
        self.remove_mydumper_folder()?;
        let mut command = Command::new("mydumper");
        command.arg("--socket").arg(nodes.socket()).args(["--user", "root", "--database", SCHEMA]);
        command.args(["--threads", "2", "--rows", MYDUMPER_FILE_ROWS]).arg("--outputdir").arg(self.mydumper_folder());
        command.stdin(Stdio::null());
        measure::run(&mut command, &self.log("mydumper"), &self.extent.stop).map(drop)
    }

    pub(super) fn remove_mydumper_folder(&self) -> Result<(), Error> {
        let folder = self.mydumper_folder();
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(Error::io(format!("removing {}", folder.display())))?;
        }
        Ok(())
    }

    fn mydumper_folder(&self) -> PathBuf {
        self.extent.folder.join("mydumper")
    }

    fn log(&self, title: &str) -> PathBuf {
        self.extent.folder.join(format!("{}.log", title.replace([' ', ',', '\''], "-")))
    }
}
