//! The state of each server, every second: one thread and one connection for each of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hortator_mysql::Connection;

use crate::Error;
use crate::nodes::Nodes;

const INTERVAL: Duration = Duration::from_secs(1);
/// The interval for looking whether the cell has ended.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(50);
const STATUS: &str = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_buffer_pool_pages_dirty', 'Innodb_checkpoint_age', \
                      'Innodb_checkpoint_max_age', 'Innodb_pages_read', 'Innodb_data_reads', 'Innodb_data_writes', \
                      'wsrep_flow_control_paused_ns', 'wsrep_local_recv_queue')";
/// Appliers and the server's own threads are of no user's.
const STATES: &str = "SELECT IF(COMMAND = 'Sleep', 'waiting for sysbench', IF(STATE = '', COMMAND, STATE)), COUNT(*) FROM \
                      information_schema.PROCESSLIST WHERE USER = 'root' AND ID <> CONNECTION_ID() GROUP BY 1";

/// One look at a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sample {
    /// Since the restart.
    pub(super) at_s: f64,
    /// From 0.
    pub(super) node: usize,
    pub(super) dirty_pages: u64,
    /// Bytes of redo log since the last checkpoint.
    pub(super) checkpoint_age: u64,
    /// From this age on, writers wait for pages to be flushed.
    pub(super) checkpoint_age_limit: u64,
    /// Since the restart, as the next three.
    pub(super) pages_read: u64,
    pub(super) disk_reads: u64,
    pub(super) disk_writes: u64,
    pub(super) paused_ns: u64,
    /// Write sets that wait for an applier.
    pub(super) receive_queue: u64,
    /// Client connections by state.
    pub(super) states: BTreeMap<String, u64>,
}

impl Sample {
    /// The part of the redo log that is in use.
    pub(super) fn checkpoint_share(&self) -> f64 {
        match self.checkpoint_age_limit {
            0 => 0.0,
            limit => self.checkpoint_age as f64 / limit as f64,
        }
    }
}

/// Looks at all servers until [`Sampler::finish`].
#[derive(Debug)]
pub(super) struct Sampler {
    end: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Result<Vec<Sample>, Error>>>,
}

impl Sampler {
    /// Begins; `restarted` is the zero of the samples' time.
    pub(super) fn start(nodes: &Nodes, restarted: Instant) -> Result<Self, Error> {
        let end = Arc::new(AtomicBool::new(false));
        let mut sampler = Self { end: Arc::clone(&end), threads: Vec::new() };
        for (node, mut connection) in nodes.connect_all()?.into_iter().enumerate() {
            let end = Arc::clone(&end);
            sampler.threads.push(thread::spawn(move || {
                let mut samples = Vec::new();
                while !end.load(Ordering::Relaxed) {
                    let next = Instant::now() + INTERVAL;
                    samples.push(look(&mut connection, node, restarted)?);
                    while Instant::now() < next && !end.load(Ordering::Relaxed) {
                        thread::sleep(STOP_CHECK_INTERVAL);
                    }
                }
                Ok(samples)
            }));
        }
        Ok(sampler)
    }

    /// All samples, in the order of their time.
    pub(super) fn finish(mut self) -> Result<Vec<Sample>, Error> {
        self.end.store(true, Ordering::Relaxed);
        let mut samples = Vec::new();
        for thread in self.threads.drain(..) {
            let of_node =
                thread.join().map_err(|_| Error::Answer("a thread that looks at a server failed".to_owned()))?;
            samples.extend(of_node?);
        }
        samples.sort_by(|one, other| one.at_s.total_cmp(&other.at_s));
        Ok(samples)
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // The cell has failed for another reason.
            let _ = thread.join();
        }
    }
}

fn look(connection: &mut Connection, node: usize, restarted: Instant) -> Result<Sample, Error> {
    let at_s = restarted.elapsed().as_secs_f64();
    let mut fetch = |query: &str| {
        let rows = connection.fetch(query.as_bytes());
        let rows = rows.map_err(Error::server(format!("looking at the state of node {}", node + 1)))?;
        let pairs = rows.into_iter().map(|row| {
            let mut columns = row.into_iter().map(Option::unwrap_or_default);
            let mut text = || String::from_utf8_lossy(&columns.next().unwrap_or_default()).into_owned();
            (text(), text())
        });
        Ok::<Vec<(String, String)>, Error>(pairs.collect())
    };
    Ok(sample(at_s, node, &fetch(STATUS)?, &fetch(STATES)?))
}

fn sample(at_s: f64, node: usize, status: &[(String, String)], states: &[(String, String)]) -> Sample {
    let status: HashMap<String, u64> =
        status.iter().filter_map(|(name, value)| Some((name.to_ascii_lowercase(), value.parse().ok()?))).collect();
    let number = |name: &str| status.get(name).copied().unwrap_or(0);
    let mut by_state = BTreeMap::new();
    for (state, count) in states {
        *by_state.entry(general_state(state)).or_default() += count.parse().unwrap_or(0);
    }
    Sample {
        at_s,
        node,
        dirty_pages: number("innodb_buffer_pool_pages_dirty"),
        checkpoint_age: number("innodb_checkpoint_age"),
        checkpoint_age_limit: number("innodb_checkpoint_max_age"),
        pages_read: number("innodb_pages_read"),
        disk_reads: number("innodb_data_reads"),
        disk_writes: number("innodb_data_writes"),
        paused_ns: number("wsrep_flow_control_paused_ns"),
        receive_queue: number("wsrep_local_recv_queue"),
        states: by_state,
    }
}

/// A state without the transaction's number, which some states of wsrep have.
fn general_state(state: &str) -> String {
    let end = state.find(|c: char| c.is_ascii_digit()).unwrap_or(state.len());
    state[..end].trim_end_matches([' ', '(', ':', ',']).to_owned()
}

/// A figure of a node at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NodeValue {
    /// Since the restart.
    pub(super) at_s: f64,
    /// From 0.
    pub(super) node: usize,
    pub(super) value: f64,
}

/// How much a counter grows in a second, of each node, at the time of the later sample.
pub(super) fn rates(samples: &[Sample], counter: fn(&Sample) -> u64) -> Vec<NodeValue> {
    let mut before: HashMap<usize, &Sample> = HashMap::new();
    let mut rates = Vec::new();
    for sample in samples {
        if let Some(before) = before.insert(sample.node, sample) {
            let seconds = sample.at_s - before.at_s;
            let grown = counter(sample).saturating_sub(counter(before)) as f64;
            if seconds > 0.0 {
                rates.push(NodeValue { at_s: sample.at_s, node: sample.node, value: grown / seconds });
            }
        }
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_sample_has_what_the_server_says() {
        let status = pairs(&[("Innodb_checkpoint_age", "300"), ("Innodb_checkpoint_max_age", "400"), ("Other", "x")]);
        let states = pairs(&[
            ("wsrep: committing write set (12)", "2"),
            ("wsrep: committing write set (13)", "1"),
            ("Init", "4"),
        ]);
        let sample = sample(2.0, 1, &status, &states);
        assert_eq!((sample.checkpoint_share(), sample.dirty_pages), (0.75, 0));
        let states: Vec<_> = sample.states.iter().map(|(state, count)| format!("{state} {count}")).collect();
        assert_eq!(states, ["Init 4", "wsrep: committing write set 3"]);
        assert_eq!(Sample::default().checkpoint_share(), 0.0);
    }

    #[test]
    fn rates_are_of_each_node() {
        let at = |at_s, node, disk_reads| Sample { at_s, node, disk_reads, ..Sample::default() };
        let samples = [at(1.0, 0, 100), at(1.0, 1, 7), at(2.0, 0, 500), at(3.0, 1, 7), at(4.0, 0, 500)];
        let rates = rates(&samples, |sample| sample.disk_reads);
        let rates: Vec<_> = rates.iter().map(|rate| (rate.at_s, rate.node, rate.value)).collect();
        assert_eq!(rates, [(2.0, 0, 400.0), (3.0, 1, 0.0), (4.0, 0, 0.0)]);
    }
}
