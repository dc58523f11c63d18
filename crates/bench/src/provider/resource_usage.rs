//! The resources of a workload: wall time, the servers' CPU time, the CPU time of everything else.

use std::time::{Duration, Instant};

use crate::nodes::Nodes;
use crate::{Error, measure};

/// All clocks at one moment.
pub(super) struct Clocks {
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
    /// CPU time of everything on the machine except the servers and the experiment itself.
    pub other_cpu: Duration,
}

impl Clocks {
    pub(super) fn read(nodes: &Nodes) -> Result<Self, Error> {
        let read = || Error::io("reading CPU time");
        Ok(Self {
            at: Instant::now(),
            servers: nodes.cpu_time()?,
            own: measure::cpu_time(std::process::id()).map_err(read())?,
            machine: measure::machine_cpu_time().map_err(read())?,
        })
    }

    pub(super) fn since(&self, before: &Self) -> ResourceUsage {
        let server_cpu = self.servers - before.servers;
        let ours = server_cpu + (self.own - before.own);
        let other_cpu = (self.machine - before.machine).saturating_sub(ours);
        ResourceUsage { wall: self.at - before.at, server_cpu, other_cpu }
    }
}
