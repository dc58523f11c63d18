//! Which servers and whose client these tests run with: MariaDB's, or MySQL's where `cargo xtask mysql` says so.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use hortator_sandbox::Builder;

use crate::servers::SETTINGS;

/// The folder of MySQL's programs, set by `cargo xtask mysql`.
const VARIABLE: &str = "HORTATOR_TEST_MYSQL";

/// The setting of [`SETTINGS`] that MySQL does not know.
const OF_MARIADB: &str = "debug_no_sync";

/// The folder of MySQL's programs, where the tests are held against MySQL.
pub fn mysql() -> Option<PathBuf> {
    env::var_os(VARIABLE).map(PathBuf::from)
}

/// A server with nothing set.
pub fn plain_server() -> Builder {
    mysql().map_or_else(Builder::standalone, Builder::mysql)
}

/// A server that spends no time on the disk.
pub fn server() -> Builder {
    let known = SETTINGS.iter().filter(|(name, _)| mysql().is_none() || *name != OF_MARIADB);
    known.fold(plain_server(), |builder, (name, value)| builder.set(*name, *value))
}

/// The client that the tests hold Hortator against.
pub fn client() -> Command {
    program("mariadb", "mysql")
}

/// What writes dumps.
pub fn dumper() -> Command {
    program("mariadb-dump", "mysqldump")
}

fn program(of_mariadb: &str, of_mysql: &str) -> Command {
    match mysql() {
        Some(folder) => Command::new(folder.join("bin").join(of_mysql)),
        None => Command::new(of_mariadb),
    }
}
