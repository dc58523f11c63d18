//! Standing still for a global read lock or a backup, and waiting for what was written before.

use std::sync::atomic::Ordering as Atomic;
use std::time::{Duration, Instant};

use super::together::Command;
use super::{Node, Ordering, lock};
use crate::gate::Passage;
use crate::identity::Gtid;

/// Without a leader a read asks again after this long.
const ASK_AGAIN: Duration = Duration::from_millis(50);

impl Node {
    /// Lets nothing more into the order, waits until what is in it is done, and says where that is. None: there is
    /// nothing to pause.
    pub fn pause(&self) -> Option<i64> {
        let mut seqno = {
            let order = lock(&self.order);
            let seqno = order.as_ref()?.order.seqno;
            if !self.gate.change(Passage::Open, Passage::Paused) {
                return None;
            }
            self.receiving.drains.store(true, Atomic::SeqCst);
            self.receiving.holds.store(true, Atomic::SeqCst);
            seqno
        };
        loop {
            let is_done = self.turns.wait_released(seqno, None);
            // What stands in the way of that may have had to take its place first.
            let order = lock(&self.order);
            let reached = order.as_ref().map_or(seqno, |ordering| ordering.order.seqno);
            if !is_done || reached == seqno {
                self.receiving.drains.store(false, Atomic::SeqCst);
                return is_done.then_some(seqno);
            }
            seqno = reached;
        }
    }

    /// Goes on.
    pub fn resume(&self) {
        self.receiving.holds.store(false, Atomic::SeqCst);
        self.gate.change(Passage::Paused, Passage::Open);
        if let Some(together) = self.together() {
            together.ask(Command::Look);
        }
    }

    /// The node may fall behind. Nests.
    pub fn desync(&self) {
        self.counters.desync_count.add(1);
    }

    /// One desync less. False: there is none.
    pub fn resync(&self) -> bool {
        self.counters.desync_count.take_one()
    }

    /// Asks the leader, and again while nobody leads.
    fn ask_how_far(&self, until: Option<Instant>) -> Option<i64> {
        let together = self.together()?;
        loop {
            if let Some(seqno) = together.confirm(until) {
                return Some(seqno);
            }
            let is_over = until.is_some_and(|until| until <= Instant::now());
            if is_over || !matches!(self.gate.passage(), Passage::Open | Passage::Paused) {
                return None;
            }
            std::thread::sleep(ASK_AGAIN);
        }
    }

    /// Waits until everything up to `upto` (None: everything ordered by now) can be read here. None: it took too long,
    /// or the place is of another history.
    pub fn sync_wait(&self, upto: Option<Gtid>, limit: Option<Duration>) -> Option<Gtid> {
        let limit = limit.unwrap_or_else(|| lock(&self.options).causal_read_timeout());
        let until = Instant::now().checked_add(limit);
        let (history, is_alone, last) =
            lock(&self.order).as_ref().map(|Ordering { order, is_alone }| (order.history, *is_alone, order.seqno))?;
        let seqno = match upto {
            None if is_alone => last,
            None => self.ask_how_far(until)?,
            Some(upto) if upto.history == history => upto.seqno,
            Some(_) => return None,
        };
        self.turns.wait_released(seqno, until).then(|| Gtid { history, seqno: self.turns.released() })
    }
}
