//! Variables and status of a node.

use std::collections::HashMap;

use hortator_mysql::{Connection, Error};

use super::address::incoming;
use hortator_mysql::Address;

/// The state UUID of a node without a cluster.
const NO_CLUSTER: &str = "00000000-0000-0000-0000-000000000000";
/// Galera's default for gcs.fc_limit, for a node that does not report it.
const FLOW_CONTROL_LIMIT: f64 = 16.0;

/// Whether a node accepts statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeState {
    /// The node has all data.
    Synced,
    /// The node accepts statements but may lag: it is a donor, or `wsrep_desync` is on.
    Desynced,
    /// The node does not accept statements, and why.
    NotReady(String),
}

/// Variables and status of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeInfo {
    /// Its `wsrep_node_name`.
    pub name: String,
    /// The state UUID of its cluster.
    pub cluster: String,
    /// The `wsrep_gcomm_uuid`: two addresses of one node have the same.
    pub member: String,
    /// Whether it takes statements.
    pub state: NodeState,
    /// `wsrep_cluster_size`.
    pub size: usize,
    /// The client addresses that the nodes report.
    pub addresses: Vec<Option<Address>>,
    /// The index of this node in `addresses`.
    pub index: Option<usize>,
    /// Length of the receive queue at which the node pauses the cluster.
    pub flow_control_limit: f64,
    /// The node has its own series of AUTO_INCREMENT values (`wsrep_auto_increment_control`).
    pub has_auto_increment_control: bool,
    /// Rows that a transaction may change; 0 for any number.
    pub transaction_rows: u64,
    /// Bytes that a transaction may replicate.
    pub transaction_bytes: u64,
    /// Applier threads of the node.
    pub appliers: u64,
    /// What it replicates beyond InnoDB (`wsrep_mode`).
    pub mode: String,
    /// How its sessions run DDL (`wsrep_OSU_method`).
    pub osu_method: String,
}

impl NodeInfo {
    /// Reads variables and status; `None` for a server outside any cluster.
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
            osu_method: values.text("wsrep_osu_method").to_owned(),
            cluster,
            size,
        }))
    }

    /// Whether the node has been in its cluster.
    pub(super) fn has_cluster(&self) -> bool {
        !self.cluster.is_empty() && self.cluster != NO_CLUSTER
    }

    /// Whether DDL reaches the other nodes, in total order with the rows.
    pub(crate) fn replicates_ddl(&self) -> bool {
        self.osu_method.eq_ignore_ascii_case("TOI")
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
