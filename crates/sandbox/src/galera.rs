//! A Galera cluster: its servers' options, its first start, and its start from any state of its nodes.

use std::fs;
use std::thread;

use crate::error::At;
use crate::node::{Node, POLL_INTERVAL};
use crate::ports::Endpoint;
use crate::program::Programs;
use crate::random::random_uuid;
use crate::sandbox::Sandbox;
use crate::saved_state::{Position, allow_bootstrap, most_advanced, position};
use crate::wsrep::{self, NEW_CLUSTER, at, ended, size_seen, wait_for_size};
use crate::{Error, data_folder};

/// The provider's saved cluster view, which a copied or bootstrapped node must not have.
const VIEW_FILE: &str = "gvwstate.dat";
/// The provider's ring buffer of write sets.
const CACHE_FILE: &str = "galera.cache";
/// The cache for missed write sets in tests, instead of 128 MiB on disk.
const CACHE_SIZE: &str = "gcache.size=32M";

/// With the plugin of MariaDB 11.8 that makes variables of options, Galera has none to isolate a node.
const WITHOUT_OPTION_VARIABLES: &str = "--loose-plugin-wsrep-provider=OFF";

/// The arguments of a node's server. `settings` are the caller's values of wsrep_provider_options.
pub(crate) fn arguments(endpoints: &[Endpoint], index: usize, settings: &[&str]) -> Result<Vec<String>, Error> {
    let settings: Vec<&str> = [CACHE_SIZE].iter().chain(settings).copied().collect();
    let mut arguments = wsrep::arguments(Programs::provider()?, endpoints, index, &settings)?;
    arguments.push(WITHOUT_OPTION_VARIABLES.to_owned());
    Ok(arguments)
}

/// Starts a cluster without data folders for the first time.
///
/// Node 1 bootstraps the cluster and is stopped again; the others get a copy of its data. So all have the same position
/// in the same history, and none needs a state transfer, which would take seconds each.
pub(crate) fn first_start(sandbox: &Sandbox, programs: &Programs) -> Result<(), Error> {
    let first = sandbox.node(0);
    data_folder::create(&first.data_dir(), &first.folder(), programs, sandbox.account())?;
    let mut further = vec![NEW_CLUSTER.to_owned()];
    if sandbox.topology().nodes() > 1 {
        // Less to copy. Each server resizes it at its final start.
        further.push("--innodb-log-file-size=4M".to_owned());
    }
    first.launch(&further)?;
    if sandbox.topology().nodes() == 1 {
        return Ok(());
    }
    first.stop()?;
    for node in sandbox.nodes().skip(1) {
        data_folder::copy(&first.data_dir(), &node.data_dir(), &[CACHE_FILE, VIEW_FILE], sandbox.account())?;
    }
    sandbox.start()
}

/// Starts those nodes, none of which runs. When no node of the cluster runs, they bootstrap it.
pub(crate) fn start(sandbox: &Sandbox, indices: &[usize]) -> Result<(), Error> {
    let is_down = sandbox.nodes().all(|node| node.process().is_none());
    let mut positions = vec![None; sandbox.topology().nodes()];
    for node in sandbox.nodes() {
        // The nodes that stay down matter for choosing the most advanced node.
        if is_down || indices.contains(&node.index()) {
            positions[node.index()] = position(sandbox, node)?;
        }
    }
    if is_down {
        start_anew(sandbox, indices, &positions)?;
    } else {
        join(sandbox, indices, &positions)?;
    }
    wait_for_size(sandbox)
}

fn start_anew(sandbox: &Sandbox, indices: &[usize], positions: &[Option<Position>]) -> Result<(), Error> {
    let first = most_advanced(positions)?;
    if !indices.contains(&first) {
        let name = sandbox.node(first).name();
        return Err(Error::Invalid(format!(
            "no node runs, and {name} has the latest state of the cluster: start {name} first, or all nodes"
        )));
    }
    let all_equal = positions[first].is_some() && positions.iter().all(|position| *position == positions[first]);
    if all_equal && indices.len() == positions.len() && indices.len() > 1 {
        return restore(sandbox, positions);
    }
    bootstrap(sandbox, first, positions)?;
    let others: Vec<usize> = indices.iter().copied().filter(|index| *index != first).collect();
    join(sandbox, &others, positions)
}

/// Starts all nodes, which have the same position, as members of the previous cluster.
///
/// The provider saves the latest view of the cluster so that a cluster that lost all nodes at once, as by a power
/// failure, forms again by itself (`pc.recovery`); here the node gets such a view. Source: Galera documentation,
/// "Saving the Primary Component State".
fn restore(sandbox: &Sandbox, positions: &[Option<Position>]) -> Result<(), Error> {
    let members = sandbox.nodes().map(|_| random_uuid()).collect::<Result<Vec<_>, _>>()?;
    for (node, own) in sandbox.nodes().zip(&members) {
        let path = node.data_dir().join(VIEW_FILE);
        fs::write(&path, saved_view(own, &members)).at("write", &path)?;
        sandbox.account().own(&path)?;
    }
    sandbox.nodes().try_for_each(Node::take_free_ports)?;
    thread::scope(|scope| {
        let launch = |node: Node<'_>| node.launch(&at(positions[node.index()].as_ref()));
        let starts: Vec<_> = sandbox.nodes().map(|node| scope.spawn(move || launch(node))).collect();
        starts.into_iter().try_for_each(ended)
    })
}

/// Starts a node as a new cluster that continues its history.
fn bootstrap(sandbox: &Sandbox, index: usize, positions: &[Option<Position>]) -> Result<(), Error> {
    for node in sandbox.nodes() {
        // Otherwise the node waits for the nodes of its last view instead of bootstrapping.
        let _absent = fs::remove_file(node.data_dir().join(VIEW_FILE));
    }
    let node = sandbox.node(index);
    allow_bootstrap(&node.data_dir(), sandbox.account())?;
    let mut further = at(positions[index].as_ref());
    further.push(NEW_CLUSTER.to_owned());
    node.launch(&further)
}

/// Starts nodes of a cluster of which others run. Waits until each is a member before the next one starts, because two
/// nodes that join at the same time block each other for seconds; their state transfers then run in parallel.
fn join(sandbox: &Sandbox, indices: &[usize], positions: &[Option<Position>]) -> Result<(), Error> {
    thread::scope(|scope| {
        let mut starts = Vec::new();
        for index in indices {
            let node = sandbox.node(*index);
            let members = size_seen(sandbox);
            let further = at(positions[*index].as_ref());
            let start = scope.spawn(move || node.launch(&further));
            while !start.is_finished() && size_seen(sandbox) <= members {
                thread::sleep(POLL_INTERVAL);
            }
            starts.push(start);
        }
        starts.into_iter().try_for_each(ended)
    })
}

/// A saved view of the members, as seen by one of them; all have left it without a clean shutdown.
fn saved_view(own: &str, members: &[String]) -> String {
    let lines: String = members.iter().map(|member| format!("member: {member} 0\n")).collect();
    // 3 is the type of a primary component's view.
    format!("my_uuid: {own}\n#vwbeg\nview_id: 3 {} 1\nbootstrap: 0\n{lines}#vwend\n", members[0])
}
