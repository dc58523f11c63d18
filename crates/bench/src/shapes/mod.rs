//! Dumps of many shapes, each loaded with the `mariadb` client and with `hortator load` in turn on one private server.
//!
//! [`catalog`] lists the shapes: name, generator, target. A generator (`generators/`) writes one [`script`] from a seed.
//! [`experiment`] measures, `end_state` compares what the loads leave, and `report` makes a page of it.
//!
//! A figure is the client's wall time divided by the contender's: above 1, the contender is faster. A contender that
//! fails, or that leaves another end state than the client, has no figure.

pub mod catalog;
mod end_state;
pub mod experiment;
mod generators;
mod report;
pub mod script;

pub use catalog::{SHAPES, Shape};
pub use experiment::{Contender, Experiment, Outcome};
pub use report::page;
