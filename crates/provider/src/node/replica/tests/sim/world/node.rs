//! A place for a process: what stays there when the process ends.

use super::super::process::{Disk, Process};
use super::Arrival;
use crate::node::replica::Replica;
use crate::protocol::ProtocolRange;

pub struct Node {
    /// None: the process is down.
    pub replica: Option<Box<Replica<Process>>>,
    /// The disk, while the process is down.
    pub disk: Disk,
    /// What the installed release speaks.
    pub versions: ProtocolRange,
    /// When a process of the newest release ran here last.
    pub newest_until_ms: Option<u64>,
    /// The number of the process.
    pub(super) process: u64,
    /// What has arrived while it was stopped, or waited for its disk.
    pub(super) inbox: Vec<Arrival>,
    pub(super) is_syncing: bool,
    pub stopped_until_ms: u64,
    pub stalls_once: bool,
    pub apply_ms: u64,
    /// `pc.weight`
    pub wanted_weight: u8,
    pub(super) is_apply_planned: bool,
    pub(super) run_at_ms: u64,
    pub(super) is_leaving: bool,
    /// Its clock: the start, and how many of its milliseconds are 1000 real ones.
    pub(super) started_ms: u64,
    pub(super) pace: u64,
}
