//! The local record: what the local journal of a load says of the load itself, while the load is on record nowhere else.
//!
//! The file has a name of its own and is locked as long as the load runs. Once the load is on record on the server, the row
//! there names this file, and it is a local journal like any other.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use hortator_mysql::catalog::TableName;
use serde::{Deserialize, Serialize};

use super::anchor::{Anchor, Beginning};
use super::file;
use crate::checkpoint::{Checkpoint, Identity, State};

/// The ends of the files' names.
pub(super) const EXTENSION: &str = "record";

/// Which server it is, with which data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::checkpoint) struct ServerIdentity {
    /// The same for all loads into this data.
    pub(in crate::checkpoint) name: String,
    /// Up to where its log is on disk, which only grows.
    pub(in crate::checkpoint) lsn: u64,
}

impl ServerIdentity {
    /// Whether the server with this identity now has the data that it had then.
    fn has_data_of(&self, then: &Self) -> bool {
        self.name == then.name && self.lsn >= then.lsn
    }
}

/// A load, as its row on the server would describe it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::checkpoint) struct LocalRecord {
    /// The schema that its checkpoints would be in.
    pub(in crate::checkpoint) schema: String,
    pub(in crate::checkpoint) server: ServerIdentity,
    /// The same server, as the row of a local journal has it.
    pub(in crate::checkpoint) server_name: String,
    /// The machine that has the file.
    pub(in crate::checkpoint) host: String,
    pub(in crate::checkpoint) input: Identity,
    /// The number of its workers.
    pub(in crate::checkpoint) threads: usize,
    /// Its start in seconds, by the clock of the server.
    pub(in crate::checkpoint) started_at: u64,
}

impl LocalRecord {
    /// As the row on the server is to name the file: it has all statements from the first on.
    pub(super) fn beginning(&self) -> Beginning {
        let file = self.input.files.first().map_or_else(String::new, |file| file.name.clone());
        Beginning { ordinal: 1, file, line: 1 }
    }
}

/// A file with a local record.
#[derive(Debug)]
pub(in crate::checkpoint) struct RecordFile {
    pub(in crate::checkpoint) record: LocalRecord,
    /// As the row on the server is to name it.
    pub(in crate::checkpoint) anchor: Anchor,
    /// Tables that the load has created, and how many rows it has inserted; not those of which that is not known.
    pub(in crate::checkpoint) rows: Vec<(TableName, u64)>,
    /// The lock of the file; `None` where another process has it: the load runs, or is being resumed.
    lock: Option<File>,
}

impl RecordFile {
    pub(in crate::checkpoint) fn load_id(&self) -> u64 {
        self.anchor.id.load_id
    }

    pub(in crate::checkpoint) fn is_running(&self) -> bool {
        self.lock.is_none()
    }

    /// Whether it is of a load into this schema of this server.
    pub(in crate::checkpoint) fn is_of(&self, schema: &str, server: &ServerIdentity) -> bool {
        self.record.schema == schema && server.has_data_of(&self.record.server)
    }

    /// The load is given up.
    pub(in crate::checkpoint) fn remove(&self) {
        super::remove(&self.anchor);
    }
}

/// All files with local records in a folder, by load. What cannot be read is none.
pub(in crate::checkpoint) fn record_files(folder: &Path) -> Vec<RecordFile> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    let records = paths.filter(|path| path.extension().is_some_and(|extension| extension == EXTENSION));
    let mut found: Vec<RecordFile> = records.filter_map(record_file).collect();
    found.sort_by_key(RecordFile::load_id);
    found
}

fn record_file(path: PathBuf) -> Option<RecordFile> {
    let file = File::options().read(true).write(true).open(&path).ok()?;
    let lock = file.try_lock().is_ok().then_some(file);
    // Only now: whoever had the lock may have removed it.
    let contents = file::read(&path).ok()?;
    let record: LocalRecord = serde_json::from_str(&contents.local_record?).ok()?;
    let (host, server) = (record.host.clone(), record.server_name.clone());
    let anchor = Anchor { id: contents.id, host, path, server, from: record.beginning() };
    let rows = created_rows(&contents.created, &contents.checkpoints);
    Some(RecordFile { record, anchor, rows, lock })
}

/// Of created tables: the rows that these checkpoints record. That of an open intent may or may not be there: its table is
/// left out.
fn created_rows(created: &[TableName], checkpoints: &[Checkpoint]) -> Vec<(TableName, u64)> {
    let distinct: BTreeSet<&TableName> = created.iter().collect();
    let rows = |table: &TableName| {
        let name = table.to_string();
        let mut own = checkpoints.iter().filter(|checkpoint| checkpoint.table == name);
        own.try_fold(0, |rows, checkpoint| (checkpoint.state != State::Intent).then_some(rows + checkpoint.rows))
    };
    distinct.into_iter().filter_map(|table| Some((table.clone(), rows(table)?))).collect()
}
