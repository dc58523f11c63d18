//! Updates of the same row by all threads.
//!
//! On one node the threads wait for each other's lock. On two nodes, both may change the row at the same time: one
//! transaction is aborted, and its client gets error 1213 and sends the statement again.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::{SCHEMA, Workload, set_up};
use crate::Error;
use crate::load_generator::{Generated, Task, Threads};
use crate::nodes::Nodes;

pub(super) fn run(nodes: &Nodes, threads: Threads, time: Duration, stop: &AtomicBool) -> Result<Generated, Error> {
    let update = format!("UPDATE {SCHEMA}.hot SET updates = updates + 1 WHERE id = 1");
    let tables = [
        "CREATE TABLE hot (id INT NOT NULL PRIMARY KEY, updates BIGINT UNSIGNED NOT NULL) ENGINE=InnoDB",
        "INSERT INTO hot VALUES (1, 0)",
    ];
    let task = Task {
        work: Workload::HotRow(threads).title(),
        threads,
        set_up: &|connection| set_up(connection, &tables),
        rows: 1,
        count: &format!("SELECT updates FROM {SCHEMA}.hot"),
    };
    task.run(nodes, time, stop, |_| |sql: &mut String| sql.push_str(&update))
}
