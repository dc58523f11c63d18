//! `start = "snapshot"`: a source's databases, copied to the target as they stand at one place of its log.
//!
//! ```text
//!   frozen      one connection to the source in a transaction WITH CONSISTENT SNAPSHOT: the place of its log; tables that
//!      │        have no snapshot are locked while they are copied. mysql_moment: the place of a MySQL source
//!   inventory   what the source has: SHOW CREATE of everything, columns, engines
//!      │
//!   of_mysql    a MySQL source: its definitions as those of MariaDB, or why there is no such
//!      │
//!   under_rules the names that things have on the target, and what is left out
//!      │
//!   claims      names that the target has already stop the copy; what it makes is on record in the target before it is made;
//!      │        taken_back deletes rows among those of others
//!   definitions schemas, tables, routines, views, events: before the rows. Triggers: behind them
//!      │
//!   destination where rows go: into a table of the copy, or into one with rows of other sources
//!      │
//!   row_reader  rows as INSERT statements ──► pipe ──► hortator_load, many connections         (row_text is pure)
//!      │
//!   ddl_watch   reads the log behind the snapshot meanwhile: a definition that changes under the copy begins it anew
//!      ▼
//!   the position, written in one transaction with the end of the record
//!      ▼
//!   staged      rows that nothing tells apart from those of others are moved to them
//! ```
//!
//! No lock is held on tables that have snapshots, so definitions may change under the copy. InnoDB notices some of that
//! (error 1412), and not others: RENAME TABLE, EXCHANGE and DROP PARTITION, instant ALTER TABLE. The log has them all.
//!
//! A copy that does not come to its end leaves its record. The next one drops what is on it, and begins anew. That is how a
//! source is copied again, too (`again`), and some of its tables by themselves (`again_tables`).

mod again;
mod again_tables;
mod claims;
mod copy;
mod ddl_watch;
mod definition_maker;
mod definitions;
mod destination;
mod destination_tables;
mod error;
mod frozen;
mod inventory;
mod mysql_moment;
mod objects;
mod of_mysql;
mod pipe;
mod rights;
mod row_reader;
mod row_text;
mod scope;
mod staged;
mod taken_back;
mod under_rules;

#[cfg(test)]
mod tests;

pub(crate) use again::OtherSource;
pub(crate) use again_tables::{shown, tables_to_copy};
pub(crate) use claims::{RECORD_TABLE, has_record};
pub(crate) use copy::{CatchUp, Copied, Copy, Monitor, Wanted};
pub(crate) use destination::STAGING;
pub use error::Error;
pub(crate) use frozen::{non_transactional_tables, snapshot_position};
pub(crate) use mysql_moment::{begin, with_lock, without_lock};
pub(crate) use rights::missing_rights;
pub(crate) use scope::Scope;
pub(crate) use staged::{STAGED_TABLE, move_staged};

/// Schemas of the server itself.
pub(crate) const SYSTEM_SCHEMAS: &str = "('mysql', 'sys', 'information_schema', 'performance_schema')";

/// How far a copy is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CopyStatus {
    /// Tables whose rows are read.
    pub tables_done: u64,
    /// Tables.
    pub tables: u64,
    /// Rows that are read; the target has all but the last of them.
    pub rows: u64,
}
