//! The first words of lines of errors and warnings that scripts look for. `galera_lines` has the lines of events.
//!
//! Administrators' scripts, and the servers' own tests, search the error log for words of Galera's. A line that reports
//! the same event starts with the same words, and continues with this provider's: the reason, and what to do. These
//! words are an interface. Before you change one, search the servers' tests for it (`add_suppression`,
//! `SEARCH_PATTERN`).

use std::fmt;
use std::path::PathBuf;

use crate::identity::Gtid;
use crate::node::Error;
use crate::options;

/// A line that starts with known words. `Display` gives them, without a full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownMessage {
    /// The server could not apply a write set.
    NotApplied(Gtid),
    /// This node's tables differ from those of the other nodes.
    Inconsistent(Gtid),
    /// This node applied what most nodes could not apply.
    Outvoted(Gtid),
    /// `wsrep_cluster_address` has another form.
    BackendUri,
    /// `wsrep_cluster_address` has another scheme than gcomm.
    Scheme,
    /// No quorum of the cluster is reachable.
    Unreachable,
    /// `--wsrep-new-cluster` on a node whose cluster has other voters.
    UnsafeBootstrap,
    /// An unknown name in `wsrep_provider_options`.
    UnknownOption(String),
    /// `grastate.dat` is missing.
    NoGrastate(PathBuf),
    /// The joiner's SST failed.
    SstNotReceived,
    /// The joiner's server did not prepare an SST.
    SstNotPrepared,
}

impl KnownMessage {
    /// The first words for an error of the node, if scripts look for some.
    pub fn of(error: &Error) -> Option<Self> {
        match error {
            Error::Options(options::Error::Unknown(name)) => Some(Self::UnknownOption(name.clone())),
            Error::Address(address) if address.contains("://") => Some(Self::Scheme),
            Error::Address(_) => Some(Self::BackendUri),
            Error::NoQuorum(_) => Some(Self::Unreachable),
            Error::HasOtherVoters(_) => Some(Self::UnsafeBootstrap),
            _ => None,
        }
    }
}

impl fmt::Display for KnownMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotApplied(gtid) => write!(f, "Failed to apply write set: gtid: {gtid}"),
            Self::Inconsistent(gtid) => write!(f, "Inconsistency detected: Inconsistent by consensus on {gtid}"),
            Self::Outvoted(gtid) => {
                write!(f, "Vote 0 (success) on {gtid} is inconsistent with group. Leaving cluster. ")?;
                Self::Inconsistent(*gtid).fmt(f)
            }
            Self::BackendUri => f.write_str("gcs connect failed: Invalid argument"),
            Self::Scheme => f.write_str("gcs connect failed: Socket type not supported"),
            Self::Unreachable => f.write_str("gcs connect failed: Connection timed out"),
            Self::UnsafeBootstrap => f.write_str("It may not be safe to bootstrap the cluster from this node"),
            Self::UnknownOption(name) => write!(f, "Unknown parameter '{name}'"),
            Self::NoGrastate(path) => write!(f, "Could not open state file for reading: '{}'", path.display()),
            Self::SstNotReceived => f.write_str("Will never receive state. Need to abort"),
            Self::SstNotPrepared => f.write_str("SST request callback failed. This is unrecoverable, restart required"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::KnownMessage::{self, *};
    use crate::identity::Gtid;

    /// The patterns of the servers' own tests, without the parts that vary.
    #[test]
    fn the_servers_tests_find_these_words() {
        let gtid = Gtid::UNDEFINED;
        let cases: [(KnownMessage, &[&str]); 11] = [
            (NotApplied(gtid), &["Failed to apply write set: gtid"]),
            (Inconsistent(gtid), &["Inconsistency detected: Inconsistent by consensus on "]),
            (
                Outvoted(gtid),
                &[
                    "Vote 0 (success) on ",
                    " is inconsistent with group. Leaving cluster.",
                    "Inconsistency detected: Inconsistent by consensus on ",
                ],
            ),
            (BackendUri, &["gcs connect failed: Invalid argument"]),
            (Scheme, &["gcs connect failed: Socket type not supported"]),
            (Unreachable, &["gcs connect failed: Connection timed out"]),
            (UnsafeBootstrap, &["It may not be safe to bootstrap the cluster from this node"]),
            (UnknownOption("a".into()), &["Unknown parameter 'a'"]),
            (NoGrastate("grastate.dat".into()), &["Could not open state file for reading: "]),
            (SstNotReceived, &["Will never receive state. Need to abort."]),
            (SstNotPrepared, &["SST request callback failed. This is unrecoverable, restart required."]),
        ];
        for (message, patterns) in cases {
            let line = format!("{message}. Hortator: why");
            let mut rest = line.as_str();
            for pattern in patterns {
                let (_, after) =
                    rest.split_once(pattern).unwrap_or_else(|| panic!("`{pattern}` is missing in: {line}"));
                rest = after;
            }
        }
    }
}
