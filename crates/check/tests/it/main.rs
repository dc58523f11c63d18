//! Comparisons on real servers.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic as the tests do")]

mod compare;
mod compare_snapshot;
mod compare_values;
mod constraints;
mod pair;
mod state;
mod state_rows;

use hortator_mysql::Connection;
use hortator_sandbox::{Builder, Temporary};

fn server() -> Temporary {
    Builder::standalone().start_temporary().unwrap()
}

fn connect(server: &Temporary) -> Connection {
    server.node(0).connect().unwrap()
}

fn run(connection: &mut Connection, statements: &[&str]) {
    for statement in statements {
        connection.execute(statement.as_bytes()).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
}
