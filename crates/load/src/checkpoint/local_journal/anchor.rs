//! What the server knows of a local journal: one row beside the checkpoints, number 0, which names the file.

use std::path::PathBuf;

use super::lines::{FileId, hexed, unhex};

/// The row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::checkpoint) struct Anchor {
    pub(super) id: FileId,
    /// The machine that has the file.
    pub(super) host: String,
    pub(super) path: PathBuf,
    /// The server that the load wrote to: what a replica has of it is less. Empty for a cluster, which confirms what all
    /// nodes have.
    pub(super) server: String,
    pub(in crate::checkpoint) from: Beginning,
}

/// The first statement that may be recorded there and nowhere else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::checkpoint) struct Beginning {
    pub(in crate::checkpoint) ordinal: u64,
    pub(in crate::checkpoint) file: String,
    pub(in crate::checkpoint) line: u64,
}

const KIND: &str = "local_journal";

impl Anchor {
    /// The text in the row. `None` where the path is no text.
    pub(in crate::checkpoint) fn to_text(&self) -> Option<String> {
        let FileId { journal_id, generation, boot_id, .. } = &self.id;
        let (host, path, server) = (hexed(&self.host), hexed(self.path.to_str()?), hexed(&self.server));
        Some(format!("{KIND} {journal_id:016x} {generation} {boot_id} {host} {path} {server}"))
    }

    /// Which file it is.
    pub(in crate::checkpoint) fn describe(&self) -> String {
        format!("the local journal {} on host {}", self.path.display(), self.host)
    }

    /// Why the file says nothing about this server, if it does not.
    pub(in crate::checkpoint) fn other_server(&self, server: &str) -> Option<String> {
        let is_other = !self.server.is_empty() && !server.is_empty() && self.server != server;
        is_other.then(|| format!("this server is {server}, and the load wrote to {}", self.server))
    }

    pub(in crate::checkpoint) fn from_text(load_id: u64, text: &str, from: Beginning) -> Option<Self> {
        let mut words = text.split(' ');
        if words.next()? != KIND {
            return None;
        }
        let journal_id = u64::from_str_radix(words.next()?, 16).ok()?;
        let generation = words.next()?.parse().ok()?;
        let boot_id = words.next()?.to_owned();
        let (host, path, server) = (unhex(words.next()?)?, unhex(words.next()?)?, unhex(words.next()?)?);
        let id = FileId { load_id, journal_id, generation, boot_id };
        words.next().is_none().then_some(Self { id, host, path: PathBuf::from(path), server, from })
    }
}
