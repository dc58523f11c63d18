//! Replication of several sources into one target: MariaDB's own at several settings, and `hortator replicate`.
//!
//! Each source first writes a backlog. Then each contender in turn drains all backlogs into a new target, which begins with
//! the tables as the backlogs found them. The clock runs from its start until the last source is applied; then the tables
//! of the target have the checksums of the sources'.
//!
//! In the live part the sources write at a fixed rate while the contender applies, and its lag counts.
//!
//! The same for contenders that read the files of one source's log, as after the loss of the server.

mod applier;
mod contender;
mod experiment;
mod live;
mod live_report;
mod recovery;
mod report;
mod sources;
mod workload;

pub use contender::Contender;
pub use experiment::{Experiment, Outcome};
pub use live::{Live, Series};
pub use report::page;
pub use workload::Workload;
