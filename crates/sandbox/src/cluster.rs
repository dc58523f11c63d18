//! A cluster by Hortator's own wsrep provider: its first start, and every later one.
//!
//! The very first start of node 1 begins the history; the others join with nothing, and are given everything. Every later
//! start takes two steps: the server is asked how far its storage engine has got, and is then started there, so that the
//! provider knows which part of its log is to be applied again. It never begins the cluster anew then: that would reset the
//! storage engine's own place, and with it what is needed to recover. After all nodes went down nobody has to choose who
//! leads: they are all started, and none is ready before a majority is there. Source: the server's own start scripts, which
//! take the same two steps for Galera.

use std::thread;

use hortator_mysql::Connection;

use crate::node::Node;
use crate::program::Programs;
use crate::sandbox::Sandbox;
use crate::saved_state::recovered;
use crate::status::status;
use crate::wsrep::{self, NEW_CLUSTER, at, ended, wait_for_size};
use crate::{Error, data_folder, provider};

/// Without this the storage engine has nothing.
const SYSTEM_TABLESPACE: &str = "ibdata1";

/// Starts a cluster that has no data folders yet.
pub(crate) fn first_start(sandbox: &Sandbox, programs: &Programs) -> Result<(), Error> {
    take_provider(sandbox)?;
    let is_single = sandbox.topology().nodes() == 1;
    if !is_single {
        Programs::check_state_transfer()?;
    }
    for node in sandbox.nodes() {
        data_folder::create(&node.data_dir(), &node.folder(), programs, sandbox.account())?;
    }
    sandbox.node(0).launch(&[NEW_CLUSTER.to_owned()])?;
    // One by one: each is given a copy by a node that is there, which gives one at a time.
    sandbox.nodes().skip(1).try_for_each(|node| node.launch(&[]))?;
    if is_single { Ok(()) } else { wait_for_size(sandbox) }
}

/// Starts those nodes, none of which runs, side by side: alone none may become ready.
pub(crate) fn start(sandbox: &Sandbox, indices: &[usize]) -> Result<(), Error> {
    if indices.is_empty() {
        return Ok(());
    }
    take_provider(sandbox)?;
    let nodes: Vec<Node<'_>> = indices.iter().map(|index| sandbox.node(*index)).collect();
    // Before any starts: each is told the addresses of all.
    nodes.iter().try_for_each(|node| node.take_free_ports())?;
    let up = wsrep::reachable(sandbox).len() + nodes.len();
    let launch = |node: Node<'_>| {
        // One that was killed while it was given its tables may have none, or parts, which its server cannot look into.
        let has_tables = node.data_dir().join(SYSTEM_TABLESPACE).exists();
        let position = if has_tables { recovered(sandbox, node)? } else { None };
        node.launch(&at(position.as_ref()))
    };
    let started: Result<(), Error> = thread::scope(|scope| {
        let starts: Vec<_> = nodes.into_iter().map(|node| scope.spawn(move || launch(node))).collect();
        starts.into_iter().map(ended).collect::<Vec<_>>().into_iter().collect()
    });
    started.map_err(|error| with_hint(error, up, sandbox.topology().nodes()))?;
    if sandbox.topology().nodes() == 1 { Ok(()) } else { wait_for_size(sandbox) }
}

/// Says so where a node could not become ready since too few others are there.
fn with_hint(error: Error, up: usize, nodes: usize) -> Error {
    match error {
        Error::Server { node, what, log, tail } if up * 2 <= nodes => {
            let what = format!(
                "{what}; {up} of the cluster's {nodes} nodes are no majority, without which none is ready: `start` without \
                 a node's number starts all"
            );
            Error::Server { node, what, log, tail }
        }
        other => other,
    }
}

/// Whether the node answers statements, as one of the cluster: not before everything of its log is applied.
pub(crate) fn is_ready(connection: &mut Connection) -> Result<bool, hortator_mysql::Error> {
    Ok(status(connection, "wsrep_ready")?.is_some_and(|ready| ready == "ON") && wsrep::is_synced(connection)?)
}

/// Gives the sandbox the provider as it is now: the one that the caller names, else the one that it was made with, which
/// may have been built anew. One that is gone leaves its copy.
fn take_provider(sandbox: &Sandbox) -> Result<(), Error> {
    let recorded = sandbox.record().provider.clone();
    let source = match (provider::named()?, recorded) {
        (Some(named), _) => named,
        (None, Some(recorded)) if recorded.is_file() => recorded,
        (None, Some(_)) if provider::copy_in(sandbox.folder()).is_file() => return Ok(()),
        (None, _) => provider::find()?,
    };
    provider::copy(&source, sandbox.folder())?;
    sandbox.take_note_of_provider(source)
}
