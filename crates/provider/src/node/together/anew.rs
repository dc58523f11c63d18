//! Groups that were begun anew without asking for a majority: by this node, or by another without this one.
//!
//! `descent` has what generations are. Here is when this node makes one, and what it does when it meets another's. It stops
//! when its group was begun anew without it and it has no living majority, which is:
//!
//! - it has heard no leader for as long as makes a node out of touch. A shorter time will not do: while those who are right
//!   choose another leader they meet the other group as well, once a second.
//! - It leads itself and has let no client in since it started: it and others who were left out have come up together. Then the
//!   next of them is chosen, and stops as well, until they are no majority.
//!
//! So those who were left out and are started again do not go on with the former group, unless they cannot reach the new one.
//! One that starts and finds a leader who has clients follows that.

use super::telling::OUT_OF_TOUCH_MS;
use super::thread::GroupThread;
use crate::gate::Passage;
use crate::group::descent::{Descent, Kinship};
use crate::group::proposals::Proposals;
use crate::group::raft::Action;
use crate::identity::Uuid;
use crate::log::DiskLog;
use crate::node::{Error, Node, lock};
use crate::server::Level;

/// Who was met so long ago may be there no more, or of this node's group by now: no reason to stop. Nodes that reach each other
/// meet once a second. Less than makes a node out of touch: else one would stop whose leader went at the same moment as the other
/// group.
const MET_LATELY_MS: u64 = 3_000;

/// The group was begun anew without this node, as it learned when it met one of the others.
#[derive(Debug)]
pub(super) struct LeftOut {
    /// Who, and how that came.
    text: String,
    met_ms: u64,
}

impl Node {
    /// Of which generation a group is that this node begins by itself.
    pub(super) fn begin_generation(&self, log: Option<&DiskLog>) -> Result<Descent, Error> {
        let generation = Uuid::random().map_err(Error::Random)?;
        if log.is_none_or(|log| log.last() < log.first()) {
            return Ok(Descent::begun(generation));
        }
        // What it was of stood in the file that is not there.
        let history = self.history();
        let saved = lock(&self.saved).filter(|saved| saved.history == history && !saved.descent.is_unknown());
        let former = saved.map_or(Descent::of_history(history), |saved| saved.descent);
        Ok(former.begun_anew(generation))
    }

    /// Its group is of that generation from now on. `hortator.state.log` learns it with the next that is saved there.
    pub(super) fn set_descent(&self, descent: Descent) {
        *lock(&self.descent) = descent;
    }

    /// Has `hortator.state.log` learn it now.
    fn save_descent(&self) {
        let written = {
            let mut saved = lock(&self.saved);
            let descent = *lock(&self.descent);
            saved.as_mut().map_or(Ok(()), |state| {
                state.descent = descent;
                state.write(&self.setup.data_dir)
            })
        };
        if let Err(error) = written {
            self.fail(&error.to_string());
        }
    }
}

impl GroupThread {
    /// The others are gone for good, says somebody who knows (`pc.bootstrap`), or an option for whenever they are not heard
    /// (`pc.ignore_sb`): this node goes on without them, with all that it has.
    pub(super) fn bootstrap(&mut self, why: &str, actions: &mut Vec<Action>) {
        self.leader_seen_ms = self.now_ms();
        if self.contact.in_touch || self.contact.is_alone || self.node.log().is_none() {
            return;
        }
        let has_none = || lock(&self.node.saved).is_some_and(|saved| saved.history.is_undefined());
        if self.waits_for_tables() || self.taken.is_none() && has_none() {
            return self
                .node
                .note(&format!("{why}: this node has not got its tables yet, and cannot go on without the others"));
        }
        if self.raft.membership().voters.iter().eq([&self.own()]) {
            // There is nobody to go on without.
            return;
        }
        let generation = match Uuid::random() {
            Ok(generation) => generation,
            Err(error) => return self.fail(&format!("no random numbers for a UUID: {error}")),
        };
        let descent = self.saved.descent.begun_anew(generation);
        self.node.note(&format!(
            "{why}: this node goes on without those whom it does not hear, as a group by itself, of generation {generation}"
        ));
        // Whoever waits for a place asked a leader who is gone: nobody knows what comes of it.
        self.lose_touch();
        self.payloads.clear();
        if !self.sync_log() {
            return;
        }
        let last = self.raft.last();
        self.saved.voters.retain(|node, _| *node == self.saved.node);
        let address = self.links.own().address.clone();
        self.saved.voters.entry(self.saved.node).or_insert(address);
        (self.saved.membership_at, self.saved.committed, self.contact.agreed) = (last, last.index, last.index);
        self.saved.descent = descent;
        self.save();
        self.be_of(descent, self.node.history());
        self.node.save_descent();
        self.left_out = None;
        match self.agree_anew() {
            Ok(()) => self.is_new_group = true,
            Err(error) => self.node.fail(&error.to_string()),
        }
        // Nobody else can lead: there is nothing to wait for.
        self.raft.tick(self.raft.deadline_ms().unwrap_or(0), actions);
        self.proposals = Proposals::new();
        let (term, leader) = (self.raft.term(), self.raft.leader());
        self.leader_is(term, leader, actions);
    }

    /// The group is of that generation from now on. What those who are of another have still said is not heard.
    pub(super) fn be_of(&mut self, descent: Descent, history: Uuid) {
        self.saved.descent = descent;
        self.node.set_descent(descent);
        self.links.belong_to(history, descent);
        self.peers.retain(|node, _| self.links.is_linked(*node));
    }

    /// A node was met whose group is another than this one's, of the same history.
    pub(super) fn heed_kin(&mut self, kinship: Kinship, text: String, is_news: bool) {
        match kinship {
            Kinship::Newer => {
                if is_news {
                    let standing = "This node goes on with the group as it was before, if that has a majority: what either \
                                    confirms from here on, the other never gets. Decide which is thrown away: stop its nodes, \
                                    move the files hortator* out of their data folders, and start them: they join the other";
                    self.node.server.log(Level::Error, &format!("{text}. {standing}"));
                }
                self.left_out = Some(LeftOut { text, met_ms: self.now_ms() });
            }
            Kinship::Apart if is_news => self.node.server.log(Level::Error, &text),
            Kinship::Older if is_news => {
                let remedy = "That node is not let in. To have it join: stop it, move the files hortator* out of its data \
                              folder, and start it again";
                self.node.server.log(Level::Warning, &format!("{text}. {remedy}"));
            }
            _ => {}
        }
    }

    /// Ends this node if its group was begun anew without it and no majority of the former one lives here.
    pub(super) fn stop_if_left_out(&mut self) {
        let now = self.now_ms();
        let has_clients = matches!(self.node.gate.passage(), Passage::Open | Passage::Paused);
        self.had_clients |= has_clients;
        let Some(LeftOut { text, met_ms }) = &self.left_out else { return };
        if now - met_ms > MET_LATELY_MS {
            return;
        }
        let is_of_a_majority = match self.raft.leader() {
            None => now - self.leader_seen_ms <= OUT_OF_TOUCH_MS,
            Some(leader) if leader == self.own() => self.had_clients,
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
