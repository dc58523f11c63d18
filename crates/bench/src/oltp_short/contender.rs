//! What is compared: servers and the nodes that are written, transactions, and limits of the disk.

use std::fmt;

use crate::deployment::Deployment;

/// Servers, and how many of them the transactions go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contender {
    /// The servers.
    pub deployment: Deployment,
    /// So many of them are written, from the first on.
    pub writers: usize,
}

impl Contender {
    /// All: one writer up to as many as there are nodes.
    pub fn all() -> Vec<Self> {
        let with = |deployment: Deployment| (1..=deployment.nodes()).map(move |writers| Self { deployment, writers });
        Deployment::ALL.into_iter().flat_map(with).collect()
    }

    /// The contender of this name, as `alone` or `G3:2`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|contender| contender.name() == name)
    }

    /// As on the command line.
    #[must_use]
    pub fn name(self) -> String {
        match self.deployment.nodes() {
            1 => self.deployment.to_string(),
            _ => format!("{}:{}", self.deployment, self.writers),
        }
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { deployment, writers } = self;
        match (deployment.nodes(), writers) {
            (1, _) => deployment.fmt(f),
            (_, 1) => write!(f, "{deployment}, 1 writer"),
            _ => write!(f, "{deployment}, {writers} writers"),
        }
    }
}

/// The transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// One of eight kinds each.
    Short,
    /// All kinds in each.
    Stock,
}

impl Mix {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Short, Self::Stock];

    /// What it is, in a sentence.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Short => {
                "Each transaction is of one kind, drawn with equal chances: ten point selects; a simple, sum, order or distinct range; an \
                 update of an indexed column or of another one; a delete with an insert. Five of the eight only read."
            }
            Self::Stock => {
                "Each transaction has all 18 queries of sysbench's oltp_read_write: every one of them writes."
            }
        }
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Short => "short",
            Self::Stock => "stock",
        })
    }
}

/// Limits of reads and writes of the disk, once the tables are filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskLimit {
    /// For each server.
    Own,
    /// For all servers together.
    Shared,
    /// None: the disk as it is.
    Raw,
}

impl DiskLimit {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Own, Self::Shared, Self::Raw];
    /// Reads a second, and writes a second.
    pub const OPERATIONS: u32 = 400;

    /// What it is, in a sentence.
    #[must_use]
    pub fn description(self) -> String {
        let operations = Self::OPERATIONS;
        match self {
            Self::Own => format!(
                "Each server may read {operations} times a second and write {operations} times a second, as if it had a disk of its own."
            ),
            Self::Shared => format!(
                "All servers together may read {operations} times a second and write {operations} times a second, as if they had one disk."
            ),
            Self::Raw => "Nothing limits the disk.".to_owned(),
        }
    }

    /// In a heading.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Own => "own disks",
            Self::Shared => "shared disk",
            Self::Raw => "raw disk",
        }
    }
}

impl fmt::Display for DiskLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Own => "own",
            Self::Shared => "shared",
            Self::Raw => "raw",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contender_is_found_by_its_name() {
        let names: Vec<String> = Contender::all().iter().map(|contender| contender.name()).collect();
        assert_eq!(names.join(" "), "alone G1 G3:1 G3:2 G3:3 H1 H3:1 H3:2 H3:3");
        for contender in Contender::all() {
            assert_eq!(Contender::named(&contender.name()), Some(contender));
        }
        for other in ["G3", "G3:4", "alone:1", ""] {
            assert_eq!(Contender::named(other), None);
        }
        assert_eq!(Contender::named("G3:1").unwrap().to_string(), "G3, 1 writer");
    }
}
