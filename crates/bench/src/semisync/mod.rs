//! How do Galera and Hortator's provider with parallel appliers compare with semi-synchronous replication, for many small
//! transactions? And what does the loss of a server that takes writes cost?
//!
//! Threads insert single rows, each a transaction, on one server or on two, until a given number of rows is confirmed. All
//! servers must then have exactly these rows. In a failover run, one server that takes writes is killed at half the rows,
//! and its threads go on with the others.
//!
//! ```text
//!   factors    what varies: threads, flush, appliers, storage, keys          pure
//!   contender  the servers that are compared, and their settings             pure
//!   rows       which key and text a thread inserts next                      pure
//!   clients    the threads: insert, count errors, move to another server
//!   failover   the kill; how long nothing was confirmed, and what is lost
//!   servers    start, wait until each server has everything, promote
//!   check      rows and checksums of each server; still semi-synchronous?
//! ```

mod check;
mod clients;
mod contender;
mod experiment;
mod factors;
mod failover;
mod failover_report;
mod inserts_report;
mod report;
mod rows;
mod servers;

pub use contender::Deployment;
pub use experiment::{Experiment, Outcome};
pub use factors::{Factors, Keys, Storage};
pub use report::page;

/// The schema of the table.
const SCHEMA: &str = "semisync";
