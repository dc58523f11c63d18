//! Pending proposals: the threads that wait for a seqno, and the path of a proposal into the log.
//!
//! The leader appends proposals; a follower forwards its own to the leader.

use super::driver::RaftDriver;
use super::flow_control::HeldProposal;
use super::lock;
use crate::consensus::NodeId;
use crate::consensus::proposals::{RequestId, SessionId, Step};
use crate::consensus::raft::{Action, Membership};
use crate::consensus::wire::Frame;
use crate::entry::{self, Stamp};
use crate::identity::Uuid;
use crate::log::Index;
use crate::node::commit::Ordered;
use crate::transaction::Transaction;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Pending proposals of this node, by request id.
#[derive(Debug, Default)]
pub(in crate::node) struct PendingProposals {
    proposals: Mutex<HashMap<u64, PendingProposal>>,
    /// Read and set under the lock of `proposals`.
    is_closed: AtomicBool,
}

/// A proposal that a thread waits for.
#[derive(Debug)]
pub(in crate::node) struct PendingProposal {
    /// The member ID of its write set.
    pub source: Uuid,
    /// The transaction that may be aborted meanwhile.
    pub transaction: Option<Arc<Transaction>>,
    /// Where the result goes.
    pub slot: Arc<AnswerSlot>,
}

/// The result of a proposal.
#[derive(Debug, Default)]
pub(in crate::node) struct AnswerSlot {
    /// Some(None): the outcome is unknown, or the proposal was not ordered.
    answer: Mutex<Option<Option<Ordered>>>,
    changed: Condvar,
}

impl AnswerSlot {
    /// Waits for the result. None: no known seqno.
    pub fn wait(&self) -> Option<Ordered> {
        let mut answer = lock(&self.answer);
        loop {
            if let Some(answer) = *answer {
                return answer;
            }
            answer = self.changed.wait(answer).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub fn set(&self, ordered: Option<Ordered>) {
        *lock(&self.answer) = Some(ordered);
        self.changed.notify_one();
    }
}

impl PendingProposals {
    /// Adds a pending proposal; after [`PendingProposals::close`] it fails at once.
    pub fn add(&self, request_id: u64, pending: PendingProposal) {
        let mut proposals = lock(&self.proposals);
        if self.is_closed.load(Ordering::SeqCst) {
            pending.slot.set(None);
        } else {
            proposals.insert(request_id, pending);
        }
    }

    /// No proposal succeeds any more.
    pub fn close(&self) {
        {
            let _proposals = lock(&self.proposals);
            self.is_closed.store(true, Ordering::SeqCst);
        }
        self.refuse_all();
    }

    /// A proposal is ordered. None: no thread waits for it, or it is another node's.
    pub fn take(&self, source: Uuid, request_id: u64) -> Option<PendingProposal> {
        let mut proposals = lock(&self.proposals);
        let is_own = proposals.get(&request_id).is_some_and(|pending| pending.source == source);
        if is_own { proposals.remove(&request_id) } else { None }
    }

    /// The outcome of all pending proposals is unknown: their threads return.
    pub fn refuse_all(&self) {
        let proposals = std::mem::take(&mut *lock(&self.proposals));
        proposals.values().for_each(|pending| pending.slot.set(None));
    }

    /// The proposal is refused.
    pub fn refuse(&self, request_id: u64) {
        if let Some(pending) = lock(&self.proposals).remove(&request_id) {
            pending.slot.set(None);
        }
    }

    /// Whether a pending transaction blocks the applying, and yields once it is ordered.
    pub fn has_victim(&self) -> bool {
        let is_victim = |pending: &PendingProposal| {
            pending.transaction.as_ref().is_some_and(|transaction| transaction.is_aborted())
        };
        lock(&self.proposals).values().any(is_victim)
    }

    /// Number of pending proposals.
    pub fn len(&self) -> usize {
        lock(&self.proposals).len()
    }
}

impl RaftDriver {
    pub(super) fn propose_own(&mut self, held: HeldProposal, steps: &mut Vec<Step>) {
        let HeldProposal::Own { request_id, bytes } = held else { return };
        self.payloads.insert(request_id, bytes);
        if self.proposals.submit(RequestId(request_id), steps).is_err() {
            self.payloads.remove(&request_id);
            self.cluster.pending_proposals.refuse(request_id);
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
                let can_append = self.leader_duties.is_some() && self.raft.can_append();
                if can_append && self.proposals.accept_forward(SessionId(session.0), term, number) {
                    self.append(&mut payload, None);
                }
            }
        }
    }

    pub(super) fn tick_proposals(&mut self, actions: &mut Vec<Action>) {
        let mut steps = Vec::new();
        self.proposals.tick(self.now_ms(), &mut steps);
        self.run_steps(steps, actions);
    }

    /// Runs the steps of [`Proposals`](crate::consensus::proposals::Proposals), and the actions that follow.
    pub(super) fn run_steps(&mut self, mut steps: Vec<Step>, actions: &mut Vec<Action>) {
        while !steps.is_empty() {
            for step in std::mem::take(&mut steps) {
                match step {
                    Step::Append { request_id, term } => {
                        let mut is_there = false;
                        if let Some(mut bytes) = self.payloads.remove(&request_id.0) {
                            is_there = self.raft.term() == term && self.append(&mut bytes, None).is_some();
                            // The entry may be lost with this leader, and sent to another one.
                            self.payloads.insert(request_id.0, bytes);
                        }
                        if !is_there {
                            self.proposals.on_not_appended(request_id, &mut steps);
                        }
                    }
                    Step::Forward { request_id, to, term, number } => {
                        if let Some(payload) = self.payloads.get(&request_id.0) {
                            let payload = payload.clone();
                            let session = Uuid(self.session.0);
                            self.links.send(to, &Frame::Forward { term, session, number, payload });
                        }
                    }
                    Step::Discard { request_id } => {
                        self.payloads.remove(&request_id.0);
                    }
                }
            }
            // A failed step is not retried at once.
            steps.retain(|step| matches!(step, Step::Discard { .. }));
        }
        self.run_actions(actions, None);
    }

    /// Appends an entry as leader; it is sent and synced at the end of the round. None: this node is not the leader, or
    /// the log has no room.
    pub(super) fn append(&mut self, bytes: &mut [u8], membership: Option<Membership>) -> Option<Index> {
        let log = self.node.log()?;
        let takes_seqno = entry::takes_seqno(bytes);
        let seqno = self.leader_duties.as_ref()?.appended_seqno + i64::from(takes_seqno);
        if self.is_stopped || !self.raft.can_append() || log.throttle().is_err() {
            return None;
        }
        let index = self.raft.append(&[membership]).ok()?;
        entry::set_stamp(bytes, Stamp { seqno, term: self.raft.term() });
        match log.append(&[&*bytes]) {
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
        self.has_unsynced = true;
        Some(index)
    }

    /// A linearizable read, of this node or another one.
    pub(super) fn on_read_index(&mut self, request_id: u64, asking_node: Option<NodeId>, actions: &mut Vec<Action>) {
        if let Some(round) = self.raft.read_index(actions) {
            self.pending_reads.push((round, request_id, asking_node));
            self.run_actions(actions, None);
        } else if asking_node.is_none() {
            let leader = self.raft.leader();
            if !leader.is_some_and(|leader| self.links.send(leader, &Frame::ReadIndex { request_id })) {
                self.cluster.answer_read_index(request_id, None);
            }
        } else if let Some(from) = asking_node {
            self.links.send(from, &Frame::ReadIndexReady { request_id, index: Index(0) });
        }
    }
}
