//! The common parts of all wsrep clusters, whichever provider: the servers' options, and the status of a node in its
//! cluster.

use std::path::Path;
use std::thread::ScopedJoinHandle;

use hortator_mysql::Connection;

use crate::Error;
use crate::node::{Node, State};
use crate::options::path_option;
use crate::ports::Endpoint;
use crate::sandbox::Sandbox;
use crate::saved_state::Position;
use crate::status::status;
use crate::wsrep_status::WsrepStatus;

/// The argument that makes a server bootstrap a cluster.
pub(crate) const NEW_CLUSTER: &str = "--wsrep-new-cluster";

/// The name of every cluster.
pub(crate) const CLUSTER_NAME: &str = "sandbox";

/// The arguments of a node's server. `settings` are values of wsrep_provider_options besides the addresses.
pub(crate) fn arguments(
    provider: &Path,
    endpoints: &[Endpoint],
    index: usize,
    settings: &[&str],
) -> Result<Vec<String>, Error> {
    let Endpoint { address, ports: own } = &endpoints[index];
    let nodes: Vec<String> = endpoints.iter().map(|node| format!("{}:{}", node.address, node.ports.group)).collect();
    let mut options = vec![
        format!("base_host={address}"),
        format!("base_port={}", own.group),
        format!("gmcast.listen_addr=tcp://{address}:{}", own.group),
        format!("ist.recv_addr=tcp://{address}:{}", own.incremental_transfer),
    ];
    options.extend(settings.iter().map(|setting| (*setting).to_owned()));
    Ok(vec![
        "--binlog-format=ROW".to_owned(),
        "--innodb-autoinc-lock-mode=2".to_owned(),
        "--wsrep-on=ON".to_owned(),
        path_option("wsrep-provider", provider)?,
        format!("--wsrep-cluster-name={CLUSTER_NAME}"),
        format!("--wsrep-cluster-address=gcomm://{}", nodes.join(",")),
        format!("--wsrep-node-name=node{}", index + 1),
        format!("--wsrep-node-address={address}:{}", own.group),
        format!("--wsrep-node-incoming-address={address}:{}", own.sql),
        "--wsrep-sst-method=rsync".to_owned(),
        format!("--wsrep-sst-receive-address={address}:{}", own.state_transfer),
        format!("--wsrep-provider-options={}", options.join(";")),
    ])
}

/// The arguments that give a server its position in the history, which after a crash it cannot find by itself in time.
pub(crate) fn at(position: Option<&Position>) -> Vec<String> {
    position.iter().map(|position| format!("--wsrep-start-position={position}")).collect()
}

/// Whether the node is in the cluster with all data, and takes statements: its server hears of that last.
pub(crate) fn is_synced(connection: &mut Connection) -> Result<bool, hortator_mysql::Error> {
    let mut is = |name: &str, value: &str| Ok(status(connection, name)?.is_some_and(|found| found == value));
    Ok(is("wsrep_local_state_comment", "Synced")? && is("wsrep_cluster_status", "Primary")? && is("wsrep_ready", "ON")?)
}

/// The nodes that run, and are neither paused nor isolated.
pub(crate) fn reachable(sandbox: &Sandbox) -> Vec<Node<'_>> {
    sandbox.nodes().filter(|node| node.state() == State::Running && !node.is_isolated()).collect()
}

/// Waits until every reachable node sees every other.
pub(crate) fn wait_for_size(sandbox: &Sandbox) -> Result<(), Error> {
    let running: Vec<_> = reachable(sandbox).into_iter().filter_map(|node| Some((node, node.process()?))).collect();
    let size = running.len();
    for (node, process) in &running {
        let what = format!("did not see {size} nodes in the cluster");
        node.wait_until(process, &what, |connection| {
            let seen: Option<usize> = status(connection, "wsrep_cluster_size")?.and_then(|seen| seen.parse().ok());
            // More than that while a paused or isolated node has not been removed.
            Ok(seen.is_some_and(|seen| seen >= size) && is_synced(connection)?)
        })?;
    }
    Ok(())
}

/// The largest cluster size that a node reports; 0 when no node answers.
pub(crate) fn size_seen(sandbox: &Sandbox) -> usize {
    let seen = |status: WsrepStatus| status.size?.parse().ok();
    sandbox.nodes().filter_map(Node::wsrep_status).filter_map(seen).max().unwrap_or(0)
}

/// The result of a start in a separate thread.
pub(crate) fn ended(start: ScopedJoinHandle<'_, Result<(), Error>>) -> Result<(), Error> {
    start.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
