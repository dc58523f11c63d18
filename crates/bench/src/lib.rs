//! Reproducible experiments with a report.
//!
//! An experiment creates its own input ([`employees`]), starts its own servers, runs the contenders in turn, and
//! reports in one table the resources of each and whether all left the same state. It always measures a whole run as a
//! user would start it, and a rival in the same session on the same server. Start reading at [`experiment`].
//!
//! This crate does not load anything itself: the contenders are programs. It prints nothing either: [`report`] creates
//! text, and the caller shows it.

pub mod auto_increment;
mod child_inserts;
pub mod contenders;
mod convergence;
pub mod deployment;
pub mod employees;
mod error;
pub mod experiment;
pub mod fan_in;
mod foreign_key_validation;
pub mod foreign_keys;
pub mod galera;
mod latencies;
mod load_generator;
pub mod measure;
mod nodes;
pub mod page;
pub mod provider;
mod quiesce;
pub mod report;
mod resource_usage;
pub mod rounds;
pub mod server;
pub mod server_copy;
pub mod shapes;
pub mod stress;

pub use error::Error;
