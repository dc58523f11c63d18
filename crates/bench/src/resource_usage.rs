//! The resources of a workload: wall time, the servers' CPU time, the experiment's own, and that of everything else.

use std::time::{Duration, Instant};

use crate::nodes::Nodes;
use crate::report::{Spread, median};
use crate::{Error, measure};

/// All clocks at one moment.
pub(crate) struct Clocks {
    at: Instant,
    servers: Duration,
    /// This process and the programs that it ran.
    own: Duration,
    machine: Duration,
}

/// The difference between two moments.
#[derive(Clone, Copy, Debug)]
pub struct ResourceUsage {
    /// The wall time between them.
    pub wall: Duration,
    /// User and system time of all servers together.
    pub server_cpu: Duration,
    /// CPU time of the experiment itself and of the programs that it ran.
    pub own_cpu: Duration,
    /// CPU time of everything on the machine except the servers and the experiment itself.
    pub other_cpu: Duration,
}

/// From this share of all cores on, the servers' CPU time is what limits a figure.
const CPU_BOUND_SHARE: f64 = 0.85;

/// Whether servers that use so many cores have nearly all of a machine with so many.
pub(crate) fn is_cpu_bound(cores: f64, all: f64) -> bool {
    cores > CPU_BOUND_SHARE * all
}

/// The cores of this machine.
pub(crate) fn all_cores() -> f64 {
    std::thread::available_parallelism().map_or(1, usize::from) as f64
}

/// The cores that the servers used on average, in a table: with a word where they had nearly all of the machine.
pub(crate) fn cores_used(cores: Option<Spread>) -> String {
    let is_bound = cores.is_some_and(|cores| is_cpu_bound(cores.median, all_cores()));
    median(cores, 2) + if is_bound { ", CPU-bound" } else { "" }
}

impl Clocks {
    pub(crate) fn read(nodes: &Nodes) -> Result<Self, Error> {
        let read = || Error::io("reading CPU time");
        Ok(Self {
            at: Instant::now(),
            servers: nodes.cpu_time()?,
            own: measure::cpu_time(std::process::id()).map_err(read())?,
            machine: measure::machine_cpu_time().map_err(read())?,
        })
    }

    pub(crate) fn since(&self, before: &Self) -> ResourceUsage {
        let server_cpu = self.servers - before.servers;
        let own_cpu = self.own - before.own;
        let other_cpu = (self.machine - before.machine).saturating_sub(server_cpu + own_cpu);
        ResourceUsage { wall: self.at - before.at, server_cpu, own_cpu, other_cpu }
    }
}
