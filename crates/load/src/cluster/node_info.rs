//! What a node says of itself.

use std::collections::HashMap;

use hortator_mysql::{Connection, Error};

use super::address::incoming;
use hortator_mysql::Address;

/// A cluster's state UUID while it is none.
const NO_CLUSTER: &str = "00000000-0000-0000-0000-000000000000";
/// Write sets that may wait on a node before it stops the cluster, where the node does not tell: Galera's own default.
const FLOW_CONTROL_LIMIT: f64 = 16.0;

/// Whether a node takes statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeState {
    /// It takes part in the cluster with all data.
    Synced,
    /// It takes statements, but is behind on purpose: it feeds another node, or was told to (`wsrep_desync`).
    Desynced,
    /// It takes none, and this is what it says.
    NotReady(String),
}

/// What a node says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeInfo {
    /// Its `wsrep_node_name`.
    pub name: String,
    /// The state UUID of its cluster.
    pub cluster: String,
    /// What this process is in the group: two addresses of one node have the same.
    pub member: String,
    /// Whether it takes statements.
    pub state: NodeState,
    /// Nodes that it sees in its cluster, itself among them.
    pub size: usize,
    /// Where the nodes take connections, as far as they tell.
    pub addresses: Vec<Option<Address>>,
    /// Its own place among these.
    pub index: Option<usize>,
    /// Write sets that may wait here before this node stops the cluster.
    pub flow_control_limit: f64,
    /// The cluster gives each node numbers of its own for AUTO_INCREMENT.
    pub has_auto_increment_control: bool,
    /// Rows that a transaction may change; 0 for any number.
    pub transaction_rows: u64,
    /// Bytes that a transaction may replicate.
    pub transaction_bytes: u64,
    /// Its threads that apply what others have committed.
    pub appliers: u64,
    /// What it replicates beyond InnoDB (`wsrep_mode`).
    pub mode: String,
}

impl NodeInfo {
    /// Asks; `None` when the server is no node of a cluster.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn ask(connection: &mut Connection, default_port: u16) -> Result<Option<NodeInfo>, Error> {
        let values = Values::ask(
            connection,
            b"SHOW GLOBAL VARIABLES WHERE Variable_name LIKE 'wsrep%' OR Variable_name LIKE 'auto_increment%'",
        )?;
        if !values.is_on("wsrep_on") || values.text("wsrep_provider") == "none" {
            return Ok(None);
        }
        let status = Values::ask(connection, b"SHOW GLOBAL STATUS LIKE 'wsrep%'")?;
        let cluster = status.text("wsrep_cluster_state_uuid").to_owned();
        let size = usize::try_from(status.number("wsrep_cluster_size")).unwrap_or(0);
        Ok(Some(NodeInfo {
            name: values.text("wsrep_node_name").to_owned(),
            state: state(&status, &cluster),
            member: status.text("wsrep_gcomm_uuid").to_owned(),
            addresses: incoming(status.text("wsrep_incoming_addresses"), default_port),
            index: status.text("wsrep_local_index").parse().ok(),
            flow_control_limit: flow_control_limit(values.text("wsrep_provider_options"), size),
            has_auto_increment_control: values.is_on("wsrep_auto_increment_control")
                && values.number("auto_increment_increment") > 1,
            transaction_rows: values.number("wsrep_max_ws_rows"),
            transaction_bytes: values.number("wsrep_max_ws_size"),
            appliers: status.number("wsrep_applier_thread_count"),
            mode: values.text("wsrep_mode").to_owned(),
            cluster,
            size,
        }))
    }

    /// Whether it knows its cluster: one that never met it does not.
    pub(super) fn has_cluster(&self) -> bool {
        !self.cluster.is_empty() && self.cluster != NO_CLUSTER
    }

    /// Whether rows of tables that cannot roll back may reach the other nodes.
    #[must_use]
    pub fn replicates_beyond_innodb(&self) -> bool {
        self.mode.to_ascii_uppercase().contains("REPLICATE_")
    }
}

fn state(status: &Values, cluster: &str) -> NodeState {
    let (of_cluster, own) = (status.text("wsrep_cluster_status"), status.text("wsrep_local_state_comment"));
    let is_ready = status.is_on("wsrep_ready") && of_cluster == "Primary" && cluster != NO_CLUSTER;
    match (is_ready, own) {
        (true, "Synced") => NodeState::Synced,
        (true, _) => NodeState::Desynced,
        (false, _) => NodeState::NotReady(format!("the component is {of_cluster}, the local state is {own}")),
    }
}

/// Write sets that may wait on a node before it stops the cluster. Source: Galera documentation, "Managing Flow Control":
/// the limit grows with the square root of the number of nodes, unless there is said to be one writer.
pub(super) fn flow_control_limit(provider_options: &str, size: usize) -> f64 {
    let option = |name: &str| {
        let options = provider_options.split(';').filter_map(|option| option.split_once('='));
        options.map(|(name, value)| (name.trim(), value.trim())).find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let limit = option("gcs.fc_limit").and_then(|limit| limit.parse().ok()).unwrap_or(FLOW_CONTROL_LIMIT);
    let is_fixed = option("gcs.fc_single_primary").is_some_and(|value| matches!(value, "yes" | "YES" | "1" | "true"));
    if is_fixed { limit } else { limit * (size.max(1) as f64).sqrt() }
}

/// Names and values, as `SHOW` gives them.
pub(super) struct Values(HashMap<String, String>);

impl Values {
    pub(super) fn ask(connection: &mut Connection, query: &[u8]) -> Result<Values, Error> {
        let rows = connection.fetch(query)?;
        let pairs = rows.into_iter().filter_map(|row| {
            let mut values =
                row.into_iter().map(|value| String::from_utf8_lossy(&value.unwrap_or_default()).into_owned());
            Some((values.next()?.to_ascii_lowercase(), values.next()?))
        });
        Ok(Values(pairs.collect()))
    }

    /// Empty where there is no such value.
    pub(super) fn text(&self, name: &str) -> &str {
        self.0.get(name).map(String::as_str).unwrap_or_default()
    }

    /// 0 where there is no such number.
    pub(super) fn number(&self, name: &str) -> u64 {
        self.text(name).parse().unwrap_or(0)
    }

    pub(super) fn is_on(&self, name: &str) -> bool {
        matches!(self.text(name), "ON" | "1")
    }
}

#[cfg(test)]
mod tests;
