//! The private nodes of an experiment, one or a cluster: settings, CPU time, quiescing, and waiting until all nodes
//! have applied everything.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_check::state::{self, State};
use hortator_mysql::Connection;
use hortator_sandbox::{Builder, Sandbox, Temporary, Topology};

use crate::quiesce::AtRest;
use crate::server::{set_up, status_number};
use crate::{Error, measure, options, quiesce, server};

/// The settings of cluster nodes beyond [`server::SETTINGS`]: with the default of one applier thread, that thread would
/// limit all contenders alike.
pub(crate) const CLUSTER_SETTINGS: [(&str, &str); 1] = [("wsrep_slave_threads", "4")];

/// The limit for a statement's answer: a node that takes longer has hung, which is an error.
pub(crate) const READ_TIMEOUT: Duration = Duration::from_secs(120);
/// The interval for checking whether all nodes have applied everything.
const APPLIED_INTERVAL: Duration = Duration::from_millis(10);
/// The limit for a node to apply everything.
pub(crate) const APPLIED_TIMEOUT: Duration = Duration::from_secs(600);

/// Servers that hold only the experiment's schemas.
#[derive(Debug)]
pub(crate) struct Nodes {
    lifetime: Lifetime,
    stop: Arc<AtomicBool>,
}

#[derive(Debug)]
enum Lifetime {
    /// Until this value is dropped, or this process ends for any reason.
    Experiment(Temporary),
    /// Until `hortator sandbox down NAME`.
    Kept(Sandbox),
}

impl Nodes {
    /// Starts the nodes on empty data. The further settings override [`server::SETTINGS`].
    pub(crate) fn start(
        topology: Topology,
        further: &[(&'static str, &'static str)],
        stop: &Arc<AtomicBool>,
    ) -> Result<Self, Error> {
        Self::create(set_up(options::builder(topology), further, stop), stop)
    }

    /// The same with all settings and the folder of the builder.
    pub(crate) fn create(builder: Builder, stop: &Arc<AtomicBool>) -> Result<Self, Error> {
        Ok(Self { lifetime: Lifetime::Experiment(builder.start_temporary()?), stop: Arc::clone(stop) })
    }

    /// Shuts all servers down; their data stay.
    pub(crate) fn shut_down(&self) -> Result<(), Error> {
        Ok(self.sandbox().stop()?)
    }

    /// Starts the servers that were shut down.
    pub(crate) fn restart(&self) -> Result<(), Error> {
        Ok(self.sandbox().start()?)
    }

    /// The socket of each server.
    pub(crate) fn sockets(&self) -> Vec<PathBuf> {
        self.sandbox().nodes().map(hortator_sandbox::Node::socket).collect()
    }

    /// Starts one server on empty data.
    pub(crate) fn alone(stop: &Arc<AtomicBool>) -> Result<Self, Error> {
        Self::start(Topology::Standalone, &[], stop)
    }

    /// Starts one server on empty data, and keeps it as the sandbox of this name.
    pub(crate) fn kept(name: &str, stop: &Arc<AtomicBool>) -> Result<Self, Error> {
        let builder = set_up(options::builder(Topology::Standalone), &[], stop);
        Ok(Self { lifetime: Lifetime::Kept(builder.create(name)?), stop: Arc::clone(stop) })
    }

    fn sandbox(&self) -> &Sandbox {
        match &self.lifetime {
            Lifetime::Experiment(sandbox) => sandbox,
            Lifetime::Kept(sandbox) => sandbox,
        }
    }

    /// Starts the nodes of a sandbox that is described in full.
    pub(crate) fn start_as(builder: Builder, stop: &Arc<AtomicBool>) -> Result<Self, Error> {
        let builder = builder.interrupt_flag(Arc::clone(stop));
        Ok(Self { lifetime: Lifetime::Experiment(builder.start_temporary()?), stop: Arc::clone(stop) })
    }

    /// Kills the server of a node, counted from 0, as a crash does.
    pub(crate) fn kill(&self, node: usize) -> Result<(), Error> {
        Ok(self.sandbox().node(node).kill()?)
    }

    /// A connection to a node, counted from 0.
    pub(crate) fn connect(&self, node: usize) -> Result<Connection, Error> {
        self.open(node).map_err(Error::server("connecting"))
    }

    /// The same with the connection's own error.
    pub(crate) fn open(&self, node: usize) -> Result<Connection, hortator_mysql::Error> {
        let mut options = self.sandbox().node(node).connect_options();
        options.read_timeout = Some(READ_TIMEOUT);
        Connection::open(&options)
    }

    /// A connection to each node.
    pub(crate) fn connect_all(&self) -> Result<Vec<Connection>, Error> {
        (0..self.count()).map(|node| self.connect(node)).collect()
    }

    pub(crate) fn count(&self) -> usize {
        self.sandbox().topology().nodes()
    }

    /// Name and version of the provider.
    pub(crate) fn provider(&self) -> Result<String, Error> {
        server::provider(&mut self.connect(0)?)
    }

    /// Whether the servers have a wsrep provider.
    pub(crate) fn has_provider(&self) -> bool {
        matches!(self.sandbox().topology(), Topology::Galera(_) | Topology::Cluster(_))
    }

    /// The versions of server and provider.
    pub(crate) fn versions(&self) -> Result<Vec<String>, Error> {
        let server = format!("server {}", self.connect(0)?.version().text);
        let provider = if self.has_provider() { Some(self.provider()?) } else { None };
        Ok([Some(server), provider].into_iter().flatten().collect())
    }

    /// The server's own client, on the first node.
    pub(crate) fn client(&self) -> Command {
        let mut client = self.program("mariadb");
        if options::is_mysql() {
            // MySQL's client reads SOURCE in a script only with this option, which its older versions do not have.
            client.arg("--loose-commands");
        }
        client
    }

    /// A program of the server's own, on the first node.
    pub(crate) fn program(&self, name: &str) -> Command {
        self.client_program(options::own_program(name), &[])
    }

    /// A program with the arguments to connect to the first node: no option file, the socket, the user; and the character
    /// set, which the client would otherwise take from the locale and store in views.
    pub(crate) fn client_program(&self, program: impl AsRef<Path>, before: &[&str]) -> Command {
        let mut command = Command::new(program.as_ref());
        command.args(before).args(["--no-defaults", "--default-character-set=utf8mb4"]);
        command.arg("-S").arg(self.socket()).args(["-u", "root"]);
        command
    }

    /// The socket of the first node.
    pub(crate) fn socket(&self) -> PathBuf {
        self.sandbox().node(0).socket()
    }

    /// The processes of the servers.
    pub(crate) fn processes(&self) -> Result<Vec<u32>, Error> {
        let process = |node: hortator_sandbox::Node<'_>| node.pid().ok_or_else(|| Error::Ended { node: node.number() });
        self.sandbox().nodes().map(process).collect()
    }

    /// `hortator load` with the server, or all nodes of the cluster, as arguments.
    pub(crate) fn hortator(&self, program: &Path) -> Command {
        let sockets: Vec<String> =
            self.sandbox().nodes().map(|node| node.socket().to_string_lossy().into_owned()).collect();
        let mut command = Command::new(program);
        command.args(["load", "--no-defaults", "--default-character-set=utf8mb4", "-u", "root"]);
        command.stdin(Stdio::null());
        command.arg(if self.has_provider() { "--nodes" } else { "-S" });
        command.arg(sockets.join(","));
        command
    }

    /// CPU time that all nodes together have used since their start.
    pub(crate) fn cpu_time(&self) -> Result<Duration, Error> {
        let of = |process| measure::cpu_time(process).map_err(Error::io("reading the servers' CPU time"));
        self.processes()?.into_iter().map(of).sum()
    }

    /// The most memory that all nodes together have used since their start.
    pub(crate) fn peak_memory_bytes(&self) -> u64 {
        self.sandbox().nodes().filter_map(|node| measure::peak_memory_bytes(node.pid()?)).sum()
    }

    /// Whether the server of a node, counted from 0, has ended.
    pub(crate) fn has_ended(&self, node: usize) -> bool {
        self.sandbox().node(node).pid().is_none()
    }

    /// Copies each node's error log to `folder`.
    pub(crate) fn copy_error_logs(&self, folder: &Path) -> Result<(), Error> {
        for node in self.sandbox().nodes() {
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
        self.wait_until_applied_by(&(0..self.count()).collect::<Vec<_>>(), APPLIED_TIMEOUT)
    }

    /// The same for these nodes, counted from 0, and another limit than the usual one.
    pub(crate) fn wait_until_applied_by(&self, nodes: &[usize], limit: Duration) -> Result<(), Error> {
        let mut connections = nodes.iter().map(|node| self.connect(*node)).collect::<Result<Vec<_>, _>>()?;
        let mut last = 0;
        for connection in &mut connections {
            last = last.max(status_number(connection, "wsrep_last_committed")?);
        }
        let deadline = Instant::now() + limit;
        for (connection, node) in connections.iter_mut().zip(nodes.iter().map(|node| node + 1)) {
            loop {
                let applied = status_number(connection, "wsrep_last_committed")?;
                if applied >= last {
                    break;
                }
                if self.stop.load(Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
                if Instant::now() > deadline {
                    let limit_s = limit.as_secs();
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
    pub(crate) fn quiesce_without(&self, schema: &str) -> Result<AtRest, Error> {
        let mut connections = self.connect_all()?;
        let drop_schema = format!("DROP DATABASE IF EXISTS `{schema}`");
        connections[0].execute(drop_schema.as_bytes()).map_err(Error::server("quiescing the nodes"))?;
        self.wait_until_applied()?;
        quiesce::wait(&mut connections, || self.cpu_time(), &self.stop)
    }

    /// Waits until all nodes are idle.
    pub(crate) fn quiesce(&self) -> Result<AtRest, Error> {
        self.wait_until_applied()?;
        quiesce::wait(&mut self.connect_all()?, || self.cpu_time(), &self.stop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node whose applier waits has not caught up, though it has a quorum and answers.
    #[test]
    fn a_cluster_that_does_not_catch_up_is_an_error_that_names_the_node() {
        let stop = Arc::new(AtomicBool::new(false));
        let nodes = Nodes::start(Topology::Galera(2), &[], &stop).unwrap();
        let mut held = nodes.connect(1).unwrap();
        // It does not ask the other node to wait for it.
        held.execute(b"SET GLOBAL wsrep_desync = 1").unwrap();
        held.execute(b"FLUSH TABLES WITH READ LOCK").unwrap();
        nodes.connect(0).unwrap().execute(b"CREATE DATABASE behind").unwrap();
        let waited = nodes.wait_until_applied_by(&(0..nodes.count()).collect::<Vec<_>>(), Duration::from_millis(300));
        let message = waited.unwrap_err().to_string();
        assert!(message.starts_with("node 2 has applied seqno "), "{message}");
        held.execute(b"UNLOCK TABLES").unwrap();
        nodes.wait_until_applied().unwrap();
    }
}
