//! What the user chooses for all experiments of this process: the server build, and whether to profile servers.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hortator_sandbox::{Builder, Topology};

use crate::Error;

/// The choices.
#[derive(Debug, Default)]
pub struct Options {
    /// The folder of another server build, with `bin/mariadbd` or `bin/mysqld`; None for the installed server.
    pub server: Option<PathBuf>,
    /// The folder for files of perf, which then records the servers in a run of each contender.
    pub profile: Option<PathBuf>,
}

/// Programs of MariaDB and MySQL that do the same.
const OF_MYSQL: [(&str, &str); 2] = [("mariadb", "mysql"), ("mariadb-dump", "mysqldump")];

static CHOSEN: OnceLock<Options> = OnceLock::new();

impl Options {
    /// Takes them for the rest of the process; before the first experiment.
    ///
    /// # Errors
    /// [`Error::Answer`] for a folder without a server.
    pub fn choose(self) -> Result<(), Error> {
        if let Some(folder) = &self.server
            && !["bin/mariadbd", "sbin/mariadbd", "usr/sbin/mariadbd", "usr/bin/mariadbd", "bin/mysqld"]
                .iter()
                .any(|place| folder.join(place).is_file())
        {
            return Err(Error::Answer(format!(
                "{} has no server: give a folder with bin/mariadbd or bin/mysqld; scripts/mysql-server FOLDER downloads a MySQL \
                 server for Debian",
                folder.display()
            )));
        }
        // The first choice stays: a process runs one experiment.
        let _chosen = CHOSEN.set(self);
        Ok(())
    }
}

/// The folder of another server build.
pub(crate) fn server_folder() -> Option<&'static Path> {
    CHOSEN.get()?.server.as_deref()
}

/// Servers of a topology with the build that the user has chosen.
pub(crate) fn builder(topology: Topology) -> Builder {
    let builder = Builder::new(topology);
    match server_folder() {
        Some(folder) => builder.server_in(folder),
        None => builder,
    }
}

/// Whether the other build is MySQL's.
pub(crate) fn is_mysql() -> bool {
    server_folder().is_some_and(|folder| folder.join("bin/mysqld").is_file() && !folder.join("bin/mariadbd").is_file())
}

/// A program that came with the server: MySQL's in the place of MariaDB's, if the other build has it.
pub(crate) fn own_program(name: &str) -> PathBuf {
    let of_mysql = OF_MYSQL.iter().find(|(of_mariadb, _)| *of_mariadb == name).map(|(_, of_mysql)| of_mysql);
    let found =
        of_mysql.zip(server_folder().filter(|_| is_mysql())).map(|(program, folder)| folder.join("bin").join(program));
    found.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(name))
}

/// Where perf writes; None if it does not record.
pub(crate) fn profile_folder() -> Option<&'static Path> {
    CHOSEN.get()?.profile.as_deref()
}
