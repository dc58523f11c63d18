//! A cluster of Hortator's own wsrep provider: its first start, and every later one.
//!
//! The very first start of node 1 bootstraps the cluster; the others join without data and receive everything. Every
//! later start takes two steps: the server reports the position of its storage engine (`--wsrep-recover`), and then
//! starts with this position, so that the provider knows which part of its log to apply again. A later start never
//! bootstraps the cluster: that would reset the position of the storage engine, which recovery needs. After all nodes
//! went down nobody has to choose the node to start first: all nodes are started, and none is ready before a majority
//! is up. A witness counts for the majority, so it starts before the nodes. Source: the server's own start scripts, which take the same two steps for Galera.

use std::thread;

use crate::node::Node;
use crate::program::Programs;
use crate::provider::PROVIDER;
use crate::sandbox::Sandbox;
use crate::saved_state::recovered;
use crate::witness::Witness;
use crate::wsrep::{self, NEW_CLUSTER, at, ended, wait_for_size};
use crate::{Error, data_folder};

/// Without this file the storage engine has no data.
const SYSTEM_TABLESPACE: &str = "ibdata1";

/// Starts a cluster without data folders for the first time.
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
    // One by one: a running node gives each a copy, one at a time.
    sandbox.nodes().skip(1).try_for_each(|node| node.launch(&[]))?;
    if !is_single {
        wait_for_size(sandbox)?;
    }
    sandbox.witness().map_or(Ok(()), Witness::start)
}

/// Starts those nodes, none of which runs, in parallel: one node alone may not become ready.
pub(crate) fn start(sandbox: &Sandbox, indices: &[usize]) -> Result<(), Error> {
    if indices.is_empty() {
        return Ok(());
    }
    take_provider(sandbox)?;
    let nodes: Vec<Node<'_>> = indices.iter().map(|index| sandbox.node(*index)).collect();
    // Before any start: each node gets the addresses of all.
    nodes.iter().try_for_each(|node| node.take_free_ports())?;
    let witness = usize::from(sandbox.witness().is_some_and(Witness::is_reachable));
    let up = wsrep::reachable(sandbox).len() + nodes.len() + witness;
    let launch = |node: Node<'_>| {
        // A node that was killed during a state transfer may have no tables or only some, which its server cannot
        // recover from.
        let has_tables = node.data_dir().join(SYSTEM_TABLESPACE).exists();
        let position = if has_tables { recovered(sandbox, node)? } else { None };
        node.launch(&at(position.as_ref()))
    };
    let started: Result<(), Error> = thread::scope(|scope| {
        let starts: Vec<_> = nodes.into_iter().map(|node| scope.spawn(move || launch(node))).collect();
        starts.into_iter().map(ended).collect::<Vec<_>>().into_iter().collect()
    });
    started.map_err(|error| with_hint(error, up, sandbox.voters()))?;
    if sandbox.topology().nodes() == 1 { Ok(()) } else { wait_for_size(sandbox) }
}

/// Adds a hint if a node did not become ready because too few other nodes are up.
fn with_hint(error: Error, up: usize, voters: usize) -> Error {
    match error {
        Error::Server { node, what, log, tail } if up * 2 <= voters => {
            let what = format!(
                "{what}; {up} of {voters} voters are no majority, so no node can become ready: `start` without \
                 a node number starts all nodes"
            );
            Error::Server { node, what, log, tail }
        }
        other => other,
    }
}

/// Updates the sandbox's copy of the provider: from the one that the caller has given or names, else from the one of the sandbox's
/// creation, which may have been rebuilt. Keeps the copy if that one no longer exists.
fn take_provider(sandbox: &Sandbox) -> Result<(), Error> {
    let (given, recorded) = {
        let metadata = sandbox.metadata();
        (metadata.given_provider.clone(), metadata.provider.clone())
    };
    if let Some(given) = given {
        return PROVIDER.copy(&given, sandbox.folder());
    }
    let source = match (PROVIDER.named()?, recorded) {
        (Some(named), _) => named,
        (None, Some(recorded)) if recorded.is_file() => recorded,
        (None, Some(_)) if PROVIDER.copy_in(sandbox.folder()).is_file() => return Ok(()),
        (None, _) => PROVIDER.find()?,
    };
    PROVIDER.copy(&source, sandbox.folder())?;
    sandbox.take_note_of_provider(source)
}
