//! One client's journal of its transactions.

use std::collections::BTreeMap;
use std::time::Duration;

use super::session::Outcome;

/// One transaction.
#[derive(Debug, Clone, Copy)]
pub struct Attempt {
    /// The client's own number for it, stored in its row.
    pub number: i64,
    pub outcome: Outcome,
    /// Start and end, measured from the beginning of the run.
    pub began: Duration,
    pub ended: Duration,
}

/// The journal of one client.
#[derive(Debug)]
pub struct Journal {
    pub client: usize,
    /// The table with its rows.
    pub table: &'static str,
    pub attempts: Vec<Attempt>,
    /// Unexpected errors, with their counts.
    pub errors: BTreeMap<String, usize>,
}

impl Journal {
    pub fn new(client: usize, table: &'static str) -> Journal {
        Journal { client, table, attempts: Vec::new(), errors: BTreeMap::new() }
    }

    pub fn count(&self, outcome: Outcome) -> usize {
        self.attempts.iter().filter(|attempt| attempt.outcome == outcome).count()
    }
}
