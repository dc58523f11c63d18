//! The private nodes of an experiment, one or a cluster: their settings, their CPU, coming to rest, and when all have
//! everything.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::Connection;
use hortator_sandbox::{Builder, Temporary, Topology};

use crate::server::{number, set_up};
use crate::{Error, measure, rest, server};

/// What the nodes of a cluster are started with beyond [`server::SETTINGS`]: with its default of one, the thread that applies
/// what others have committed would be the limit of all alike.
pub(crate) const CLUSTER_SETTINGS: [(&str, &str); 1] = [("wsrep_slave_threads", "4")];

/// A node that leaves a statement without an answer for so long has stopped for good: that is told, not waited for.
const ANSWER_LIMIT: Duration = Duration::from_secs(120);
/// How often it is looked at whether all nodes have everything.
const APPLIED_INTERVAL: Duration = Duration::from_millis(10);
/// A node that has not applied everything by then never will.
const APPLIED_LIMIT: Duration = Duration::from_secs(600);

/// They end with this value, and with this process however that ends.
#[derive(Debug)]
pub(crate) struct Nodes {
    sandbox: Temporary,
    stop: Arc<AtomicBool>,
}

impl Nodes {
    /// Starts them on empty data. The further settings override [`server::SETTINGS`].
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
        let mut options = self.sandbox.node(node).connect_options();
        options.read_timeout = Some(ANSWER_LIMIT);
        Connection::open(&options).map_err(Error::server("connecting"))
    }

    /// A connection to each of them.
    pub(crate) fn connect_all(&self) -> Result<Vec<Connection>, Error> {
        (0..self.count()).map(|node| self.connect(node)).collect()
    }

    fn count(&self) -> usize {
        self.sandbox.topology().nodes()
    }

    /// Name and version of what replicates.
    pub(crate) fn provider(&self) -> Result<String, Error> {
        server::provider(&mut self.connect(0)?)
    }

    /// The server's own client, on the first node.
    pub(crate) fn client(&self) -> Command {
        let mut command = Command::new("mariadb");
        command.args(["--no-defaults", "--default-character-set=utf8mb4", "-u", "root", "-S"]);
        command.arg(self.sandbox.node(0).socket());
        command
    }

    /// `hortator load`, told of all of them.
    pub(crate) fn hortator(&self, program: &Path) -> Command {
        let sockets: Vec<String> =
            self.sandbox.nodes().map(|node| node.socket().to_string_lossy().into_owned()).collect();
        let mut command = Command::new(program);
        command.args(["load", "--no-defaults", "--default-character-set=utf8mb4", "-u", "root", "--nodes"]);
        command.arg(sockets.join(","));
        command
    }

    /// CPU time that all nodes together have used since they were started.
    pub(crate) fn cpu_time(&self) -> Result<Duration, Error> {
        let mut sum = Duration::ZERO;
        for node in self.sandbox.nodes() {
            let process = node.pid().ok_or_else(|| Error::Ended { node: node.number() })?;
            sum += measure::cpu_time(process).map_err(Error::io("reading the servers' CPU time"))?;
        }
        Ok(sum)
    }

    /// Puts a copy of each node's error log there.
    pub(crate) fn copy_error_logs(&self, folder: &Path) -> Result<(), Error> {
        for node in self.sandbox.nodes() {
            let copy = folder.join(format!("{}-error.log", node.name()));
            fs::copy(node.error_log(), &copy).map_err(Error::io(format!("writing {}", copy.display())))?;
        }
        Ok(())
    }

    /// For how long flow control has stopped the cluster since it was started.
    pub(crate) fn paused(&self) -> Result<Duration, Error> {
        Ok(Duration::from_nanos(number(&mut self.connect(0)?, "wsrep_flow_control_paused_ns")?))
    }

    /// Waits until every node has applied what any of them has committed by now. A server without a provider has.
    pub(crate) fn wait_everywhere(&self) -> Result<(), Error> {
        let mut connections = self.connect_all()?;
        let mut last = 0;
        for connection in &mut connections {
            last = last.max(number(connection, "wsrep_last_committed")?);
        }
        let deadline = Instant::now() + APPLIED_LIMIT;
        for (connection, node) in connections.iter_mut().zip(1..) {
            loop {
                let applied = number(connection, "wsrep_last_committed")?;
                if applied >= last {
                    break;
                }
                if self.stop.load(Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
                if Instant::now() > deadline {
                    let limit_s = APPLIED_LIMIT.as_secs();
                    return Err(Error::Behind { node, applied, committed: last, limit_s });
                }
                thread::sleep(APPLIED_INTERVAL);
            }
        }
        Ok(())
    }

    /// Drops a schema and waits until no node has anything left to do.
    pub(crate) fn rest_without(&self, schema: &str) -> Result<(), Error> {
        let mut connections = self.connect_all()?;
        let drop_schema = format!("DROP DATABASE IF EXISTS `{schema}`");
        connections[0].execute(drop_schema.as_bytes()).map_err(Error::server("bringing the nodes to rest"))?;
        self.wait_everywhere()?;
        rest::wait(&mut connections, || self.cpu_time(), &self.stop)
    }
}
