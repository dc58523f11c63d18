//! The metadata of a sandbox in its folder: `sandbox.json`.
//!
//! It holds what inspection cannot find: the topology, the settings, and each node's ports. It does not hold the state
//! of servers; that is inspected each time.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::At;
use crate::host::Host;
use crate::replaced_file::replace;
use crate::witness::WitnessMetadata;
use crate::{Error, Ports, Topology};

/// The file's name in the sandbox's folder.
pub(crate) const METADATA_FILE: &str = "sandbox.json";
/// Increase this when older versions of Hortator cannot read the new metadata.
const FORMAT: u32 = 1;
/// Every account may read it.
const MODE: u32 = 0o644;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Metadata {
    format: u32,
    pub(crate) topology: Topology,
    /// Server options by name and value, as the caller gave them.
    pub(crate) settings: Vec<(String, String)>,
    /// The version of the server that created the data folders.
    pub(crate) server_version: String,
    pub(crate) nodes: Vec<NodeMetadata>,
    /// The folder of the server's programs, if they are MySQL's or those of another MariaDB build than the system's.
    #[serde(default)]
    pub(crate) mysql: Option<PathBuf>,
    /// The source of the servers' own copy of Hortator's provider.
    #[serde(default)]
    pub(crate) provider: Option<PathBuf>,
    /// The provider that the caller has given: its file is copied at each start, whatever the environment says.
    #[serde(default)]
    pub(crate) given_provider: Option<PathBuf>,
    /// The witness of a cluster of Hortator's provider.
    #[serde(default)]
    pub(crate) witness: Option<WitnessMetadata>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NodeMetadata {
    pub(crate) ports: Ports,
    /// The folder of the socket, if the path in the node's own folder would be too long.
    pub(crate) socket_folder: Option<PathBuf>,
    /// The pid of the process that was isolated from the other nodes; a later process is not. The server cannot report
    /// this.
    #[serde(default)]
    pub(crate) isolated_pid: Option<u32>,
    /// Server options of this node alone, which override those of all.
    #[serde(default)]
    pub(crate) settings: Vec<(String, String)>,
    /// Where the node is, if not on 127.0.0.1 like the others.
    #[serde(default)]
    pub(crate) host: Option<Host>,
}

impl Metadata {
    pub(crate) fn new(
        topology: Topology,
        settings: Vec<(String, String)>,
        server_version: String,
        nodes: Vec<NodeMetadata>,
        mysql: Option<PathBuf>,
    ) -> Metadata {
        Metadata {
            format: FORMAT,
            topology,
            settings,
            server_version,
            nodes,
            mysql,
            provider: None,
            given_provider: None,
            witness: None,
        }
    }

    pub(crate) fn load(folder: &Path) -> Result<Metadata, Error> {
        let path = folder.join(METADATA_FILE);
        let text = fs::read(&path).at("read", &path)?;
        let unreadable = |reason: String| Error::Invalid(format!("cannot read {}: {reason}", path.display()));
        let metadata: Metadata = serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
        if metadata.format != FORMAT {
            return Err(unreadable(format!(
                "its format is {}, this version of Hortator reads format {FORMAT}",
                metadata.format
            )));
        }
        if metadata.nodes.len() != metadata.topology.nodes() {
            return Err(unreadable(format!("{} with {} nodes", metadata.topology, metadata.nodes.len())));
        }
        Ok(metadata)
    }

    /// Replaces the file atomically.
    pub(crate) fn save(&self, folder: &Path) -> Result<(), Error> {
        let path = folder.join(METADATA_FILE);
        let text = serde_json::to_vec_pretty(self).map_err(std::io::Error::from).at("write", &path)?;
        replace(&path, MODE, |file, draft| file.write_all(&text).at("write", draft))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata() -> Metadata {
        let ports = Ports { sql: 1, group: 2, incremental_transfer: 3, state_transfer: 4 };
        let node = NodeMetadata { ports, socket_folder: None, isolated_pid: None, settings: Vec::new(), host: None };
        let settings = vec![("max_connections".to_owned(), "7".to_owned())];
        Metadata::new(Topology::Galera(2), settings, "10.11.6-MariaDB".to_owned(), vec![node.clone(), node], None)
    }

    #[test]
    fn metadata_is_read_as_written() {
        let folder = tempfile::tempdir().unwrap();
        metadata().save(folder.path()).unwrap();
        assert_eq!(Metadata::load(folder.path()).unwrap(), metadata());
    }

    #[test]
    fn invalid_metadata_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let with = |change: &dyn Fn(&mut Metadata)| {
            let mut metadata = metadata();
            change(&mut metadata);
            metadata.save(folder.path()).unwrap();
            Metadata::load(folder.path()).unwrap_err().to_string()
        };
        assert!(
            with(&|metadata| metadata.format = 9).contains("its format is 9, this version of Hortator reads format 1")
        );
        assert!(with(&|metadata| drop(metadata.nodes.pop())).contains("galera 2 with 1 nodes"));
    }
}
