//! Samples every node periodically: how far it lags, and whether it has applied all rows.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hortator_mysql::{Connection, Error};

use super::flow_control::{QueueDepth, allowed};
use super::node_info::{Values, flow_control_limit};
use super::report::{ClusterSummary, NodeSummary};
use super::targets::Targets;
use crate::throttle::Throttle;

/// Between two samples of a node during the load.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(100);
/// The same at the end, while the load waits for all nodes.
const FINAL_SAMPLE_INTERVAL: Duration = Duration::from_millis(10);
/// An older sample says nothing about the receive queue.
const SAMPLE_MAX_AGE: Duration = Duration::from_secs(2);
/// At the end, the load waits for a node that applies at least one write set within this time.
const STANDSTILL_TIMEOUT: Duration = Duration::from_secs(60);
/// The same for a node that does not answer: it receives the missing rows when it returns.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(5);

/// The sampled status variables.
const LOOK: &[u8] =
    b"SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_local_recv_queue', 'wsrep_flow_control_paused_ns', \
    'wsrep_flow_control_sent', 'wsrep_last_committed', 'wsrep_local_state_comment', 'wsrep_cluster_status', \
    'wsrep_cluster_size')";
const LIMITS: &[u8] = b"SHOW GLOBAL VARIABLES LIKE 'wsrep_provider_options'";

/// The samples of all nodes, and the throttle that they set.
#[derive(Debug)]
pub struct NodeMonitor {
    throttle: Arc<Throttle>,
    workers: usize,
    /// Whether a lagging node throttles the workers.
    is_throttled: bool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    nodes: Vec<NodeView>,
    is_over: bool,
    is_ending: bool,
}

/// The samples of one node.
#[derive(Clone, Debug, Default)]
struct NodeView {
    latest: Option<(Instant, NodeSample)>,
    /// The node was unreachable when the load started: the load does not wait for it until it answers.
    was_unreachable: bool,
    /// Since when the node does not answer.
    unreachable_since: Option<Instant>,
    /// The flow control counters of the node when the load started.
    baseline: Option<(u64, u64)>,
    paused_ns: u64,
    stops: u64,
    most_waiting: u64,
}

/// One sample.
#[derive(Clone, Copy, Debug, Default)]
struct NodeSample {
    waiting: u64,
    limit: f64,
    paused_ns: u64,
    stops: u64,
    last_committed: u64,
    is_member: bool,
    /// The node takes part in flow control; a desynced node does not.
    is_synced: bool,
}

/// Whether a node has applied all rows at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CatchUp {
    Complete,
    Pending,
    /// The node has left the cluster, or its state is unknown.
    Lost,
}

impl NodeMonitor {
    /// For a load with `workers` workers. Call [`NodeMonitor::monitor_node`] for each node. With `is_throttled` off, the
    /// throttle stays open.
    #[must_use]
    pub fn new(targets: &Targets, workers: usize, is_throttled: bool, throttle: Arc<Throttle>) -> NodeMonitor {
        let view_of = |index| NodeView { was_unreachable: !targets.was_reachable(index), ..NodeView::default() };
        let state = State { nodes: (0..targets.size()).map(view_of).collect(), is_over: false, is_ending: false };
        NodeMonitor { throttle, workers, is_throttled, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that panics is done under it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Samples one node until the load is over. Each node has a thread, so a node that hangs does not delay the others.
    pub fn monitor_node(&self, targets: &Targets, index: usize) {
        let mut sampler = None;
        loop {
            let outcome = sample_node(&mut sampler, targets, index);
            if outcome.is_err() {
                sampler = None;
            }
            let mut state = self.lock();
            match outcome {
                Ok(sample) => state.nodes[index].take(sample),
                Err(_) => drop(state.nodes[index].unreachable_since.get_or_insert_with(Instant::now)),
            }
            let depths: Vec<QueueDepth> = state.nodes.iter().filter_map(NodeView::queue_depth).collect();
            if self.is_throttled {
                self.throttle.allow(allowed(&depths, self.workers));
            }
            self.changed.notify_all();
            if state.is_over {
                return;
            }
            let was_ending = state.is_ending;
            let interval = if was_ending { FINAL_SAMPLE_INTERVAL } else { SAMPLE_INTERVAL };
            let is_pausing = |state: &mut State| !state.is_over && state.is_ending == was_ending;
            drop(self.changed.wait_timeout_while(state, interval, is_pausing));
        }
    }

    /// Waits until every node has applied all committed rows; returns how long that took, or `None` if some node may not
    /// have. `longest`: what one write set may have taken the writer.
    pub fn wait_for_all_nodes(
        &self,
        targets: &Targets,
        longest: Duration,
        is_over: &dyn Fn() -> bool,
    ) -> Option<Duration> {
        let standstill = STANDSTILL_TIMEOUT + 2 * longest;
        let start = Instant::now();
        let last = match last_committed(targets) {
            Ok(last) => last,
            Err(error) => {
                targets.note(format!("the load cannot determine whether all nodes have applied all rows: {error}"));
                return None;
            }
        };
        let mut state = self.lock();
        state.is_ending = true;
        self.changed.notify_all();
        let mut moved = vec![(0, start); state.nodes.len()];
        loop {
            let views = state.nodes.iter().zip(&mut moved);
            let states: Vec<CatchUp> =
                views.map(|(view, moved)| view.catch_up(last, start, moved, standstill)).collect();
            if is_over() || states.iter().all(|states| *states != CatchUp::Pending) {
                for (index, _) in states.iter().enumerate().filter(|(_, states)| **states != CatchUp::Complete) {
                    targets.note(format!(
                        "{} may not have applied all rows: it has when its wsrep_last_committed is {last} or \
                         more",
                        targets.label(index),
                    ));
                }
                return states.iter().all(|states| *states == CatchUp::Complete).then(|| start.elapsed());
            }
            state = self.changed.wait_timeout(state, FINAL_SAMPLE_INTERVAL).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A guard that ends the sampling when it is dropped.
    #[must_use]
    pub fn start_guard(&self) -> MonitorGuard<'_> {
        MonitorGuard(self)
    }

    /// The measurements; `None` for a single server.
    #[must_use]
    pub fn summary(&self, targets: &Targets) -> Option<ClusterSummary> {
        let info = targets.info()?;
        let state = self.lock();
        let node = |(index, view): (usize, &NodeView)| NodeSummary {
            node: targets.label(index).to_owned(),
            most_waiting: view.most_waiting,
            stopped_cluster: view.stops,
            paused_s: Duration::from_nanos(view.paused_ns).as_secs_f64(),
        };
        Some(ClusterSummary {
            written_to: targets.writer_label().to_owned(),
            nodes: state.nodes.iter().enumerate().filter(|(_, view)| view.latest.is_some()).map(node).collect(),
            size: info.size,
            throttled_s: self.throttle.held().as_secs_f64(),
            notes: targets.notes(),
        })
    }
}

/// Sampling runs until this guard is dropped.
#[derive(Debug)]
pub struct MonitorGuard<'w>(&'w NodeMonitor);

impl Drop for MonitorGuard<'_> {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_all();
    }
}

impl NodeView {
    fn take(&mut self, sample: NodeSample) {
        let (paused, stops) = self.baseline.unwrap_or((sample.paused_ns, sample.stops));
        // A restarted node counts from zero.
        let (paused, stops) = if sample.paused_ns < paused { (0, 0) } else { (paused, stops) };
        self.baseline = Some((paused, stops));
        self.paused_ns = self.paused_ns.max(sample.paused_ns - paused);
        self.stops = self.stops.max(sample.stops.saturating_sub(stops));
        self.most_waiting = self.most_waiting.max(sample.waiting);
        self.latest = Some((Instant::now(), sample));
        self.unreachable_since = None;
    }

    fn queue_depth(&self) -> Option<QueueDepth> {
        let (at, sample) = self.latest?;
        let counts = sample.is_member && sample.is_synced && at.elapsed() < SAMPLE_MAX_AGE;
        counts.then_some(QueueDepth { waiting: sample.waiting, limit: sample.limit })
    }

    /// Whether the node has applied everything up to `last`. `moved` is its last progress: seqno and time.
    fn catch_up(&self, last: u64, start: Instant, moved: &mut (u64, Instant), standstill: Duration) -> CatchUp {
        let is_silent = self.unreachable_since.is_some_and(|since| since.elapsed() >= SILENCE_TIMEOUT);
        if is_silent || (self.was_unreachable && self.latest.is_none()) {
            return CatchUp::Lost;
        }
        let Some((_, sample)) = self.latest.filter(|(at, _)| *at >= start) else { return CatchUp::Pending };
        if !sample.is_member {
            return CatchUp::Lost;
        }
        if sample.last_committed >= last {
            return CatchUp::Complete;
        }
        if sample.last_committed > moved.0 {
            *moved = (sample.last_committed, Instant::now());
        }
        if moved.1.elapsed() < standstill { CatchUp::Pending } else { CatchUp::Lost }
    }
}

/// Takes one sample; connects if there is no connection.
fn sample_node(
    sampler: &mut Option<(Connection, String)>,
    targets: &Targets,
    index: usize,
) -> Result<NodeSample, Error> {
    let (connection, options) = match sampler {
        Some(sampler) => sampler,
        None => {
            let mut connection = Connection::open(&targets.probe_options(index))?;
            let options = Values::ask(&mut connection, LIMITS)?.text("wsrep_provider_options").to_owned();
            sampler.insert((connection, options))
        }
    };
    let status = Values::ask(connection, LOOK)?;
    let size = usize::try_from(status.number("wsrep_cluster_size")).unwrap_or(1);
    Ok(NodeSample {
        waiting: status.number("wsrep_local_recv_queue"),
        limit: flow_control_limit(options, size),
        paused_ns: status.number("wsrep_flow_control_paused_ns"),
        stops: status.number("wsrep_flow_control_sent"),
        last_committed: status.number("wsrep_last_committed"),
        is_member: status.text("wsrep_cluster_status") == "Primary",
        is_synced: status.text("wsrep_local_state_comment") == "Synced",
    })
}

/// The last committed seqno of the writer.
fn last_committed(targets: &Targets) -> Result<u64, Error> {
    let mut connection = targets.connect(&|| false)?.connection;
    Ok(Values::ask(&mut connection, b"SHOW GLOBAL STATUS LIKE 'wsrep_last_committed'")?.number("wsrep_last_committed"))
}

#[cfg(test)]
mod tests;
