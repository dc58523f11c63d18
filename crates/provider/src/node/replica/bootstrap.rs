//! Bootstrap without a majority: by this node, or by another node without this one.
//!
//! The module `lineage` explains generations. This one starts a new generation, and reacts to other ones. A node stops
//! if its cluster was bootstrapped without it and it has no live majority:
//!
//! - it has heard no leader for the quorum loss timeout. A shorter time is not enough: while a correct majority elects
//!   a leader, its nodes also meet the other cluster, once a second.
//! - It is the leader and has had no clients since its start: it and other excluded nodes have started together. Then
//!   the next of them is elected, and stops as well, until there is no majority.
//!
//! So excluded nodes that are restarted do not continue with the old cluster, unless they cannot reach the new one. A
//! node that starts and finds a leader with clients follows it.

use super::Replica;
use super::host::Host;
use crate::consensus::lineage::{Lineage, LineageRelation};
use crate::consensus::proposals::Proposals;
use crate::consensus::raft::Action;
use crate::gate::GateState;
use crate::identity::Uuid;
use crate::server::Level;

/// A node met longer ago may be gone, or in this node's cluster by now. Nodes that reach each other meet once a second.
/// Shorter than the quorum loss timeout: else a node would stop whose leader left at the same moment as the other
/// cluster.
const CONTACT_TIMEOUT_MS: u64 = 3_000;

/// The cluster was bootstrapped without this node, as one of the other nodes has told.
#[derive(Debug)]
pub(super) struct Excluded {
    /// The message about it.
    text: String,
    met_ms: u64,
}

impl<H: Host> Replica<H> {
    /// Bootstraps a cluster from this node, with all its data: an administrator (`pc.bootstrap`) or an option
    /// (`pc.ignore_sb`) gives up the unreachable nodes.
    pub(super) fn bootstrap(&mut self, why: &str, actions: &mut Vec<Action>) {
        self.quorum.leader_seen_ms = self.now_ms();
        if self.status.has_quorum || self.status.is_single_node || !self.host.has_log() {
            return;
        }
        if self.is_waiting_for_tables() || self.ordered.index.is_none() && self.host.has_no_tables() {
            return self.host.note(&format!("{why}: this node has no tables yet, and cannot bootstrap a cluster"));
        }
        if self.raft.membership().voters.iter().eq([&self.own_node()]) {
            // There is no other voter.
            return;
        }
        let generation = match self.host.random_uuid() {
            Ok(generation) => generation,
            Err(error) => return self.fail(&format!("no random numbers for a UUID: {error}")),
        };
        let lineage = self.hard_state.lineage.bootstrapped(generation);
        self.host.note(&format!(
            "{why}: this node bootstraps a cluster without the unreachable nodes, generation {generation}"
        ));
        // Pending proposals went to a leader that is gone: their outcome is unknown.
        self.lose_quorum();
        self.own.payloads.clear();
        if !self.sync_log() {
            return;
        }
        let last = self.raft.last();
        self.hard_state.pending_memberships.clear();
        self.hard_state.voters.retain(|node, _| *node == self.hard_state.node);
        let address = self.host.own_address();
        self.hard_state.voters.entry(self.hard_state.node).or_insert(address);
        (self.hard_state.membership_log_id, self.hard_state.committed, self.status.apply_bound) =
            (last, last.index, last.index);
        self.hard_state.lineage = lineage;
        self.save_hard_state();
        let history_uuid = self.host.history_uuid();
        self.adopt_lineage(lineage, history_uuid);
        self.host.save_lineage();
        self.quorum.excluded = None;
        match self.restart_raft() {
            Ok(()) => self.has_uncommitted_bootstrap = true,
            Err(error) => self.host.fail(&error.to_string()),
        }
        // No other node can be elected: no reason to wait.
        self.raft.tick(self.raft.deadline_ms().unwrap_or(0), actions);
        self.own.proposals = Proposals::new();
        let (term, leader) = (self.raft.term(), self.raft.leader());
        self.on_leader_changed(term, leader, actions);
    }

    /// The node belongs to this lineage from now on. Queued messages of other nodes are dropped.
    pub(super) fn adopt_lineage(&mut self, lineage: Lineage, history_uuid: Uuid) {
        self.hard_state.lineage = lineage;
        self.host.set_lineage_of_tables(lineage);
        self.host.set_lineage(history_uuid, lineage);
        self.peers.retain(|node, _| self.host.is_linked(*node));
    }

    /// A node with the same history UUID and another lineage was met.
    pub(super) fn on_lineage_mismatch(&mut self, relation: LineageRelation, text: String, is_news: bool) {
        match relation {
            LineageRelation::Descendant => {
                if is_news {
                    let advice = "This node continues with the old cluster as long as that has a majority: what \
                                    one side confirms from now on, the other never gets. Decide which side to \
                                    discard: stop its nodes, move the files hortator* out of their data folders, and \
                                    start them: they join the other side";
                    self.host.log(Level::Error, &format!("{text}. {advice}"));
                }
                self.quorum.excluded = Some(Excluded { text, met_ms: self.now_ms() });
            }
            LineageRelation::Diverged if is_news => self.host.log(Level::Error, &text),
            LineageRelation::Ancestor if is_news => {
                let remedy = "The node is refused. To make it join: stop it, move the files hortator* out of its \
                              data folder, and start it again";
                self.host.log(Level::Warning, &format!("{text}. {remedy}"));
            }
            _ => {}
        }
    }

    /// Stops this node if its cluster was bootstrapped without it and it has no live majority of the old one.
    pub(super) fn stop_if_excluded(&mut self) {
        let now = self.now_ms();
        let has_clients = matches!(self.host.gate_state(), GateState::Open | GateState::Paused);
        self.quorum.had_clients |= has_clients;
        let Some(Excluded { text, met_ms }) = &self.quorum.excluded else { return };
        if now - met_ms > CONTACT_TIMEOUT_MS {
            return;
        }
        let has_live_majority = match self.raft.leader() {
            None => now - self.quorum.leader_seen_ms <= self.quorum_loss_timeout_ms(),
            Some(leader) if leader == self.own_node() => self.quorum.had_clients,
            Some(_) => true,
        };
        if !has_live_majority {
            let text = format!(
                "{text}. This node has no majority of the old cluster, so it stops. To join the bootstrapped \
                 cluster: move the files hortator* out of this node's data folder and start it again; it receives \
                 everything from there, and what only the old cluster has confirmed is lost. To continue with the \
                 old cluster: stop the nodes of the new one first"
            );
            let has_started = self.quorum.had_clients;
            self.fail(&text);
            if !has_started {
                self.host.end_start();
            }
        }
    }
}
