//! Inserts of rows with distinct keys into one table.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::{SCHEMA, Workload, set_up};
use crate::Error;
use crate::load_generator::{Generated, Task, Threads};
use crate::nodes::Nodes;

/// The bytes of each row besides its key.
const PAYLOAD_BYTES: usize = 100;
/// The distance between the first keys of two threads. With keys from one counter, all threads would wait for the last
/// page of the table: with 200 threads, a server without a provider was then the slowest of all.
const KEYS_PER_THREAD: u64 = 1 << 32;

pub(super) fn run(
    nodes: &Nodes,
    threads: Threads,
    rows: u64,
    time: Duration,
    stop: &AtomicBool,
) -> Result<Generated, Error> {
    let table = format!(
        "CREATE TABLE inserted (id BIGINT UNSIGNED NOT NULL PRIMARY KEY, payload VARCHAR({PAYLOAD_BYTES}) NOT NULL) \
         ENGINE=InnoDB"
    );
    let task = Task {
        work: Workload::Inserts { threads, rows }.title(),
        threads,
        set_up: &|connection| set_up(connection, &[&table]),
        rows,
        count: &format!("SELECT COUNT(*) FROM {SCHEMA}.inserted"),
    };
    let payload = "x".repeat(PAYLOAD_BYTES);
    task.run(nodes, time, stop, |thread| {
        let mut keys = thread as u64 * KEYS_PER_THREAD..;
        let payload = &payload;
        move |sql: &mut String| {
            let _ = write!(sql, "INSERT INTO {SCHEMA}.inserted VALUES ");
            for (row, key) in (0..rows).zip(&mut keys) {
                let _ = write!(sql, "{}({key},'{payload}')", if row == 0 { "" } else { "," });
            }
        }
    })
}
