//! The work that every server is given.

/// What the rows are inserted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Threads that insert for a fixed time, each statement a transaction of its own.
    Inserts(Inserts),
    /// The employees dump with its foreign keys, by the server's own client.
    Load,
}

/// So many threads, so many rows in each statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inserts {
    /// Connections, each with a thread of its own.
    pub threads: usize,
    /// Rows of one INSERT.
    pub rows: usize,
}

impl Workload {
    /// All of them, in the report's order.
    pub const ALL: [Self; 6] = [
        Self::inserts(1, 1),
        Self::inserts(16, 1),
        Self::inserts(200, 1),
        Self::inserts(1, 50),
        Self::inserts(16, 50),
        Self::Load,
    ];

    const fn inserts(threads: usize, rows: usize) -> Self {
        Self::Inserts(Inserts { threads, rows })
    }

    /// What it is called on the command line.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Inserts(Inserts { threads, rows }) => format!("{threads}x{rows}"),
            Self::Load => "load".to_owned(),
        }
    }

    /// A line's heading.
    #[must_use]
    pub fn title(self) -> String {
        match self {
            Self::Inserts(Inserts { threads, rows }) => format!("{threads} × {rows}-row inserts"),
            Self::Load => "load with foreign keys".to_owned(),
        }
    }
}
