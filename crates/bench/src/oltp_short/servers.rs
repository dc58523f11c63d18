//! The servers: filled once, then shut down, and restarted for each cell.

use std::path::Path;

use hortator_mysql::Connection;

use super::Experiment;
use super::sysbench::{SCHEMA, Sysbench, TABLES};
use crate::deployment::Deployment;
use crate::equal_settings::EqualSettings;
use crate::nodes::Nodes;
use crate::provider::Durability;
use crate::{Error, convergence, options, server};

/// The settings of every server beyond those of its deployment.
pub(super) const SETTINGS: [(&str, &str); 6] = [
    ("innodb_flush_method", "O_DIRECT"),
    // A restart begins with an empty buffer pool.
    ("innodb_buffer_pool_dump_at_shutdown", "OFF"),
    ("innodb_buffer_pool_load_at_startup", "OFF"),
    // Otherwise a lock wait timeout undoes a statement only, and sysbench begins its transaction again.
    ("innodb_rollback_on_timeout", "ON"),
    // For 256 threads with 92 statements each.
    ("max_connections", "400"),
    ("max_prepared_stmt_count", "100000"),
];

/// Memory and redo log of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerSize {
    /// MiB of the buffer pool: an eighth of the tables.
    pub buffer_pool_mib: u64,
    /// MiB of the redo log.
    pub redo_mib: u64,
}

impl ServerSize {
    /// The size for so many rows of each table, in fixed proportions: 400,000 rows are 1 GB.
    #[must_use]
    pub fn for_rows(rows: u64) -> Self {
        Self { buffer_pool_mib: (rows / 3_125).max(16), redo_mib: (rows / 4_166).max(8) }
    }

    /// As settings of the server.
    pub(super) fn settings(self) -> [(&'static str, String); 2] {
        let Self { buffer_pool_mib, redo_mib } = self;
        [("innodb_buffer_pool_size", format!("{buffer_pool_mib}M")), ("innodb_log_file_size", format!("{redo_mib}M"))]
    }
}

/// The servers of all deployments that were measured so far.
#[derive(Debug, Default)]
pub(super) struct Servers {
    filled: Vec<(Deployment, Nodes)>,
    settings: EqualSettings,
    pub(super) versions: Vec<String>,
}

impl Servers {
    /// The servers of a deployment, restarted; filled before if they are new.
    pub(super) fn restart(
        &mut self,
        deployment: Deployment,
        experiment: &Experiment,
        sysbench: &Sysbench,
        say: &mut dyn FnMut(&str),
    ) -> Result<&Nodes, Error> {
        let known = self.filled.iter().position(|(filled, _)| *filled == deployment);
        let index = match known {
            Some(index) => index,
            None => {
                say(&format!("{deployment}: filling the tables"));
                let nodes = start(deployment, experiment)?;
                for version in nodes.versions()? {
                    if !self.versions.contains(&version) {
                        self.versions.push(version);
                    }
                }
                self.settings.check(&deployment.to_string(), &nodes)?;
                fill(&nodes, experiment, sysbench)?;
                nodes.shut_down()?;
                self.filled.push((deployment, nodes));
                self.filled.len() - 1
            }
        };
        let nodes = &self.filled[index].1;
        nodes.restart()?;
        Ok(nodes)
    }

    /// Ends the servers of a deployment, so that the next run starts new ones; their error logs go to the folder.
    pub(super) fn discard(&mut self, deployment: Deployment, folder: &Path, say: &mut dyn FnMut(&str)) {
        if let Some(index) = self.filled.iter().position(|(filled, _)| *filled == deployment) {
            let (_, nodes) = self.filled.swap_remove(index);
            match nodes.copy_error_logs(folder) {
                Ok(()) => say(&format!("the nodes' error logs are in {}", folder.display())),
                Err(error) => say(&format!("cannot copy the nodes' error logs: {error}")),
            }
        }
    }
}

fn start(deployment: Deployment, experiment: &Experiment) -> Result<Nodes, Error> {
    let further = [deployment.server_settings(Durability::Synced), SETTINGS.to_vec()].concat();
    let mut builder = server::set_up(options::builder(deployment.topology()), &further, &experiment.extent.stop);
    for (name, value) in ServerSize::for_rows(experiment.rows).settings() {
        builder = builder.set(name, value);
    }
    for (name, value) in &experiment.settings {
        builder = builder.set(name, value);
    }
    let nodes = Nodes::create(builder.dir(&experiment.extent.folder), &experiment.extent.stop)?;
    match nodes.sockets().iter().find(|socket| socket.to_string_lossy().contains(',')) {
        Some(socket) => Err(Error::Answer(format!(
            "{} has a comma, which ends a socket's name for sysbench: give another folder with --dir",
            socket.display()
        ))),
        None => Ok(nodes),
    }
}

fn fill(nodes: &Nodes, experiment: &Experiment, sysbench: &Sysbench) -> Result<(), Error> {
    let created = nodes.connect(0)?.execute(format!("CREATE DATABASE {SCHEMA}").as_bytes());
    created.map_err(Error::server("creating the schema"))?;
    sysbench.fill(&nodes.sockets()[0], &experiment.extent.stop)?;
    check_rows(nodes, experiment.rows)
}

/// Checks that every node has every row of every table.
pub(super) fn check_rows(nodes: &Nodes, rows: u64) -> Result<(), Error> {
    nodes.wait_until_applied()?;
    // No table can have more: each id is at most the number of rows.
    let counts: Vec<String> =
        (1..=TABLES).map(|table| format!("(SELECT COUNT(*) FROM {SCHEMA}.sbtest{table})")).collect();
    let query = format!("SELECT {}", counts.join(" + "));
    let count = |connection: &mut Connection| convergence::number(connection, &query);
    convergence::check(nodes, "oltp-short", TABLES * rows, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_redo_grow_with_the_rows() {
        let size = |rows| {
            let ServerSize { buffer_pool_mib, redo_mib } = ServerSize::for_rows(rows);
            (buffer_pool_mib, redo_mib)
        };
        assert_eq!([100, 50_000, 400_000].map(size), [(16, 8), (16, 12), (128, 96)]);
    }
}
