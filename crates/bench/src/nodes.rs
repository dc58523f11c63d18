//! The private nodes of an experiment, one or a cluster: settings, CPU time, quiescing, and waiting until all nodes
//! have applied everything.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_check::state::{self, State};
use hortator_mysql::Connection;
use hortator_sandbox::{Builder, Temporary, Topology};

use crate::server::{set_up, status_number};
use crate::{Error, measure, quiesce, server};

/// The settings of cluster nodes beyond [`server::SETTINGS`]: with the default of one applier thread, that thread would
/// limit all contenders alike.
pub(crate) const CLUSTER_SETTINGS: [(&str, &str); 1] = [("wsrep_slave_threads", "4")];

/// The limit for a statement's answer: a node that takes longer has hung, which is an error.
const READ_TIMEOUT: Duration = Duration::from_secs(120);
/// The interval for checking whether all nodes have applied everything.
const APPLIED_INTERVAL: Duration = Duration::from_millis(10);
/// The limit for a node to apply everything.
const APPLIED_TIMEOUT: Duration = Duration::from_secs(600);

/// The nodes end when this value is dropped, and when this process ends for any reason.
#[derive(Debug)]
pub(crate) struct Nodes {
    sandbox: Temporary,
    stop: Arc<AtomicBool>,
}

impl Nodes {
    /// Starts the nodes on empty data. The further settings override [`server::SETTINGS`].
    pub(crate) fn start(
        topology: Topology,
        further: &[(&'static str, &'static str)],
        stop: &Arc<AtomicBool>,
    ) -> Result<Self, Error> {
        let builder = set_up(Builder::new(topology), further, stop);
        Ok(Self { sandbox: builder.start_temporary()?, stop: Arc::clone(stop) })
    }

    /// A connection to a node, counted from 0.
    pub(crate) fn connect(&self, node: usize) -> Result<Connection, Error> {
        self.open(node).map_err(Error::server("connecting"))
    }

    /// The same with the connection's own error.
    pub(crate) fn open(&self, node: usize) -> Result<Connection, hortator_mysql::Error> {
        let mut options = self.sandbox.node(node).connect_options();
        options.read_timeout = Some(READ_TIMEOUT);
        Connection::open(&options)
    }

    /// A connection to each node.
    pub(crate) fn connect_all(&self) -> Result<Vec<Connection>, Error> {
        (0..self.count()).map(|node| self.connect(node)).collect()
    }

    pub(crate) fn count(&self) -> usize {
        self.sandbox.topology().nodes()
    }

    /// Name and version of the provider.
    pub(crate) fn provider(&self) -> Result<String, Error> {
        server::provider(&mut self.connect(0)?)
    }

    /// The server's own client, on the first node.
    pub(crate) fn client(&self) -> Command {
        self.program("mariadb")
    }

    /// A program of the server's own, on the first node.
    pub(crate) fn program(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        command.args(["--no-defaults", "--default-character-set=utf8mb4", "-u", "root", "-S"]);
        command.arg(self.sandbox.node(0).socket());
        command
    }

    /// `hortator load` with the server, or all nodes of the cluster, as arguments.
    pub(crate) fn hortator(&self, program: &Path) -> Command {
        let sockets: Vec<String> =
            self.sandbox.nodes().map(|node| node.socket().to_string_lossy().into_owned()).collect();
        let mut command = Command::new(program);
        command.args(["load", "--no-defaults", "--default-character-set=utf8mb4", "-u", "root"]);
        command.arg(if self.sandbox.topology() == Topology::Standalone { "-S" } else { "--nodes" });
        command.arg(sockets.join(","));
        command
    }

    /// CPU time that all nodes together have used since their start.
    pub(crate) fn cpu_time(&self) -> Result<Duration, Error> {
        let mut sum = Duration::ZERO;
        for node in self.sandbox.nodes() {
            let process = node.pid().ok_or_else(|| Error::Ended { node: node.number() })?;
            sum += measure::cpu_time(process).map_err(Error::io("reading the servers' CPU time"))?;
        }
        Ok(sum)
    }

    /// Copies each node's error log to `folder`.
    pub(crate) fn copy_error_logs(&self, folder: &Path) -> Result<(), Error> {
        for node in self.sandbox.nodes() {
            let copy = folder.join(format!("{}-error.log", node.name()));
            fs::copy(node.error_log(), &copy).map_err(Error::io(format!("writing {}", copy.display())))?;
        }
        Ok(())
    }

    /// The time for which flow control has stopped the cluster since its start: with Galera every node counts it, with
    /// Hortator's provider the leader does.
    pub(crate) fn paused(&self) -> Result<Duration, Error> {
        let mut connections = self.connect_all()?;
        let paused = connections.iter_mut().map(|node| status_number(node, "wsrep_flow_control_paused_ns"));
        let most_ns = paused.collect::<Result<Vec<_>, _>>()?.into_iter().max().unwrap_or(0);
        Ok(Duration::from_nanos(most_ns))
    }

    /// Waits until every node has applied everything that any node has committed so far. A server without a provider
    /// returns at once.
    pub(crate) fn wait_until_applied(&self) -> Result<(), Error> {
        let mut connections = self.connect_all()?;
        let mut last = 0;
        for connection in &mut connections {
            last = last.max(status_number(connection, "wsrep_last_committed")?);
        }
        let deadline = Instant::now() + APPLIED_TIMEOUT;
        for (connection, node) in connections.iter_mut().zip(1..) {
            loop {
                let applied = status_number(connection, "wsrep_last_committed")?;
                if applied >= last {
                    break;
                }
                if self.stop.load(Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
                if Instant::now() > deadline {
                    let limit_s = APPLIED_TIMEOUT.as_secs();
                    return Err(Error::Behind { node, applied, committed: last, limit_s });
                }
                thread::sleep(APPLIED_INTERVAL);
            }
        }
        Ok(())
    }

    /// Checks that all nodes have the same definitions and rows in a schema; the expected ones, if there are any.
    pub(crate) fn check_same_state(&self, schema: &str, expected: Option<&State>) -> Result<(), Error> {
        let mut first = None;
        for (connection, node) in self.connect_all()?.iter_mut().zip(1..) {
            let state = state::describe(connection, schema).map_err(Error::server("reading the state"))?;
            let expected = expected.unwrap_or_else(|| first.get_or_insert_with(|| state.clone()));
            if let Some(difference) = expected.differences(&state).first() {
                return Err(Error::Answer(format!("node {node} has another state: {difference}")));
            }
        }
        Ok(())
    }

    /// Drops a schema and waits until all nodes are idle.
    pub(crate) fn quiesce_without(&self, schema: &str) -> Result<(), Error> {
        let mut connections = self.connect_all()?;
        let drop_schema = format!("DROP DATABASE IF EXISTS `{schema}`");
        connections[0].execute(drop_schema.as_bytes()).map_err(Error::server("quiescing the nodes"))?;
        self.wait_until_applied()?;
        quiesce::wait(&mut connections, || self.cpu_time(), &self.stop)
    }
}
