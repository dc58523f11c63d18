//! `hortator.group.log`: what a node must remember of its votes and of the group. A small text in the data folder.
//!
//! It is written whole for every vote, and is on disk before the vote is given: a node that forgot one could vote twice
//! in a term, and two leaders would be chosen. So a file that is not certainly what was written last is refused:
//!
//! ```text
//! # a remark
//! version: 2
//! node: 00000000000004d2
//! term: 7
//! voted_for: 000000000000162e
//! committed: 815
//! membership_term: 3
//! membership_index: 17
//! voter: 00000000000004d2 10.0.0.1:4567
//! voter: 000000000000162e 10.0.0.2:4567
//! generation: 4d7c1f0e-93aa-4b55-8a0c-6f2f3e3c9b01
//! generation: 0b7f1a52-5f0d-4a51-9c36-0f6b8f0d7e11
//! checksum: 5f0c8e4a
//! ```
//!
//! The checksum is the CRC-32 (IEEE) of all that stands before its line. `voted_for` may be `none`. The generations are the
//! group's own and those before it ([`Descent`]). Version 1, which had none, is read.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::NodeId;
use super::descent::Descent;
use super::raft::{Place, Term};
use crate::identity::Uuid;
use crate::log::Index;
use crate::whole_file;

#[cfg(test)]
mod tests;

/// Its name in the data folder.
pub const FILE_NAME: &str = "hortator.group.log";

const VERSION: &str = "2";
/// Without generations.
const FORMER_VERSION: &str = "1";

/// What a node must remember.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// Who it is.
    pub node: NodeId,
    /// The latest term that it knows of.
    pub term: Term,
    /// Whom it voted for in that term.
    pub voted_for: Option<NodeId>,
    /// Up to here it knew that the group had agreed. It may know more from others; never less.
    pub committed: Index,
    /// Where the membership below began to hold: the log before may be purged.
    pub membership_at: Place,
    /// Who decides from there on, each with its address.
    pub voters: BTreeMap<NodeId, String>,
    /// Of which generation the group is. Unknown: of none yet, or of a release that knew nothing of them.
    pub descent: Descent,
}

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system says no.
    #[error("{path}: {error}. See what the disk and the system's log say, then start again")]
    Io {
        /// Which file.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
    /// It is not what this release writes.
    #[error("{path}, line {line}: `{found}` is not understood. {WHAT_TO_DO}")]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// Counted from 1; one behind the last: a line is missing.
        line: usize,
        /// What stands there.
        found: String,
    },
    /// It is not as it was written.
    #[error(
        "{path} has changed since it was written: its checksum is {found}, and should be {expected:08x}. {WHAT_TO_DO}"
    )]
    Checksum {
        /// Which file.
        path: PathBuf,
        /// What stands in it.
        found: String,
        /// What the text before would have.
        expected: u32,
    },
    /// A later release wrote it.
    #[error("{path} has version {found}, and this release reads {VERSION}: use the newer release")]
    Newer {
        /// Which file.
        path: PathBuf,
        /// Its version.
        found: String,
    },
    /// An address that does not fit into a line.
    #[error("`{}` cannot be the address of node {node}: use HOST:PORT", address.escape_debug())]
    Address {
        /// Whose.
        node: NodeId,
        /// What was given.
        address: String,
    },
}

const WHAT_TO_DO: &str = "An old copy of it will not do: the node could vote twice. Move it away, together with the files \
                          hortator-*, and let the node join anew, as another one";

impl Saved {
    /// Reads it; None: there is none.
    ///
    /// # Errors
    /// It is not certainly what was written last.
    pub fn read(data_dir: &Path) -> Result<Option<Self>, Error> {
        let path = data_dir.join(FILE_NAME);
        match fs::read(&path) {
            Ok(bytes) => Self::parse(&String::from_utf8_lossy(&bytes), &path).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::Io { path, error }),
        }
    }

    /// Writes it; when it returns the file is on the disk, whole.
    ///
    /// # Errors
    /// It cannot be written, or an address is empty or holds a line's end.
    pub fn write(&self, data_dir: &Path) -> Result<(), Error> {
        let text = self.text()?;
        whole_file::replace(data_dir, FILE_NAME, &text)
            .map_err(|error| Error::Io { path: data_dir.join(FILE_NAME), error })
    }

    fn text(&self) -> Result<String, Error> {
        let Self { node, term, voted_for, committed, membership_at, voters, descent } = self;
        let voted_for = voted_for.map_or("none".to_owned(), |node| node.to_string());
        let mut text = format!(
            "# Written by Hortator's wsrep provider. Part of the data: keep it with them, do not edit it, do not copy it to \
             another node.\n\
             version: {VERSION}\nnode: {node}\nterm: {}\nvoted_for: {voted_for}\ncommitted: {committed}\n\
             membership_term: {}\nmembership_index: {}\n",
            term.0, membership_at.term.0, membership_at.index
        );
        for (node, address) in voters {
            if address.trim() != address || address.is_empty() || address.contains(char::is_control) {
                return Err(Error::Address { node: *node, address: address.clone() });
            }
            text.push_str(&format!("voter: {node} {address}\n"));
        }
        for generation in descent.newest_first() {
            text.push_str(&format!("generation: {generation}\n"));
        }
        text.push_str(&format!("checksum: {:08x}\n", crc32fast::hash(text.as_bytes())));
        Ok(text)
    }

    /// The version is looked at before the checksum: a later one may keep it elsewhere.
    fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        let version = text.lines().find_map(|line| line.strip_prefix("version: "));
        let is_newer = |found: &&str| ![VERSION, FORMER_VERSION].contains(found) && found.parse::<u64>().is_ok();
        if let Some(found) = version.filter(is_newer) {
            return Err(Error::Newer { path: path.to_owned(), found: found.to_owned() });
        }
        let mut lines = Lines { rest: text, number: 0, line: "", path };
        if text.starts_with('#') {
            lines.take();
        }
        lines.value("version", |value| [VERSION, FORMER_VERSION].contains(&value).then_some(()))?;
        let node = lines.value("node", node_id)?;
        let term = Term(lines.value("term", number)?);
        let voted_for =
            lines.value("voted_for", |value| if value == "none" { Some(None) } else { node_id(value).map(Some) })?;
        let committed = Index(lines.value("committed", number)?);
        let membership_term = Term(lines.value("membership_term", number)?);
        let membership_at = Place { term: membership_term, index: Index(lines.value("membership_index", number)?) };
        let mut voters = BTreeMap::new();
        while lines.rest.starts_with("voter: ") {
            let (node, address) = lines.value("voter", |value| {
                let (node, address) = value.split_once(' ')?;
                Some((node_id(node)?, address.to_owned()))
            })?;
            voters.insert(node, address);
        }
        let mut generations = Vec::new();
        while lines.rest.starts_with("generation: ") {
            generations.push(lines.value("generation", |value| value.parse::<Uuid>().ok())?);
        }
        let descent = Descent::from_newest(&generations).ok_or_else(|| lines.malformed())?;
        let expected = crc32fast::hash(&text.as_bytes()[..text.len() - lines.rest.len()]);
        let found = lines.value("checksum", |value| Some(value.to_owned()))?;
        if found != format!("{expected:08x}") {
            return Err(Error::Checksum { path: path.to_owned(), found, expected });
        }
        if !lines.rest.is_empty() {
            lines.take();
            return Err(lines.malformed());
        }
        Ok(Self { node, term, voted_for, committed, membership_at, voters, descent })
    }
}

/// The lines of a file, one behind the other.
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
        // Without its end a line may be half of one.
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

fn node_id(text: &str) -> Option<NodeId> {
    u64::from_str_radix(text, 16).ok().map(NodeId)
}
