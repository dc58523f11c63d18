//! The metrics file: the status variables in Prometheus' text format, for the textfile collector of node_exporter.
//!
//! A thread writes the file at an interval, whole or not at all, and removes it at the end: old figures would look like new
//! ones. Source of the format: prometheus.io, "Exposition formats", text-based format, version 0.0.4.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::log::spawn_without_signals;
use crate::node::{Node, PeerStatus, RaftStatus};
use crate::server::{Level, Server};
use crate::status::{self, Value};

#[cfg(test)]
mod tests;

/// The prefix of the names.
const PREFIX: &str = "hortator_wsrep_";

/// Variables that only grow, until FLUSH STATUS. All others go up and down.
const COUNTERS: &[&str] = &[
    "replicated",
    "replicated_bytes",
    "repl_keys",
    "repl_keys_bytes",
    "repl_data_bytes",
    "repl_other_bytes",
    "received",
    "received_bytes",
    "local_commits",
    "local_cert_failures",
    "local_cert_too_old",
    "local_replays",
    "flow_control_paused_ns",
    "flow_control_sent",
    "flow_control_recv",
    "apply_waits",
    "causal_reads",
];

/// Texts that are labels of `hortator_wsrep_info`.
const LABELS: &[&str] =
    &["local_state_uuid", "local_state_comment", "gcomm_uuid", "evs_state", "raft_role", "raft_leader"];

/// The thread that writes the file, until this is dropped.
#[derive(Debug)]
pub struct MetricsWriter {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    is_over: Mutex<bool>,
    changed: Condvar,
}

impl MetricsWriter {
    /// Starts the thread, if `metrics.file` is set.
    ///
    /// # Errors
    /// The system starts no thread.
    pub fn start(node: &Arc<Node>, server: &Arc<dyn Server>) -> io::Result<Option<Self>> {
        let Some((file, interval)) = node.metrics_file() else { return Ok(None) };
        let shared = Arc::<Shared>::default();
        let (node, server, of_thread) = (Arc::clone(node), Arc::clone(server), Arc::clone(&shared));
        let thread = spawn_without_signals("hortator-metrics", move || {
            write_until_over(&node, &*server, &of_thread, &file, interval);
        })?;
        Ok(Some(Self { shared, thread: Some(thread) }))
    }
}

impl Drop for MetricsWriter {
    fn drop(&mut self) {
        *self.shared.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic was reported when it happened.
            let _ = thread.join();
        }
    }
}

fn write_until_over(node: &Node, server: &dyn Server, shared: &Shared, file: &Path, interval: Duration) {
    let mut has_failed = false;
    let mut is_over = shared.is_over.lock().unwrap_or_else(PoisonError::into_inner);
    while !*is_over {
        drop(is_over);
        let text = text(&status::variables(node), &node.status().raft);
        let result = publish(file, &text);
        match (&result, has_failed) {
            (Err(error), false) => server.log(
                Level::Note,
                &format!(
                    "metrics.file: {} cannot be written: {error}. The next attempts are made without a line here",
                    file.display()
                ),
            ),
            (Ok(()), true) => server.log(Level::Note, &format!("metrics.file: {} is written again", file.display())),
            _ => {}
        }
        has_failed = result.is_err();
        is_over = shared.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_over {
            is_over = shared.changed.wait_timeout(is_over, interval).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
    // It may be gone, or may never have been there.
    let _ = fs::remove_file(file);
}

/// Replaces the file. Not synced: after a crash of the machine it may be gone, and is written again.
fn publish(file: &Path, text: &str) -> io::Result<()> {
    let mut draft = file.as_os_str().to_owned();
    draft.push(".new");
    let draft = PathBuf::from(draft);
    let result = fs::write(&draft, text).and_then(|()| fs::rename(&draft, file));
    if result.is_err() {
        let _ = fs::remove_file(&draft);
    }
    result
}

/// The metrics.
fn text(variables: &[(&'static str, Value)], raft: &RaftStatus) -> String {
    let mut out = String::new();
    for (name, value) in variables {
        let number = match value {
            Value::Integer(number) => number.to_string(),
            Value::Real(number) => number.to_string(),
            Value::Text(text) if text == "true" => "1".to_owned(),
            Value::Text(text) if text == "false" => "0".to_owned(),
            Value::Text(_) => continue,
        };
        let kind = if COUNTERS.contains(name) { "counter" } else { "gauge" };
        head(&mut out, name, kind, &format!("Status variable wsrep_{name}."));
        let _ = writeln!(out, "{PREFIX}{name} {number}");
    }
    let labels = variables.iter().filter_map(|(name, value)| match value {
        Value::Text(text) if LABELS.contains(name) => Some(format!("{name}=\"{}\"", escaped(text))),
        _ => None,
    });
    head(&mut out, "info", "gauge", "Status variables that are texts.");
    let _ = writeln!(out, "{PREFIX}info{{{}}} 1", labels.collect::<Vec<_>>().join(","));
    peers(&mut out, &raft.peers);
    out
}

/// A figure of another node, if this node knows it.
type Figure = fn(&PeerStatus) -> Option<i64>;

/// A sample for each other node.
fn peers(out: &mut String, peers: &[PeerStatus]) {
    let figures: [(&str, &str, Figure); 5] = [
        ("raft_peer_linked", "Whether the node is linked to this one.", |peer| Some(peer.is_linked.into())),
        ("raft_peer_voter", "Whether the node is a voter.", |peer| Some((peer.weight > 0).into())),
        ("raft_peer_protocol_version", "The newest protocol version that the node speaks.", |peer| {
            Some(peer.versions.newest.0.into())
        }),
        ("raft_peer_match_index", "On the leader: up to where the node's log equals its own, durably.", |peer| {
            peer.match_index.map(|index| i64::try_from(index.0).unwrap_or(i64::MAX))
        }),
        ("raft_peer_applied", "On the leader: the last seqno that the node has reported as applied.", |peer| {
            peer.applied
        }),
    ];
    for (name, help, figure) in figures {
        let samples: Vec<(&PeerStatus, i64)> =
            peers.iter().filter_map(|peer| figure(peer).map(|value| (peer, value))).collect();
        if samples.is_empty() {
            continue;
        }
        head(out, name, "gauge", help);
        for (peer, value) in samples {
            let (node, address) = (escaped(&peer.name), escaped(&peer.address));
            let _ = writeln!(out, "{PREFIX}{name}{{node=\"{node}\",address=\"{address}\"}} {value}");
        }
    }
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {PREFIX}{name} {help}\n# TYPE {PREFIX}{name} {kind}");
}

/// A label's value. Control characters are dropped.
fn escaped(value: &str) -> String {
    let mut escaped = String::new();
    for character in value.chars().filter(|character| !character.is_control()) {
        if matches!(character, '"' | '\\') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
