//! The speed of servers with Hortator's provider compared with Galera: a single node of each and a server without a
//! provider, or three nodes of each ([`Suite`]).
//!
//! All run on one machine, with the same settings except those that give each the same durability ([`Durability`]). One
//! server or cluster runs at a time: it starts on empty data, runs all workloads, and is removed; the rounds interleave
//! them. After each workload all nodes must have the confirmed rows. On a shared machine, the servers' CPU time per row
//! is a more stable figure than rows per second; for a cluster it is that of all its nodes together.

pub(crate) mod contender;
mod experiment;
mod hot_row;
mod inserts;
mod load;
mod report;
mod suite;
mod workload;

use hortator_mysql::Connection;

pub use crate::load_generator::Threads;
pub use contender::{Contender, Durability};
pub use experiment::{Experiment, Outcome};
pub use report::page;
pub use suite::Suite;
pub use workload::Workload;

/// The schema of the tables of inserts and updates.
const SCHEMA: &str = "work";

/// Creates [`SCHEMA`] and in it what these statements create.
fn set_up(connection: &mut Connection, statements: &[&str]) -> Result<(), hortator_mysql::Error> {
    connection.execute(format!("CREATE DATABASE {SCHEMA}").as_bytes())?;
    connection.execute(format!("USE {SCHEMA}").as_bytes())?;
    statements.iter().try_for_each(|sql| connection.execute(sql.as_bytes()).map(drop))
}
