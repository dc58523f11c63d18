//! The path of a proposal into the log.
//!
//! The leader appends proposals; a follower forwards its own to the leader. Each is ordered once, or known to be lost:
//! [`Proposals`] decides that.

use std::collections::HashMap;

use super::Replica;
use super::flow_control::HeldProposal;
use super::host::Host;
use crate::consensus::proposals::{Proposals, RequestId, SessionId, Step};
use crate::consensus::raft::{Action, Membership};
use crate::consensus::wire::Frame;
use crate::entry::{self, Stamp};
use crate::identity::Uuid;
use crate::log::Index;

/// The proposals of this node, and the forwards that it has accepted as leader.
pub(super) struct OwnProposals {
    pub proposals: Proposals,
    pub session: SessionId,
    /// Payloads of own proposals with an open outcome.
    pub payloads: HashMap<u64, Vec<u8>>,
    /// Member IDs of this node since the replica started.
    pub member_ids: Vec<Uuid>,
}

impl OwnProposals {
    pub fn new(session: SessionId, member_id: Uuid) -> Self {
        Self { proposals: Proposals::new(), session, payloads: HashMap::new(), member_ids: vec![member_id] }
    }
}

impl<H: Host> Replica<H> {
    pub(super) fn propose_own(&mut self, held: HeldProposal, steps: &mut Vec<Step>) {
        let HeldProposal::Own { request_id, bytes } = held else { return };
        self.own.payloads.insert(request_id, bytes);
        if self.own.proposals.submit(RequestId(request_id), steps).is_err() {
            self.own.payloads.remove(&request_id);
            self.host.refuse_proposal(request_id);
        }
    }

    /// The outcome of all own proposals is unknown, and stays so.
    pub(super) fn forget_proposals(&mut self) {
        for (request_id, _) in self.own.payloads.drain() {
            self.host.refuse_proposal(request_id);
        }
    }

    /// Proposes what was held back.
    pub(super) fn release_held(&mut self, held: HeldProposal, actions: &mut Vec<Action>) {
        match held {
            HeldProposal::Own { .. } => {
                let mut steps = Vec::new();
                self.propose_own(held, &mut steps);
                self.run_steps(steps, actions);
            }
            HeldProposal::Forward { term, session, number, mut payload } => {
                // An accepted forward is not accepted again: it must be appended.
                if self.can_append() && self.own.proposals.accept_forward(SessionId(session.0), term, number) {
                    self.append(&mut payload, None);
                }
            }
        }
    }

    pub(super) fn tick_proposals(&mut self, actions: &mut Vec<Action>) {
        let mut steps = Vec::new();
        self.own.proposals.tick(self.now_ms(), &mut steps);
        self.run_steps(steps, actions);
    }

    /// Runs the steps of [`Proposals`](crate::consensus::proposals::Proposals), and the actions that follow.
    pub(super) fn run_steps(&mut self, mut steps: Vec<Step>, actions: &mut Vec<Action>) {
        while !steps.is_empty() {
            for step in std::mem::take(&mut steps) {
                match step {
                    Step::Append { request_id, term } => {
                        let mut is_there = false;
                        if let Some(mut bytes) = self.own.payloads.remove(&request_id.0) {
                            is_there = self.raft.term() == term && self.append(&mut bytes, None).is_some();
                            // The entry may be lost with this leader, and sent to another one.
                            self.own.payloads.insert(request_id.0, bytes);
                        }
                        if !is_there {
                            self.own.proposals.on_not_appended(request_id, &mut steps);
                        }
                    }
                    Step::Forward { request_id, to, term, number } => {
                        if let Some(payload) = self.own.payloads.get(&request_id.0) {
                            let payload = payload.clone();
                            let session = Uuid(self.own.session.0);
                            self.host.send(to, &Frame::Forward { term, session, number, payload });
                        }
                    }
                    Step::Discard { request_id } => {
                        self.own.payloads.remove(&request_id.0);
                        self.host.refuse_proposal(request_id.0);
                    }
                }
            }
            // A failed step is not retried at once.
            steps.retain(|step| matches!(step, Step::Discard { .. }));
        }
        self.run_actions(actions, None);
    }

    /// Whether this node is the leader, and its log takes another entry.
    fn can_append(&self) -> bool {
        let is_leader = self.leader_duties.is_some() && self.raft.can_append();
        is_leader && !self.round.is_stopped && self.host.has_log() && self.host.throttle().is_ok()
    }

    /// Appends an entry as leader; it is sent and synced at the end of the round. None: this node is not the leader, or
    /// the log has no room.
    pub(super) fn append(&mut self, bytes: &mut [u8], membership: Option<Membership>) -> Option<Index> {
        let takes_seqno = entry::takes_seqno(bytes);
        let leader_duties = self.leader_duties.as_ref()?;
        let (seqno, protocol) =
            (leader_duties.appended_seqno + i64::from(takes_seqno), leader_duties.appended_protocol);
        if !self.can_append() {
            return None;
        }
        let mut actions = Vec::new();
        let index = self.raft.append(&[membership], &mut actions).ok()?;
        self.run_actions(&mut actions, None);
        if self.round.is_stopped {
            return None;
        }
        entry::set_stamp(bytes, Stamp { seqno, term: self.raft.term(), protocol });
        match self.host.append(bytes) {
            Ok(at) => assert_eq!(at, index, "the log and Raft have the same last index"),
            Err(error) => {
                // Raft counts the entry already: this node cannot continue.
                self.fail(&format!("the log cannot be appended to: {error}"));
                return None;
            }
        }
        if let Some(leader_duties) = &mut self.leader_duties {
            leader_duties.appended_seqno = seqno;
        }
        self.round.has_unsynced = true;
        Some(index)
    }
}
