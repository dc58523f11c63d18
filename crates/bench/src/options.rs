//! What the user chooses for all experiments of this process: the server build, and whether to profile servers.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use hortator_sandbox::{Builder, Topology};

use crate::Error;

/// The choices.
#[derive(Debug, Default)]
pub struct Options {
    /// The folder of another server build, with `bin/mariadbd` or `bin/mysqld`; None for the installed server.
    pub server: Option<PathBuf>,
    /// The folder for files of perf, which then records the servers in a run of each contender.
    pub profile: Option<PathBuf>,
    /// Settings of single nodes, of all that are several servers.
    pub node_settings: Vec<NodeSetting>,
}

/// A setting of one node of each cluster, pair and ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSetting {
    /// The node, from 1.
    pub node: usize,
    /// The name of the server's option, without dashes at its beginning.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl NodeSetting {
    /// As `2:innodb_flush_log_at_trx_commit=0`; `None` for another form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (node, setting) = text.split_once(':')?;
        let (name, value) = setting.split_once('=')?;
        let node = node.parse().ok().filter(|node| *node > 0)?;
        (!name.is_empty() && !name.starts_with('-')).then(|| Self {
            node,
            name: name.to_owned(),
            value: value.to_owned(),
        })
    }
}

impl fmt::Display for NodeSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, name, value } = self;
        write!(f, "{node}:{name}={value}")
    }
}

/// Programs of MariaDB and MySQL that do the same.
const OF_MYSQL: [(&str, &str); 2] = [("mariadb", "mysql"), ("mariadb-dump", "mysqldump")];

static CHOSEN: OnceLock<Options> = OnceLock::new();
/// The most nodes that any servers of this process have.
static MOST_NODES: AtomicUsize = AtomicUsize::new(0);

impl Options {
    /// Takes them for the rest of the process; before the first experiment.
    ///
    /// # Errors
    /// [`Error::Answer`] for a folder without a server.
    pub fn choose(self) -> Result<(), Error> {
        if let Some(folder) = &self.server
            && !["bin/mariadbd", "sbin/mariadbd", "usr/sbin/mariadbd", "usr/bin/mariadbd", "bin/mysqld"]
                .iter()
                .any(|place| folder.join(place).is_file())
        {
            return Err(Error::Answer(format!(
                "{} has no server: give a folder with bin/mariadbd or bin/mysqld; scripts/mysql-server FOLDER downloads a MySQL \
                 server for Debian",
                folder.display()
            )));
        }
        // The first choice stays: a process runs one experiment.
        let _chosen = CHOSEN.set(self);
        Ok(())
    }
}

/// The folder of another server build.
pub(crate) fn server_folder() -> Option<&'static Path> {
    CHOSEN.get()?.server.as_deref()
}

/// Servers of a topology with the build that the user has chosen.
pub(crate) fn builder(topology: Topology) -> Builder {
    let (builder, nodes) = (Builder::new(topology), topology.nodes());
    MOST_NODES.fetch_max(nodes, Ordering::Relaxed);
    let builder = match server_folder() {
        Some(folder) => builder.server_in(folder),
        None => builder,
    };
    let own = node_settings().iter().filter(|setting| nodes > 1 && setting.node <= nodes);
    own.fold(builder, |builder, NodeSetting { node, name, value }| builder.set_on(node - 1, name, value))
}

/// Settings of single nodes.
pub fn node_settings() -> &'static [NodeSetting] {
    CHOSEN.get().map_or(&[], |chosen| &chosen.node_settings)
}

/// Whether a node, counted from 1, of so many has settings of its own.
pub(crate) fn has_own_settings(node: usize, nodes: usize) -> bool {
    nodes > 1 && node_settings().iter().any(|setting| setting.node == node)
}

/// What a reader must know of settings of single nodes: a line for each of them.
#[must_use]
pub fn node_setting_lines() -> Vec<String> {
    let most = MOST_NODES.load(Ordering::Relaxed);
    node_settings().iter().map(|setting| node_setting_line(setting, most)).collect()
}

fn node_setting_line(NodeSetting { node, name, value }: &NodeSetting, most_nodes: usize) -> String {
    match *node <= most_nodes && most_nodes > 1 {
        true => format!(
            "node {node} of each cluster, pair and ring has {name}={value}: its settings are not compared with those of the \
             others, and what a confirmed commit survives holds without it"
        ),
        false => format!("{name}={value} had no effect: no servers of this run have a node {node} beside others"),
    }
}

/// Whether the other build is MySQL's.
pub(crate) fn is_mysql() -> bool {
    server_folder().is_some_and(|folder| folder.join("bin/mysqld").is_file() && !folder.join("bin/mariadbd").is_file())
}

/// A program that came with the server: MySQL's in the place of MariaDB's, if the other build has it.
pub(crate) fn own_program(name: &str) -> PathBuf {
    let of_mysql = OF_MYSQL.iter().find(|(of_mariadb, _)| *of_mariadb == name).map(|(_, of_mysql)| of_mysql);
    let found =
        of_mysql.zip(server_folder().filter(|_| is_mysql())).map(|(program, folder)| folder.join("bin").join(program));
    found.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(name))
}

/// Where perf writes; None if it does not record.
pub(crate) fn profile_folder() -> Option<&'static Path> {
    CHOSEN.get()?.profile.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_names_its_node() {
        let setting = NodeSetting::parse("2:wsrep_provider_options=log.sync=no; gcs.fc_limit=16").unwrap();
        assert_eq!(setting.to_string(), "2:wsrep_provider_options=log.sync=no; gcs.fc_limit=16");
        assert_eq!((setting.node, setting.name.as_str()), (2, "wsrep_provider_options"));
        for text in
            ["", "sync_binlog=0", "0:sync_binlog=0", "x:sync_binlog=0", "2:sync_binlog", "2:=0", "2:--sync_binlog=0"]
        {
            assert_eq!(NodeSetting::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_setting_of_a_node_that_is_nowhere_has_no_effect() {
        let setting = NodeSetting::parse("2:sync_binlog=0").unwrap();
        assert!(
            node_setting_line(&setting, 3).starts_with("node 2 of each cluster, pair and ring has sync_binlog=0: ")
        );
        let nowhere = "sync_binlog=0 had no effect: no servers of this run have a node 2 beside others";
        assert_eq!(node_setting_line(&setting, 1), nowhere);
    }
}
