//! Status variables: the server shows them with the prefix `wsrep_`.
//!
//! Galera's names come first, in its order, so that monitoring keeps working (Galera documentation, "Galera Status
//! Variables"). Variables of network layers that this provider lacks are zero. Those of Raft follow.

use crate::consensus::raft::Role;
use crate::counters::Counters;
use crate::log::Index;
use crate::node::{ConnectionState, Node, NodeStatus};
use crate::protocol::ProtocolRange;

/// A variable's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A decimal number.
    Real(f64),
}

/// All variables of a node, in display order.
pub fn variables(node: &Node) -> Vec<(&'static str, Value)> {
    let node_status = node.status();
    let mut variables = galeras(&node_status, node.counters());
    variables.extend(own(&node_status, node.counters()));
    variables
}

/// Those that Galera has too.
fn galeras(node_status: &NodeStatus, counters: &Counters) -> Vec<(&'static str, Value)> {
    use Value::{Integer, Real, Text};
    let per = |sum: i64, count: i64| if count == 0 { 0.0 } else { sum as f64 / count as f64 };
    let replicated = counters.replicated.get();
    let applied = counters.applied.get();
    let NodeStatus { recv_lengths, pending_lengths, .. } = node_status;
    let (state, state_name) = node_status.state.status();
    // What is neither keys nor events.
    let other_bytes = counters.replicated_bytes.get() - counters.repl_keys_bytes.get() - counters.repl_data_bytes.get();
    vec![
        ("local_state_uuid", Text(node_status.history_uuid.to_string())),
        ("protocol_version", Integer(11)),
        ("protocol_application", Integer(4)),
        ("protocol_replicator", Integer(11)),
        ("protocol_gcs", Integer(6)),
        ("last_committed", Integer(node_status.last_committed)),
        ("replicated", Integer(replicated)),
        ("replicated_bytes", Integer(counters.replicated_bytes.get())),
        ("repl_keys", Integer(counters.repl_keys.get())),
        ("repl_keys_bytes", Integer(counters.repl_keys_bytes.get())),
        ("repl_data_bytes", Integer(counters.repl_data_bytes.get())),
        ("repl_other_bytes", Integer(other_bytes.max(0))),
        ("received", Integer(counters.received.get())),
        ("received_bytes", Integer(counters.received_bytes.get())),
        ("local_commits", Integer(counters.local_commits.get())),
        ("local_cert_failures", Integer(counters.local_cert_failures.get())),
        ("local_replays", Integer(counters.local_replays.get())),
        ("local_send_queue", Integer(node_status.pending)),
        ("local_send_queue_max", Integer(pending_lengths.max)),
        ("local_send_queue_min", Integer(pending_lengths.min)),
        ("local_send_queue_avg", Real(pending_lengths.mean())),
        ("local_recv_queue", Integer(node_status.queued)),
        ("local_recv_queue_max", Integer(recv_lengths.max)),
        ("local_recv_queue_min", Integer(recv_lengths.min)),
        ("local_recv_queue_avg", Real(recv_lengths.mean())),
        ("local_cached_downto", Integer(node_status.log_first)),
        ("flow_control_paused_ns", Integer(counters.flow_paused_ns.get())),
        ("flow_control_paused", Real(counters.flow_paused())),
        ("flow_control_sent", Integer(counters.flow_sent.get())),
        ("flow_control_recv", Integer(counters.flow_received.get())),
        ("flow_control_active", Text((counters.flow_active.get() > 0).to_string())),
        ("flow_control_requested", Text(node_status.raft.is_behind.to_string())),
        ("cert_deps_distance", Real(per(counters.distance.get(), replicated))),
        ("apply_oooe", Real(per(counters.applied_early.get(), applied))),
        ("apply_oool", Real(per(counters.overtaken.get(), applied))),
        ("apply_window", Real(per(counters.apply_window.get(), applied))),
        ("apply_waits", Integer(node_status.waits)),
        ("commit_oooe", Real(0.0)),
        ("commit_oool", Real(0.0)),
        ("commit_window", Real(if node_status.last_committed > 0 { 1.0 } else { 0.0 })),
        ("local_state", Integer(state)),
        ("local_state_comment", Text(state_name.to_owned())),
        ("cert_index_size", Integer(node_status.keys)),
        ("causal_reads", Integer(counters.causal_reads.get())),
        ("cert_interval", Real(per(counters.interval.get(), replicated))),
        ("open_transactions", Integer(node_status.transactions)),
        ("open_connections", Integer(0)),
        ("incoming_addresses", Text(node_status.incoming.clone())),
        ("cluster_weight", Integer(node_status.weight)),
        ("desync_count", Integer(counters.desync_count.get())),
        ("evs_delayed", Text(String::new())),
        ("evs_evict_list", Text(String::new())),
        ("evs_repl_latency", Text(node_status.latencies.text())),
        ("evs_state", Text(evs_state(node_status.connection).to_owned())),
        ("gcomm_uuid", Text(node_status.member.to_string())),
        ("gmcast_segment", Integer(0)),
    ]
}

/// The state of group communication, in Galera's words.
fn evs_state(connection: ConnectionState) -> &'static str {
    match connection {
        ConnectionState::Closed => "CLOSED",
        ConnectionState::Leaving => "LEAVING",
        ConnectionState::NoQuorum => "GATHER",
        ConnectionState::Quorum => "OPERATIONAL",
    }
}

/// This provider's own.
fn own(node_status: &NodeStatus, counters: &Counters) -> Vec<(&'static str, Value)> {
    use Value::{Integer, Text};
    let raft = &*node_status.raft;
    let index = |index: Index| Integer(i64::try_from(index.0).unwrap_or(i64::MAX));
    let peers: Vec<String> = raft.peers.iter().map(ToString::to_string).collect();
    let peer_versions: Vec<String> = raft.peers.iter().map(|peer| format!("{} {}", peer.name, peer.versions)).collect();
    vec![
        ("local_cert_too_old", Integer(counters.local_cert_too_old.get())),
        ("raft_protocol_version", Integer(raft.protocol.map_or(0, |version| version.0.into()))),
        ("raft_protocol_versions", Text(ProtocolRange::SPOKEN.to_string())),
        ("raft_peer_protocol_versions", Text(peer_versions.join(", "))),
        ("raft_term", Integer(i64::try_from(raft.term).unwrap_or(i64::MAX))),
        ("raft_role", Text(role(raft.role).to_owned())),
        ("raft_leader", Text(raft.leader.clone())),
        ("raft_voters", Integer(raft.voters as i64)),
        ("raft_last_index", index(raft.last_index)),
        ("raft_commit_index", index(raft.commit_index)),
        ("raft_applied_index", index(raft.applied_index)),
        ("raft_peers", Text(peers.join(", "))),
    ]
}

fn role(role: Option<Role>) -> &'static str {
    match role {
        None => "disconnected",
        Some(Role::Leader) => "leader",
        Some(Role::Follower) => "follower",
        Some(Role::Candidate) => "candidate",
    }
}
