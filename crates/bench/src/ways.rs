//! The ways of loading that are compared, and what each needs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use crate::employees::{Dump, ENTRY, SCHEMA};
use crate::measure::{self, Usage};
use crate::server::Server;
use crate::{Error, server_copy};

/// Threads that myloader is given: what suits it best on few cores.
const MYLOADER_THREADS: &str = "4";
/// Rows after which mydumper starts a new file; in one file, the big table would be one thread's.
const MYDUMPER_FILE_ROWS: &str = "250000";

/// A way of getting the rows in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The server's own client, given the dump: what everything is compared with.
    Client,
    /// `hortator load`, given the dump.
    Hortator,
    /// The same with foreign keys deferred, their proof included.
    Deferred,
    /// The server's own copy: the floor.
    ServerCopy,
    /// mydumper's loader, given mydumper's directory of the same rows.
    Myloader,
}

impl Way {
    /// All of them, the one that others are compared with first.
    pub const ALL: [Self; 5] = [Self::Client, Self::Hortator, Self::Deferred, Self::ServerCopy, Self::Myloader];

    /// A line's heading.
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

    /// What is run, and under which rules, for the report.
    #[must_use]
    pub fn rules(self) -> &'static str {
        match self {
            Self::Client => "`mariadb < employees.sql`; foreign key and unique checks on",
            Self::Hortator => "`hortator load employees.sql`; foreign key and unique checks on",
            Self::Deferred => {
                "`hortator load --foreign-keys=deferred employees.sql`; rows go in unchecked, and every foreign key is \
                 proven at the end, within the time; unique checks on"
            }
            Self::ServerCopy => {
                "INSERT … SELECT from a loaded schema on the same server over 2 connections, tables only; checks on: \
                 the floor, nothing is read or sent"
            }
            Self::Myloader => {
                "4 threads on mydumper's own directory of the same rows, made beforehand; by its own rules, which \
                 switch foreign key and unique checks off and create keys with the tables"
            }
        }
    }
}

/// What the ways run on.
#[derive(Debug)]
pub struct Course<'a> {
    /// The dump.
    pub dump: &'a Dump,
    /// This program.
    pub hortator: &'a Path,
    /// Connections of `hortator load`; its own choice when absent.
    pub threads: Option<usize>,
    /// Where logs and mydumper's directory go.
    pub work: &'a Path,
    /// Raised when the experiment is to end.
    pub stop: &'a AtomicBool,
}

impl Course<'_> {
    /// Loads the rows into `server`, which has no schema of the dump's name. No usage for the server's own copy: there
    /// is no program but the server.
    ///
    /// # Errors
    /// [`Error::Failed`] when the program fails, [`Error::Server`] when the copy does, [`Error::Interrupted`].
    pub fn run(&self, way: Way, server: &Server) -> Result<Option<Usage>, Error> {
        let mut command = match way {
            Way::ServerCopy => return server_copy::run(server).map(|()| None),
            Way::Client => server_client(self.dump, server)?,
            Way::Hortator => self.hortator(server, &[]),
            Way::Deferred => self.hortator(server, &["--foreign-keys=deferred"]),
            Way::Myloader => self.myloader(server),
        };
        command.current_dir(&self.dump.folder);
        measure::run(&mut command, &self.log(way.title()), self.stop).map(Some)
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

    /// Makes mydumper's directory of the schema that has just been loaded.
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

    /// Removes mydumper's directory; the dump stays for the next time.
    ///
    /// # Errors
    /// [`Error::Io`] when it can't be removed.
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

/// The server's own client that loads the dump, to be run in the dump's folder.
fn server_client(dump: &Dump, server: &Server) -> Result<Command, Error> {
    let mut command = server.client("mariadb", &[]);
    command.stdin(Stdio::from(dump.open()?));
    Ok(command)
}

/// The first line of what `program --version` says; none when it is not installed.
#[must_use]
pub fn version(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output().ok()?;
    let said = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    String::from_utf8_lossy(&said).lines().next().map(str::to_owned)
}
