//! A look at every node, again and again: how far behind each is, and whether all have everything.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hortator_mysql::{Connection, Error};

use super::facts::{Values, flow_control_limit};
use super::gate::{Gate, Look, allowed};
use super::report::{ClusterSummary, NodeSummary};
use super::targets::Targets;

/// Between two looks at a node while rows go in.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// The same at the end, when it is only waited for.
const LAST_LOOKS_INTERVAL: Duration = Duration::from_millis(10);
/// A node that has not answered for so long tells nothing of its queue any more.
const LOOK_AGE_LIMIT: Duration = Duration::from_secs(2);
/// At the end a node is waited for as long as it applies something at least so often.
const STANDSTILL_LIMIT: Duration = Duration::from_secs(60);
/// The same for one that does not answer: it is gone, and gets what it misses when it comes back.
const SILENCE_LIMIT: Duration = Duration::from_secs(5);

/// Every number that is looked at.
const LOOK: &[u8] =
    b"SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_local_recv_queue', 'wsrep_flow_control_paused_ns', \
    'wsrep_flow_control_sent', 'wsrep_last_committed', 'wsrep_local_state_comment', 'wsrep_cluster_status', \
    'wsrep_cluster_size')";
const LIMITS: &[u8] = b"SHOW GLOBAL VARIABLES LIKE 'wsrep_provider_options'";

/// What is seen of all nodes, and the gate that follows from it.
#[derive(Debug)]
pub struct Watch {
    gate: Gate,
    workers: usize,
    /// Whether the gate closes at all.
    paces: bool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    nodes: Vec<Seen>,
    is_over: bool,
    is_ending: bool,
}

/// What was seen of one node.
#[derive(Clone, Debug, Default)]
struct Seen {
    latest: Option<(Instant, Sample)>,
    /// It let nobody in when the load began: then it is not waited for until it does.
    was_away: bool,
    /// Since when it does not answer.
    away: Option<Instant>,
    /// Flow control's counters when the load began, as far as this process of the node has counted.
    baseline: Option<(u64, u64)>,
    paused_ns: u64,
    stops: u64,
    most_waiting: u64,
}

/// One look.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    waiting: u64,
    limit: f64,
    paused_ns: u64,
    stops: u64,
    last_committed: u64,
    is_member: bool,
    /// It takes part in flow control: a node that is behind on purpose stops nobody.
    is_synced: bool,
}

/// What was found in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Has {
    Everything,
    NotYet,
    /// It is not in the cluster (any more), or nobody knows.
    Gone,
}

impl Watch {
    /// For a load with so many workers. Nothing is seen before [`Watch::follow`] runs for each node.
    /// With `paces` off the gate stays open, whatever is seen.
    #[must_use]
    pub fn new(targets: &Targets, workers: usize, paces: bool) -> Watch {
        let seen = |index| Seen { was_away: !targets.was_seen(index), ..Seen::default() };
        let state = State { nodes: (0..targets.size()).map(seen).collect(), is_over: false, is_ending: false };
        Watch { gate: Gate::open(), workers, paces, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Where workers wait between chunks.
    #[must_use]
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that panics is done under it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at one node until the load is over: each has a thread, so that one that hangs hides no other.
    pub fn follow(&self, targets: &Targets, index: usize) {
        let mut looker = None;
        loop {
            let outcome = look(&mut looker, targets, index);
            if outcome.is_err() {
                looker = None;
            }
            let mut state = self.lock();
            match outcome {
                Ok(sample) => state.nodes[index].take(sample),
                Err(_) => drop(state.nodes[index].away.get_or_insert_with(Instant::now)),
            }
            let looks: Vec<Look> = state.nodes.iter().filter_map(Seen::look).collect();
            if self.paces {
                self.gate.allow(allowed(&looks, self.workers));
            }
            self.changed.notify_all();
            if state.is_over {
                return;
            }
            let interval = if state.is_ending { LAST_LOOKS_INTERVAL } else { LOOK_INTERVAL };
            drop(self.changed.wait_timeout_while(state, interval, |state| !state.is_over));
        }
    }

    /// Waits until every node has applied what is committed, and tells how long that took; `None` when some node is not
    /// known to have.
    pub fn wait_everywhere(&self, targets: &Targets, is_over: &dyn Fn() -> bool) -> Option<Duration> {
        let start = Instant::now();
        let last = match last_committed(targets) {
            Ok(last) => last,
            Err(error) => {
                targets.note(format!("it is not known whether all nodes have everything: {error}"));
                return None;
            }
        };
        let mut state = self.lock();
        state.is_ending = true;
        self.changed.notify_all();
        let mut moved = vec![(0, start); state.nodes.len()];
        loop {
            let has: Vec<Has> =
                state.nodes.iter().zip(&mut moved).map(|(seen, moved)| seen.has(last, start, moved)).collect();
            if is_over() || has.iter().all(|has| *has != Has::NotYet) {
                for (index, _) in has.iter().enumerate().filter(|(_, has)| **has != Has::Everything) {
                    targets.note(format!(
                        "{} is not known to have everything: look at wsrep_last_committed there, which is {last} or \
                         more once it has",
                        targets.label(index),
                    ));
                }
                return has.iter().all(|has| *has == Has::Everything).then(|| start.elapsed());
            }
            state = self.changed.wait_timeout(state, LAST_LOOKS_INTERVAL).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Ends the looking when it goes, however that comes about.
    #[must_use]
    pub fn until_dropped(&self) -> Watching<'_> {
        Watching(self)
    }

    /// What was seen; `None` when the server is no node.
    #[must_use]
    pub fn summary(&self, targets: &Targets) -> Option<ClusterSummary> {
        let facts = targets.facts()?;
        let state = self.lock();
        let node = |(index, seen): (usize, &Seen)| NodeSummary {
            node: targets.label(index).to_owned(),
            most_waiting: seen.most_waiting,
            stopped_cluster: seen.stops,
            paused_s: Duration::from_nanos(seen.paused_ns).as_secs_f64(),
        };
        Some(ClusterSummary {
            written_to: targets.home_label().to_owned(),
            nodes: state.nodes.iter().enumerate().filter(|(_, seen)| seen.latest.is_some()).map(node).collect(),
            size: facts.size,
            held_back_s: self.gate.held().as_secs_f64(),
            notes: targets.notes(),
        })
    }
}

/// While it lives, nodes are looked at.
#[derive(Debug)]
pub struct Watching<'w>(&'w Watch);

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_all();
    }
}

impl Seen {
    fn take(&mut self, sample: Sample) {
        let (paused, stops) = self.baseline.unwrap_or((sample.paused_ns, sample.stops));
        // A node that was started again counts from zero.
        let (paused, stops) = if sample.paused_ns < paused { (0, 0) } else { (paused, stops) };
        self.baseline = Some((paused, stops));
        self.paused_ns = self.paused_ns.max(sample.paused_ns - paused);
        self.stops = self.stops.max(sample.stops.saturating_sub(stops));
        self.most_waiting = self.most_waiting.max(sample.waiting);
        self.latest = Some((Instant::now(), sample));
        self.away = None;
    }

    fn look(&self) -> Option<Look> {
        let (at, sample) = self.latest?;
        let counts = sample.is_member && sample.is_synced && at.elapsed() < LOOK_AGE_LIMIT;
        counts.then_some(Look { waiting: sample.waiting, limit: sample.limit })
    }

    /// Whether it has applied everything up to `last`. `moved` is what it had when it last moved, and when that was.
    fn has(&self, last: u64, start: Instant, moved: &mut (u64, Instant)) -> Has {
        let is_silent = self.away.is_some_and(|since| since.elapsed() >= SILENCE_LIMIT);
        if is_silent || (self.was_away && self.latest.is_none()) {
            return Has::Gone;
        }
        let Some((_, sample)) = self.latest.filter(|(at, _)| *at >= start) else { return Has::NotYet };
        if !sample.is_member {
            return Has::Gone;
        }
        if sample.last_committed >= last {
            return Has::Everything;
        }
        if sample.last_committed > moved.0 {
            *moved = (sample.last_committed, Instant::now());
        }
        if moved.1.elapsed() < STANDSTILL_LIMIT { Has::NotYet } else { Has::Gone }
    }
}

/// One look; connects where there is no connection.
fn look(looker: &mut Option<(Connection, String)>, targets: &Targets, index: usize) -> Result<Sample, Error> {
    let (connection, options) = match looker {
        Some(looker) => looker,
        None => {
            let mut connection = Connection::open(&targets.look_options(index))?;
            let options = Values::ask(&mut connection, LIMITS)?.text("wsrep_provider_options").to_owned();
            looker.insert((connection, options))
        }
    };
    let status = Values::ask(connection, LOOK)?;
    let size = usize::try_from(status.number("wsrep_cluster_size")).unwrap_or(1);
    Ok(Sample {
        waiting: status.number("wsrep_local_recv_queue"),
        limit: flow_control_limit(options, size),
        paused_ns: status.number("wsrep_flow_control_paused_ns"),
        stops: status.number("wsrep_flow_control_sent"),
        last_committed: status.number("wsrep_last_committed"),
        is_member: status.text("wsrep_cluster_status") == "Primary",
        is_synced: status.text("wsrep_local_state_comment") == "Synced",
    })
}

/// The place in the cluster's history that home has come to.
fn last_committed(targets: &Targets) -> Result<u64, Error> {
    let mut connection = targets.connect(&|| false)?.connection;
    Ok(Values::ask(&mut connection, b"SHOW GLOBAL STATUS LIKE 'wsrep_last_committed'")?.number("wsrep_last_committed"))
}

#[cfg(test)]
mod tests;
