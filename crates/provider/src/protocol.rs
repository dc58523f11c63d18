//! Protocol versions: which formats and rules the nodes of a cluster share, and which of them this release has.
//!
//! A cluster has one version *in force*. Each entry of the log names it, and the first entry with a higher one brings that
//! into force: so all nodes change at the same place of the order. A leader appends such an entry when all nodes have the
//! version (`node/replica/upgrade.rs`). A version in force never gives way to a lower one.
//!
//! | version | frames | entries | certification rules | `hortator.raft.log` | `hortator.state.log` | new in it |
//! |---|---|---|---|---|---|---|
//! | 7 | 7 | 2 | 1 | 4 | 4 | nodes negotiate the version |
//! | 8 | 8 | 3 | 1 | 5 | 4 | entries, joiners' snapshots and the hard state name the version in force |
//! | 9 | 9 | 3 | 1 | 5 | 4 | voters with several votes (`pc.weight`): listed that often; a node's status says how many it wants |
//!
//! A node writes all of these in the form of the version in force, and reads those of all versions from
//! [`ProtocolVersion::FIRST`] to [`ProtocolRange::SPOKEN`]'s newest. So until a version is in force, a release without it
//! can read everything.
//!
//! The feature `previous-release` makes a release with the first version only, for tests of upgrades.
//!
//! *Absent*: the negotiation (`consensus/links/version_check.rs`), and the decision (`node/replica/upgrade.rs`).

use std::fmt;

/// A protocol version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProtocolVersion(pub u8);

impl ProtocolVersion {
    /// In force until an entry names another one.
    pub const FIRST: Self = Self(7);
    /// Entries, snapshots and the hard state name the version.
    pub const NAMED: Self = Self(8);
    /// Voters may have several votes.
    pub const WEIGHTS: Self = Self(9);

    /// The format of entries.
    pub const fn entry_format(self) -> u8 {
        if self.0 < Self::NAMED.0 { 2 } else { 3 }
    }

    /// The version of the certification rules.
    pub const fn certification_rules(self) -> u8 {
        hortator_core::CERTIFICATION_RULES
    }

    /// The version of `hortator.raft.log`.
    pub const fn hard_state_version(self) -> u8 {
        if self.0 < Self::NAMED.0 { 4 } else { 5 }
    }
}

impl Default for ProtocolVersion {
    fn default() -> Self {
        Self::FIRST
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// The versions that a node speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtocolRange {
    /// The lowest one.
    pub lowest: ProtocolVersion,
    /// The newest one; not less than the lowest.
    pub newest: ProtocolVersion,
}

impl ProtocolRange {
    /// Those of this release.
    pub const SPOKEN: Self = Self {
        lowest: ProtocolVersion::FIRST,
        newest: if cfg!(feature = "previous-release") { ProtocolVersion::FIRST } else { ProtocolVersion::WEIGHTS },
    };

    /// Whether the version is one of them.
    pub fn contains(self, version: ProtocolVersion) -> bool {
        (self.lowest..=self.newest).contains(&version)
    }
}

impl fmt::Display for ProtocolRange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{}", self.lowest, self.newest)
    }
}
