//! Does the AUTO-INC lock make parallel inserts pointless?
//!
//! One table with several indexes is loaded from a dump in which every INSERT gives its id. The cells are the values of
//! `innodb_autoinc_lock_mode`, each with the column AUTO_INCREMENT and without. The contenders are the client, `hortator load`,
//! and the dump's statements as they are, in turn over several connections, as the tool paramy did it in 2008.
//!
//! Each load must leave what the client leaves: the rows, the definition and the next AUTO_INCREMENT value.

mod contender;
mod dump;
mod experiment;
mod report;

pub use contender::Contender;
pub use experiment::{Experiment, LockMode, Outcome};
pub use report::page;
