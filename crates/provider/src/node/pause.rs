//! Pauses the node for a global read lock or a backup, and waits for causal reads.

use std::sync::MutexGuard;
use std::sync::atomic::Ordering as Atomic;
use std::time::{Duration, Instant};

use super::cluster::Command;
use super::{Node, OrderState, lock};
use crate::gate::GateState;
use crate::identity::Gtid;

/// A read without a leader retries at this interval.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

impl Node {
    /// Stops ordering, waits until everything ordered is applied, and returns its seqno. This never fails: the server takes a
    /// failed pause for done, gives its global read lock, and its own count of pauses is wrong for good after the resume. A
    /// node without a quorum, or not connected, is paused too, and comes back when the pause has ended. A failed node applies
    /// nothing any more.
    pub fn pause(&self) -> i64 {
        let reached = |order: &Option<OrderState>| order.as_ref().map_or(0, |order_state| order_state.order.seqno);
        let mut seqno = {
            let order = lock(&self.order);
            self.gate.pause();
            self.recv_queue.is_draining.store(true, Atomic::SeqCst);
            self.recv_queue.is_held.store(true, Atomic::SeqCst);
            reached(&order)
        };
        loop {
            let is_done = self.commit_monitor.wait_released(seqno, None);
            // A transaction that blocks the applying may have had to be ordered first.
            let order = lock(&self.order);
            if !is_done || reached(&order) == seqno {
                self.recv_queue.is_draining.store(false, Atomic::SeqCst);
                return if is_done { seqno } else { self.commit_monitor.last_released().max(0) };
            }
            seqno = reached(&order);
        }
    }

    /// The order of a single node that starts, and applies its log, outside of a pause: nobody else holds that back.
    pub(super) fn order_of_start(&self) -> MutexGuard<'_, Option<OrderState>> {
        loop {
            let order = lock(&self.order);
            // A pause begins under the lock.
            if !self.recv_queue.holds_start() {
                return order;
            }
            drop(order);
            self.recv_queue.wait_while_start_is_held();
        }
    }

    /// Ends the pause.
    pub fn resume(&self) {
        let mut order_state = lock(&self.order);
        self.recv_queue.hold(false);
        self.gate.resume();
        // Under the lock: no write set comes in between.
        let ordered = self.try_held_rollbacks(order_state.as_mut());
        drop(order_state);
        if let Err(reason) = ordered {
            self.report_not_ordered(&reason);
        }
        if let Some(cluster) = self.cluster() {
            cluster.send(Command::Recheck);
        }
    }

    /// The node may fall behind. Nests.
    pub fn desync(&self) {
        self.counters.desync_count.add(1);
        self.log_desync(true);
    }

    /// Ends one desync; there is none any more if the node has lost the quorum meanwhile.
    pub fn resync(&self) {
        self.counters.desync_count.decrement();
        self.log_desync(false);
    }

    /// Asks the leader, and retries while there is none.
    fn read_index_from_leader(&self, until: Option<Instant>) -> Option<i64> {
        let cluster = self.cluster()?;
        loop {
            if let Some(seqno) = cluster.read_index(until) {
                return Some(seqno);
            }
            let is_over = until.is_some_and(|until| until <= Instant::now());
            if is_over || !matches!(self.gate.state(), GateState::Open | GateState::Paused) {
                return None;
            }
            std::thread::sleep(RETRY_INTERVAL);
        }
    }

    /// Waits until everything up to `upto` (None: everything ordered until now) is visible here. None: the timeout has
    /// passed, or `upto` belongs to another history.
    pub fn sync_wait(&self, upto: Option<Gtid>, limit: Option<Duration>) -> Option<Gtid> {
        self.counters.causal_reads.add(i64::from(upto.is_none()));
        let limit = limit.unwrap_or_else(|| lock(&self.options).causal_read_timeout());
        let until = Instant::now().checked_add(limit);
        let (history_uuid, is_single_node, last) = lock(&self.order)
            .as_ref()
            .map(|OrderState { order, is_single_node, .. }| (order.history_uuid, *is_single_node, order.seqno))?;
        let seqno = match upto {
            None if is_single_node => last,
            None => self.read_index_from_leader(until)?,
            Some(upto) if upto.history_uuid == history_uuid => upto.seqno,
            Some(_) => return None,
        };
        self.commit_monitor
            .wait_released(seqno, until)
            .then(|| Gtid { history_uuid, seqno: self.commit_monitor.last_released() })
    }
}
