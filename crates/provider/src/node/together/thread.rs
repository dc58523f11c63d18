//! The group's thread: it holds the links, the agreement and the end of the log, and goes round.
//!
//! A round: what the server's threads want; what agreement wants done, until it wants nothing more, with one message to each
//! other node and one sync of the log for all that was appended; what is agreed on takes its place; what a leader sees to; then
//! it waits for the links, and heeds all that they bring.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::anew::LeftOut;
use super::awaiting::Donor;
use super::flow::{Flow, Held};
use super::joining::Wants;
use super::leading::Leading;
use super::{Command, Contact, Together};
use crate::decision::Fault;
use crate::entry;
use crate::group::NodeId;
use crate::group::links::Links;
use crate::group::proposals::{Origin, Proposals};
use crate::group::raft::{Action, Append, Raft};
use crate::group::saved::Saved;
use crate::group::wire::{BATCH_LIMIT_BYTES, Frame, Hello};
use crate::identity::Uuid;
use crate::log::Index;
use crate::node::Node;

/// How often a node tells its leader how it stands.
pub(super) const PRESENT_MS: u64 = 300;

/// Of entries, so much may wait to be sent to one node.
const ON_THE_WAY_LIMIT_BYTES: usize = 16 << 20;

/// Another node, as this one knows it.
#[derive(Debug)]
pub(super) struct Peer {
    pub hello: Hello,
    /// None: it is linked. Else since when it is not.
    pub away_since_ms: Option<u64>,
    /// What it said of itself last, and when.
    pub present: Option<(Present, u64)>,
    /// It wants to go.
    pub leaves: bool,
    /// For which request which donor was chosen.
    pub served: Option<(Vec<u8>, NodeId)>,
}

/// How a node stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Present {
    pub life: Uuid,
    pub applied: i64,
    pub wants_view: bool,
    pub is_behind: bool,
    /// Where the node is that its state goes to.
    pub gives_to: Option<String>,
    /// What it could not apply, while nothing is decided on that.
    pub fault: Option<Fault>,
}

/// The group's thread.
pub(super) struct GroupThread {
    pub(super) node: Arc<Node>,
    pub(super) together: Arc<Together>,
    pub(super) links: Links,
    pub(super) raft: Raft,
    pub(super) proposals: Proposals,
    pub(super) origin: Origin,
    /// Payloads of own proposals that are not settled.
    pub(super) payloads: HashMap<u64, Vec<u8>>,
    /// Lives of this node since the thread began.
    pub(super) lives: Vec<Uuid>,
    pub(super) saved: Saved,
    pub(super) peers: BTreeMap<NodeId, Peer>,
    /// The addresses that the server gave.
    pub(super) hosts: Vec<String>,
    /// Entries up to here have taken their places. None: not yet to be taken.
    pub(super) taken: Option<Index>,
    /// Entries up to here were looked at for decisions, while there was no room for them.
    pub(super) looked_to: Index,
    pub(super) contact: Contact,
    /// Up to where the tables were when the node last was well: turns that end tell no more.
    pub(super) applied: i64,
    /// Who decides does not stand in the log yet.
    pub(super) is_new_group: bool,
    pub(super) leading: Option<Leading>,
    pub(super) flow: Flow,
    /// Whom it chose as donors, when, and for a node at which address.
    pub(super) donors: BTreeMap<NodeId, (u64, String)>,
    /// The end of the log is to be synced.
    pub(super) has_unsafe: bool,
    /// Reads that wait for a round of heartbeats: round and ticket, and whose.
    pub(super) confirms: Vec<(u64, u64, Option<NodeId>)>,
    /// Own ones that are confirmed up to there, which is not all taken yet.
    pub(super) confirmed: Vec<(Index, u64)>,
    /// What is asked of a leader until it answers.
    pub(super) wants: Option<Wants>,
    /// Who gives the tables to this node.
    pub(super) donor: Option<Donor>,
    /// Why it was refused something last: told once.
    pub(super) refused: String,
    pub(super) asked_ms: u64,
    /// While it leads: since when it cannot take what is agreed on.
    pub(super) held_since_ms: Option<u64>,
    pub(super) leaves: bool,
    pub(super) told: Option<(Present, u64)>,
    /// What agreement wanted before the thread began.
    pub(super) first: Vec<Action>,
    pub(super) leader_seen_ms: u64,
    /// What the leader said first that everybody agrees on.
    pub(super) heard_committed: Option<Index>,
    /// It met a group that was begun anew from its own.
    pub(super) left_out: Option<LeftOut>,
    /// It has had clients since the thread began.
    pub(super) had_clients: bool,
    pub(super) began: Instant,
    pub(super) is_over: bool,
}

impl GroupThread {
    pub(super) fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn own(&self) -> NodeId {
        self.saved.node
    }

    pub(super) fn run(&mut self) {
        let mut events = Vec::new();
        let mut actions = std::mem::take(&mut self.first);
        self.settle(&mut actions);
        while !self.is_over {
            self.heed_commands(&mut actions);
            self.raft.tick(self.now_ms(), &mut actions);
            self.tick_proposals(&mut actions);
            self.settle(&mut actions);
            self.take_agreed(&mut actions);
            self.see_to_it(&mut actions);
            self.settle(&mut actions);
            self.tell();
            if self.is_over {
                break;
            }
            self.links.poll(self.patience(), &mut events);
            for event in events.drain(..) {
                if self.is_over {
                    break;
                }
                self.heed(event, &mut actions);
            }
        }
        self.links.flush();
        // Whoever connects next takes all of the log to be safe.
        self.sync_log();
    }

    /// All of the log is safe, without a word to the agreement, which ends here or begins anew. False: it cannot be.
    pub(super) fn sync_log(&mut self) -> bool {
        self.has_unsafe = false;
        let Some(log) = self.node.log() else { return true };
        let result = log.commit(log.last());
        if let Err(error) = &result {
            self.fail(&format!("the log cannot be written: {error}"));
        }
        result.is_ok()
    }

    /// How long nothing has to be done unless something happens.
    pub(super) fn patience(&self) -> Duration {
        let now = self.now_ms();
        let is_busy = !self.contact.is_alone || self.contact.is_linked || self.leaves;
        let chores = if is_busy { now + PRESENT_MS / 3 } else { now + 5_000 };
        let has_more =
            self.taken.is_some_and(|taken| taken < self.contact.agreed) && self.node.may_take(&self.together);
        if has_more {
            return Duration::ZERO;
        }
        let deadlines = [self.raft.deadline_ms(), self.has_chores_at_ms()];
        let deadline = deadlines.into_iter().flatten().fold(chores, u64::min);
        Duration::from_millis(deadline.saturating_sub(now))
    }

    pub(super) fn heed_commands(&mut self, actions: &mut Vec<Action>) {
        let mut steps = Vec::new();
        for command in self.together.commands() {
            match command {
                Command::Propose { .. } if self.contact.is_alone => {
                    // It was sent before the node was alone: clients' threads write the log now.
                    self.stop_being_alone();
                    self.together.ask_again(command);
                }
                Command::Propose { ticket, bytes } => {
                    if let Some(held) = self.hold(Held::Own { ticket, bytes }) {
                        self.propose_own(held, &mut steps);
                    }
                }
                Command::Confirm { ticket } => self.confirm(ticket, None, actions),
                Command::Want(wants) => {
                    self.wants = Some(wants);
                    self.asked_ms = 0;
                }
                Command::GoOnFrom(index) => self.taken = Some(Index(index.0 - 1)),
                Command::Leave => self.leaves = true,
                Command::Isolate(is_isolated) => self.links.isolate(is_isolated),
                Command::Bootstrap => self.bootstrap("pc.bootstrap", actions),
                Command::Look => {}
                Command::End => self.is_over = true,
            }
        }
        self.step(steps, actions);
    }

    /// Does what agreement wants, until it wants nothing more and all that was appended is safe: one message to each of the
    /// others and one sync for all of it.
    pub(super) fn settle(&mut self, actions: &mut Vec<Action>) {
        loop {
            self.carry_out(actions, None);
            if !self.has_unsafe || self.is_over {
                return;
            }
            self.raft.spread(actions);
            self.carry_out(actions, None);
            self.make_safe(actions);
        }
    }

    /// Does what agreement wants, but for the sync, until it wants nothing more. `arrived`: what came with an append.
    pub(super) fn carry_out(&mut self, actions: &mut Vec<Action>, mut arrived: Option<Vec<Vec<u8>>>) {
        while !actions.is_empty() {
            for action in std::mem::take(actions) {
                // What came behind something that found no room must not take its place.
                if self.is_over {
                    return;
                }
                self.act(action, &mut arrived, actions);
            }
        }
    }

    /// One sync for all that was appended.
    fn make_safe(&mut self, actions: &mut Vec<Action>) {
        self.has_unsafe = false;
        let Some(log) = self.node.log() else { return };
        let last = self.raft.last();
        // The others write while this one does.
        self.links.flush();
        match log.commit(last.index) {
            Ok(()) => self.raft.stored(last, actions),
            Err(error) => self.fail(&format!("the log cannot be written: {error}")),
        }
    }

    pub(super) fn act(&mut self, action: Action, arrived: &mut Option<Vec<Vec<u8>>>, actions: &mut Vec<Action>) {
        match action {
            Action::Persist { term, voted_for } => {
                (self.saved.term, self.saved.voted_for) = (term, voted_for);
                self.save();
            }
            Action::Truncate { from } => {
                let result = self.node.log().map_or(Ok(()), |log| log.truncate(from));
                if let Err(error) = result {
                    self.fail(&format!("the end of the log, which was not agreed on, cannot be dropped: {error}"));
                }
            }
            Action::Store { skip, first } => {
                let Some(log) = self.node.log() else { return };
                if log.last().next() != first {
                    return self.fail(&format!("the log ends at {}, and the next entry is for {first}", log.last()));
                }
                for bytes in arrived.take().unwrap_or_default().iter().skip(skip) {
                    if let Err(error) = log.throttle().and_then(|()| log.append(&[bytes])) {
                        self.fail(&format!("the log takes nothing any more: {error}"));
                        return;
                    }
                }
                self.has_unsafe = true;
            }
            Action::Send { to, message } => {
                self.links.send(to, &Frame::Raft { message, payloads: Vec::new() });
            }
            Action::SendEntries { to, term, before, first, upto, committed, round } => {
                let append = Append { term, before, committed, round, entries: Vec::new() };
                self.send_entries(to, append, (first, upto), actions);
            }
            Action::Committed { upto } => self.contact.agreed = upto,
            Action::LeaderIs { term, leader } => self.leader_is(term, leader, actions),
            Action::Lead { term } => self.lead(term),
            Action::TooFarBehind { node, .. } => {
                self.links.send(node, &Frame::TooFarBehind);
            }
            Action::Confirmed { round, upto } => {
                let (ready, rest) = self.confirms.drain(..).partition(|(of, ..)| *of <= round);
                self.confirms = rest;
                let ready: Vec<(u64, u64, Option<NodeId>)> = ready;
                for (_, ticket, whose) in ready {
                    match whose {
                        None => self.confirmed.push((upto, ticket)),
                        Some(node) => {
                            self.links.send(node, &Frame::Confirmed { ticket, index: upto });
                        }
                    }
                }
            }
        }
    }

    pub(super) fn save(&mut self) {
        self.saved.committed = self.contact.agreed.max(self.saved.committed);
        if let Err(error) = self.saved.write(&self.node.setup.data_dir) {
            self.fail(&error.to_string());
        }
        self.node.show_votes();
    }

    /// Sends as many of them as go into a message; the rest follows as long as there is room on the way.
    fn send_entries(
        &mut self,
        to: NodeId,
        mut append: Append,
        (first, upto): (Index, Index),
        actions: &mut Vec<Action>,
    ) {
        if self.links.queued_bytes(to) > ON_THE_WAY_LIMIT_BYTES {
            // The next answer from there goes on.
            self.raft.sent(to, append.before.index);
            return;
        }
        let Some(log) = self.node.log() else { return };
        let entries = match log.entries(first, BATCH_LIMIT_BYTES) {
            Ok(entries) => entries,
            Err(error) => {
                self.node.note(&format!("entries from {first} on cannot be sent to {to}: {error}"));
                return;
            }
        };
        let mut payloads = Vec::with_capacity(entries.len());
        for (index, bytes) in entries.into_iter().take_while(|(index, _)| *index <= upto) {
            let Ok((_, shape)) = entry::shape(&bytes) else {
                self.fail(&format!("entry {index} of the log cannot be understood"));
                return;
            };
            append.entries.push(shape);
            payloads.push(bytes);
        }
        let sent = Index(first.0 + payloads.len() as u64 - 1);
        if self.links.send_append(to, &append, &payloads) && sent < upto {
            self.raft.sent(to, sent);
            self.raft.resume(to, actions);
        }
    }

    pub(super) fn fail(&mut self, text: &str) {
        self.node.fail(text);
        self.is_over = true;
    }
}
