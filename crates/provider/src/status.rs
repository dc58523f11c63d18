//! Status variables: the server shows them with the prefix `wsrep_`.
//!
//! The names are exactly Galera's, so that monitoring keeps working, and the servers' own tests compare the whole list
//! (Galera documentation, "Galera Status Variables"). Variables of network layers that this provider lacks are zero.

use crate::node::Node;

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

/// States of a node, numbered like Galera's.
const STATES: [&str; 5] = ["Initialized", "Joining", "Donor/Desynced", "Joined", "Synced"];

/// All variables of a node, in display order.
pub fn variables(node: &Node) -> Vec<(&'static str, Value)> {
    use Value::{Integer, Real, Text};
    let node_status = node.status();
    let counters = node.counters();
    let replicated = counters.replicated.get();
    let per_write_set = |sum: i64| if replicated == 0 { 0.0 } else { sum as f64 / replicated as f64 };
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
        ("repl_other_bytes", Integer(0)),
        ("received", Integer(counters.received.get())),
        ("received_bytes", Integer(counters.received_bytes.get())),
        ("local_commits", Integer(counters.local_commits.get())),
        ("local_cert_failures", Integer(counters.local_cert_failures.get())),
        ("local_replays", Integer(counters.local_replays.get())),
        ("local_send_queue", Integer(0)),
        ("local_send_queue_max", Integer(1)),
        ("local_send_queue_min", Integer(0)),
        ("local_send_queue_avg", Real(0.0)),
        ("local_recv_queue", Integer(node_status.queued)),
        ("local_recv_queue_max", Integer(1)),
        ("local_recv_queue_min", Integer(0)),
        ("local_recv_queue_avg", Real(0.0)),
        ("local_cached_downto", Integer(node_status.log_first)),
        ("flow_control_paused_ns", Integer(counters.flow_paused_ns.get())),
        ("flow_control_paused", Real(counters.flow_paused())),
        ("flow_control_sent", Integer(counters.flow_sent.get())),
        ("flow_control_recv", Integer(counters.flow_received.get())),
        ("flow_control_active", Text((counters.flow_active.get() > 0).to_string())),
        ("flow_control_requested", Text("false".to_owned())),
        ("cert_deps_distance", Real(per_write_set(counters.distance.get()))),
        ("apply_oooe", Real(0.0)),
        ("apply_oool", Real(0.0)),
        ("apply_window", Real(if node_status.last_committed > 0 { 1.0 } else { 0.0 })),
        ("apply_waits", Integer(node_status.waits)),
        ("commit_oooe", Real(0.0)),
        ("commit_oool", Real(0.0)),
        ("commit_window", Real(if node_status.last_committed > 0 { 1.0 } else { 0.0 })),
        ("local_state", Integer(node_status.state)),
        ("local_state_comment", Text(STATES[node_status.state as usize].to_owned())),
        ("cert_index_size", Integer(node_status.keys)),
        ("causal_reads", Integer(0)),
        ("cert_interval", Real(0.0)),
        ("open_transactions", Integer(node_status.transactions)),
        ("open_connections", Integer(0)),
        ("incoming_addresses", Text(node_status.incoming)),
        ("cluster_weight", Integer(node_status.weight)),
        ("desync_count", Integer(counters.desync_count.get())),
        ("evs_delayed", Text(String::new())),
        ("evs_evict_list", Text(String::new())),
        ("evs_repl_latency", Text("0/0/0/0/0".to_owned())),
        ("evs_state", Text("OPERATIONAL".to_owned())),
        ("gcomm_uuid", Text(node_status.member.to_string())),
        ("gmcast_segment", Integer(0)),
    ]
}
