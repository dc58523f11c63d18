//! The measurement.

use super::Parents;
use crate::child_inserts::ChildInserts;
use crate::deployment::{Current, Deployment, installed};
use crate::employees::{ForeignKeys, SCHEMA};
use crate::extent::TimedExtent;
use crate::load_generator::Threads;
use crate::progress::Observer;
use crate::rounds::{self, Cell, Figures, Measured, Task};
use crate::{Error, figures};

/// What is to be measured.
#[derive(Debug)]
pub struct Experiment {
    /// The servers.
    pub deployments: Vec<Deployment>,
    /// The numbers of threads.
    pub threads: Vec<usize>,
    /// Rows of a statement.
    pub rows: Vec<u64>,
    /// The employees that the rows belong to.
    pub parents: Vec<Parents>,
    /// Rounds, measured time, folder and end.
    pub extent: TimedExtent,
}

/// The result.
#[derive(Debug)]
pub struct Outcome {
    /// All runs.
    pub measured: Measured,
    /// Versions of servers and providers.
    pub versions: Vec<String>,
    /// Deployments that this machine cannot run, with the reason.
    pub left_out: Vec<String>,
}

/// One cell but for the foreign keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Load {
    pub(super) threads: Threads,
    pub(super) rows: u64,
    pub(super) parents: Parents,
}

impl Load {
    /// The factors.
    pub(super) fn cell(self, keys: ForeignKeys) -> Cell {
        rounds::cell(&[
            ("foreign_keys", keys.to_string()),
            ("threads", self.threads.count.to_string()),
            ("nodes_written", self.threads.nodes.to_string()),
            ("rows_per_statement", self.rows.to_string()),
            ("parents", self.parents.to_string()),
        ])
    }
}

impl Experiment {
    /// Runs it. The observer hears of each step. A run after which a node lacks a row, or has a row without its parent,
    /// has no figure.
    ///
    /// # Errors
    /// When nothing can be measured here, or the folder cannot be made. All other errors stand with the runs.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Outcome, Error> {
        self.extent.create_folder()?;
        let (deployments, left_out) = installed(&self.deployments)?;
        let tasks: Vec<Task<Work>> = deployments.iter().flat_map(|deployment| self.tasks(*deployment)).collect();
        let mut current = Current::default();
        let measured = rounds::run(&tasks, Some(self.extent.time), observer, |task, say| {
            let result = self.measure(task, &mut current, say);
            if !matches!(result, Ok(_) | Err(Error::Interrupted)) {
                current.give_up(&self.extent.folder, say);
            }
            result
        });
        Ok(Outcome { measured, versions: current.versions, left_out })
    }

    /// Over how many nodes threads can be spread: one, and two of a cluster.
    pub(super) fn spreads(&self, deployment: Deployment) -> Vec<Threads> {
        let counts = self.threads.iter().copied();
        let on = |nodes| counts.clone().filter(move |count| *count >= nodes).map(move |count| Threads { count, nodes });
        (1..=deployment.nodes().min(2)).flat_map(on).collect()
    }

    /// All loads of a deployment.
    pub(super) fn loads(&self, deployment: Deployment) -> Vec<Load> {
        let mut loads = Vec::new();
        for parents in &self.parents {
            for threads in self.spreads(deployment) {
                loads.extend(self.rows.iter().map(|rows| Load { threads, rows: *rows, parents: *parents }));
            }
        }
        loads
    }

    /// Each load with and without foreign keys, next to each other; each of the two is first in turn.
    fn tasks(&self, deployment: Deployment) -> Vec<Task<Work>> {
        let mut tasks = Vec::new();
        for load in self.loads(deployment) {
            for round in 0..self.extent.rounds {
                for index in 0..ForeignKeys::ALL.len() {
                    let keys = ForeignKeys::ALL[(index + round) % ForeignKeys::ALL.len()];
                    tasks.push(Task {
                        cell: load.cell(keys),
                        contender: Work { deployment, keys, load },
                        round: round + 1,
                    });
                }
            }
        }
        tasks
    }

    fn measure(&self, task: &Task<Work>, current: &mut Current, say: &mut dyn FnMut(&str)) -> Result<Figures, Error> {
        self.extent.check_stop()?;
        let Work { deployment, keys, load } = task.contender;
        let nodes = current.nodes(deployment, &self.extent.stop, say, |_| Ok(()))?;
        let Load { threads, rows, parents } = load;
        let generated =
            ChildInserts { keys, threads, rows, parents, time: self.extent.time }.run(nodes, &self.extent.stop)?;
        if task.round == 1 {
            nodes.check_same_state(SCHEMA, None)?;
        }
        Ok(figures::of_threads(&generated))
    }
}

/// One thing to measure.
#[derive(Clone, Copy, Debug)]
struct Work {
    deployment: Deployment,
    keys: ForeignKeys,
    load: Load,
}

impl std::fmt::Display for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.deployment.fmt(f)
    }
}
