//! Starts the Raft driver from the hard state and the log.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::node_host::NodeHost;
use super::process_host::ProcessIo;
use super::relay::Relay;
use super::{ClusterHandle, driver};
use crate::consensus::NodeId;
use crate::consensus::hard_state::HardState;
use crate::consensus::lineage::Lineage;
use crate::consensus::links::Links;
use crate::consensus::raft::{LogId, Term};
use crate::consensus::wire::Hello;
use crate::entry;
use crate::identity::Uuid;
use crate::log::{DiskLog, Index};
use crate::node::replica::{Replica, Settings, initial_state};
use crate::node::security::ServerAllowlist;
use crate::node::{Error, Node, lock};
use crate::protocol::{ProtocolRange, ProtocolVersion};
use crate::server::Level;

/// How a node starts.
#[derive(Debug)]
pub(in crate::node) enum StartMode {
    /// As the only voter of a new cluster.
    Bootstrap,
    /// With its hard state.
    Restart(Box<HardState>),
    /// Without a log, as a joiner.
    Join,
}

/// Starts the driver and dials the nodes of the cluster.
pub(in crate::node) fn start(
    node: &Arc<Node>,
    cluster_name: &str,
    hosts: &[String],
    mode: StartMode,
) -> Result<Arc<ClusterHandle>, Error> {
    let log = node.log();
    let is_new_cluster = matches!(mode, StartMode::Bootstrap);
    let hard_state = match mode {
        StartMode::Restart(hard_state) => *hard_state,
        StartMode::Bootstrap => new_hard_state(node, true)?,
        StartMode::Join => new_hard_state(node, false)?,
    };
    let mut hard_state = hard_state;
    if hard_state.lineage.is_unknown() && !hard_state.voters.is_empty() {
        hard_state.lineage = Lineage::of_history(node.history_uuid());
    }
    let instance_id = Uuid::random().map_err(Error::Random)?;
    let hello = Hello {
        versions: ProtocolRange::SPOKEN,
        in_force: (!hard_state.lineage.is_unknown()).then_some(hard_state.protocol),
        history_uuid: node.history_uuid(),
        lineage: hard_state.lineage,
        node: hard_state.node,
        instance_id,
        cluster_name: cluster_name.to_owned(),
        name: node.setup.name.clone(),
        incoming: node.setup.incoming.clone(),
        address: node.node_address(),
        extension: Vec::new(),
    };
    let (mut links, waker) = Links::open(&node.listen_address(), hello)?;
    links.set_allowlist(Arc::new(ServerAllowlist(Arc::clone(&node.server))));
    let own_address = links.own().address.clone();
    for host in hosts
        .iter()
        .chain(hard_state.voters.iter().filter(|(id, _)| **id != hard_state.node).map(|(_, address)| address))
    {
        links.dial(host);
    }
    links.isolate(lock(&node.options).is_isolated());
    if let Some(address) = hard_state.voters.get_mut(&hard_state.node) {
        *address = own_address;
    }
    let timing = lock(&node.options).timing();
    let raft = initial_state(&hard_state, log.as_ref(), instance_id)?;
    hard_state.write(&node.setup.data_dir)?;
    node.set_lineage(hard_state.lineage);
    if let Some(log) = &log {
        // Until the node is a single node.
        log.set_keeps_recent(true);
    }
    let cluster = Arc::new(ClusterHandle::new(waker, log.as_ref().map_or(Index(0), |log| log.last())));
    let io = ProcessIo::new(Arc::clone(&cluster), Relay::new(), links);
    let host = NodeHost::new(Arc::clone(node), io);
    let committed = hard_state.committed;
    let retain_time = node.retain_time();
    let hosts = hosts.to_vec();
    let is_witness = false;
    let versions = ProtocolRange::SPOKEN;
    let settings =
        Settings { hard_state, versions, raft, instance_id, hosts, timing, retain_time, is_new_cluster, is_witness };
    let replica = Replica::new(host, settings);
    if replica.is_recovering() {
        node.server.log(Level::Warning, &recovering_warning(log.as_deref(), committed));
    }
    let on_panic = {
        let node = Arc::clone(node);
        move || node.fail("a bug in the provider's Raft thread")
    };
    driver::spawn(replica, on_panic).map_err(Error::Thread)?;
    Ok(cluster)
}

/// What a node logs whose log may lack entries that it has acknowledged.
pub(in crate::node) fn recovering_warning(log: Option<&DiskLog>, committed: Index) -> String {
    let what = log
        .and_then(DiskLog::lost_tail)
        .map_or_else(|| format!("entries up to index {committed} were committed"), |lost_tail| lost_tail.to_string());
    let end = log.map_or(Index(0), DiskLog::last);
    format!(
        "{what}, but the log ends at index {end}: the disk may have lost its end. Until this node has it again from the \
         other nodes, its vote counts only in an election in which all voters are up. Check the disk"
    )
}

fn new_hard_state(node: &Node, votes: bool) -> Result<HardState, Error> {
    let random = Uuid::random().map_err(Error::Random)?;
    let id = NodeId(random.bits());
    let log = node.log();
    // A new cluster ignores the memberships in its log.
    let last = match &log {
        Some(log) if log.last() >= log.first() => {
            let entries = log.entries(log.last(), 1)?;
            let term =
                entries.first().and_then(|(_, bytes)| entry::meta(bytes).ok()).map_or(Term(0), |(stamp, _)| stamp.term);
            LogId { term, index: log.last() }
        }
        _ => LogId { term: Term(0), index: Index(0) },
    };
    Ok(HardState {
        node: id,
        term: last.term,
        voted_for: None,
        committed: last.index,
        membership_log_id: last,
        snapshot_log_id: LogId { term: Term(0), index: Index(0) },
        voters: if votes { [(id, node.node_address())].into() } else { BTreeMap::new() },
        weights: BTreeMap::new(),
        pending_memberships: Vec::new(),
        lineage: if votes { node.new_lineage(log.as_deref())? } else { Lineage::UNKNOWN },
        protocol: ProtocolVersion::FIRST,
    })
}
