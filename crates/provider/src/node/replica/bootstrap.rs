//! Bootstrap without a majority, by this node.
//!
//! The module `lineage` explains generations; this one starts one. What the nodes do that were left out: `excluded`.

use super::Replica;
use super::host::Host;
use crate::consensus::lineage::{Lineage, generation_after};
use crate::consensus::proposals::Proposals;
use crate::consensus::raft::Action;
use crate::gate::GateState;
use crate::identity::Uuid;

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
        let last = self.raft.last();
        let generation = match self.host.random_uuid() {
            Ok(random) => generation_after(last, random),
            Err(error) => return self.fail(&format!("no random numbers for a UUID: {error}")),
        };
        let lineage = self.hard_state.lineage.bootstrapped(generation);
        self.host.note(&format!(
            "{why}: this node bootstraps a cluster without the unreachable nodes, generation {generation}"
        ));
        // A node that has told its clients nothing yet goes on as after any other election: what it has proposed is in its log,
        // or in none of this generation, and is then proposed again (`consensus/proposals.rs`). The others have had an answer.
        let has_clients = matches!(self.host.gate_state(), GateState::Open | GateState::Paused);
        if !has_clients {
            self.own.payloads.clear();
        }
        if !self.sync_log_to_disk() {
            return;
        }
        self.hard_state.pending_memberships.clear();
        self.hard_state.voters.retain(|node, _| *node == self.hard_state.node);
        let own_node = self.hard_state.node;
        self.hard_state.weights.retain(|node, _| *node == own_node);
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
        if !has_clients {
            self.own.proposals = Proposals::new();
        }
        // Nothing is appended before the new term is saved.
        self.leader_duties = None;
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
}
