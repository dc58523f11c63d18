//! The installed programs of a sandbox.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::account::Account;
use crate::error::At;
use crate::{Error, Topology, mysql};

/// Debian keeps servers in sbin, which may be missing in an ordinary user's PATH.
const SYSTEM_FOLDERS: [&str; 5] = ["/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin"];
/// The paths of the provider in Debian's galera-4 and MariaDB's own packages.
const PROVIDERS: [&str; 4] = [
    "/usr/lib/galera/libgalera_smm.so",
    "/usr/lib64/galera-4/libgalera_smm.so",
    "/usr/lib64/galera/libgalera_smm.so",
    "/usr/local/lib/galera/libgalera_smm.so",
];
/// The programs that the state transfer script needs besides the server.
const STATE_TRANSFER_PROGRAMS: [(&str, &str); 2] = [("rsync", "rsync"), ("wsrep_sst_rsync", "mariadb-server")];

/// The server and its programs.
#[derive(Debug, Clone)]
pub(crate) struct Programs {
    pub(crate) server: PathBuf,
    /// The program that creates a data folder: MySQL's server does so itself.
    pub(crate) installer: PathBuf,
    /// The server's version with its packaging suffix, such as `10.11.6-MariaDB-0+deb12u1`.
    pub(crate) version: String,
    /// The folder of the programs, if they are MySQL's.
    pub(crate) mysql: Option<PathBuf>,
    /// The folder of another MariaDB build than the system's.
    pub(crate) base: Option<PathBuf>,
}

/// Where MariaDB's archives and unpacked packages have the server, and what creates a data folder.
const SERVERS: [&str; 4] = ["bin/mariadbd", "sbin/mariadbd", "usr/sbin/mariadbd", "usr/bin/mariadbd"];
const INSTALLERS: [&str; 3] = ["scripts/mariadb-install-db", "bin/mariadb-install-db", "usr/bin/mariadb-install-db"];

impl Programs {
    /// Finds the programs of a topology: MySQL's below the folder, MariaDB's there or, without a folder, among the system's.
    /// `account` must be able to run them.
    pub(crate) fn of(topology: Topology, folder: Option<&Path>, account: Account) -> Result<Programs, Error> {
        match topology {
            Topology::Mysql => mysql::programs(folder, account),
            Topology::Standalone
            | Topology::Galera(_)
            | Topology::Cluster(_)
            | Topology::Semisync
            | Topology::Ring
            | Topology::FanIn(_) => match folder {
                Some(folder) => Self::below(folder, account),
                None => {
                    let server = program("mariadbd", "mariadb-server")?;
                    let installer = program("mariadb-install-db", "mariadb-server")?;
                    Ok(Programs { version: version(&server)?, server, installer, mysql: None, base: None })
                }
            },
        }
    }

    /// Another MariaDB build.
    fn below(folder: &Path, account: Account) -> Result<Programs, Error> {
        let find = |places: &[&str]| {
            places.iter().map(|place| folder.join(place)).find(|path| path.is_file()).ok_or_else(|| {
                let (name, places) = (places[0].rsplit('/').next().unwrap_or_default(), places.join(", "));
                let folder = folder.display();
                Error::Invalid(format!("{name} is not in {folder}: give a folder that has one of {places}"))
            })
        };
        let (server, installer) = (find(&SERVERS)?, find(&INSTALLERS)?);
        // Its messages and plugins are relative to the folder above its own.
        let base = server.parent().and_then(Path::parent).unwrap_or(folder);
        let base = base.canonicalize().at("resolve", base)?;
        account.check_reaches(&base)?;
        Ok(Programs { version: version(&server)?, server, installer, mysql: None, base: Some(base) })
    }

    /// Whether a folder has a MariaDB server.
    pub(crate) fn are_in(folder: &Path) -> bool {
        SERVERS.iter().any(|place| folder.join(place).is_file())
    }

    /// The folder that the caller has named.
    pub(crate) fn folder(&self) -> Option<&PathBuf> {
        self.mysql.as_ref().or(self.base.as_ref())
    }

    /// Checks that a state transfer can run.
    pub(crate) fn check_state_transfer() -> Result<(), Error> {
        STATE_TRANSFER_PROGRAMS.iter().try_for_each(|(name, packages)| program(name, packages).map(drop))
    }

    /// Finds the Galera provider, and checks that a state transfer can run.
    pub(crate) fn provider() -> Result<&'static Path, Error> {
        Self::check_state_transfer()?;
        PROVIDERS.iter().map(Path::new).find(|path| path.is_file()).ok_or_else(|| Error::Missing {
            program: "the Galera provider libgalera_smm.so".to_owned(),
            packages: "galera-4",
        })
    }
}

/// Returns the version of a server's program.
pub(crate) fn version(server: &Path) -> Result<String, Error> {
    let output = Command::new(server).args(["--no-defaults", "--version"]).output().at("run", server)?;
    version_of(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| Error::Invalid(format!("`{} --version` does not print a version", server.display())))
}

/// The PATH of servers: the caller's, then the system's own folders.
pub(crate) fn search_path() -> OsString {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(SYSTEM_FOLDERS.iter().map(PathBuf::from));
    env::join_paths(folders).unwrap_or(path)
}

fn program(name: &str, packages: &'static str) -> Result<PathBuf, Error> {
    env::split_paths(&search_path())
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
        .ok_or_else(|| Error::Missing { program: name.to_owned(), packages })
}

/// `mariadbd  Ver 10.11.6-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)`
fn version_of(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    words.find(|word| *word == "Ver")?;
    words.next().filter(|version| version.starts_with(|c: char| c.is_ascii_digit())).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_follows_ver() {
        let line = "mariadbd  Ver 10.11.6-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)\n";
        assert_eq!(version_of(line).as_deref(), Some("10.11.6-MariaDB-0+deb12u1"));
        assert_eq!(version_of("mariadbd: unknown"), None);
    }

    #[test]
    fn a_missing_program_names_its_package() {
        let error = program("no-such-server", "mariadb-server").unwrap_err();
        assert_eq!(error.to_string(), "no-such-server is not installed; on Debian: apt-get install mariadb-server");
    }
}
