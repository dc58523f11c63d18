//! Isolating nodes of a cluster from the others, and healing the partition.
//!
//! A real network partition needs root's rights and a network for each server, which a sandbox does without: its nodes
//! are all on 127.0.0.1, and the ports of a connection between two nodes do not tell which two. So the provider
//! isolates the node, by its own option for tests: the node's group port stays open, and no messages are sent or
//! received. Both providers have this option. It ends with the server's process: a start heals. Tests that need a real
//! one put the nodes on hosts ([`crate::Host`]) with networks of their own.

use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::Connection;

use crate::node::{Node, POLL_TIMEOUT, START_TIMEOUT, State};
use crate::provider_options::set_provider_options;
use crate::sandbox::Sandbox;
use crate::witness::Witness;
use crate::{Error, Topology, wsrep};

/// The provider option. Source: Galera documentation, "Galera Parameters".
const ISOLATE: &str = "gmcast.isolate";

/// The time limit for setting the option: a provider may be busy with a membership change.
const ISOLATE_TIMEOUT: Duration = Duration::from_secs(30);
/// The interval for checking healed nodes.
const HEAL_INTERVAL: Duration = Duration::from_millis(100);

/// The result of healing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Healed {
    /// The nodes are in the cluster, with all data.
    Synced,
    /// The nodes can reach the others again, but there is no majority: too many nodes are down, paused or isolated.
    NoMajority,
}

impl Node<'_> {
    /// Isolates the node from all others, by its provider's own option. Returns at once: the others remove it, and it
    /// loses its quorum, within the provider's timeouts of a few seconds.
    pub fn isolate(self) -> Result<(), Error> {
        if !self.is_cluster_node() || self.sandbox().voters() == 1 {
            return Err(Error::Invalid(format!(
                "sandbox `{}` is {}: only a node of a cluster with several nodes (`galera`, `cluster`) can be isolated",
                self.sandbox().name(),
                self.sandbox().topology()
            )));
        }
        match self.state() {
            State::Running if self.is_isolated() => {
                Err(Error::Invalid(format!("{} is already isolated: `heal` ends the isolation", self.name())))
            }
            State::Running | State::Paused => self.set_isolated(true),
            state => Err(Error::Invalid(format!("{} does not run: it is {state}", self.name()))),
        }
    }

    /// Whether the node is isolated by [`Node::isolate`].
    pub fn is_isolated(self) -> bool {
        let isolated = self.sandbox().metadata().nodes[self.index()].isolated_pid;
        isolated.is_some() && isolated == self.pid()
    }

    /// Ends the isolation, and waits until the node is back in the cluster with all data, if possible.
    pub fn heal(self) -> Result<Healed, Error> {
        if !self.is_isolated() {
            return Err(Error::Invalid(format!("{} is not isolated", self.name())));
        }
        heal(self.sandbox(), &[self])
    }

    fn set_isolated(self, is_isolated: bool) -> Result<(), Error> {
        if self.state() == State::Paused {
            return Err(Error::Invalid(format!("{} is paused: `resume` it first", self.name())));
        }
        let mut options = self.connect_options();
        options.connect_timeout = POLL_TIMEOUT;
        options.read_timeout = Some(ISOLATE_TIMEOUT);
        let option = format!("{ISOLATE}={}", u8::from(is_isolated));
        let done = Connection::open(&options).and_then(|mut connection| set_provider_options(&mut connection, &option));
        done.map_err(|error| self.statement(error))?;
        let isolated_pid = self.pid().filter(|_| is_isolated);
        self.sandbox().change(self.index(), |node| node.isolated_pid = isolated_pid)
    }
}

impl Sandbox {
    /// Ends the isolation of all isolated nodes, as [`Node::heal`] does, and of the witness; an error when no node is
    /// isolated.
    pub fn heal(&self) -> Result<Healed, Error> {
        let isolated: Vec<_> = self.nodes().filter(|node| node.is_isolated()).collect();
        let witness = self.witness().filter(|witness| witness.is_isolated());
        witness.map_or(Ok(()), Witness::heal)?;
        if isolated.is_empty() && witness.is_some() {
            return Ok(Healed::Synced);
        }
        if isolated.is_empty() {
            return Err(Error::Invalid(format!("no node of sandbox `{}` is isolated", self.name())));
        }
        heal(self, &isolated)
    }
}

fn heal(sandbox: &Sandbox, nodes: &[Node<'_>]) -> Result<Healed, Error> {
    nodes.iter().try_for_each(|node| node.set_isolated(false))?;
    let deadline = Instant::now() + START_TIMEOUT;
    for node in nodes {
        while !node.wsrep_status().is_some_and(|status| status.is_synced()) {
            sandbox.interrupt().check()?;
            if node.process().is_none() || Instant::now() > deadline {
                return Err(node.failed(format!("did not rejoin the cluster within {} s", START_TIMEOUT.as_secs())));
            }
            // The majority may be lost during the wait.
            if !can_be_primary(sandbox, nodes) {
                return Ok(Healed::NoMajority);
            }
            thread::sleep(HEAL_INTERVAL);
        }
    }
    Ok(Healed::Synced)
}

/// Whether the nodes that reach each other form or join a cluster with a quorum. After Galera's nodes have all lost the
/// quorum, they wait until every one of them is back.
fn can_be_primary(sandbox: &Sandbox, healed: &[Node<'_>]) -> bool {
    let reachable = wsrep::reachable(sandbox);
    let is_healed = |node: &Node<'_>| healed.iter().any(|one| one.number() == node.number());
    let is_primary = |node: &Node<'_>| node.wsrep_status().is_some_and(|status| status.is_primary());
    // A node that was just isolated may not have noticed.
    let has_primary = reachable.iter().any(|node| !is_healed(node) && is_primary(node));
    let nodes = sandbox.topology().nodes();
    let is_enough = match sandbox.topology() {
        Topology::Cluster(_) => {
            let witness = usize::from(sandbox.witness().is_some_and(Witness::is_reachable));
            (reachable.len() + witness) * 2 > sandbox.voters()
        }
        _ => reachable.len() == nodes,
    };
    has_primary || is_enough
}
