//! Experiments that anyone can rerun, with a report.
//!
//! An experiment makes its own input ([`employees`]), starts its own servers, runs the ways to be compared in turn, and
//! says in one table what each took and whether all came to the same end. What is timed is always a whole run as a user
//! would start it, against a rival in the same session on the same server. [`experiment`] is the place to start reading.
//!
//! This crate does not load anything itself: the ways it compares are programs. It prints nothing either: [`report`]
//! makes text, and the caller shows it.

pub mod employees;
mod error;
pub mod experiment;
pub mod galera;
pub mod measure;
mod nodes;
pub mod provider;
pub mod report;
mod rest;
pub mod server;
pub mod server_copy;
pub mod shapes;
pub mod ways;

pub use error::Error;
