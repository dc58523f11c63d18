//! Loads of the employees sample into one server or a cluster, with times and a comparison of the results: the demo.
//!
//! Each run loads into an empty schema on servers at rest, and ends when all nodes have all rows. Row counts and state
//! comparisons are not part of the measured time. A contender that leaves another state than the client has no figure.
//!
//! On a cluster the same cores apply every row on each node, so the lower bound is the work of as many single servers; one
//! load into a single server measures it.

mod contender;
mod experiment;
mod report;

pub use contender::Contender;
pub use experiment::{Compared, Experiment, KEPT_NAME, Outcome, Target};
pub use report::page;
