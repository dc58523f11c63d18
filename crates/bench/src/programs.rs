//! Programs that an experiment runs and does not install.

use std::process::{Command, Stdio};

use crate::{Error, options};

/// The first line of `program --version`; None when the program is not installed.
#[must_use]
pub(crate) fn version(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output().ok()?;
    let output = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    String::from_utf8_lossy(&output).lines().next().map(str::to_owned)
}

/// The version of the client of the measured server.
pub(crate) fn client_version() -> Option<String> {
    options::own_program("mariadb").to_str().and_then(version)
}

/// Whether the client is there, with which all others are compared.
pub(crate) fn check_client() -> Result<(), Error> {
    match client_version() {
        Some(_) => Ok(()),
        None => Err(Error::Missing { program: "mariadb", remedy: "on Debian: apt-get install mariadb-client" }),
    }
}
