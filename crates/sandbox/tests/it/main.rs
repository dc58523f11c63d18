//! Sandboxes of real servers, from their start to their end.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod galera;
mod semisync;
mod standalone;

use hortator_sandbox::Node;

/// The values of a statement's rows as text; NULL as `NULL`.
fn ask(node: Node<'_>, sql: &str) -> Vec<Vec<String>> {
    let text = |value: Option<Vec<u8>>| value.map_or("NULL".to_owned(), |v| String::from_utf8_lossy(&v).into_owned());
    let rows = node.connect().unwrap().fetch(sql.as_bytes()).unwrap();
    rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect()
}

/// Runs statements that have no rows to look at.
fn run(node: Node<'_>, statements: &[&str]) {
    let mut connection = node.connect().unwrap();
    for statement in statements {
        connection.execute(statement.as_bytes()).unwrap();
    }
}
