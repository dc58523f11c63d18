//! The bench against real servers.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic as the tests do")]

#[path = "../../../sandbox/tests/it/provider.rs"]
mod build_provider;
mod csv;
mod employees;
mod loads;
mod provider;
mod shapes;

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use hortator_mysql::Connection;
use hortator_sandbox::{Builder, Temporary};

fn server() -> Temporary {
    Builder::standalone().start_temporary().unwrap()
}

fn connect(server: &Temporary) -> Connection {
    server.node(0).connect().unwrap()
}

/// Runs a script with the server's own client, in the script's folder.
fn client(server: &Temporary, script: &Path) {
    let mut command = Command::new("mariadb");
    command.args(["--no-defaults", "-u", "root", "-S"]).arg(server.node(0).socket());
    command.stdin(File::open(script).unwrap()).stdout(Stdio::null()).current_dir(script.parent().unwrap());
    assert!(command.status().unwrap().success());
}

/// Whether a program is in the PATH.
fn executable(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}
