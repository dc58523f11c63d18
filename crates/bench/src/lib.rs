//! Reproducible experiments with a report.
//!
//! An experiment creates its own input ([`employees`]), starts its own servers, runs the contenders in turn, and
//! reports the resources of each and whether all left the same state. It always measures a whole run as a user would start
//! it, and a rival in the same session on the same server. The module `rules` says what every figure passes through.
//!
//! ```text
//!   experiment ──► rounds ──► runs ──► rules ──► page ──► terminal, Markdown, HTML, JSON
//! ```
//!
//! Start reading at [`loads`]. This crate does not load anything itself: the contenders are programs. It prints nothing
//! either: the caller shows the [`page`].

pub mod auto_increment;
mod child_inserts;
mod convergence;
pub mod cpu_set;
pub mod csv;
pub mod deployment;
pub mod disk;
pub mod employees;
mod equal_settings;
mod error;
mod expected_errors;
pub mod extent;
pub mod fan_in;
mod figures;
mod foreign_key_validation;
pub mod foreign_keys;
mod latencies;
mod load_generator;
mod load_run;
pub mod loads;
pub mod measure;
mod nodes;
pub mod oltp_short;
pub mod options;
pub mod page;
pub mod profile;
mod programs;
pub mod progress;
pub mod provider;
mod quiesce;
pub mod report;
mod resource_usage;
pub mod rounds;
mod rules;
pub mod semisync;
mod server;
pub mod server_copy;
pub mod shapes;
pub mod stress;

pub use error::Error;
