//! Does a CSV file load as fast as with the server's own tools?
//!
//! One table is loaded from the same rows with LOAD DATA LOCAL, with mariadb-import over several threads, and with `hortator
//! load --table`; without secondary indexes and with three. `rows` writes the file, `contender` runs the programs,
//! `experiment` measures and compares, `report` makes a page of it.
//!
//! Each contender must leave what LOAD DATA leaves.

mod contender;
mod experiment;
mod report;
mod rows;

pub use contender::Contender;
pub use experiment::{Experiment, Indexes, Outcome};
pub use report::page;
