//! What a sandbox's folder remembers of it: `sandbox.json`.
//!
//! It holds what cannot be found out by looking: the topology, the settings, and each node's ports. Whether a server
//! runs is not in it; that is looked up each time.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::At;
use crate::{Error, Ports, Topology};

/// The file's name in the sandbox's folder.
pub(crate) const RECORD_FILE: &str = "sandbox.json";
/// Raised when older versions of Hortator could not make sense of a newer record.
const FORMAT: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    format: u32,
    pub(crate) topology: Topology,
    /// Server options by name and value, as the caller gave them.
    pub(crate) settings: Vec<(String, String)>,
    /// The version of the server that made the data folders.
    pub(crate) server_version: String,
    pub(crate) nodes: Vec<NodeRecord>,
    /// The folder of the server's programs, where they are MySQL's.
    #[serde(default)]
    pub(crate) mysql: Option<PathBuf>,
    /// The library that the servers' own copy of Hortator's provider is made from.
    #[serde(default)]
    pub(crate) provider: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NodeRecord {
    pub(crate) ports: Ports,
    /// Where the socket is when the path in the node's own folder would be too long for one.
    pub(crate) socket_folder: Option<PathBuf>,
    /// The process that was cut off from the other nodes: a later one is not. It cannot be asked for this.
    #[serde(default)]
    pub(crate) cut_off_pid: Option<u32>,
}

impl Record {
    pub(crate) fn new(
        topology: Topology,
        settings: Vec<(String, String)>,
        server_version: String,
        nodes: Vec<NodeRecord>,
        mysql: Option<PathBuf>,
    ) -> Record {
        Record { format: FORMAT, topology, settings, server_version, nodes, mysql, provider: None }
    }

    pub(crate) fn load(folder: &Path) -> Result<Record, Error> {
        let path = folder.join(RECORD_FILE);
        let text = fs::read(&path).at("read", &path)?;
        let unreadable = |reason: String| Error::Invalid(format!("cannot make sense of {}: {reason}", path.display()));
        let record: Record = serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
        if record.format != FORMAT {
            return Err(unreadable(format!("its format is {}, this Hortator knows {FORMAT}", record.format)));
        }
        if record.nodes.len() != record.topology.nodes() {
            return Err(unreadable(format!("{} with {} nodes", record.topology, record.nodes.len())));
        }
        Ok(record)
    }

    /// Replaces the file as a whole, so that no reader sees half of it.
    pub(crate) fn save(&self, folder: &Path) -> Result<(), Error> {
        let path = folder.join(RECORD_FILE);
        let new = folder.join("sandbox.json.new");
        let text = serde_json::to_vec_pretty(self).map_err(std::io::Error::from).at("write", &path)?;
        fs::write(&new, text).at("write", &new)?;
        fs::rename(&new, &path).at("write", &path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let ports = Ports { sql: 1, group: 2, incremental_transfer: 3, state_transfer: 4 };
        let node = NodeRecord { ports, socket_folder: None, cut_off_pid: None };
        let settings = vec![("max_connections".to_owned(), "7".to_owned())];
        Record::new(Topology::Galera(2), settings, "10.11.6-MariaDB".to_owned(), vec![node.clone(), node], None)
    }

    #[test]
    fn a_record_is_read_as_written() {
        let folder = tempfile::tempdir().unwrap();
        record().save(folder.path()).unwrap();
        assert_eq!(Record::load(folder.path()).unwrap(), record());
    }

    #[test]
    fn a_record_that_is_not_understood_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let with = |change: &dyn Fn(&mut Record)| {
            let mut record = record();
            change(&mut record);
            record.save(folder.path()).unwrap();
            Record::load(folder.path()).unwrap_err().to_string()
        };
        assert!(with(&|record| record.format = 9).contains("its format is 9, this Hortator knows 1"));
        assert!(with(&|record| drop(record.nodes.pop())).contains("galera 2 with 1 nodes"));
    }
}
