//! Why is a load with foreign keys into a cluster so slow, and is only a load hit?
//!
//! The employees sample is loaded with its foreign keys and without ([`crate::employees::ForeignKeys`]): into a server alone and
//! into clusters, by the client from the sample's own files, by the client from what `mariadb-dump` writes of it, and by
//! `hortator load`. Then one connection inserts children with 1 to 20,000 rows a statement.
//!
//! Each load must leave, on every node, what the client leaves on a server alone. After loads without checks every foreign
//! key is validated on every node.

mod dumps;
mod experiment;
mod loader;
mod loads_report;
mod report;
mod sweep_report;

pub use crate::child_inserts::Parents;
pub use experiment::{Experiment, Outcome};
pub use loader::Loader;
pub use report::page;
