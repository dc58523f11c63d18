//! The writer: the node that every connection of a load uses, and the failover to another node.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::catalog::TableName;
use hortator_mysql::{ConnectOptions, Connection, Error as ServerError};

use super::Error;
use super::node_info::{NodeInfo, NodeState, Values};
use super::nodes::{self, Node, Nodes, ProbeResult};
use crate::session::{lift_limits, make_long_lived};

/// How long the load tries to reconnect.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// How long the writer may be unreachable before another node replaces it: after a failover the load resumes from its
/// checkpoints.
const WRITER_TIMEOUT: Duration = Duration::from_secs(2);
/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(200);
/// How long each step of probing a node may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);
/// Notes that are kept.
const NOTES_KEPT: usize = 100;
/// Text of a transaction on a cluster, in bytes, unless said otherwise. Measured: write sets of 4 MiB cost the nodes a
/// seventh more work than those of 1 MiB, and smaller ones gain nothing.
const TRANSACTION_TEXT_BYTES: usize = 1 << 20;
/// What a row of little text takes in a write set, in bytes for one of text: its number, its key, its header.
const WRITE_SET_PER_TEXT: u64 = 32;

/// Stands before a statement whose rows are numbered, on a cluster that gives each node numbers of its own. The cluster
/// sets them again before every statement, so that a session's own setting would not last until the next.
const ONE_SERIES: &[u8] = b"SET STATEMENT auto_increment_increment = 1, auto_increment_offset = 1 FOR ";

/// The servers that a load can write to; one of them is the writer.
#[derive(Debug)]
pub struct Targets {
    nodes: Vec<Node>,
    /// The info of the first writer; `None` for a single server.
    info: Option<NodeInfo>,
    state: Mutex<State>,
    /// The connection over which the server was asked what it is: the first session of the load. `None` once that has
    /// begun, and for nodes of a cluster.
    first: Mutex<Option<Connection>>,
    /// A connection was waited for in vain: others are not waited for as long as none succeeds.
    is_unreachable: AtomicBool,
}

#[derive(Debug)]
struct State {
    writer: usize,
    /// How often the writer has changed.
    failover_epoch: u64,
    notes: Vec<String>,
}

/// A connection to the writer.
#[derive(Debug)]
pub struct WriterConnection {
    /// The connection.
    pub connection: Connection,
    /// For [`Targets::is_current`].
    pub failover_epoch: u64,
    /// Whether statements of a new session commit by themselves on this server; on this connection they do.
    pub autocommits: bool,
}

/// What a transaction may hold on these servers, beyond the load's own limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caps {
    /// Its text, in bytes, unless something else is asked for.
    pub usual_text_bytes: Option<usize>,
    /// Its text, in bytes, at most.
    pub text_bytes: Option<usize>,
    /// Its rows.
    pub rows: Option<u64>,
}

impl Targets {
    /// Finds out what the servers are: those named, or the one of `connect` and, if that is a node of a cluster, the
    /// nodes that it knows.
    ///
    /// # Errors
    /// When no server can be written to, or they do not belong together.
    pub fn open(connect: &ConnectOptions, names: &[String]) -> Result<Targets, Error> {
        let mut first = None;
        let found = match names.is_empty() {
            true => {
                let mut connection = Connection::open(connect)?;
                let found = nodes::known_to(connect, &mut connection)?;
                first = found.is_none().then_some(connection);
                found
            }
            false => Some(nodes::named(connect, names)?),
        };
        let Nodes { list, writer, notes } = found.unwrap_or_else(|| {
            let (label, options) = (connect.address.to_string(), connect.clone());
            Nodes { list: vec![Node { label, options, found: ProbeResult::NotANode }], writer: 0, notes: Vec::new() }
        });
        let info = list[writer].info().cloned();
        let state = Mutex::new(State { writer, failover_epoch: 0, notes });
        Ok(Targets { nodes: list, info, state, first: Mutex::new(first), is_unreachable: AtomicBool::new(false) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is a few assignments.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How to connect to the current writer.
    #[must_use]
    pub fn options(&self) -> &ConnectOptions {
        &self.nodes[self.writer().0].options
    }

    /// The number of nodes; 0 for a single server.
    #[must_use]
    pub fn size(&self) -> usize {
        if self.info().is_some() { self.nodes.len() } else { 0 }
    }

    /// The load's first session: over the connection by which the server was asked what it is, where that is one.
    ///
    /// # Errors
    /// As [`Targets::connect`].
    pub fn connect_first(&self) -> Result<WriterConnection, ServerError> {
        match self.take_first() {
            Some(connection) => self.prepare(connection, &self.nodes[0].options, 0),
            None => self.connect(&|| false),
        }
    }

    /// The connection by which a single server was asked what it is, once.
    pub fn take_first(&self) -> Option<Connection> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Connects to the writer; fails over if the writer stays unreachable.
    ///
    /// # Errors
    /// When no node is reachable for too long, or `is_over` returns true.
    pub fn connect(&self, is_over: &dyn Fn() -> bool) -> Result<WriterConnection, ServerError> {
        self.connect_with(ConnectOptions::clone, is_over)
    }

    /// The same without a default schema, and in UTF-8: for the load's own queries and checkpoints.
    ///
    /// # Errors
    /// As [`Targets::connect`].
    pub fn connect_internal(&self, is_over: &dyn Fn() -> bool) -> Result<WriterConnection, ServerError> {
        let internal = |options: &ConnectOptions| ConnectOptions {
            database: None,
            charset: "utf8mb4".to_owned(),
            ..options.clone()
        };
        let mut writer = self.connect_with(internal, is_over)?;
        lift_limits(&mut writer.connection)?;
        Ok(writer)
    }

    fn connect_with(
        &self,
        options: impl Fn(&ConnectOptions) -> ConnectOptions,
        is_over: &dyn Fn() -> bool,
    ) -> Result<WriterConnection, ServerError> {
        let start = Instant::now();
        loop {
            let (writer, failover_epoch) = self.writer();
            let error = match self.open_writer(&options(&self.nodes[writer].options), failover_epoch) {
                Ok(connection) => {
                    self.is_unreachable.store(false, Relaxed);
                    return Ok(connection);
                }
                Err(error) => error,
            };
            let may_pass = matches!(error, ServerError::Connect { .. } | ServerError::Lost { .. });
            if may_pass && start.elapsed() > RECONNECT_TIMEOUT {
                self.is_unreachable.store(true, Relaxed);
            }
            if !may_pass || self.is_unreachable.load(Relaxed) || is_over() {
                return Err(error);
            }
            if start.elapsed() >= WRITER_TIMEOUT && self.size() > 1 {
                self.fail_over(failover_epoch, &error.to_string());
            }
            thread::sleep(PAUSE);
        }
    }

    /// Whether a connection of [`Targets::connect`] still leads to the writer.
    #[must_use]
    pub fn is_current(&self, failover_epoch: u64) -> bool {
        self.lock().failover_epoch == failover_epoch
    }

    /// The error for a connection to a former writer, which may not have the rows that the new writer has.
    #[must_use]
    pub fn failed_over_error(&self) -> ServerError {
        ServerError::Lost {
            address: self.options().address.to_string(),
            doing: "loading".to_owned(),
            reason: self.notes().pop().unwrap_or_default(),
        }
    }

    fn writer(&self) -> (usize, u64) {
        let state = self.lock();
        (state.writer, state.failover_epoch)
    }

    fn open_writer(&self, options: &ConnectOptions, failover_epoch: u64) -> Result<WriterConnection, ServerError> {
        self.prepare(Connection::open(options)?, options, failover_epoch)
    }

    fn prepare(
        &self,
        mut connection: Connection,
        options: &ConnectOptions,
        failover_epoch: u64,
    ) -> Result<WriterConnection, ServerError> {
        let autocommits = make_long_lived(&mut connection)?;
        if self.info().is_some()
            && !Values::ask(&mut connection, b"SHOW GLOBAL STATUS LIKE 'wsrep_ready'")?.is_on("wsrep_ready")
        {
            // The node accepts connections, and then refuses every statement.
            let address = options.address.to_string();
            let reason = "the node does not accept statements: it is outside the primary component, or not ready yet";
            return Err(ServerError::Connect { address, reason: reason.to_owned() });
        }
        if failover_epoch > 0 {
            // Write sets of the former writer may still wait in the receive queue: each transaction waits until the node
            // has applied them.
            connection.execute(b"SET SESSION wsrep_sync_wait = 1")?;
        }
        Ok(WriterConnection { connection, failover_epoch, autocommits })
    }

    /// Makes another node the writer, if one accepts statements and no other thread has failed over meanwhile.
    fn fail_over(&self, failover_epoch: u64, why: &str) {
        let (writer, _) = self.writer();
        let others = (1..self.nodes.len()).map(|step| (writer + step) % self.nodes.len());
        let ready: Vec<(usize, NodeState)> = others.filter_map(|index| Some((index, self.state_of(index)?))).collect();
        let is_synced = |(_, state): &&(usize, NodeState)| *state == NodeState::Synced;
        let Some((next, _)) = ready.iter().find(is_synced).or(ready.first()) else { return };
        let mut state = self.lock();
        if state.failover_epoch == failover_epoch {
            state.writer = *next;
            state.failover_epoch += 1;
            let (from, to) = (&self.nodes[writer].label, &self.nodes[*next].label);
            state.notes.push(format!("failover from {from} to {to}: {why}"));
        }
    }

    /// The state of a node that belongs to the cluster and accepts statements; `None` for any other.
    fn state_of(&self, index: usize) -> Option<NodeState> {
        let mut connection = Connection::open(&self.probe_options(index)).ok()?;
        let info = NodeInfo::ask(&mut connection, 0).ok()??;
        let is_ours = self.info().is_some_and(|ours| ours.cluster == info.cluster);
        (is_ours && !matches!(info.state, NodeState::NotReady(_))).then_some(info.state)
    }

    /// How to connect to a node to probe it, with short timeouts.
    pub(super) fn probe_options(&self, index: usize) -> ConnectOptions {
        let options = &self.nodes[index].options;
        ConnectOptions {
            connect_timeout: options.connect_timeout.min(PROBE_TIMEOUT),
            read_timeout: Some(PROBE_TIMEOUT),
            database: None,
            ..options.clone()
        }
    }

    /// The info of the first writer; `None` for a single server.
    #[must_use]
    pub fn info(&self) -> Option<&NodeInfo> {
        self.info.as_ref()
    }

    /// The limits of a transaction on these servers.
    #[must_use]
    pub fn caps(&self) -> Caps {
        let Some(info) = self.info() else { return Caps::default() };
        let text_bytes = info.transaction_bytes / WRITE_SET_PER_TEXT;
        Caps {
            usual_text_bytes: Some(TRANSACTION_TEXT_BYTES),
            text_bytes: usize::try_from(text_bytes).ok().filter(|bytes| *bytes > 0),
            rows: Some(info.transaction_rows).filter(|rows| *rows > 0),
        }
    }

    /// The prefix for a statement that generates AUTO_INCREMENT values, so that they are those of a single server.
    #[must_use]
    pub fn auto_increment_prefix(&self) -> Option<&'static [u8]> {
        self.info().filter(|info| info.has_auto_increment_control).map(|_| ONE_SERIES)
    }

    /// The lines of `--plan` on the cluster.
    #[must_use]
    pub fn plan(&self) -> Vec<String> {
        let Some(info) = self.info() else { return Vec::new() };
        let view: Vec<&str> = self.nodes.iter().filter(|node| node.info().is_some()).map(|node| &*node.label).collect();
        let mut lines = vec![
            format!(
                "the load writes to {} and monitors the other nodes; if the writer fails, another node replaces it",
                self.writer_label()
            ),
            format!("the load monitors {} of {} nodes: {}", view.len(), info.size, view.join(", ")),
        ];
        if info.has_auto_increment_control {
            lines.push("AUTO_INCREMENT values are those of a single server, not of the node's own series".to_owned());
        }
        lines.extend(self.notes());
        lines
    }

    /// All nodes by name; none when the server is no node.
    pub(crate) fn nodes(&self) -> Vec<(String, ConnectOptions)> {
        let known = self.nodes.iter().take(self.size());
        known.map(|node| (node.label.clone(), node.options.clone())).collect()
    }

    /// The name of a node in messages.
    pub(super) fn label(&self, index: usize) -> &str {
        &self.nodes[index].label
    }

    /// The name of the writer in messages.
    #[must_use]
    pub fn writer_label(&self) -> &str {
        self.label(self.writer().0)
    }

    /// Whether a node was reachable when the load started.
    pub(super) fn was_reachable(&self, index: usize) -> bool {
        self.nodes[index].info().is_some()
    }

    /// Notes for the user.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.lock().notes.clone()
    }

    /// A table that is not transactional received rows: Galera does not replicate them.
    pub(crate) fn local_rows(&self, table: &TableName) {
        if let Some(info) = self.info().filter(|info| !info.replicates_beyond_innodb()) {
            self.note(format!(
                "only {} has the rows of {table}: the table is not transactional, and Galera replicates InnoDB only",
                info.name,
            ));
        }
    }

    /// Adds a note, once.
    pub(crate) fn note(&self, note: String) {
        let mut state = self.lock();
        if state.notes.len() < NOTES_KEPT && !state.notes.contains(&note) {
            state.notes.push(note);
        }
    }
}
