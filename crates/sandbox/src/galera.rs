//! A Galera cluster: its servers' options, its first start, and its start from whatever state its nodes are in.

use std::fs;
use std::thread;

use hortator_mysql::Connection;

use crate::node::State;
use crate::ports::Ports;
use crate::program::Programs;
use crate::sandbox::Sandbox;
use crate::saved_state::{allow_bootstrap, most_advanced};
use crate::status::status;
use crate::{Error, data_folder};

/// The provider's own memory of the group, which a copied or bootstrapped node must not have.
const VIEW_FILE: &str = "gvwstate.dat";
/// The provider's ring buffer of write sets.
const CACHE_FILE: &str = "galera.cache";

/// What a node's server is started with. `settings` are the caller's values of wsrep_provider_options.
pub(crate) fn arguments(
    ports: &[Ports],
    index: usize,
    bootstrap: bool,
    settings: &[&str],
) -> Result<Vec<String>, Error> {
    let own = ports[index];
    let provider = Programs::provider()?;
    let nodes: Vec<String> = ports.iter().map(|node| format!("127.0.0.1:{}", node.group)).collect();
    let mut options = vec![
        "base_host=127.0.0.1".to_owned(),
        format!("base_port={}", own.group),
        format!("gmcast.listen_addr=tcp://127.0.0.1:{}", own.group),
        format!("ist.recv_addr=tcp://127.0.0.1:{}", own.incremental_transfer),
        "gcache.size=32M".to_owned(),
    ];
    options.extend(settings.iter().map(|setting| (*setting).to_owned()));
    let mut arguments = vec![
        "--binlog-format=ROW".to_owned(),
        "--innodb-autoinc-lock-mode=2".to_owned(),
        "--wsrep-on=ON".to_owned(),
        format!("--wsrep-provider={}", provider.display()),
        "--wsrep-cluster-name=sandbox".to_owned(),
        format!("--wsrep-cluster-address=gcomm://{}", nodes.join(",")),
        format!("--wsrep-node-name=node{}", index + 1),
        format!("--wsrep-node-address=127.0.0.1:{}", own.group),
        format!("--wsrep-node-incoming-address=127.0.0.1:{}", own.sql),
        "--wsrep-sst-method=rsync".to_owned(),
        format!("--wsrep-sst-receive-address=127.0.0.1:{}", own.state_transfer),
        format!("--wsrep-provider-options={}", options.join(";")),
    ];
    if bootstrap {
        arguments.push("--wsrep-new-cluster".to_owned());
    }
    Ok(arguments)
}

/// Starts a cluster that has no data folders yet.
///
/// Node 1 begins the cluster and is stopped again; the others get a copy of its data and so have only what happened since
/// to catch up with, which takes a fraction of the time of a full state transfer each.
pub(crate) fn first_start(sandbox: &Sandbox, programs: &Programs) -> Result<(), Error> {
    let first = sandbox.node(0);
    data_folder::create(&first.data_dir(), &first.folder(), programs, sandbox.account())?;
    first.launch(true)?;
    if sandbox.topology().nodes() == 1 {
        return Ok(());
    }
    first.stop()?;
    for node in sandbox.nodes().skip(1) {
        data_folder::copy(&first.data_dir(), &node.data_dir(), &[CACHE_FILE, VIEW_FILE], sandbox.account())?;
    }
    sandbox.start()
}

/// Starts those nodes, none of which runs. When no node of the cluster runs, the most advanced begins it anew.
pub(crate) fn start(sandbox: &Sandbox, indices: &[usize]) -> Result<(), Error> {
    let mut joining = indices.to_vec();
    if sandbox.nodes().all(|node| node.state() != State::Running) {
        let first = most_advanced(sandbox)?;
        if !indices.contains(&first) {
            let name = sandbox.node(first).name();
            return Err(Error::Invalid(format!(
                "no node runs, and {name} holds the latest state of the cluster: start {name} first, or all nodes"
            )));
        }
        let node = sandbox.node(first);
        allow_bootstrap(&node.data_dir(), sandbox.account())?;
        for node in sandbox.nodes() {
            // Otherwise a node waits for those that it saw last instead of for the new cluster.
            let _absent = fs::remove_file(node.data_dir().join(VIEW_FILE));
        }
        node.launch(true)?;
        joining.retain(|index| *index != first);
    }
    thread::scope(|scope| {
        let starts: Vec<_> = joining.iter().map(|index| scope.spawn(|| sandbox.node(*index).launch(false))).collect();
        starts.into_iter().try_for_each(|start| start.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    wait_for_size(sandbox)
}

/// Waits until every running node sees every other.
fn wait_for_size(sandbox: &Sandbox) -> Result<(), Error> {
    let running: Vec<_> = sandbox.nodes().filter_map(|node| Some((node, node.process()?))).collect();
    let size = running.len().to_string();
    for (node, process) in &running {
        let what = format!("did not see {size} nodes in the cluster");
        node.wait_until(process, &what, |connection| {
            Ok(status(connection, "wsrep_cluster_size")?.is_some_and(|seen| seen == size) && is_synced(connection)?)
        })?;
    }
    Ok(())
}

/// Whether the node takes part in the cluster with all data.
pub(crate) fn is_synced(connection: &mut Connection) -> Result<bool, hortator_mysql::Error> {
    let synced = status(connection, "wsrep_local_state_comment")?.is_some_and(|state| state == "Synced");
    Ok(synced && status(connection, "wsrep_cluster_status")?.is_some_and(|status| status == "Primary"))
}
