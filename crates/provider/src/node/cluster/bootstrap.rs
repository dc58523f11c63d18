//! Groups that were begun anew without asking for a majority: by this node, or by another without this one.
//!
//! `lineage` has what generations are. Here is when this node makes one, and what it does when it meets another's. It stops
//! when its group was begun anew without it and it has no living majority, which is:
//!
//! - it has heard no leader for as long as makes a node out of touch. A shorter time will not do: while those who are right
//!   choose another leader they meet the other group as well, once a second.
//! - It leads itself and has let no client in since it started: it and others who were left out have come up together. Then the
//!   next of them is chosen, and stops as well, until they are no majority.
//!
//! So those who were left out and are started again do not go on with the former group, unless they cannot reach the new one.
//! One that starts and finds a leader who has clients follows that.

use super::driver::RaftDriver;
use super::status_report::QUORUM_LOSS_TIMEOUT_MS;
use crate::consensus::lineage::{Lineage, LineageRelation};
use crate::consensus::proposals::Proposals;
use crate::consensus::raft::Action;
use crate::gate::GateState;
use crate::identity::Uuid;
use crate::log::DiskLog;
use crate::node::{Error, Node, lock};
use crate::server::Level;

/// Who was met so long ago may be there no more, or of this node's group by now: no reason to stop. Nodes that reach each other
/// meet once a second. Less than makes a node out of touch: else one would stop whose leader went at the same moment as the other
/// group.
const CONTACT_TIMEOUT_MS: u64 = 3_000;

/// The group was begun anew without this node, as it learned when it met one of the others.
#[derive(Debug)]
pub(super) struct Excluded {
    /// Who, and how that came.
    text: String,
    met_ms: u64,
}

impl Node {
    /// Of which generation a group is that this node begins by itself.
    pub(super) fn new_lineage(&self, log: Option<&DiskLog>) -> Result<Lineage, Error> {
        let generation = Uuid::random().map_err(Error::Random)?;
        if log.is_none_or(|log| log.last() < log.first()) {
            return Ok(Lineage::initial(generation));
        }
        // What it was of stood in the file that is not there.
        let history_uuid = self.history_uuid();
        let saved = lock(&self.saved).filter(|saved| saved.history_uuid == history_uuid && !saved.lineage.is_unknown());
        let former = saved.map_or(Lineage::of_history(history_uuid), |saved| saved.lineage);
        Ok(former.bootstrapped(generation))
    }

    /// Its group is of that generation from now on. `hortator.state.log` learns it with the next that is saved there.
    pub(super) fn set_lineage(&self, lineage: Lineage) {
        *lock(&self.lineage) = lineage;
    }

    /// Has `hortator.state.log` learn it now.
    fn save_lineage(&self) {
        let written = {
            let mut saved = lock(&self.saved);
            let lineage = *lock(&self.lineage);
            saved.as_mut().map_or(Ok(()), |state| {
                state.lineage = lineage;
                state.write(&self.setup.data_dir)
            })
        };
        if let Err(error) = written {
            self.fail(&error.to_string());
        }
    }
}

impl RaftDriver {
    /// The others are gone for good, says somebody who knows (`pc.bootstrap`), or an option for whenever they are not heard
    /// (`pc.ignore_sb`): this node goes on without them, with all that it has.
    pub(super) fn bootstrap(&mut self, why: &str, actions: &mut Vec<Action>) {
        self.leader_seen_ms = self.now_ms();
        if self.status.has_quorum || self.status.is_single_node || self.node.log().is_none() {
            return;
        }
        let has_none = || lock(&self.node.saved).is_some_and(|saved| saved.history_uuid.is_undefined());
        if self.is_waiting_for_tables() || self.ordered_index.is_none() && has_none() {
            return self
                .node
                .note(&format!("{why}: this node has not got its tables yet, and cannot go on without the others"));
        }
        if self.raft.membership().voters.iter().eq([&self.own_node()]) {
            // There is nobody to go on without.
            return;
        }
        let generation = match Uuid::random() {
            Ok(generation) => generation,
            Err(error) => return self.fail(&format!("no random numbers for a UUID: {error}")),
        };
        let lineage = self.hard_state.lineage.bootstrapped(generation);
        self.node.note(&format!(
            "{why}: this node goes on without those whom it does not hear, as a group by itself, of generation {generation}"
        ));
        // Whoever waits for a place asked a leader who is gone: nobody knows what comes of it.
        self.lose_quorum();
        self.payloads.clear();
        if !self.sync_log() {
            return;
        }
        let last = self.raft.last();
        self.hard_state.voters.retain(|node, _| *node == self.hard_state.node);
        let address = self.links.own().address.clone();
        self.hard_state.voters.entry(self.hard_state.node).or_insert(address);
        (self.hard_state.membership_log_id, self.hard_state.committed, self.status.apply_bound) =
            (last, last.index, last.index);
        self.hard_state.lineage = lineage;
        self.save_hard_state();
        self.adopt_lineage(lineage, self.node.history_uuid());
        self.node.save_lineage();
        self.excluded = None;
        match self.restart_raft() {
            Ok(()) => self.is_new_group = true,
            Err(error) => self.node.fail(&error.to_string()),
        }
        // Nobody else can lead: there is nothing to wait for.
        self.raft.tick(self.raft.deadline_ms().unwrap_or(0), actions);
        self.proposals = Proposals::new();
        let (term, leader) = (self.raft.term(), self.raft.leader());
        self.on_leader_changed(term, leader, actions);
    }

    /// The group is of that generation from now on. What those who are of another have still said is not heard.
    pub(super) fn adopt_lineage(&mut self, lineage: Lineage, history_uuid: Uuid) {
        self.hard_state.lineage = lineage;
        self.node.set_lineage(lineage);
        self.links.set_lineage(history_uuid, lineage);
        self.peers.retain(|node, _| self.links.is_linked(*node));
    }

    /// A node was met whose group is another than this one's, of the same history.
    pub(super) fn on_lineage_mismatch(&mut self, relation: LineageRelation, text: String, is_news: bool) {
        match relation {
            LineageRelation::Descendant => {
                if is_news {
                    let standing = "This node goes on with the group as it was before, if that has a majority: what either \
                                    confirms from here on, the other never gets. Decide which is thrown away: stop its nodes, \
                                    move the files hortator* out of their data folders, and start them: they join the other";
                    self.node.server.log(Level::Error, &format!("{text}. {standing}"));
                }
                self.excluded = Some(Excluded { text, met_ms: self.now_ms() });
            }
            LineageRelation::Diverged if is_news => self.node.server.log(Level::Error, &text),
            LineageRelation::Ancestor if is_news => {
                let remedy = "That node is not let in. To have it join: stop it, move the files hortator* out of its data \
                              folder, and start it again";
                self.node.server.log(Level::Warning, &format!("{text}. {remedy}"));
            }
            _ => {}
        }
    }

    /// Ends this node if its group was begun anew without it and no majority of the former one lives here.
    pub(super) fn stop_if_excluded(&mut self) {
        let now = self.now_ms();
        let has_clients = matches!(self.node.gate.state(), GateState::Open | GateState::Paused);
        self.had_clients |= has_clients;
        let Some(Excluded { text, met_ms }) = &self.excluded else { return };
        if now - met_ms > CONTACT_TIMEOUT_MS {
            return;
        }
        let is_of_a_majority = match self.raft.leader() {
            None => now - self.leader_seen_ms <= QUORUM_LOSS_TIMEOUT_MS,
            Some(leader) if leader == self.own_node() => self.had_clients,
            Some(_) => true,
        };
        if !is_of_a_majority {
            let text = format!(
                "{text}. No majority of the group as it was before is here, so this node does not go on with it. To join the \
                 group that was begun anew: move the files hortator* out of this node's data folder and start it again; it gets \
                 everything from there, and what only the former group has confirmed is lost. To go on with the former group: \
                 stop the nodes of the new one first"
            );
            let has_started = self.had_clients;
            self.fail(&text);
            if !has_started {
                self.node.server.end_start();
            }
        }
    }
}
