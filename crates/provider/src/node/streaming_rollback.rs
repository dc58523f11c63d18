//! The rollback of a streaming transaction: it removes the fragments on every node, and is ordered before whatever writes the
//! same rows next.
//!
//! The server calls for it while the transaction still has its locks, and waits for no outcome. In a cluster it is proposed at once.
//! A single node orders it at once and queues it for a receiving thread, in the order of the seqnos: that thread waits for
//! everything before it. What cannot be ordered yet (the node is paused, the log is full) is held back, and nothing else is
//! ordered before it; the Raft driver tries again in each of its rounds.

use std::sync::atomic::Ordering as Atomic;

use super::commit::{NotOrdered, Ordered, Proposal};
use super::recv_queue::Work;
use super::{Node, OrderState, lock};
use crate::entry::{self, WriteSetHead};
use crate::galera_lines::KnownMessage;
use crate::gate::GateState;
use crate::identity::Uuid;
use crate::server::{Flags, Handle, Receiver};

/// A rollback that is not ordered yet.
#[derive(Debug)]
pub(super) struct HeldRollback {
    trx: u64,
    data: Vec<u8>,
    /// Lower than those of what follows: proposals are sent in this order.
    request_id: u64,
    /// With its member ID, the transaction ends by itself.
    member: Uuid,
}

/// No client waits for it, and it needs no key: what it removes belongs to its own transaction.
fn rollback<'a>(trx: u64, data: &'a [&'a [u8]]) -> Proposal<'a> {
    Proposal { flags: Flags::ROLLBACK, trx, conn: u64::MAX, keys: &[], data, transaction: None }
}

impl Node {
    /// Rolls back a streaming transaction: on the other nodes, and its fragments here. False: the node has left.
    pub fn roll_back(&self, trx: u64, data: &[u8]) -> bool {
        if self.send_without_waiting(&rollback(trx, &[data])) {
            return true;
        }
        let mut order_state = lock(&self.order);
        let is_held = self.hold_rollback(order_state.as_mut(), trx, data);
        let ordered = self.try_held_rollbacks(order_state.as_mut());
        drop(order_state);
        if let Err(reason) = ordered {
            self.report_not_ordered(&reason);
        }
        is_held || self.recv_queue.is_connected()
    }

    /// As [`Self::roll_back`], for a caller that has locks of the server: it waits for the order's lock only, and the Raft driver
    /// orders the rollback.
    pub(super) fn roll_back_soon(&self, trx: u64) {
        if !self.send_without_waiting(&rollback(trx, &[])) {
            self.hold_rollback(lock(&self.order).as_mut(), trx, &[]);
        }
    }

    /// False: the node takes no part, so the transaction's member ID has ended, or ends with the next view.
    fn hold_rollback(&self, order_state: Option<&mut OrderState>, trx: u64, data: &[u8]) -> bool {
        let takes_part = matches!(self.gate.state(), GateState::Open | GateState::Paused);
        let Some(OrderState { order, held_rollbacks, .. }) = order_state.filter(|_| takes_part) else { return false };
        let (data, request_id, member) = (data.to_vec(), self.new_request_id(), order.member);
        held_rollbacks.push_back(HeldRollback { trx, data, request_id, member });
        self.has_held_rollbacks.store(true, Atomic::Release);
        true
    }

    /// Orders what was held back, if there is anything, and it can be ordered. Of the Raft driver.
    pub(super) fn retry_held_rollbacks(&self) {
        if self.has_held_rollbacks.load(Atomic::Acquire) {
            let ordered = self.try_held_rollbacks(lock(&self.order).as_mut());
            if let Err(reason) = ordered {
                self.report_not_ordered(&reason);
            }
        }
    }

    /// Orders what was held back, if the gate allows it: a pause lets rollbacks pass in a cluster.
    pub(super) fn try_held_rollbacks(&self, order_state: Option<&mut OrderState>) -> Result<(), NotOrdered> {
        let passes = |is_single_node: bool| match self.gate.state() {
            GateState::Open => true,
            GateState::Paused => !is_single_node,
            GateState::Closed | GateState::Failed => false,
        };
        match order_state.filter(|order_state| passes(order_state.is_single_node)) {
            Some(order_state) => self.order_held_rollbacks(order_state),
            None => Ok(()),
        }
    }

    /// Orders what was held back; the gate lets it pass. An error: some are still held back.
    pub(super) fn order_held_rollbacks(&self, order_state: &mut OrderState) -> Result<(), NotOrdered> {
        let OrderState { order, is_single_node, held_rollbacks } = order_state;
        // Nearly always: each write set asks.
        if held_rollbacks.is_empty() {
            return Ok(());
        }
        while let Some(held) = held_rollbacks.front() {
            if held.member == order.member {
                let parts: [&[u8]; 1] = [&held.data];
                let proposal = rollback(held.trx, &parts);
                if *is_single_node {
                    let ordered = self.order_rollback(order, &proposal)?;
                    // Under the order's lock: whoever closes the gate finds it in the queue.
                    self.recv_queue.push(Work::Rollback { trx: held.trx, data: held.data.clone(), ordered });
                } else {
                    self.send_proposal(&proposal, held.member, held.request_id);
                }
            }
            held_rollbacks.pop_front();
        }
        self.has_held_rollbacks.store(false, Atomic::Release);
        Ok(())
    }

    /// On a single node. Its entry is not synced yet.
    fn order_rollback(&self, order: &mut super::TotalOrder, proposal: &Proposal<'_>) -> Result<Ordered, NotOrdered> {
        let Proposal { flags, trx, conn, keys, data, .. } = *proposal;
        let log = self.log().ok_or(NotOrdered::Refused)?;
        let (last_seen, source) = (self.commit_monitor.last_left(), order.member);
        let head = WriteSetHead { flags, source, trx, conn, last_seen, request_id: 0 };
        let mut bytes = entry::encode_write_set(&head, keys, data.iter().map(|part| part.len()).sum());
        self.append_as_single_node(order, &log, proposal, &head, &mut bytes)
    }

    /// Applies the rollback of a single node. Returns whether the thread is still needed.
    pub(super) fn deliver_rollback(&self, receiver: Receiver, trx: u64, data: &[u8], ordered: &Ordered) -> bool {
        let has_failed = self.gate.state() == GateState::Failed;
        if has_failed || ordered.index.is_some_and(|index| self.flush_log(index).is_err()) {
            return true;
        }
        let handle = Handle { id: trx, address: 0 };
        self.apply(receiver, handle, Flags::ROLLBACK, data, &ordered.meta).unwrap_or_else(|_| {
            let gtid = ordered.meta.gtid;
            let text = format!("the rollback at {gtid} could not be applied");
            self.fail_and_leave(&KnownMessage::Inconsistent(gtid), &text);
            true
        })
    }
}
