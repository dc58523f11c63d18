//! Inserts of rows with keys of their own into one table.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::pressure::{SCHEMA, Task};
use super::workload::Threads;
use super::{Done, Workload};
use crate::Error;
use crate::nodes::Nodes;

/// Of what each row holds besides its key.
const PAYLOAD_BYTES: usize = 100;
/// Each thread's keys begin that far from those of the one before. A key that all draw from one counter would make all
/// wait for the table's last page: with 200 threads, a server without a provider was then the slowest of all.
const KEYS_OF_A_THREAD: u64 = 1 << 32;

pub(super) fn run(
    nodes: &Nodes,
    threads: Threads,
    rows: u64,
    time: Duration,
    stop: &AtomicBool,
) -> Result<Done, Error> {
    let table = format!(
        "CREATE TABLE inserted (id BIGINT UNSIGNED NOT NULL PRIMARY KEY, payload VARCHAR({PAYLOAD_BYTES}) NOT NULL) \
         ENGINE=InnoDB"
    );
    let task = Task {
        work: Workload::Inserts { threads, rows },
        threads,
        setup: &[&table],
        rows,
        count: &format!("SELECT COUNT(*) FROM {SCHEMA}.inserted"),
    };
    let payload = "x".repeat(PAYLOAD_BYTES);
    task.run(nodes, time, stop, |thread| {
        let mut keys = thread as u64 * KEYS_OF_A_THREAD..;
        let payload = &payload;
        move |sql: &mut String| {
            let _ = write!(sql, "INSERT INTO {SCHEMA}.inserted VALUES ");
            for (row, key) in (0..rows).zip(&mut keys) {
                let _ = write!(sql, "{}({key},'{payload}')", if row == 0 { "" } else { "," });
            }
        }
    })
}
