//! What is proposed here and elsewhere goes into the log, when this node leads, or to whoever does.

use super::flow::Held;
use super::thread::GroupThread;
use crate::entry::{self, Stamp};
use crate::group::NodeId;
use crate::group::proposals::{Origin, Step, Ticket};
use crate::group::raft::{Action, Membership};
use crate::group::wire::Frame;
use crate::identity::Uuid;
use crate::log::Index;

impl GroupThread {
    pub(super) fn propose_own(&mut self, held: Held, steps: &mut Vec<Step>) {
        let Held::Own { ticket, bytes } = held else { return };
        self.payloads.insert(ticket, bytes);
        if self.proposals.submit(Ticket(ticket), steps).is_err() {
            self.payloads.remove(&ticket);
            self.together.waiting.refuse(ticket);
        }
    }

    /// What was held back goes into the order.
    pub(super) fn take_in(&mut self, held: Held, actions: &mut Vec<Action>) {
        match held {
            Held::Own { .. } => {
                let mut steps = Vec::new();
                self.propose_own(held, &mut steps);
                self.step(steps, actions);
            }
            Held::Forward { term, origin, number, mut payload } => {
                let takes = self.leading.is_some() && self.raft.takes_entries();
                if takes && self.proposals.take(Origin(origin.0), term, number) {
                    self.append(&mut payload, None);
                }
            }
        }
    }

    pub(super) fn tick_proposals(&mut self, actions: &mut Vec<Action>) {
        let mut steps = Vec::new();
        self.proposals.tick(self.now_ms(), &mut steps);
        self.step(steps, actions);
    }

    /// Does what the proposals want, and what agreement wants because of that.
    pub(super) fn step(&mut self, mut steps: Vec<Step>, actions: &mut Vec<Action>) {
        while !steps.is_empty() {
            for step in std::mem::take(&mut steps) {
                match step {
                    Step::Append { ticket, term } => {
                        let mut is_there = false;
                        if let Some(mut bytes) = self.payloads.remove(&ticket.0) {
                            is_there = self.raft.term() == term && self.append(&mut bytes, None).is_some();
                            // It may be lost with this reign, and sent to another leader.
                            self.payloads.insert(ticket.0, bytes);
                        }
                        if !is_there {
                            self.proposals.not_appended(ticket, &mut steps);
                        }
                    }
                    Step::Forward { ticket, to, term, number } => {
                        if let Some(payload) = self.payloads.get(&ticket.0) {
                            let payload = payload.clone();
                            let origin = Uuid(self.origin.0);
                            self.links.send(to, &Frame::Forward { term, origin, number, payload });
                        }
                    }
                    Step::Forget { ticket } => {
                        self.payloads.remove(&ticket.0);
                    }
                }
            }
            // What could not be done is not tried again at once.
            steps.retain(|step| matches!(step, Step::Forget { .. }));
        }
        self.carry_out(actions, None);
    }

    /// Puts an entry at the end of the log, as the leader; the others get it, and it is safe, when the round settles. None: it
    /// does not lead, or there is no room.
    pub(super) fn append(&mut self, bytes: &mut [u8], membership: Option<Membership>) -> Option<Index> {
        let log = self.node.log()?;
        let takes_place = entry::takes_place(bytes);
        let seqno = self.leading.as_ref()?.appended_seqno + i64::from(takes_place);
        if self.is_over || !self.raft.takes_entries() || log.throttle().is_err() {
            return None;
        }
        let index = self.raft.append(&[membership]).ok()?;
        entry::place(bytes, Stamp { seqno, term: self.raft.term() });
        match log.append(&[&*bytes]) {
            Ok(at) => assert_eq!(at, index, "the log and the agreement have the same end"),
            Err(error) => {
                // Agreement counts it already: this node cannot go on.
                self.fail(&format!("the log takes nothing any more: {error}"));
                return None;
            }
        }
        if let Some(leading) = &mut self.leading {
            leading.appended_seqno = seqno;
        }
        self.has_unsafe = true;
        Some(index)
    }

    /// A read that must see everything committed anywhere by now.
    pub(super) fn confirm(&mut self, ticket: u64, whose: Option<NodeId>, actions: &mut Vec<Action>) {
        if let Some(round) = self.raft.confirm(actions) {
            self.confirms.push((round, ticket, whose));
            self.carry_out(actions, None);
        } else if whose.is_none() {
            let leader = self.raft.leader();
            if !leader.is_some_and(|leader| self.links.send(leader, &Frame::Confirm { ticket })) {
                self.together.answer(ticket, None);
            }
        } else if let Some(from) = whose {
            self.links.send(from, &Frame::Confirmed { ticket, index: Index(0) });
        }
    }
}
