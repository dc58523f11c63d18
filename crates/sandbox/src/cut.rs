//! Nodes of a cluster that are cut off from the others, and brought back.
//!
//! A real cut of the network takes root's rights and a network for each server, which a sandbox does without: its nodes are
//! all on 127.0.0.1, and a connection between two of them does not tell by its ports which two. So the provider makes the
//! cut, by its own switch for tests: the node's group port stays open, and nothing goes out or in. Both providers have it.
//! It ends with the server's process: a start heals.

use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::Connection;

use crate::node::{LOOK_LIMIT, Node, START_LIMIT, State};
use crate::sandbox::Sandbox;
use crate::{Error, Topology, wsrep};

/// The switch. Source: Galera documentation, "Galera Parameters".
const ISOLATE: &str = "gmcast.isolate";

/// How long the switch may take: a provider may be busy with a change of the cluster.
const SWITCH_LIMIT: Duration = Duration::from_secs(30);
/// How long to wait between two looks at nodes that come back.
const HEAL_INTERVAL: Duration = Duration::from_millis(100);

/// What came of bringing nodes back together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Healed {
    /// They are in the cluster, with all data.
    Synced,
    /// They can talk to the others again, and that is not enough: too many nodes are down, paused or cut off.
    NoMajority,
}

impl Node<'_> {
    /// Cuts the node off from all others, by its provider's own switch. Returns at once: the others give it up, and it
    /// finds itself alone, within the provider's time limits, which are seconds.
    pub fn cut(self) -> Result<(), Error> {
        if !self.is_of_a_cluster() || self.sandbox().topology().nodes() == 1 {
            return Err(Error::Invalid(format!(
                "sandbox `{}` is {}: only a node of a cluster of several (`galera`, `cluster`) can be cut off from others",
                self.sandbox().name(),
                self.sandbox().topology()
            )));
        }
        match self.state() {
            State::Running if self.is_cut_off() => {
                Err(Error::Invalid(format!("{} is cut off already; `heal` ends that", self.name())))
            }
            State::Running | State::Paused => self.isolate(true),
            state => Err(Error::Invalid(format!("{} does not run: it is {state}", self.name()))),
        }
    }

    /// Whether [`Node::cut`] keeps it from the others.
    pub fn is_cut_off(self) -> bool {
        let cut_off = self.sandbox().record().nodes[self.index()].cut_off_pid;
        cut_off.is_some() && cut_off == self.pid()
    }

    /// Ends the cut, and waits until the node is back in the cluster with all data, where that can be.
    pub fn heal(self) -> Result<Healed, Error> {
        if !self.is_cut_off() {
            return Err(Error::Invalid(format!("{} is not cut off", self.name())));
        }
        heal(self.sandbox(), &[self])
    }

    fn isolate(self, is_cut_off: bool) -> Result<(), Error> {
        if self.state() == State::Paused {
            return Err(Error::Invalid(format!("{} is paused; `resume` it first", self.name())));
        }
        let mut options = self.connect_options();
        options.connect_timeout = LOOK_LIMIT;
        options.read_timeout = Some(SWITCH_LIMIT);
        let statement = format!("SET GLOBAL wsrep_provider_options = '{ISOLATE}={}'", u8::from(is_cut_off));
        let done = Connection::open(&options).and_then(|mut connection| connection.execute(statement.as_bytes()));
        done.map_err(|error| self.statement(error))?;
        let cut_off_pid = self.pid().filter(|_| is_cut_off);
        self.sandbox().change(self.index(), |node| node.cut_off_pid = cut_off_pid)
    }
}

impl Sandbox {
    /// Ends the cuts of all nodes that are cut off, as [`Node::heal`] does; an error when none is.
    pub fn heal(&self) -> Result<Healed, Error> {
        let cut_off: Vec<_> = self.nodes().filter(|node| node.is_cut_off()).collect();
        if cut_off.is_empty() {
            return Err(Error::Invalid(format!("no node of sandbox `{}` is cut off", self.name())));
        }
        heal(self, &cut_off)
    }
}

fn heal(sandbox: &Sandbox, nodes: &[Node<'_>]) -> Result<Healed, Error> {
    nodes.iter().try_for_each(|node| node.isolate(false))?;
    let deadline = Instant::now() + START_LIMIT;
    for node in nodes {
        while !node.standing().is_some_and(|standing| standing.is_synced()) {
            sandbox.interrupt().check()?;
            if node.process().is_none() || Instant::now() > deadline {
                return Err(node.failed(format!("was not back in the cluster within {} s", START_LIMIT.as_secs())));
            }
            // A majority may be lost while it is waited for.
            if !can_be_primary(sandbox, nodes) {
                return Ok(Healed::NoMajority);
            }
            thread::sleep(HEAL_INTERVAL);
        }
    }
    Ok(Healed::Synced)
}

/// Whether the nodes that reach each other make a cluster that takes statements, or join one. Galera's nodes that all lost
/// the majority wait until every one of them is there again.
fn can_be_primary(sandbox: &Sandbox, healed: &[Node<'_>]) -> bool {
    let reachable = wsrep::reachable(sandbox);
    let is_healed = |node: &Node<'_>| healed.iter().any(|one| one.number() == node.number());
    let is_primary = |node: &Node<'_>| node.standing().is_some_and(|standing| standing.is_primary());
    // One that was just cut off may not have noticed.
    let has_primary = reachable.iter().any(|node| !is_healed(node) && is_primary(node));
    let nodes = sandbox.topology().nodes();
    let is_enough = match sandbox.topology() {
        Topology::Cluster(_) => reachable.len() * 2 > nodes,
        _ => reachable.len() == nodes,
    };
    has_primary || is_enough
}
