//! The local journal: checkpoints of statements that commit by themselves, in a file of the loader's machine.
//!
//! Such a statement has an intent before it and an end behind it. On the server these are two commits, each of which waits
//! for the disk; in a file they are lines in the page cache, which outlives a killed load. The end of a statement and the
//! intent of the next are one write, unless something else is sent or waited for in between. The server keeps one row
//! that says so, the [`Anchor`]: from which statement on, and which file. It is renewed now and then, together with all
//! checkpoints of the file so far, and then there is a new file:
//!
//! ```text
//!   file 1:  B 7, E 7, B 8, E 8, … B 90          file 2:  B 91, E 91, …
//!   server:  anchor: 1, from 7                   checkpoints 7–89, intent 90, anchor: 2, from 91     one commit
//! ```
//!
//! Where no such statement follows for a second, all of it goes to the server too: long rows behind a few definitions do not
//! depend on the file. A load that ends in order writes what is left to the server, and removes the file. One that was killed leaves it: the
//! load that resumes brings its checkpoints to the server before anything else, so that all else reads checkpoints there.
//! Without the file, or with one that may lack something, nothing is guessed: see [`LostJournal`].
//!
//! A load of a few statements has a file from its beginning, and nothing on the server: see [`local_record`].
//!
//! What the file says must hold when the server has crashed as well, and no checkpoint in the same log says so. So there is
//! a local journal only where the server confirms no commit before it is on disk: [`ServerFacts::is_durable`].

mod anchor;
mod entries;
mod file;
mod lines;
mod local_record;
#[cfg(test)]
mod tests;

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hortator_mysql::catalog::TableName;

use super::Checkpoint;
use entries::Entries;
use file::JournalFile;
use lines::FileId;

pub(super) use anchor::{Anchor, Beginning};
pub(super) use local_record::{LocalRecord, RecordFile, ServerIdentity, record_files};

/// The server is asked again whether its commits are durable when it was asked longer ago than this and a statement begins.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// A file is renewed when it is older than this and a statement begins.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(1);

/// A file goes to the server when it is older than this and all statements in it have ended.
const IDLE_INTERVAL: Duration = Duration::from_secs(1);

/// Bytes that are kept free in a file for the ends of statements that have begun.
const ENDS_BYTES: usize = 64 << 10;

/// A run of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Machine {
    host: String,
    boot_id: String,
}

impl Machine {
    /// This one; `None` where it does not tell.
    pub(super) fn current() -> Option<Self> {
        let word = |path: &str| {
            let text = fs::read_to_string(path).ok()?;
            Some(text.trim().to_owned()).filter(|word| !word.is_empty() && !word.contains(char::is_whitespace))
        };
        Some(Self { host: word("/proc/sys/kernel/hostname")?, boot_id: word("/proc/sys/kernel/random/boot_id")? })
    }
}

/// What matters of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerFacts {
    /// A statement that the server has confirmed is there after a crash of the server or its machine.
    pub(super) is_durable: bool,
    /// Which server it is; empty for a node of a cluster.
    pub(super) server: String,
}

/// The query for them.
pub(super) const SERVER_FACTS: &str = "SELECT @@GLOBAL.innodb_flush_log_at_trx_commit, @@GLOBAL.log_bin, \
     @@GLOBAL.sync_binlog, CONCAT_WS(':', @@hostname, @@port, @@server_id)";

impl ServerFacts {
    /// From the values that the query gives.
    pub(super) fn new(flush_log: &str, log_bin: &str, sync_binlog: &str, server: &str, is_cluster: bool) -> Self {
        // Without its event in the binary log, a transaction is rolled back when the server recovers.
        let is_durable = matches!(flush_log, "1" | "3") && (log_bin == "0" || sync_binlog == "1");
        Self { is_durable, server: if is_cluster { String::new() } else { server.to_owned() } }
    }
}

/// A load's statements that are recorded in a file which cannot be used: which of them ran is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostJournal {
    /// The first statement that may be among them.
    pub from: u64,
    /// The file, on which host, and why it cannot be used.
    pub reason: String,
}

/// Where the intent of the next statement goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// To the file.
    Append,
    /// To the file, if the server still confirms no commit before it is on disk; else to the server.
    Check,
    /// To a new file, once all before it is on the server.
    Renew,
    /// To the server.
    Server,
}

/// The local journal of one load.
#[derive(Debug)]
pub(super) struct LocalJournal {
    load_id: u64,
    journal_id: u64,
    /// `None` where everything is recorded on the server.
    home: Option<(PathBuf, Machine)>,
    generations: u64,
    open: Option<Open>,
    /// What the file that is open says of the load, which is on record nowhere else.
    record: Option<LocalRecord>,
    /// What follows must not be in the file that is open: something before it is not on disk.
    is_expired: bool,
    /// Why there is no local journal any more.
    given_up: Option<String>,
}

/// A file that is being written.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) anchor: Anchor,
    file: JournalFile,
    since: Instant,
    /// When the server was last asked whether it confirms no commit before it is on disk.
    checked: Instant,
    entries: Entries,
    /// Ends that are written with what comes next, or soon: [`LocalJournal::write_ends`].
    ends: Vec<u8>,
}

impl LocalJournal {
    /// In this folder, if there is to be one.
    pub(super) fn new(load_id: u64, folder: Option<&Path>) -> Self {
        let journal_id = RandomState::new().build_hasher().finish();
        let home = folder.map(Path::to_path_buf).zip(Machine::current());
        Self { load_id, journal_id, home, generations: 0, open: None, record: None, is_expired: false, given_up: None }
    }

    /// Begins with a file that has the local record of the load; false where there can be none.
    pub(super) fn begin_record(&mut self, record: LocalRecord) -> bool {
        let Some((folder, Machine { host, boot_id })) = &self.home else { return false };
        let record = LocalRecord { host: host.clone(), ..record };
        let (load_id, journal_id, boot_id) = (self.load_id, self.journal_id, boot_id.clone());
        let id = FileId { load_id, journal_id, generation: self.generations, boot_id };
        let Ok(text) = serde_json::to_string(&record) else { return false };
        let Ok(file) = JournalFile::create_record(folder, &id, &text) else { return false };
        let path = file.path().to_path_buf();
        let anchor =
            Anchor { id, host: host.clone(), path, server: record.server_name.clone(), from: record.beginning() };
        if anchor.to_text().is_none() {
            // The server could not name the file later.
            file.remove();
            return false;
        }
        self.open = Some(Open::new(anchor, file));
        self.record = Some(record);
        true
    }

    /// What is on record in the file that is open, and nowhere else.
    pub(super) fn record(&self) -> Option<(&LocalRecord, &Anchor)> {
        self.record.as_ref().zip(self.open.as_ref().map(|open| &open.anchor))
    }

    /// The server has it now. The file says so too, should it be left behind.
    pub(super) fn recorded(&mut self) {
        if let Some(open) = self.open.as_mut().filter(|_| self.record.is_some()) {
            let _ = open.write(&lines::on_server());
        }
        self.record = None;
    }

    /// The load creates a table: where it is on record nowhere else, the file says so.
    pub(super) fn create_table(&mut self, table: &TableName) -> io::Result<()> {
        match self.open.as_mut().filter(|_| self.record.is_some()) {
            Some(open) if open.file.has_room(ENDS_BYTES) => open.write(&lines::created(table)),
            Some(_) => Err(io::Error::from(io::ErrorKind::StorageFull)),
            None => Ok(()),
        }
    }

    /// Nothing is recorded in the file that is open.
    pub(super) fn is_empty(&self) -> bool {
        self.open.as_ref().is_none_or(|open| open.entries.is_empty())
    }

    /// The load is over, and what is on record in the file only is of no use any more.
    pub(super) fn end_record(&mut self) {
        (self.home, self.record) = (None, None);
        self.renewed(None);
    }

    pub(super) fn load_id(&self) -> u64 {
        self.load_id
    }

    /// What follows goes to a new file.
    pub(super) fn expire(&mut self) {
        self.is_expired = true;
    }

    /// From here on, everything is recorded on the server.
    pub(super) fn give_up(&mut self, reason: Option<String>) {
        self.home = None;
        self.given_up = reason;
    }

    pub(super) fn given_up(&self) -> Option<&str> {
        self.given_up.as_deref()
    }

    pub(super) fn open(&self) -> Option<&Open> {
        self.open.as_ref()
    }

    /// Where the intent of a statement goes, the first of which has this number.
    pub(super) fn next(&self, first: u64) -> Next {
        match &self.open {
            _ if self.home.is_none() => Next::Server,
            None => Next::Renew,
            Some(open) => open.next(first, self.is_expired),
        }
    }

    /// The server still confirms no commit before it is on disk.
    pub(super) fn checked(&mut self) {
        if let Some(open) = &mut self.open {
            open.checked = Instant::now();
        }
    }

    /// A new file, for statements from this one on, and the row that is to name it.
    pub(super) fn create(&mut self, from: &Checkpoint, server: &str) -> io::Result<Option<Open>> {
        let Some((folder, Machine { host, boot_id })) = &self.home else { return Ok(None) };
        self.generations += 1;
        let (load_id, journal_id, generation) = (self.load_id, self.journal_id, self.generations);
        let id = FileId { load_id, journal_id, generation, boot_id: boot_id.clone() };
        let file = JournalFile::create(folder, &id)?;
        let from = Beginning { ordinal: from.span.first, file: from.span.file.clone(), line: from.span.line };
        let path = file.path().to_path_buf();
        let anchor = Anchor { id, host: host.clone(), path, server: server.to_owned(), from };
        Ok(Some(Open::new(anchor, file)))
    }

    /// The server has all of the old file, and names the new one, if there is one.
    pub(super) fn renewed(&mut self, new: Option<Open>) {
        self.is_expired = false;
        if let Some(old) = std::mem::replace(&mut self.open, new) {
            old.file.remove();
        }
    }

    /// Nothing has happened in it for a while; or it is the only record of a load that takes long.
    pub(super) fn is_idle(&self) -> bool {
        let may_go = |open: &Open| self.record.is_some() || open.entries.have_ended();
        self.open.as_ref().is_some_and(|open| open.since.elapsed() >= IDLE_INTERVAL && may_go(open))
    }

    /// A statement begins.
    pub(super) fn begin(&mut self, checkpoint: &Checkpoint) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        open.write(&lines::begun(checkpoint))?;
        open.entries.begin(checkpoint);
        Ok(())
    }

    /// Whether a statement has begun in the file that is open.
    pub(super) fn has_begun(&self, first: u64) -> bool {
        self.open.as_ref().is_some_and(|open| open.entries.has_begun(first))
    }

    /// It has ended. An error means that it is in memory only.
    pub(super) fn end(&mut self, checkpoint: &Checkpoint, text: Option<&[u8]>) -> io::Result<()> {
        self.end_with_next(checkpoint, text)?;
        self.write_ends()
    }

    /// The same; it is written with what comes next, or by [`LocalJournal::write_ends`].
    pub(super) fn end_with_next(&mut self, checkpoint: &Checkpoint, text: Option<&[u8]>) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        open.entries.end(checkpoint, text);
        open.add_end(&lines::ended(checkpoint))
    }

    /// Writes the ends that are not written yet.
    pub(super) fn write_ends(&mut self) -> io::Result<()> {
        match &mut self.open {
            Some(open) if !open.ends.is_empty() => open.write(b""),
            _ => Ok(()),
        }
    }

    /// Replaces, in memory only, what is known of a statement that has begun in the file that is open; gives what it was.
    pub(super) fn replace(&mut self, checkpoint: &Checkpoint) -> Option<Checkpoint> {
        self.open.as_mut()?.entries.replace(checkpoint)
    }

    /// Nothing of it is there. An error means that only the memory knows.
    pub(super) fn retract(&mut self, first: u64) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        open.entries.retract(first);
        open.add_end(&lines::retracted(first))?;
        self.write_ends()
    }

    /// The server cannot be reached, and the load ends: the file is to last.
    pub(super) fn close(&mut self) {
        if let Some(open) = &mut self.open {
            // Without the last line, the file is good for this run of the machine.
            let _ = open.write(b"").and_then(|()| open.file.close());
        }
        self.home = None;
    }
}

impl Open {
    /// Of a load whose server was asked just before.
    fn new(anchor: Anchor, file: JournalFile) -> Self {
        let now = Instant::now();
        Self { anchor, file, since: now, checked: now, entries: Entries::default(), ends: Vec::new() }
    }

    fn next(&self, first: u64, is_expired: bool) -> Next {
        if is_expired || self.since.elapsed() >= RENEWAL_INTERVAL || !self.file.has_room(ENDS_BYTES) {
            Next::Renew
        } else if first < self.anchor.from.ordinal {
            Next::Server
        } else if self.checked.elapsed() >= CHECK_INTERVAL {
            Next::Check
        } else {
            Next::Append
        }
    }

    /// All that the file says.
    pub(super) fn checkpoints(&self) -> impl Iterator<Item = Checkpoint> {
        self.entries.checkpoints()
    }

    fn add_end(&mut self, line: &[u8]) -> io::Result<()> {
        if !self.file.has_room(self.ends.len() + line.len()) {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        self.ends.extend_from_slice(line);
        Ok(())
    }

    /// Writes the ends that are not written yet, and a line behind them.
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let ends = self.ends.len();
        self.ends.extend_from_slice(line);
        match self.file.write(&self.ends) {
            Ok(()) => {
                self.ends.clear();
                Ok(())
            }
            Err(error) => {
                self.ends.truncate(ends);
                Err(error)
            }
        }
    }

    /// It is of no use.
    pub(super) fn remove(self) {
        self.file.remove();
    }
}

/// The checkpoints of the file that a row names. `folder`: where it may be, too. An error says what is missing.
pub(super) fn read(anchor: &Anchor, folder: Option<&Path>) -> Result<Vec<Checkpoint>, String> {
    let moved = folder.zip(anchor.path.file_name()).map(|(folder, name)| folder.join(name));
    let path = moved.filter(|moved| moved.exists()).unwrap_or_else(|| anchor.path.clone());
    read_as(anchor, &path, Machine::current().as_ref())
}

fn read_as(anchor: &Anchor, path: &Path, machine: Option<&Machine>) -> Result<Vec<Checkpoint>, String> {
    let host = machine.map_or("unknown", |machine| &machine.host);
    let contents = file::read(path).map_err(|reason| match *host == anchor.host {
        true => reason,
        false => format!("{reason} on this host, {host}"),
    })?;
    if !contents.is_closed && machine.is_none_or(|machine| machine.boot_id != anchor.id.boot_id) {
        return Err("the machine that wrote it was restarted, or is another one".to_owned());
    }
    if contents.id != anchor.id {
        return Err("it belongs to another load".to_owned());
    }
    Ok(contents.checkpoints)
}

/// The row that names a file may go before the file does: has the file say that it is no local record.
pub(super) fn mark_on_server(anchor: &Anchor) {
    let is_record = anchor.path.extension().is_some_and(|extension| extension == local_record::EXTENSION);
    if is_record && file::read(&anchor.path).is_ok_and(|found| found.id == anchor.id && found.local_record.is_some()) {
        let _ = file::mark_on_server(&anchor.path);
    }
}

/// Removes the file that a row names, if it is here.
pub(super) fn remove(anchor: &Anchor) {
    if file::read_id(&anchor.path).is_some_and(|id| id == anchor.id) {
        let _ = fs::remove_file(&anchor.path);
    }
}
