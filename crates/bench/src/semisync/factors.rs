//! What varies between cells: one factor at a time, around a centre.

use std::fmt;

use super::contender::Contender;
use crate::rounds::{self, Cell};

/// Where the servers keep their data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// A file system in memory: no flush waits for a disk.
    Tmpfs,
    /// A file system on a disk.
    Disk,
}

/// How the threads share the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// One counter for each server: all its threads insert into the last page of the table.
    Counter,
    /// A range of its own for each thread.
    Ranges,
}

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factors {
    /// Connections, on all servers together.
    pub threads: usize,
    /// Whether a commit is on disk before it is confirmed.
    pub is_flushed: bool,
    /// Threads that apply the commits of other servers.
    pub appliers: usize,
    /// Where the servers keep their data.
    pub storage: Storage,
    /// How the threads share the keys.
    pub keys: Keys,
}

impl Storage {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Tmpfs, Self::Disk];
}

impl Keys {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Counter, Self::Ranges];
}

impl fmt::Display for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tmpfs => "tmpfs",
            Self::Disk => "disk",
        })
    }
}

impl fmt::Display for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Counter => "counter",
            Self::Ranges => "ranges",
        })
    }
}

impl Factors {
    /// The factors by name.
    pub(super) fn cell(self) -> Cell {
        rounds::cell(&[
            ("threads", self.threads.to_string()),
            ("flush", u8::from(self.is_flushed).to_string()),
            ("appliers", self.appliers.to_string()),
            ("storage", self.storage.to_string()),
            ("keys", self.keys.to_string()),
        ])
    }

    /// Whether another value of the factors in which this differs from the centre changes anything for the contender.
    pub(super) fn applies_to(self, contender: Contender, centre: Self) -> bool {
        let is_distinct = self.appliers == centre.appliers || contender.deployment.has_appliers();
        is_distinct && self.threads >= contender.writers
    }

    /// Whether servers of one cell can be used for the other.
    pub(super) fn has_same_servers(self, other: Self) -> bool {
        let of_servers = |factors: Self| (factors.is_flushed, factors.appliers, factors.storage);
        of_servers(self) == of_servers(other)
    }

    /// What differs from the centre, besides threads; empty for the centre.
    pub(super) fn difference(self, centre: Self) -> String {
        let parts = [
            (self.is_flushed != centre.is_flushed).then(|| format!("flush {}", u8::from(self.is_flushed))),
            (self.appliers != centre.appliers).then(|| format!("appliers {}", self.appliers)),
            (self.storage != centre.storage).then(|| self.storage.to_string()),
            (self.keys != centre.keys).then(|| format!("keys by {}", self.keys)),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// Values of each factor; the first of each is the centre.
#[derive(Clone, Debug)]
pub(super) struct Variations<'a> {
    pub(super) threads: &'a [usize],
    pub(super) flush: &'a [bool],
    pub(super) appliers: &'a [usize],
    pub(super) storage: &'a [Storage],
    pub(super) keys: &'a [Keys],
}

impl Variations<'_> {
    /// The centre; None where a factor has no value.
    pub(super) fn centre(&self) -> Option<Factors> {
        Some(Factors {
            threads: *self.threads.first()?,
            is_flushed: *self.flush.first()?,
            appliers: *self.appliers.first()?,
            storage: *self.storage.first()?,
            keys: *self.keys.first()?,
        })
    }

    /// The centre with each number of threads, and each other value of one factor, in an order in which cells that can
    /// share servers are neighbours. Fewer threads come first: what a server's memory grows to stays.
    pub(super) fn cells(&self) -> Vec<Factors> {
        let Some(centre) = self.centre() else { return Vec::new() };
        let mut cells: Vec<Factors> =
            self.threads.iter().map(|threads| Factors { threads: *threads, ..centre }).collect();
        cells.sort_by_key(|cell| cell.threads);
        cells.extend(self.keys.iter().skip(1).map(|keys| Factors { keys: *keys, ..centre }));
        cells.extend(self.flush.iter().skip(1).map(|is_flushed| Factors { is_flushed: *is_flushed, ..centre }));
        cells.extend(self.appliers.iter().skip(1).map(|appliers| Factors { appliers: *appliers, ..centre }));
        cells.extend(self.storage.iter().skip(1).map(|storage| Factors { storage: *storage, ..centre }));
        let mut distinct: Vec<Factors> = Vec::new();
        for cell in cells {
            if !distinct.contains(&cell) {
                distinct.push(cell);
            }
        }
        distinct
    }
}

#[cfg(test)]
mod tests {
    use super::super::Deployment;
    use super::*;

    const ALL: Variations<'_> = Variations {
        threads: &[400, 16, 100],
        flush: &[true, false],
        appliers: &[16, 1, 4, 16],
        storage: &Storage::ALL,
        keys: &Keys::ALL,
    };

    #[test]
    fn one_factor_differs_at_a_time() {
        let centre = ALL.centre().unwrap();
        let shown: Vec<String> =
            ALL.cells().iter().map(|cell| format!("{} {}", cell.threads, cell.difference(centre))).collect();
        assert_eq!(
            shown.iter().map(|cell| cell.trim()).collect::<Vec<_>>(),
            ["16", "100", "400", "400 keys by ranges", "400 flush 0", "400 appliers 1", "400 appliers 4", "400 disk"]
        );
        assert!(ALL.cells()[..4].iter().all(|cell| cell.has_same_servers(centre)));
        assert!(!ALL.cells()[4..].iter().any(|cell| cell.has_same_servers(centre)));
        assert!(Variations { threads: &[], ..ALL }.cells().is_empty());
    }

    #[test]
    fn a_server_alone_has_no_appliers_to_vary() {
        let centre = ALL.centre().unwrap();
        let count = |deployment, writers| {
            let contender = Contender { deployment, writers };
            ALL.cells().iter().filter(|cell| cell.applies_to(contender, centre)).count()
        };
        assert_eq!((count(Deployment::Alone, 1), count(Deployment::Ring, 2)), (6, 8));
    }
}
