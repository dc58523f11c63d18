//! What the receiving threads do with what they take from the queue.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::commit::Proposal;
use super::recv_queue::Work;
use super::{Node, lock};
use crate::gate::GateState;
use crate::identity::Gtid;
use crate::server::{Flags, Handle, Level, Receiver, View, ViewStatus};

/// How often a rollback that found no room in the log asks again.
const ROOM_INTERVAL: Duration = Duration::from_millis(200);

/// How long a node that goes waits for the others to know.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(10);

/// How a receiving thread's stay ended. Whatever it was, the thread goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// The node left its cluster.
    Left,
    /// The server does not need the thread any more.
    NotNeeded,
}

impl Node {
    /// A receiving thread. Returns when it is not needed any more, or when the node leaves its cluster.
    pub fn receive(&self, receiver: Receiver) -> Received {
        self.recv_queue.add_thread();
        while let Some((work, guard)) = self.recv_queue.next() {
            let is_needed = match work {
                Work::Begin => {
                    if !self.start_up(receiver) {
                        self.fail("the node cannot take its place in the cluster");
                    }
                    true
                }
                Work::Rollback { trx, data } => self.deliver_rollback(receiver, trx, &data),
                Work::Deliver(delivery) => self.deliver_queued(receiver, delivery),
                Work::NonPrimary => self.deliver_non_primary_view(receiver),
                Work::Donate { request, seqno } => self.donate_state(receiver, &request, seqno),
                Work::Donated => self.rejoin_after_donation(),
                Work::Leave => {
                    self.leave_cluster(receiver);
                    drop(guard);
                    self.recv_queue.remove_thread(true);
                    return Received::Left;
                }
            };
            drop(guard);
            if !is_needed && self.recv_queue.remove_thread(false) {
                return Received::NotNeeded;
            }
        }
        Received::Left
    }

    /// Leaves the cluster. What is ordered is finished first; what comes later is refused.
    pub fn disconnect(&self) {
        self.gate.set(GateState::Closed);
        if let Some(cluster) = self.cluster() {
            cluster.start_leaving();
        }
        self.inconsistency.close();
        self.recv_queue.disconnect();
        if !self.recv_queue.is_connected() {
            // Nobody receives who could take its leave.
            self.close_cluster();
        }
    }

    /// The road to the others ends, in order as far as they can be reached.
    pub(super) fn close_cluster(&self) {
        let cluster = lock(&self.cluster).take();
        if let Some(cluster) = cluster {
            cluster.leave_and_stop(LEAVE_TIMEOUT);
        }
    }

    /// A transaction that was sent in parts is rolled back: on the other nodes, and for its parts here. Does not wait.
    pub fn roll_back(&self, trx: u64, data: Vec<u8>) -> bool {
        // Among others it is on its way when the client has its answer: who then asks elsewhere finds it done.
        self.send_without_waiting(&rollback(trx, &[&data])) || self.recv_queue.push(Work::Rollback { trx, data })
    }

    fn deliver_rollback(&self, receiver: Receiver, trx: u64, data: &[u8]) -> bool {
        let parts = [data];
        let proposal = rollback(trx, &parts);
        let ordered = loop {
            if self.send_without_waiting(&proposal) {
                return true;
            }
            match self.propose(&proposal) {
                Ok(ordered) => break ordered,
                Err(reason) => {
                    // Its parts are in the log. Without room for the end it waits; the view after a leave ends it too.
                    self.report_not_ordered(&reason);
                    if self.recv_queue.wait_for_leave(ROOM_INTERVAL) {
                        return true;
                    }
                }
            }
        };
        if ordered.index.is_some_and(|index| self.flush_log(index).is_err()) {
            return true;
        }
        let handle = Handle { id: trx, address: 0 };
        self.apply(receiver, handle, Flags::ROLLBACK, data, &ordered.meta).unwrap_or_else(|_| {
            self.fail_and_leave(&format!("the rollback at {} could not be applied", ordered.meta.gtid));
            true
        })
    }

    fn leave_cluster(&self, receiver: Receiver) {
        // It was opened again if it was told to leave while it was on its way in.
        self.gate.set(GateState::Closed);
        let has_failed = self.gate.state() == GateState::Failed;
        if has_failed {
            // Nobody may read there while it gives its vote back.
            self.deliver_disconnected_view(receiver);
        }
        // What takes its place at a node that has failed is not delivered, and need not be held.
        self.recv_queue.is_held.store(!has_failed, Ordering::SeqCst);
        self.close_cluster();
        // What took its place while it went.
        for delivery in self.recv_queue.take_deliveries() {
            if self.gate.state() != GateState::Failed {
                self.deliver_queued(receiver, delivery);
            }
        }
        self.gate.set(GateState::Closed);
        self.recv_queue.is_held.store(false, Ordering::SeqCst);
        if !has_failed {
            self.deliver_disconnected_view(receiver);
        }
    }

    /// Tells the server that it has no cluster any more.
    fn deliver_disconnected_view(&self, receiver: Receiver) {
        let last = lock(&self.order)
            .as_ref()
            .map(|super::OrderState { order, .. }| (order.history_uuid, order.seqno, order.view_number));
        if let Some((history_uuid, seqno, number)) = last {
            if self.gate.state() != GateState::Failed {
                self.commit_monitor.wait_released(seqno, None);
            }
            let state = Gtid { history_uuid, seqno };
            let status = ViewStatus::Disconnected;
            let view = View { state, number, status, own_index: -1, members: Vec::new() };
            if self.server.view(receiver, &view).is_err() {
                self.server.log(Level::Warning, "the server refused the view that ends its membership");
            }
        }
    }
}

fn rollback<'a>(trx: u64, data: &'a [&'a [u8]]) -> Proposal<'a> {
    Proposal { flags: Flags::ROLLBACK, trx, conn: u64::MAX, keys: &[], data, transaction: None }
}
