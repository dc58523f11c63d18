//! `hortator.raft.log`: the node's Raft hard state and its voters. A small text file in the data folder.
//!
//! The node rewrites the whole file for every vote, and syncs it before it grants the vote: a node that forgets a vote
//! could vote twice in a term, and two leaders could be elected. So a file that is not certainly the last one written
//! is refused:
//!
//! ```text
//! # a remark
//! version: 5
//! protocol_version: 8
//! node: 00000000000004d2
//! term: 7
//! voted_for: 000000000000162e
//! committed: 815
//! membership_term: 3
//! membership_index: 17
//! snapshot_term: 2
//! snapshot_index: 9
//! voter: 00000000000004d2 10.0.0.1:4567
//! voter: 000000000000162e 10.0.0.2:4567
//! pending_voters: 5 820 00000000000004d2 000000000000162e 00000000000017a3
//! generation: 4d7c1f0e-93aa-4b55-8a0c-6f2f3e3c9b01
//! generation: 0b7f1a52-5f0d-4a51-9c36-0f6b8f0d7e11
//! checksum: 5f0c8e4a
//! ```
//!
//! The checksum is the CRC-32 (IEEE) of all text before its line. `voted_for` may be `none`. The generations are the
//! current one and the earlier ones ([`Lineage`]). A line `pending_voters` has the term and the index of an entry that
//! changes the voters, and those voters. A voter with several votes (`pc.weight`) stands that often. Version 1 has no
//! generations, version 2 no snapshot, version 3 no pending voters, version 4 no protocol version: it is the first one. All
//! are read, and version 4 is written until another protocol version is in force (the module `protocol`).

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::NodeId;
use super::lineage::Lineage;
use super::raft::{LogId, Membership, PendingMembership, Term, WEIGHT_LIMIT};
use crate::atomic_file;
use crate::identity::Uuid;
use crate::log::Index;
use crate::protocol::{ProtocolRange, ProtocolVersion};

#[cfg(test)]
mod tests;

/// The file's name in the data folder.
pub const FILE_NAME: &str = "hortator.raft.log";

/// The newest version that this release writes.
const VERSION: u8 = ProtocolRange::SPOKEN.newest.hard_state_version();
/// Without generations, without the snapshot, and without pending voters.
const OLD_VERSIONS: [u8; 3] = [1, 2, 3];

/// The hard state of a node, with its voters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HardState {
    /// The node's id.
    pub node: NodeId,
    /// The latest term that it knows.
    pub term: Term,
    /// The candidate that got its vote in that term.
    pub voted_for: Option<NodeId>,
    /// The commit index when the file was written; the real one may be higher.
    pub committed: Index,
    /// The entry that set the membership below. The log before it may be purged.
    pub membership_log_id: LogId,
    /// The log of a joiner begins after this entry, unless it was purged since. Index 0: it began empty.
    pub snapshot_log_id: LogId,
    /// The voters since then, with their addresses.
    pub voters: BTreeMap<NodeId, String>,
    /// The votes of those that have several.
    pub weights: BTreeMap<NodeId, u8>,
    /// Voters that the log may name and not hold after a crash ([`super::raft::Raft::pending_memberships`]).
    pub pending_memberships: Vec<PendingMembership>,
    /// The generations of the cluster. Unknown: the node belongs to no cluster yet, or an older release wrote the file.
    pub lineage: Lineage,
    /// The protocol version in force, as far as this node has ordered the log.
    pub protocol: ProtocolVersion,
}

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system call failed.
    #[error("{path}: {error}. Check the disk and the system log, then start the server again")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A line has another form than this release writes.
    #[error("{path}, line {line}: `{found}` is not valid. {REMEDY}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Counted from 1; one after the last: a line is missing.
        line: usize,
        /// The line.
        found: String,
    },
    /// The checksum is wrong.
    #[error(
        "{path} has changed since the provider wrote it: its checksum is {found}, expected {expected:08x}. \
             {REMEDY}"
    )]
    Checksum {
        /// The file.
        path: PathBuf,
        /// The checksum in the file.
        found: String,
        /// The checksum of the text.
        expected: u32,
    },
    /// A newer release wrote the file.
    #[error("{path} has version {found}, this release reads up to version {VERSION}: use the newer release")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: String,
    },
    /// The cluster has a newer protocol version in force.
    #[error(
        "protocol version {found} is in force in the cluster of {path}, this release speaks up to version {}: use the newer \
         release",
        ProtocolRange::SPOKEN.newest
    )]
    NewerProtocol {
        /// The file.
        path: PathBuf,
        /// The version in force.
        found: ProtocolVersion,
    },
    /// An address that does not fit into a line.
    #[error("`{}` is not a valid address of node {node}: use HOST:PORT", address.escape_debug())]
    Address {
        /// The node.
        node: NodeId,
        /// The address.
        address: String,
    },
}

const REMEDY: &str = "Do not restore an old copy: the node could vote twice. Move the file away, together with the \
                      files hortator-*, and let the node join again as a new one";

impl HardState {
    /// Reads the file. None: it does not exist.
    ///
    /// # Errors
    /// The file is not certainly the last one written.
    pub fn read(data_dir: &Path) -> Result<Option<Self>, Error> {
        let path = data_dir.join(FILE_NAME);
        match fs::read(&path) {
            Ok(bytes) => Self::parse(&String::from_utf8_lossy(&bytes), &path).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::Io { path, error }),
        }
    }

    /// Number of votes of a voter.
    pub fn weight(&self, voter: NodeId) -> u8 {
        self.weights.get(&voter).copied().unwrap_or(1)
    }

    /// The voters, as Raft has them.
    pub fn membership(&self) -> Membership {
        let mut membership = Membership::default();
        self.voters.keys().for_each(|voter| membership.set_weight(*voter, self.weight(*voter)));
        membership
    }

    /// Sets the voters, with their addresses and votes.
    pub fn set_voters(&mut self, addresses: BTreeMap<NodeId, String>, membership: &Membership) {
        let votes = addresses.keys().map(|node| (*node, membership.weight(*node)));
        self.weights = votes.filter(|(_, votes)| *votes > 1).collect();
        self.voters = addresses;
    }

    /// Writes the file. When it returns, the file is whole and on disk.
    ///
    /// # Errors
    /// The file cannot be written, or an address is empty or contains a line break.
    pub fn write(&self, data_dir: &Path) -> Result<(), Error> {
        let text = self.text()?;
        atomic_file::replace(data_dir, FILE_NAME, &text)
            .map_err(|error| Error::Io { path: data_dir.join(FILE_NAME), error })
    }

    fn text(&self) -> Result<String, Error> {
        let Self {
            node,
            term,
            voted_for,
            committed,
            membership_log_id,
            snapshot_log_id,
            voters,
            weights: _,
            pending_memberships,
            lineage,
            protocol,
        } = self;
        let version = protocol.hard_state_version();
        let protocol_line = match *protocol {
            ProtocolVersion::FIRST => String::new(),
            protocol => format!("protocol_version: {protocol}\n"),
        };
        let voted_for = voted_for.map_or("none".to_owned(), |node| node.to_string());
        let mut text = format!(
            "# Written by Hortator's wsrep provider. Part of the data: keep it with them, do not edit it, do not copy it to \
             another node.\n\
             version: {version}\n{protocol_line}node: {node}\nterm: {}\nvoted_for: {voted_for}\ncommitted: {committed}\n\
             membership_term: {}\nmembership_index: {}\nsnapshot_term: {}\nsnapshot_index: {}\n",
            term.0, membership_log_id.term.0, membership_log_id.index, snapshot_log_id.term.0, snapshot_log_id.index
        );
        for (node, address) in voters {
            if address.trim() != address || address.is_empty() || address.contains(char::is_control) {
                return Err(Error::Address { node: *node, address: address.clone() });
            }
            text.push_str(&format!("voter: {node} {address}\n").repeat(self.weight(*node).into()));
        }
        for (LogId { term, index }, membership) in pending_memberships {
            text.push_str(&format!("pending_voters: {} {index}", term.0));
            membership.votes().for_each(|voter| text.push_str(&format!(" {voter}")));
            text.push('\n');
        }
        for generation in lineage.newest_first() {
            text.push_str(&format!("generation: {generation}\n"));
        }
        text.push_str(&format!("checksum: {:08x}\n", crc32fast::hash(text.as_bytes())));
        Ok(text)
    }

    /// Checks the version before the checksum: a newer version may store the checksum elsewhere.
    fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        let version = text.lines().find_map(|line| line.strip_prefix("version: "));
        let is_known = |found: &str| {
            let written = [ProtocolVersion::FIRST.hard_state_version(), VERSION];
            found.parse().is_ok_and(|found| OLD_VERSIONS.contains(&found) || written.contains(&found))
        };
        let is_newer = |found: &&str| !is_known(found) && found.parse::<u64>().is_ok();
        if let Some(found) = version.filter(is_newer) {
            return Err(Error::Newer { path: path.to_owned(), found: found.to_owned() });
        }
        let mut lines = Lines { rest: text, number: 0, line: "", path };
        if text.starts_with('#') {
            lines.take();
        }
        lines.value("version", |value| is_known(value).then_some(()))?;
        let mut protocol = ProtocolVersion::FIRST;
        if lines.rest.starts_with("protocol_version: ") {
            protocol = lines.value("protocol_version", |value| value.parse().map(ProtocolVersion).ok())?;
            if protocol > ProtocolRange::SPOKEN.newest {
                return Err(Error::NewerProtocol { path: path.to_owned(), found: protocol });
            }
        }
        let node = lines.value("node", node_id)?;
        let term = Term(lines.value("term", number)?);
        let voted_for =
            lines.value("voted_for", |value| if value == "none" { Some(None) } else { node_id(value).map(Some) })?;
        let committed = Index(lines.value("committed", number)?);
        let membership_term = Term(lines.value("membership_term", number)?);
        let membership_at = LogId { term: membership_term, index: Index(lines.value("membership_index", number)?) };
        let mut snapshot_log_id = LogId { term: Term(0), index: Index(0) };
        if lines.rest.starts_with("snapshot_term: ") {
            let term = Term(lines.value("snapshot_term", number)?);
            snapshot_log_id = LogId { term, index: Index(lines.value("snapshot_index", number)?) };
        }
        let (mut voters, mut weights) = (BTreeMap::new(), BTreeMap::new());
        while lines.rest.starts_with("voter: ") {
            let (node, address) = lines.value("voter", |value| {
                let (node, address) = value.split_once(' ')?;
                Some((node_id(node)?, address.to_owned()))
            })?;
            if voters.insert(node, address).is_some() {
                *weights.entry(node).or_insert(1) += 1;
            }
            if weights.get(&node).is_some_and(|votes| *votes > WEIGHT_LIMIT) {
                return Err(lines.malformed());
            }
        }
        let mut pending_memberships = Vec::new();
        while lines.rest.starts_with("pending_voters: ") {
            pending_memberships.push(lines.value("pending_voters", pending_membership)?);
        }
        let mut generations = Vec::new();
        while lines.rest.starts_with("generation: ") {
            generations.push(lines.value("generation", |value| value.parse::<Uuid>().ok())?);
        }
        let lineage = Lineage::from_newest(&generations).ok_or_else(|| lines.malformed())?;
        let expected = crc32fast::hash(&text.as_bytes()[..text.len() - lines.rest.len()]);
        let found = lines.value("checksum", |value| Some(value.to_owned()))?;
        if found != format!("{expected:08x}") {
            return Err(Error::Checksum { path: path.to_owned(), found, expected });
        }
        if !lines.rest.is_empty() {
            lines.take();
            return Err(lines.malformed());
        }
        Ok(Self {
            node,
            term,
            voted_for,
            committed,
            membership_log_id: membership_at,
            snapshot_log_id,
            voters,
            weights,
            pending_memberships,
            lineage,
            protocol,
        })
    }
}

/// The lines of a file, in order.
struct Lines<'a> {
    rest: &'a str,
    number: usize,
    line: &'a str,
    path: &'a Path,
}

impl Lines<'_> {
    fn take(&mut self) {
        let whole = self.rest.split_inclusive('\n').next().unwrap_or("");
        self.rest = &self.rest[whole.len()..];
        self.number += 1;
        // A line without its line break may be incomplete.
        self.line = whole.strip_suffix('\n').unwrap_or("");
    }

    fn value<T>(&mut self, name: &str, read: impl Fn(&str) -> Option<T>) -> Result<T, Error> {
        self.take();
        let value = self.line.strip_prefix(name).and_then(|rest| rest.strip_prefix(": "));
        value.and_then(read).ok_or_else(|| self.malformed())
    }

    fn malformed(&self) -> Error {
        Error::Malformed { path: self.path.to_owned(), line: self.number, found: self.line.to_owned() }
    }
}

fn number(text: &str) -> Option<u64> {
    text.parse().ok()
}

/// Term, index and voters.
fn pending_membership(text: &str) -> Option<PendingMembership> {
    let mut words = text.split(' ');
    let log_id = LogId { term: Term(number(words.next()?)?), index: Index(number(words.next()?)?) };
    let votes = words.map(node_id).collect::<Option<Vec<_>>>()?;
    Some((log_id, Membership::of(votes)))
}

fn node_id(text: &str) -> Option<NodeId> {
    u64::from_str_radix(text, 16).ok().map(NodeId)
}
