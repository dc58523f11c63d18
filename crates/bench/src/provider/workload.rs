//! The workloads of the servers.

use crate::load_generator::Threads;

/// A workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Threads that insert for a fixed time, each statement as a transaction of its own.
    Inserts {
        /// The threads.
        threads: Threads,
        /// Rows per INSERT.
        rows: u64,
    },
    /// Threads that all update the same row for a fixed time, each statement as a transaction of its own.
    HotRow(Threads),
    /// The employees dump with its foreign keys, loaded by the server's own client, until all nodes have all rows.
    Load,
}

impl Workload {
    pub(super) const fn inserts(count: usize, nodes: usize, rows: u64) -> Self {
        Self::Inserts { threads: Threads { count, nodes }, rows }
    }

    pub(super) const fn hot_row(count: usize, nodes: usize) -> Self {
        Self::HotRow(Threads { count, nodes })
    }

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Inserts { threads, rows } => format!("{}x{rows}{}", threads.count, threads.spread("-on-2")),
            Self::HotRow(threads) => format!("hot{}{}", threads.count, threads.spread("-on-2")),
            Self::Load => "load".to_owned(),
        }
    }

    /// The heading of its line.
    #[must_use]
    pub fn title(self) -> String {
        match self {
            Self::Inserts { threads, rows } => {
                format!("{} × {rows}-row inserts{}", threads.count, threads.spread(", on two nodes"))
            }
            Self::HotRow(threads) => {
                format!("{} × update of one row{}", threads.count, threads.spread(", on two nodes"))
            }
            Self::Load => "load with foreign keys".to_owned(),
        }
    }
}

impl Threads {
    /// The given text, if there are two nodes.
    fn spread(self, two: &'static str) -> &'static str {
        if self.nodes > 1 { two } else { "" }
    }
}
