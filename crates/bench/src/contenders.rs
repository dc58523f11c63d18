//! The contenders: the programs and methods of loading, and their inputs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use crate::employees::{Dump, ENTRY, SCHEMA};
use crate::measure::{self, Usage};
use crate::server::Server;
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
    Hortator,
    /// `hortator load` with foreign keys deferred, including their validation.
    Deferred,
    /// The server's own copy: the lower bound.
    ServerCopy,
    /// mydumper's loader with mydumper's directory of the same rows.
    Myloader,
}

impl Contender {
    /// All contenders, the baseline first.
    pub const ALL: [Self; 5] = [Self::Client, Self::Hortator, Self::Deferred, Self::ServerCopy, Self::Myloader];

    /// The heading of its line.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Client => "mariadb client",
            Self::Hortator => "hortator load",
            Self::Deferred => "hortator load, deferred",
            Self::ServerCopy => "server's own copy",
            Self::Myloader => "myloader",
        }
    }

    /// The command and its rules, for the report.
    #[must_use]
    pub fn rules(self) -> &'static str {
        match self {
            Self::Client => "`mariadb < employees.sql`; foreign key and unique checks on",
            Self::Hortator => "`hortator load employees.sql`; foreign key and unique checks on",
            Self::Deferred => {
                "`hortator load --foreign-keys=deferred employees.sql`; rows are loaded unchecked, and every foreign key is \
                 validated at the end, within the measured time; unique checks on"
            }
            Self::ServerCopy => {
                "INSERT … SELECT from a loaded schema on the same server over 2 connections, tables only; checks on: \
                 the lower bound, without reading or sending rows"
            }
            Self::Myloader => {
                "4 threads on mydumper's own directory of the same rows, created in advance; with its own rules, which \
                 switch foreign key and unique checks off and create keys with the tables"
            }
        }
    }
}

/// The input of a run.
#[derive(Debug)]
pub struct RunContext<'a> {
    /// The dump.
    pub dump: &'a Dump,
    /// This program.
    pub hortator: &'a Path,
    /// Connections of `hortator load`; None for its default.
    pub threads: Option<usize>,
    /// The folder for logs and mydumper's directory.
    pub work: &'a Path,
    /// Set to end the experiment.
    pub stop: &'a AtomicBool,
}

impl RunContext<'_> {
    /// Loads the rows into `server`, which has no schema of the dump's name. Returns no usage for the server's own
    /// copy: no program runs but the server.
    ///
    /// # Errors
    /// [`Error::Failed`] when the program fails, [`Error::Server`] when the copy fails, [`Error::Interrupted`].
    pub fn run(&self, contender: Contender, server: &Server) -> Result<Option<Usage>, Error> {
        let mut command = match contender {
            Contender::ServerCopy => return server_copy::run(server).map(|()| None),
            Contender::Client => server_client(self.dump, server)?,
            Contender::Hortator => self.hortator(server, &[]),
            Contender::Deferred => self.hortator(server, &["--foreign-keys=deferred"]),
            Contender::Myloader => self.myloader(server),
        };
        command.current_dir(&self.dump.folder);
        measure::run(&mut command, &self.log(contender.title()), self.stop).map(Some)
    }

    fn hortator(&self, server: &Server, more: &[&str]) -> Command {
        let mut command = server.client(self.hortator, &["load"]);
        command.args(more);
        if let Some(threads) = self.threads {
            command.arg("--threads").arg(threads.to_string());
        }
        command.arg(ENTRY).stdin(Stdio::null());
        command
    }

    fn myloader(&self, server: &Server) -> Command {
        let mut command = Command::new("myloader");
        command.arg("--socket").arg(server.socket()).args(["--user", "root", "--database", SCHEMA]);
        command.args(["--threads", MYLOADER_THREADS]).arg("--directory").arg(self.mydumper_folder());
        command.stdin(Stdio::null());
        command
    }

    /// Creates mydumper's directory from the schema that has just been loaded.
    ///
    /// # Errors
    /// [`Error::Failed`] when mydumper fails, [`Error::Interrupted`].
    pub fn dump_for_myloader(&self, server: &Server) -> Result<(), Error> {
        self.clean_up()?;
        let folder = self.mydumper_folder();
        let mut command = Command::new("mydumper");
        command.arg("--socket").arg(server.socket()).args(["--user", "root", "--database", SCHEMA]);
        command.args(["--threads", "2", "--rows", MYDUMPER_FILE_ROWS]).arg("--outputdir").arg(&folder);
        command.stdin(Stdio::null());
        measure::run(&mut command, &self.log("mydumper"), self.stop).map(drop)
    }

    /// Removes mydumper's directory; keeps the dump for the next experiment.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be removed.
    pub fn clean_up(&self) -> Result<(), Error> {
        let folder = self.mydumper_folder();
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(Error::io(format!("removing {}", folder.display())))?;
        }
        Ok(())
    }

    fn mydumper_folder(&self) -> PathBuf {
        self.work.join("mydumper")
    }

    fn log(&self, title: &str) -> PathBuf {
        self.work.join(format!("{}.log", title.replace([' ', ',', '\''], "-")))
    }
}

/// The server's own client with the dump as input, to be run in the dump's folder.
fn server_client(dump: &Dump, server: &Server) -> Result<Command, Error> {
    let mut command = server.client("mariadb", &[]);
    command.stdin(Stdio::from(dump.open()?));
    Ok(command)
}

/// The first line of `program --version`; None when the program is not installed.
#[must_use]
pub fn version(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output().ok()?;
    let output = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    String::from_utf8_lossy(&output).lines().next().map(str::to_owned)
}
