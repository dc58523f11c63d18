//! Do concurrent small inserts pay for foreign keys, too?
//!
//! Threads insert salaries and titles of employees that are there, into tables with foreign keys and without, on a server alone
//! and on clusters. Each statement is a transaction. Afterwards every node must have the confirmed rows, each with its
//! parent, and all nodes the same state.

mod experiment;
mod report;

pub use crate::child_inserts::Parents;
pub use experiment::{Experiment, Outcome};
pub use report::page;
