//! From transactions to the target: what is sent, over one connection, or over several while there is a backlog (`workers/`).
//!
//! ```text
//!   transactions of rows, one after the other      START TRANSACTION; BINLOG '…'; position; COMMIT      (a group)
//!   a transaction with statements                  START TRANSACTION; SET …; statement; … position; COMMIT
//!   a statement that commits by itself (DDL)       SET …; intent; statement; position
//!   rows of an engine that cannot roll back        intent; as above
//!   rows that do not fit the target's              START TRANSACTION; BINLOG of each event, of each row; position; COMMIT   (`conflicts/`)
//! ```
//!
//! Rows go as they stand in the source's log: the target's own row applier stores them, so that no value is converted.
//! The position of a source is a row of the target, written in the transaction of the rows.

mod applier;
mod binlog_statement;
mod collations;
mod conflicts;
mod definition;
mod error;
mod invoker;
mod node_engines;
mod position_table;
mod refusal;
mod session;
mod shared_definitions;
mod source_collations;
mod statement_session;
mod statement_settings;
mod stored_text;
mod target_tables;
mod temporary_tables;
mod tolerated;
mod type_places;
mod workers;

pub use applier::{Applier, InDoubt, LargeTransaction};
pub use binlog_statement::BinlogStatement;
pub use collations::Collations;
pub use conflicts::{ConflictPolicy, RowConflict, TableConflicts};
pub use definition::Begun;
pub use error::Error;
pub(crate) use node_engines::{stays_on_node, stays_on_node_text};
pub(crate) use position_table::literal;
pub use position_table::{PositionTable, SourcePosition};
pub(crate) use shared_definitions::{Refusal, SharedDefinitions};
pub(crate) use target_tables::source_column;
pub use temporary_tables::TemporaryTables;
