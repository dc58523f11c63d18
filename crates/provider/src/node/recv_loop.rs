//! The loop of a receiving thread.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::recv_queue::Work;
use super::{Node, lock};
use crate::gate::GateState;
use crate::identity::Gtid;
use crate::node_state::StateEvent;
use crate::server::{Level, Receiver, View, ViewStatus};

/// How long a leaving node waits for the others.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Why a receiving thread ended. It exits in each case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// The node has left its cluster.
    Left,
    /// The server does not need the thread any more.
    NotNeeded,
}

impl Node {
    /// Runs a receiving thread, until it is not needed any more or the node leaves its cluster.
    pub fn receive(&self, receiver: Receiver) -> Received {
        self.recv_queue.add_thread();
        while let Some((work, guard)) = self.recv_queue.next() {
            let is_needed = match work {
                Work::Begin => {
                    if !self.start_up(receiver) {
                        self.fail("the node cannot join the cluster");
                    }
                    true
                }
                Work::Rollback { trx, data, ordered } => self.deliver_rollback(receiver, trx, &data, &ordered),
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

    /// Leaves the cluster. What is ordered is applied first; later calls are refused.
    pub fn disconnect(&self) {
        self.shift(StateEvent::Left);
        if let Some(cluster) = self.cluster() {
            cluster.start_leaving();
        }
        self.inconsistency.close();
        self.recv_queue.disconnect();
        if !self.recv_queue.is_connected() {
            // No receiving thread is there that could do it.
            self.close_cluster();
        }
    }

    /// Closes the connection to the cluster, in order as far as the other nodes are reachable.
    pub(super) fn close_cluster(&self) {
        let cluster = lock(&self.cluster).take();
        if let Some(cluster) = cluster {
            cluster.leave_and_stop(LEAVE_TIMEOUT);
        }
    }

    fn leave_cluster(&self, receiver: Receiver) {
        let has_failed = self.gate.state() == GateState::Failed;
        if has_failed {
            // No client may read here while the node gives up its vote.
            self.deliver_disconnected_view(receiver);
        }
        // A failed node delivers nothing, so nothing need be held back.
        self.recv_queue.is_held.store(!has_failed, Ordering::SeqCst);
        self.close_cluster();
        // Entries that were ordered while the node left; the gate is closed, and who orders under the lock has queued it.
        drop(lock(&self.order));
        for work in self.recv_queue.take_ordered() {
            match work {
                _ if self.gate.state() == GateState::Failed => {}
                Work::Deliver(delivery) => drop(self.deliver_queued(receiver, delivery)),
                Work::Rollback { trx, data, ordered } => drop(self.deliver_rollback(receiver, trx, &data, &ordered)),
                _ => {}
            }
        }
        // A global read lock holds back what the next connection orders, too. The server does not end its desync behind a leave.
        let order = lock(&self.order);
        self.recv_queue.hold(self.gate.is_paused());
        self.counters.desync_count.reset();
        drop(order);
        if !has_failed {
            self.deliver_disconnected_view(receiver);
        }
    }

    /// Tells the server that the node has no cluster any more.
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
                self.server.log(Level::Warning, "the server refused the disconnected view");
            }
        }
    }
}
