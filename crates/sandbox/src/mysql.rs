//! A MySQL server in place of a MariaDB server: its programs, its data folder, its defaults.
//!
//! Debian 12 has no MySQL, and two servers cannot be installed side by side; so its programs are below a folder that
//! the caller names: that of one of MySQL's archives, or one that `scripts/mysql-server` has filled.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Error;
use crate::account::Account;
use crate::data_folder::argument;
use crate::error::At;
use crate::program::{Programs, version};

/// The sandbox's defaults for MariaDB with MySQL's names. The performance schema stays on: it is where MySQL reports
/// lock waits. The X plugin would need a port and a socket of its own, and Debian's folder for files does not exist
/// there.
pub(crate) const DEFAULTS: [&str; 8] = [
    "--innodb-buffer-pool-size=256M",
    "--innodb-redo-log-capacity=128M",
    "--character-set-server=utf8mb4",
    "--bind-address=127.0.0.1",
    "--skip-name-resolve",
    "--skip-log-bin",
    "--mysqlx=OFF",
    "--secure-file-priv=",
];

/// Finds the programs below `folder`.
pub(crate) fn programs(folder: Option<&Path>, account: Account) -> Result<Programs, Error> {
    const HOW: &str = "`scripts/mysql-server FOLDER` downloads one for Debian";
    let folder = folder.ok_or_else(|| {
        Error::Invalid(format!(
            "the folder of the MySQL server is missing: give the folder that has bin/mysqld with --mysql or HORTATOR_MYSQL; {HOW}"
        ))
    })?;
    let server = folder.join("bin/mysqld");
    if !server.is_file() {
        return Err(Error::Invalid(format!("bin/mysqld is not in {}; {HOW}", folder.display())));
    }
    let folder = folder.canonicalize().at("resolve", folder)?;
    account.check_reaches(&folder)?;
    let server = folder.join("bin/mysqld");
    Ok(Programs { version: version(&server)?, installer: server.clone(), server, mysql: Some(folder), base: None })
}

/// The command that creates the data folder of a fresh server, with a root account without password on `localhost`
/// only: a connection to 127.0.0.1 is not from localhost, because names are not looked up.
pub(crate) fn initialise(programs: &Programs, base: &Path, data: &Path) -> Command {
    let mut command = Command::new(&programs.installer);
    // A small redo log, because it is copied.
    command.args(["--no-defaults", "--initialize-insecure", "--innodb-redo-log-capacity=8M", "--skip-log-bin"]);
    command.arg(argument("--basedir=", base)).arg(argument("--datadir=", data));
    command
}

/// MySQL's own client, if it came with the server.
pub(crate) fn client(folder: &Path) -> Option<PathBuf> {
    Some(folder.join("bin/mysql")).filter(|client| client.is_file())
}
