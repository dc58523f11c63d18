//! The binary log: what servers write into it and send to replicas.
//!
//! ```text
//!   BinlogFile, hortator_mysql::BinlogStream     bytes of one event at a time
//!        │
//!   EventReader      keeps the format description, verifies checksums
//!        │
//!   Event            its header, its bytes as they are, and what it says
//! ```
//!
//! [`EVENT_KINDS`] has a row for each type of event of MariaDB 10.5 to 12 and MySQL 5.7 to 9, and what this crate does with it.
//!
//! Source: MariaDB knowledge base, "Replication Protocol" and its pages on events; MySQL internals, "Binlog Event".

mod compressed;
mod error;
mod event;
mod event_kind;
mod event_reader;
mod fields;
mod file;
mod format_description;
mod gtid;
mod gtid_state;
mod header;
mod mysql;
mod query;
mod rewrite;
mod row_changes;
mod row_images;
mod row_values;
mod rows;
mod statement_dialect;
mod statement_settings;
mod table_maps;
mod user_variable;

pub use error::Error;
pub use event::{Content, Event};
pub use event_kind::{EVENT_KINDS, EventKind, Handling, KindRow};
pub use event_reader::{EventReader, PayloadReader};
pub(crate) use fields::Fields;
pub use file::BinlogFile;
pub use format_description::FormatDescription;
pub use gtid::{Gtid, GtidEvent, GtidList, GtidPosition};
pub use gtid_state::GtidState;
pub use header::{EventHeader, HEADER_BYTES};
pub use mysql::{GtidSet, JsonTables, MySqlGtid, Payload, PayloadEvents, ServerTag};
pub use query::QueryEvent;
pub use rewrite::AddedColumn;
pub(crate) use row_changes::{Cell, Image, RowChange, merged, only};
pub use row_images::ColumnFormat;
pub(crate) use row_images::Value;
pub use rows::{RowsEvent, RowsForm, TableMap};
pub(crate) use statement_dialect::statement_dialect;
pub use statement_settings::StatementSetting;
pub(crate) use table_maps::ByTableMap;
pub use user_variable::{UserValue, UserVariable};
