//! What only MySQL writes: GTIDs with the server's UUID, compressed transactions, JSON in a binary form.
//!
//! Source: MySQL internals, "Binlog Event"; MySQL reference manual, "GTID Format and Storage"; the rest is seen with 9.7.

mod for_mariadb;
mod gtid_event;
mod gtid_set;
mod json;
mod payload;

pub use for_mariadb::JsonTables;
pub use gtid_event::MySqlGtid;
pub use gtid_set::{GtidSet, ServerTag};
pub use payload::{Payload, PayloadEvents};

#[cfg(test)]
mod tests;
