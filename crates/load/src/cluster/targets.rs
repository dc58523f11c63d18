//! Which node is home: where every connection of a load goes, and where it goes when that node is lost.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::catalog::TableName;
use hortator_mysql::{ConnectOptions, Connection, Error as ServerError};

use super::Error;
use super::facts::{Facts, NodeState, Values};
use super::nodes::{self, Found, Node, Nodes};
use crate::session::open_for_long_telling;

/// How long lost servers are tried for.
const RECONNECT_LIMIT: Duration = Duration::from_secs(20);
/// How long home may be away before another node takes its place: a load that moves has to find its place again.
const HOME_PATIENCE: Duration = Duration::from_secs(2);
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(200);
/// How long each step of looking at a node may take.
const LOOK_LIMIT: Duration = Duration::from_secs(3);
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

/// The servers that a load can write to, of which one is home.
#[derive(Debug)]
pub struct Targets {
    nodes: Vec<Node>,
    /// What home said at the beginning; none when it is no node.
    facts: Option<Facts>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    home: usize,
    /// How often home has changed.
    moves: u64,
    notes: Vec<String>,
}

/// A connection to home.
#[derive(Debug)]
pub struct Visit {
    /// The connection.
    pub connection: Connection,
    /// What [`Targets::is_current`] takes.
    pub moves: u64,
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
        let found = if names.is_empty() { nodes::known_to(connect)? } else { Some(nodes::named(connect, names)?) };
        let Nodes { list, home, notes } = found.unwrap_or_else(|| {
            let (label, options) = (connect.address.to_string(), connect.clone());
            Nodes { list: vec![Node { label, options, found: Found::NoNode }], home: 0, notes: Vec::new() }
        });
        let facts = list[home].facts().cloned();
        Ok(Targets { nodes: list, facts, state: Mutex::new(State { home, moves: 0, notes }) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is a few assignments.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How to connect to home, as of now.
    #[must_use]
    pub fn options(&self) -> &ConnectOptions {
        &self.nodes[self.home().0].options
    }

    /// How many nodes there are; 0 when the server is none.
    #[must_use]
    pub fn size(&self) -> usize {
        if self.facts().is_some() { self.nodes.len() } else { 0 }
    }

    /// Connects to home; where it stays away, to the node that takes its place.
    ///
    /// # Errors
    /// When nobody is there for too long, or `is_over` says that nobody waits any more.
    pub fn connect(&self, is_over: &dyn Fn() -> bool) -> Result<Visit, ServerError> {
        self.connect_with(ConnectOptions::clone, is_over)
    }

    /// The same without a default schema, and in UTF-8: for questions and records of the load's own.
    ///
    /// # Errors
    /// As [`Targets::connect`].
    pub fn connect_apart(&self, is_over: &dyn Fn() -> bool) -> Result<Visit, ServerError> {
        let apart = |options: &ConnectOptions| ConnectOptions {
            database: None,
            charset: "utf8mb4".to_owned(),
            ..options.clone()
        };
        self.connect_with(apart, is_over)
    }

    fn connect_with(
        &self,
        options: impl Fn(&ConnectOptions) -> ConnectOptions,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Visit, ServerError> {
        let start = Instant::now();
        loop {
            let (home, moves) = self.home();
            let error = match self.visit(&options(&self.nodes[home].options), moves) {
                Ok(visit) => return Ok(visit),
                Err(error) => error,
            };
            let may_pass = matches!(error, ServerError::Connect { .. } | ServerError::Lost { .. });
            if !may_pass || start.elapsed() > RECONNECT_LIMIT || is_over() {
                return Err(error);
            }
            if start.elapsed() >= HOME_PATIENCE && self.size() > 1 {
                self.leave(moves, &error.to_string());
            }
            thread::sleep(PAUSE);
        }
    }

    /// Whether a connection of [`Targets::connect`] is still to home.
    #[must_use]
    pub fn is_current(&self, moves: u64) -> bool {
        self.lock().moves == moves
    }

    /// What is to be said of a connection to a node that is not home any more: what others write elsewhere may not be
    /// there yet.
    #[must_use]
    pub fn left_behind(&self) -> ServerError {
        ServerError::Lost {
            address: self.options().address.to_string(),
            action: "loading".to_owned(),
            reason: self.notes().pop().unwrap_or_default(),
        }
    }

    fn home(&self) -> (usize, u64) {
        let state = self.lock();
        (state.home, state.moves)
    }

    fn visit(&self, options: &ConnectOptions, moves: u64) -> Result<Visit, ServerError> {
        let (mut connection, autocommits) = open_for_long_telling(options)?;
        if self.facts().is_some()
            && !Values::ask(&mut connection, b"SHOW GLOBAL STATUS LIKE 'wsrep_ready'")?.is_on("wsrep_ready")
        {
            // It lets anybody in, and then refuses every statement.
            let address = options.address.to_string();
            let reason = "the node takes no statements: it is not in the cluster's primary component, or not ready yet";
            return Err(ServerError::Connect { address, reason: reason.to_owned() });
        }
        if moves > 0 {
            // What was committed on the node that was home before may still wait here: each transaction, when it
            // begins, waits until it is there.
            connection.execute(b"SET SESSION wsrep_sync_wait = 1")?;
        }
        Ok(Visit { connection, moves, autocommits })
    }

    /// Makes another node home, if one takes statements and nobody else has moved meanwhile.
    fn leave(&self, moves: u64, why: &str) {
        let (home, _) = self.home();
        let others = (1..self.nodes.len()).map(|step| (home + step) % self.nodes.len());
        let ready: Vec<(usize, NodeState)> = others.filter_map(|index| Some((index, self.state_of(index)?))).collect();
        let is_synced = |(_, state): &&(usize, NodeState)| *state == NodeState::Synced;
        let Some((next, _)) = ready.iter().find(is_synced).or(ready.first()) else { return };
        let mut state = self.lock();
        if state.moves == moves {
            state.home = *next;
            state.moves += 1;
            let (from, to) = (&self.nodes[home].label, &self.nodes[*next].label);
            state.notes.push(format!("left {from} for {to}: {why}"));
        }
    }

    /// What a node of our cluster that takes statements is; `None` for any other.
    fn state_of(&self, index: usize) -> Option<NodeState> {
        let mut connection = Connection::open(&self.look_options(index)).ok()?;
        let facts = Facts::ask(&mut connection, 0).ok()??;
        let is_ours = self.facts().is_some_and(|ours| ours.cluster == facts.cluster);
        (is_ours && !matches!(facts.state, NodeState::NotReady(_))).then_some(facts.state)
    }

    /// How to connect to a node to look at it, with patience for no more than that.
    pub(super) fn look_options(&self, index: usize) -> ConnectOptions {
        let options = &self.nodes[index].options;
        ConnectOptions {
            connect_timeout: options.connect_timeout.min(LOOK_LIMIT),
            read_timeout: Some(LOOK_LIMIT),
            database: None,
            ..options.clone()
        }
    }

    /// What home said at the beginning; `None` when it is no node.
    #[must_use]
    pub fn facts(&self) -> Option<&Facts> {
        self.facts.as_ref()
    }

    /// What a transaction may hold here.
    #[must_use]
    pub fn caps(&self) -> Caps {
        let Some(facts) = self.facts() else { return Caps::default() };
        let text_bytes = facts.transaction_bytes / WRITE_SET_PER_TEXT;
        Caps {
            usual_text_bytes: Some(TRANSACTION_TEXT_BYTES),
            text_bytes: usize::try_from(text_bytes).ok().filter(|bytes| *bytes > 0),
            rows: Some(facts.transaction_rows).filter(|rows| *rows > 0),
        }
    }

    /// What is to stand before a statement that lets the server number rows, so that they get a single server's numbers.
    #[must_use]
    pub fn numbering(&self) -> Option<&'static [u8]> {
        self.facts().filter(|facts| facts.spreads_numbers).map(|_| ONE_SERIES)
    }

    /// What `--plan` tells of them.
    #[must_use]
    pub fn plan(&self) -> Vec<String> {
        let Some(facts) = self.facts() else { return Vec::new() };
        let seen: Vec<&str> =
            self.nodes.iter().filter(|node| node.facts().is_some()).map(|node| &*node.label).collect();
        let mut lines = vec![
            format!(
                "all rows go to {}; the other nodes are watched, and one takes its place if it is lost",
                self.home_label()
            ),
            format!("{} of {} nodes are watched: {}", seen.len(), facts.size, seen.join(", ")),
        ];
        if facts.spreads_numbers {
            lines.push(
                "rows that the server numbers get a single server's numbers, not the node's own series".to_owned(),
            );
        }
        lines.extend(self.notes());
        lines
    }

    /// All nodes by name; none when the server is no node.
    pub(crate) fn nodes(&self) -> Vec<(String, ConnectOptions)> {
        let known = self.nodes.iter().take(self.size());
        known.map(|node| (node.label.clone(), node.options.clone())).collect()
    }

    /// How a node is called.
    pub(super) fn label(&self, index: usize) -> &str {
        &self.nodes[index].label
    }

    /// How home is called.
    #[must_use]
    pub fn home_label(&self) -> &str {
        self.label(self.home().0)
    }

    /// Whether a node let us in when the load began.
    pub(super) fn was_seen(&self, index: usize) -> bool {
        self.nodes[index].facts().is_some()
    }

    /// What the user should know of them.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.lock().notes.clone()
    }

    /// A table got rows that cannot roll back: Galera does not replicate such.
    pub(crate) fn local_rows(&self, table: &TableName) {
        if let Some(facts) = self.facts().filter(|facts| !facts.replicates_beyond_innodb()) {
            self.note(format!(
                "the rows of {table} are on {} alone: its engine cannot roll back, and Galera replicates InnoDB",
                facts.name,
            ));
        }
    }

    /// Adds to that, once.
    pub(super) fn note(&self, note: String) {
        let mut state = self.lock();
        if state.notes.len() < NOTES_KEPT && !state.notes.contains(&note) {
            state.notes.push(note);
        }
    }
}
