//! Do clusters slow down on short, mixed transactions that are bound by the disk?
//!
//! sysbench runs one of eight kinds of transaction at a time on ten tables that are much larger than the buffer pool. Each cell
//! begins with a restart: windows at 32 threads until the rate is steady, then more and more threads. A second connection to
//! each server looks every second at what it waits for. Afterwards every node must have all rows.
//!
//! ```text
//!   Experiment ── for each cell ──► Servers     filled once, restarted for each cell; limits of input and output
//!                                   Sysbench    one window: a program and its report
//!                                   Sampler     the servers' state, every second
//!                                   Warmup      is the rate steady?
//!                                      │
//!                                      ▼
//!                                   CellResult ──► figures, and series for the plots
//! ```

mod cell;
mod contender;
mod experiment;
mod plots;
mod report;
mod sampler;
mod servers;
mod sysbench;

pub use contender::{Contender, DiskLimit, Mix};
pub use experiment::{Experiment, Outcome};
pub use report::page;
pub use servers::ServerSize;
pub use sysbench::find as find_sysbench;
