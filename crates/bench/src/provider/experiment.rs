//! The measurement.

use std::fmt;

use super::{Contender, Durability, SCHEMA, Suite, Workload, hot_row, inserts, load};
use crate::deployment::{Current, installed};
use crate::employees::{self, Dump};
use crate::extent::TimedExtent;
use crate::nodes::Nodes;
use crate::progress::Observer;
use crate::rounds::{self, Cell, Figures, Measured, Task};
use crate::{Error, figures, programs};

/// The factor that names the durability.
pub(super) const DURABILITY: &str = "durability";
/// The factor that names the workload.
pub(super) const WORKLOAD: &str = "workload";

/// The parameters of the experiment.
#[derive(Debug)]
pub struct Experiment {
    /// The contenders and the number of nodes.
    pub suite: Suite,
    /// The workloads: some of [`Suite::workloads`].
    pub workloads: Vec<Workload>,
    /// The dump's size; 1 is all of the sample's rows.
    pub scale: f64,
    /// Rounds, measured time, folder and end.
    pub extent: TimedExtent,
}

/// The result.
#[derive(Debug)]
pub struct Outcome {
    /// All runs.
    pub measured: Measured,
    /// The versions of the servers and providers.
    pub versions: Vec<String>,
    /// The contenders that this machine has.
    pub contenders: Vec<Contender>,
    /// The others, with the reason.
    pub left_out: Vec<String>,
    /// The loaded dump, if loading was a workload.
    pub dump: Option<Dump>,
}

/// One thing to measure.
#[derive(Clone, Copy, Debug)]
struct Work {
    contender: Contender,
    durability: Durability,
    workload: Workload,
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.contender.title())
    }
}

/// The cell of a workload.
pub(super) fn cell(durability: Durability, workload: Workload) -> Cell {
    rounds::cell(&[(DURABILITY, durability.title().to_owned()), (WORKLOAD, workload.title())])
}

impl Experiment {
    /// Runs it. The observer hears of each step. A workload after which a node lacks a row has no figure.
    ///
    /// # Errors
    /// When nothing can be measured here, or the folder cannot be made. All other errors stand with the runs.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Outcome, Error> {
        self.extent.create_folder()?;
        if self.workloads.contains(&Workload::Load) {
            programs::check_client()?;
        }
        let nodes = self.suite.nodes();
        let wanted: Vec<_> = self.suite.contenders().iter().map(|contender| contender.deployment(nodes)).collect();
        let (found, left_out) = installed(&wanted)?;
        let is_found = |contender: &&Contender| found.contains(&contender.deployment(nodes));
        let contenders: Vec<Contender> = self.suite.contenders().iter().filter(is_found).copied().collect();
        let (mut current, mut dump) = (Current::default(), None);
        let measured = rounds::run(&self.tasks(&contenders), Some(self.extent.time), observer, |task, say| {
            let result = self.measure(task, &mut current, &mut dump, say);
            if !matches!(result, Ok(_) | Err(Error::Interrupted)) {
                current.give_up(&self.extent.folder, say);
            }
            result
        });
        Ok(Outcome { measured, versions: current.versions, contenders, left_out, dump })
    }

    /// In each round another contender is first; on its servers it runs all workloads.
    fn tasks(&self, contenders: &[Contender]) -> Vec<Task<Work>> {
        let mut tasks = Vec::new();
        for round in 0..self.extent.rounds {
            for durability in Durability::ALL {
                let first = round % contenders.len();
                for contender in contenders[first..].iter().chain(&contenders[..first]).copied() {
                    tasks.extend(self.workloads.iter().map(|workload| Task {
                        cell: cell(durability, *workload),
                        contender: Work { contender, durability, workload: *workload },
                        round: round + 1,
                    }));
                }
            }
        }
        tasks
    }

    fn measure(
        &self,
        task: &Task<Work>,
        current: &mut Current,
        dump: &mut Option<Dump>,
        say: &mut dyn FnMut(&str),
    ) -> Result<Figures, Error> {
        self.extent.check_stop()?;
        let Work { contender, durability, workload } = task.contender;
        let deployment = contender.deployment(self.suite.nodes());
        let nodes = current.nodes_of(deployment, durability, &self.extent.stop, say, |_| Ok(()))?;
        let figures = self.cell(workload, dump, nodes, say)?;
        if task.round == 1 {
            let schema = if workload == Workload::Load { employees::SCHEMA } else { SCHEMA };
            nodes.check_same_state(schema, None)?;
        }
        Ok(figures)
    }

    fn cell(
        &self,
        workload: Workload,
        dump: &mut Option<Dump>,
        nodes: &Nodes,
        say: &mut dyn FnMut(&str),
    ) -> Result<Figures, Error> {
        let rest = nodes.quiesce_without(SCHEMA)?;
        let generated = match workload {
            Workload::Inserts { threads, rows } => {
                inserts::run(nodes, threads, rows, self.extent.time, &self.extent.stop)
            }
            Workload::HotRow(threads) => hot_row::run(nodes, threads, self.extent.time, &self.extent.stop),
            Workload::Load => {
                let dump = match dump {
                    Some(dump) => dump,
                    None => {
                        say(&format!("dump: generating it, or reusing it, in {}", self.extent.folder.display()));
                        dump.insert(employees::cached(&self.extent.folder, self.scale)?)
                    }
                };
                return load::run(rest, dump, nodes, &self.extent.folder, &self.extent.stop);
            }
        };
        Ok(figures::of_threads(&generated?))
    }
}
