//! What the server's binary log holds of the log.
//!
//! After a crash the node applies again what its tables lack. The binary log may hold that already: the server writes it
//! before the storage engine commits, and the engine may write its own log to the disk much later. A transaction must not
//! stand in the binary log twice, with two GTIDs, and none may be missing. The binary log itself tells what it holds: the
//! number of the XID event at the end of a transaction is its seqno. Transactions commit in the order of the seqnos, so
//! everything up to the last one is there. The statements behind it (DDL has no XID event) are compared with those of the
//! log. If the log has been purged since that transaction, it may lack the first of them too, and hold later ones with the
//! same text: then their times must be the same as well.
//!
//! Other transactions (`wsrep_on=OFF`) have XID events too, with numbers of their own. One counts only if the log has a
//! transaction with that seqno, of the same tables.
//!
//! *Absent*: encrypted binary logs, and the contents of rows.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::entry::WriteSetHead;
use crate::server::Flags;

mod event;
mod file;
#[cfg(test)]
mod tests;

use event::Fingerprint;
pub use event::LoggedStatement;

/// The last groups of a binary log that count.
const GROUPS_LIMIT: usize = 1024;

/// The binary log of the server.
#[derive(Clone, Debug)]
pub struct BinaryLog {
    /// `log_bin`: the name of its files without the extension. None: the server chooses it later.
    pub name: Option<String>,
    /// `log_bin_index`, if it is set.
    pub index_name: Option<String>,
    /// The server's data folder: relative names are below it.
    pub data_dir: PathBuf,
    /// Whether the server can be told to write nothing to it.
    pub can_pause: bool,
}

/// Why the provider does not know what a binary log holds.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A system call failed.
    #[error("{path} cannot be read: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// An encrypted file.
    #[error("{0} is encrypted")]
    Encrypted(PathBuf),
    /// Another file, or a format that this release does not know.
    #[error("{0} is not a binary log that this release can read")]
    NotABinaryLog(PathBuf),
    /// A server without the variables that this needs.
    #[error("this release does not know the binary log of this server")]
    UnknownServer,
}

/// A group of events: a transaction, or a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Group {
    /// A transaction.
    Transaction {
        /// Of the XID event: its seqno, if it is one of the cluster.
        number: i64,
        /// Its tables.
        tables: BTreeSet<Fingerprint>,
    },
    /// A statement.
    Statement(LoggedStatement),
}

impl BinaryLog {
    /// Reads the last groups, from the last file with a transaction on.
    pub fn last_groups(&self) -> Result<Vec<Group>, Error> {
        if !self.can_pause {
            return Err(Error::UnknownServer);
        }
        let Some(index_file) = self.index_file()? else { return Ok(Vec::new()) };
        let names = fs::read(&index_file).map_err(|error| Error::Io { path: index_file, error })?;
        let mut groups = VecDeque::new();
        for name in names.split(|byte| *byte == b'\n').rev().filter(|name| !name.is_empty()) {
            let name = String::from_utf8_lossy(name);
            let path = self.data_dir.join(Path::new(&*name).strip_prefix("./").unwrap_or(Path::new(&*name)));
            let mut earlier = file::read_groups(&path)?;
            earlier.append(&mut groups);
            groups = earlier;
            if groups.iter().any(|group| matches!(group, Group::Transaction { .. })) || groups.len() > GROUPS_LIMIT {
                break;
            }
        }
        groups.drain(..groups.len().saturating_sub(GROUPS_LIMIT));
        Ok(groups.into())
    }

    /// The file with the names of the files. None: there is no binary log yet.
    fn index_file(&self) -> Result<Option<PathBuf>, Error> {
        let named = |name: &String| self.data_dir.join(name);
        let files = match &self.name {
            Some(name) => named(name),
            // A name of the host or of the process.
            None => match self.files_that_end_with("-bin.index")?.as_slice() {
                [] => return Ok(None),
                [only] => only.clone(),
                _ => return Err(Error::UnknownServer),
            },
        };
        let index_file = match self.index_name.as_ref().map(named) {
            Some(index_file) if index_file.extension().is_some() => index_file,
            Some(index_file) => index_file.with_extension("index"),
            None => files.with_extension("index"),
        };
        let first = files.with_extension("000001");
        if !index_file.exists() && !first.exists() {
            return Ok(None);
        }
        Ok(Some(index_file))
    }

    fn files_that_end_with(&self, end: &str) -> Result<Vec<PathBuf>, Error> {
        let io_error = |error| Error::Io { path: self.data_dir.clone(), error };
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.data_dir).map_err(io_error)? {
            let path = entry.map_err(io_error)?.path();
            if path.to_str().is_some_and(|name| name.ends_with(end)) {
                found.push(path);
            }
        }
        Ok(found)
    }
}

/// Compares the last groups with the log, entry by entry.
#[derive(Debug)]
pub struct Comparison<'a> {
    groups: &'a [Group],
    /// By number: the index of the last group with it.
    candidates: HashMap<i64, usize>,
    /// The first seqno in the log.
    first: Option<i64>,
    /// The index of the group that is the last transaction of the log.
    last_transaction: Option<usize>,
    /// The statements in the log, and their seqnos.
    statements: Vec<(i64, LoggedStatement)>,
}

impl<'a> Comparison<'a> {
    /// Starts with no entry.
    pub fn new(groups: &'a [Group]) -> Self {
        let numbers = groups.iter().enumerate().filter_map(|(index, group)| match group {
            Group::Transaction { number, .. } => Some((*number, index)),
            Group::Statement(_) => None,
        });
        let candidates = numbers.collect();
        Self { groups, candidates, first: None, last_transaction: None, statements: Vec::new() }
    }

    /// Adds the next write set of the log.
    pub fn add(&mut self, seqno: i64, head: &WriteSetHead, data: &[u8]) {
        self.first.get_or_insert(seqno);
        if head.flags.has(Flags::ISOLATION) {
            self.statements.push((seqno, event::statement_of(data)));
        } else if head.flags.has(Flags::TRX_END)
            && let Some(index) = self.candidates.get(&seqno)
            && let Group::Transaction { tables, .. } = &self.groups[*index]
        {
            // The end of a streaming transaction does not have all of its tables.
            let is_whole = head.flags.has(Flags::TRX_START);
            if !is_whole || tables.is_subset(&event::tables_of(data)) {
                // The last seqno counts, not the last group: that may be another transaction, whose number is an earlier seqno.
                self.last_transaction = Some(*index);
            }
        }
    }

    /// The last seqno that the binary log holds; 0: none that it can be told of.
    pub fn logged_upto(&self) -> i64 {
        let is_purged = |group: &Group| match group {
            Group::Transaction { number, .. } => self.first.is_some_and(|first| *number < first),
            Group::Statement(_) => false,
        };
        let last = self.last_transaction.or_else(|| self.groups.iter().rposition(is_purged));
        let behind = last.map_or(0, |index| index + 1);
        let mut upto = match last.map(|index| &self.groups[index]) {
            Some(Group::Transaction { number, .. }) => *number,
            _ => 0,
        };
        // Else the log has been purged since the last transaction, and maybe since the statements behind it.
        let has_all_behind = self.last_transaction.is_some();
        let is_same = |group: LoggedStatement, entry: LoggedStatement| {
            let has_same_text = group.text.is_none() || group.text == entry.text;
            has_same_text && (has_all_behind || group.time == entry.time)
        };
        // The binary log is in the order of the log. A statement of another kind of session is in one of them only.
        let first = self.statements.partition_point(|(seqno, _)| *seqno <= upto);
        let mut rest = self.statements[first..].iter();
        for group in &self.groups[behind..] {
            let Group::Statement(statement) = group else { continue };
            let mut probe = rest.clone();
            if let Some((seqno, _)) = probe.find(|(_, entry)| is_same(*statement, *entry)) {
                upto = *seqno;
                rest = probe;
            }
        }
        upto
    }
}
