//! Loads a SQL dump into a server over many connections. The result is that of the statements in stream order.
//!
//! The flow, in the order of the folders: [`input`] opens and decompresses, [`lexer`] splits the bytes into the statements
//! that the `mariadb` client would send, [`analysis`] says what each statement is, `coordinator` gives it its place
//! among the others (a barrier, or the keys that it takes), `apply` runs what is independent in parallel, [`rows`] turns
//! literals into typed arrays on the way, [`session`] gives every statement the session state of its place, [`cluster`] says
//! which node all this goes to, [`checkpoint`] keeps in the database what of the stream is there, and [`report`] tells what came
//! of it. [`plan_report`] reads the same way and only says what would be done.
//!
//! What it is not for: it reads no option files and no home directory, prints nothing and draws no progress bar (the
//! caller passes a sink for result rows and may read [`progress`]), and it does not decide what conflicts with what: that
//! is `hortator-core`'s.

pub mod analysis;
pub mod apply;
pub mod checkpoint;
pub mod cluster;
mod coordinator;
mod deferral;
mod deferred_keys;
mod expect;
mod filter;
pub mod input;
pub mod lexer;
mod load;
mod output;
pub mod plan_report;
mod planner;
pub mod progress;
mod rejects;
pub mod report;
pub mod rewriting;
pub mod rows;
pub mod selection;
pub mod session;
mod stall;
pub mod throttle;
pub mod verify;

pub use deferral::{CheckReport, Checks, ReportedRow, RowsWere, Validation, ValidationOutcome, ViolatedConstraint};
pub use deferred_keys::{AUTO_BYTES, BuiltKeys, DeferIndexes, DeferredKeysReport, KeptKeys};
pub use filter::{FilterReport, FilterRules};
pub use input::Input;
pub use load::{AnalyzeReport, InDoubt, Interrupter, Load, OpenError, Options, SKIP_BINLOG, StartError};
pub use output::Output;
pub use plan_report::plan;
pub use rejects::{RejectError, RejectSummary};
