//! One measured load: from servers at rest until all nodes have applied everything.

use std::time::{Duration, Instant};

use crate::figures::{
    ALL, CORES, FLOW_CONTROL, LAG, LOADER_CPU, LOADER_PEAK, OTHER_CPU, RATE, ROW_CPU, SERVER_CPU, WALL, named,
};
use crate::measure::Usage;
use crate::nodes::Nodes;
use crate::quiesce::AtRest;
use crate::resource_usage::{Clocks, ResourceUsage};
use crate::rounds::Figures;
use crate::{Error, profile};

/// What a load took.
#[derive(Debug)]
pub(crate) struct LoadRun {
    /// From the start of the program to its end.
    wall: Duration,
    /// From its end until all nodes had applied everything.
    lag: Duration,
    usage: ResourceUsage,
    /// CPU time of the program.
    loader_cpu: Duration,
    /// None where the servers load by themselves.
    peak_bytes: Option<u64>,
    /// The time for which flow control stopped the cluster.
    paused: Duration,
}

impl LoadRun {
    /// Measures a load into servers at rest. `load` returns what its program used; None if no program but the servers ran.
    pub(crate) fn measure(
        _rest: AtRest,
        nodes: &Nodes,
        load: impl FnOnce() -> Result<Option<Usage>, Error>,
    ) -> Result<Self, Error> {
        let recording = profile::begin(nodes.processes()?);
        let (before, paused_before) = (Clocks::read(nodes)?, nodes.paused()?);
        let loader = load()?;
        let end = Instant::now();
        nodes.wait_until_applied()?;
        let lag = end.elapsed();
        let usage = Clocks::read(nodes)?.since(&before);
        let paused = nodes.paused()?.saturating_sub(paused_before);
        if let Some(recording) = recording {
            recording.end();
        }
        Ok(Self {
            // That of a program ends with the program, without our own bookkeeping.
            wall: loader.map_or(usage.wall.saturating_sub(lag), |loader| loader.wall),
            lag,
            usage,
            loader_cpu: loader.map_or(Duration::ZERO, |loader| loader.cpu),
            peak_bytes: loader.map(|loader| loader.peak_bytes).filter(|bytes| *bytes > 0),
            paused,
        })
    }

    /// Its figures, for so many rows.
    pub(crate) fn figures(&self, rows: u64) -> Figures {
        let all = (self.wall + self.lag).as_secs_f64();
        let server_cpu = self.usage.server_cpu.as_secs_f64();
        let mut figures = named([
            (WALL, self.wall.as_secs_f64()),
            (ALL, all),
            (LAG, self.lag.as_secs_f64()),
            (RATE, rows as f64 / all),
            (SERVER_CPU, server_cpu),
            (CORES, server_cpu / all),
            (ROW_CPU, server_cpu * 1e6 / rows.max(1) as f64),
            (OTHER_CPU, self.usage.other_cpu.as_secs_f64()),
            (FLOW_CONTROL, self.paused.as_secs_f64()),
        ]);
        if let Some(bytes) = self.peak_bytes {
            figures.insert(LOADER_PEAK.to_owned(), bytes as f64 / f64::from(1 << 20));
        }
        if self.loader_cpu > Duration::ZERO {
            figures.insert(LOADER_CPU.to_owned(), self.loader_cpu.as_secs_f64());
        }
        figures
    }
}
