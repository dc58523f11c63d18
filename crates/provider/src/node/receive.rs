//! The receiving threads: one of them delivers, the others stand by until the end.
//!
//! Whatever must happen on a receiving thread is put into a queue; it is short, for only one node's own doings are in it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::commit::Proposal;
use super::deliver::Delivery;
use super::{Node, lock};
use crate::gate::Passage;
use crate::identity::Gtid;
use crate::server::{Flags, Handle, Level, Receiver, View, ViewStatus};

#[cfg(test)]
mod tests;

/// How often a rollback that found no room in the log asks again.
const ROOM_INTERVAL: Duration = Duration::from_millis(200);

/// So many are delivered before the group's thread looks whether there is room.
const LOOK_EVERY: usize = 256;

/// How long a node that goes waits for the others to know.
const LEAVE_LIMIT: Duration = Duration::from_secs(5);

/// How a receiving thread's stay ended. Whatever it was, the thread goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// The node left its cluster.
    Left,
    /// The server does not need the thread any more.
    NotNeeded,
}

/// Something to deliver.
#[derive(Debug)]
enum Work {
    Begin,
    /// A transaction that was sent in parts is rolled back.
    Rollback {
        trx: u64,
        data: Vec<u8>,
    },
    /// Something that has its place.
    Deliver(Delivery),
    /// The node is cut off from the others.
    OutOfTouch,
    /// Another node wants the tables.
    Donate {
        request: Vec<u8>,
        seqno: i64,
    },
    /// They were sent.
    Donated,
    Leave,
}

#[derive(Debug, Default)]
pub(super) struct Receiving {
    state: Mutex<State>,
    changed: Condvar,
    /// The place that is being applied by the delivering thread.
    pub(super) applies: AtomicI64,
    /// Nothing more is to take its place: somebody has paused the node.
    pub(super) holds: AtomicBool,
    queued: AtomicUsize,
    queued_bytes: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
    is_connected: bool,
    is_delivering: bool,
    threads: usize,
    queue: VecDeque<Work>,
}

impl Receiving {
    /// Something is to be delivered. False: connected already.
    pub(super) fn start(&self) -> bool {
        let mut state = lock(&self.state);
        // Of an earlier connection, which still takes its leave.
        while state.threads > 0 && (!state.is_connected || state.queue.iter().any(|work| matches!(work, Work::Leave))) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_connected {
            return false;
        }
        state.is_connected = true;
        state.queue.push_back(Work::Begin);
        self.changed.notify_all();
        true
    }

    /// Ends it. Where no thread receives, at once.
    pub(super) fn stop(&self) {
        let mut state = lock(&self.state);
        if state.threads == 0 {
            state.is_connected = false;
            state.queue.clear();
        } else if state.is_connected {
            state.queue.push_back(Work::Leave);
        }
        self.changed.notify_all();
    }

    pub(super) fn is_connected(&self) -> bool {
        lock(&self.state).is_connected
    }

    /// Something that has its place is to be delivered.
    pub(super) fn push_delivery(&self, delivery: Delivery) {
        self.queued.fetch_add(1, Ordering::SeqCst);
        self.queued_bytes.fetch_add(delivery.bytes(), Ordering::SeqCst);
        self.push(Work::Deliver(delivery));
    }

    /// What waits to be delivered, the one at hand included.
    pub(super) fn queued(&self) -> usize {
        self.queued.load(Ordering::SeqCst)
    }

    pub(super) fn queued_bytes(&self) -> usize {
        self.queued_bytes.load(Ordering::SeqCst)
    }

    /// What waits to be delivered, of what has its place.
    fn take_deliveries(&self) -> Vec<Delivery> {
        let mut state = lock(&self.state);
        let (deliveries, rest) = std::mem::take(&mut state.queue).into_iter().partition(|work| matches!(work, Work::Deliver(_)));
        state.queue = rest;
        let deliveries: VecDeque<Work> = deliveries;
        deliveries.into_iter().filter_map(|work| if let Work::Deliver(delivery) = work { Some(delivery) } else { None }).collect()
    }

    /// One is delivered. True: whoever waits for room should look.
    pub(super) fn delivered(&self, bytes: usize) -> bool {
        self.queued_bytes.fetch_sub(bytes, Ordering::SeqCst);
        let left = self.queued.fetch_sub(1, Ordering::SeqCst) - 1;
        left == 0 || left.is_multiple_of(LOOK_EVERY)
    }

    pub(super) fn out_of_touch(&self) {
        self.push(Work::OutOfTouch);
    }

    pub(super) fn donate(&self, request: Vec<u8>, seqno: i64) {
        self.push(Work::Donate { request, seqno });
    }

    pub(super) fn donated(&self) {
        self.push(Work::Donated);
    }

    fn push(&self, work: Work) -> bool {
        let mut state = lock(&self.state);
        if state.is_connected {
            state.queue.push_back(work);
            self.changed.notify_all();
        }
        state.is_connected
    }

    /// Waits until it is this thread's to deliver. False: there is nothing to deliver any more.
    fn take_over(&self) -> bool {
        let mut state = lock(&self.state);
        state.threads += 1;
        while state.is_connected && state.is_delivering {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.is_delivering = state.is_connected;
        if !state.is_connected {
            state.threads -= 1;
            self.changed.notify_all();
        }
        state.is_connected
    }

    /// The next thing to deliver. Leave stays in the queue until it is done.
    fn next(&self) -> Work {
        let mut state = lock(&self.state);
        loop {
            match state.queue.front() {
                Some(Work::Leave) => return Work::Leave,
                Some(_) => return state.queue.pop_front().expect("it was there"),
                None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Whether the node takes its leave, waited for at most so long.
    fn leaves_within(&self, limit: Duration) -> bool {
        let leaves = |state: &State| state.queue.iter().any(|work| matches!(work, Work::Leave));
        let state = lock(&self.state);
        let waited = self.changed.wait_timeout_while(state, limit, |state| !leaves(state));
        leaves(&waited.unwrap_or_else(PoisonError::into_inner).0)
    }

    /// This thread goes. `has_left`: so do all others. False: it is the last, and must stay.
    fn go(&self, has_left: bool) -> bool {
        let mut state = lock(&self.state);
        if !has_left && state.threads == 1 {
            return false;
        }
        state.threads -= 1;
        state.is_delivering = false;
        if has_left {
            state.is_connected = false;
            state.queue.clear();
        }
        self.changed.notify_all();
        true
    }
}

/// The thread that delivers. If it ends by a fault of ours another takes its place: somebody must take the node's leave,
/// or the server's shutdown waits for ever.
struct Delivering<'a>(&'a Receiving);

impl Drop for Delivering<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut state = lock(&self.0.state);
            state.threads -= 1;
            state.is_delivering = false;
            self.0.changed.notify_all();
        }
    }
}

impl Node {
    /// A receiving thread. Returns when it is not needed any more, or when the node leaves its cluster.
    pub fn receive(&self, receiver: Receiver) -> Received {
        if !self.receiving.take_over() {
            return Received::Left;
        }
        let _delivering = Delivering(&self.receiving);
        loop {
            let is_needed = match self.receiving.next() {
                Work::Begin => {
                    if !self.bring_up(receiver) {
                        self.fail("the node cannot take its place in the cluster");
                    }
                    true
                }
                Work::Rollback { trx, data } => self.deliver_rollback(receiver, trx, &data),
                Work::Deliver(delivery) => self.deliver_queued(receiver, delivery),
                Work::OutOfTouch => self.deliver_loss(receiver),
                Work::Donate { request, seqno } => self.give_state(receiver, &request, seqno),
                Work::Donated => {
                    if self.gate.passage() != Passage::Failed && self.server.synced().is_err() {
                        self.server.log(Level::Warning, "the server does not take its place again after it gave its state");
                    }
                    true
                }
                Work::Leave => {
                    self.take_leave(receiver);
                    self.receiving.go(true);
                    return Received::Left;
                }
            };
            if !is_needed && self.receiving.go(false) {
                return Received::NotNeeded;
            }
        }
    }

    /// Leaves the cluster. What is ordered is finished first; what comes later is refused.
    pub fn disconnect(&self) {
        self.gate.set(Passage::Closed);
        if let Some(together) = self.together() {
            together.leave_soon();
        }
        self.receiving.stop();
    }

    /// A transaction that was sent in parts is rolled back: on the other nodes, and for its parts here. Does not wait.
    pub fn roll_back(&self, trx: u64, data: Vec<u8>) -> bool {
        self.receiving.push(Work::Rollback { trx, data })
    }

    fn deliver_rollback(&self, receiver: Receiver, trx: u64, data: &[u8]) -> bool {
        let proposal =
            Proposal { flags: Flags::ROLLBACK, trx, conn: u64::MAX, keys: &[], data: &[data], transaction: None };
        if self.send_without_waiting(&proposal) {
            return true;
        }
        let ordered = loop {
            match self.propose(&proposal) {
                Ok(ordered) => break ordered,
                Err(reason) => {
                    // Its parts are in the log. Without room for the end it waits; the view after a leave ends it too.
                    self.not_ordered(&reason);
                    if self.receiving.leaves_within(ROOM_INTERVAL) {
                        return true;
                    }
                }
            }
        };
        if ordered.index.is_some_and(|index| self.make_durable(index).is_err()) {
            return true;
        }
        let handle = Handle { id: trx, address: 0 };
        self.apply(receiver, handle, Flags::ROLLBACK, data, &ordered.meta).unwrap_or_else(|_| {
            self.fail(&format!("the rollback at {} could not be applied", ordered.meta.gtid));
            true
        })
    }

    fn take_leave(&self, receiver: Receiver) {
        // It was opened again if it was told to leave while it was on its way in.
        self.gate.set(Passage::Closed);
        self.receiving.holds.store(true, Ordering::SeqCst);
        if let Some(together) = self.together() {
            together.go(LEAVE_LIMIT);
        }
        *lock(&self.together) = None;
        // What took its place while it went.
        for delivery in self.receiving.take_deliveries() {
            if self.gate.passage() != Passage::Failed {
                self.deliver_queued(receiver, delivery);
            }
        }
        self.gate.set(Passage::Closed);
        self.receiving.holds.store(false, Ordering::SeqCst);
        let last = lock(&self.order).as_ref().map(|super::Ordering { order, .. }| (order.history, order.seqno, order.view_number));
        if let Some((history, seqno, number)) = last {
            if self.gate.passage() != Passage::Failed {
                self.turns.wait_released(seqno, None);
            }
            let state = Gtid { history, seqno };
            let status = ViewStatus::Disconnected;
            let view = View { state, number, status, own_index: -1, members: Vec::new() };
            if self.server.view(receiver, &view).is_err() {
                self.server.log(Level::Warning, "the server refused the view that ends its membership");
            }
        }
    }
}
