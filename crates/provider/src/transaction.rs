//! A transaction of this node: what it has collected, and where it stands on its way through the order.
//!
//! Its client's thread moves it along; a brute-force abort may come from any other at any time and finds it in some
//! [`Phase`]. The lock of the standing is held for moments, and only the turns' may be taken under it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::server::Flags;
use crate::write_set::WriteSet;

/// A transaction of this node that has something to order.
#[derive(Debug)]
pub struct Transaction {
    /// The server's number for it.
    pub id: u64,
    collected: Mutex<WriteSet>,
    state: Mutex<TransactionState>,
    /// A brute-force abort was granted, and the owner has not been told yet.
    aborted: AtomicBool,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Its statements run.
    Collecting,
    /// Its client asked for its place in the order, which it has not got yet.
    Certifying,
    /// It has a place and passed; it has not committed.
    Ordered,
    /// It has a place and goes through the commit order, whatever comes: it is being committed, rolled back or replayed.
    Committing,
}

/// Where it stands.
#[derive(Clone, Copy, Debug)]
pub struct TransactionState {
    /// How far it is.
    pub phase: Phase,
    /// Its place, or that of its last part; -1: none.
    pub seqno: i64,
    /// Flags of what was ordered last.
    pub flags: Flags,
    /// Whether that passed certification, and was not aborted since.
    pub passed: bool,
}

/// What a brute-force abort comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbortAnswer {
    /// It will give way. Its place, or -1.
    Granted(i64),
    /// It stands before the one that asks, or is past it, or gives way already.
    Refused(i64),
}

impl Transaction {
    /// A transaction that has nothing yet.
    pub fn new(id: u64) -> Self {
        Self {
            id,
            collected: Mutex::default(),
            state: Mutex::new(TransactionState { phase: Phase::Collecting, seqno: -1, flags: Flags(0), passed: false }),
            aborted: AtomicBool::new(false),
        }
    }

    /// What it has collected. Its own client's thread only.
    pub fn collected(&self) -> MutexGuard<'_, WriteSet> {
        self.collected.lock().expect(POISON)
    }

    /// Where it stands now.
    pub fn state(&self) -> TransactionState {
        *self.lock()
    }

    /// Its client asks for its place. False: it has one, and is not done with it.
    pub fn begin_certification(&self) -> bool {
        let mut state = self.lock();
        let may = state.phase == Phase::Collecting;
        if may {
            state.phase = Phase::Certifying;
        }
        may
    }

    /// It has its place, and whether it passed. Answers whether it was aborted meanwhile.
    pub fn on_ordered(&self, seqno: i64, flags: Flags, passed: bool) -> bool {
        let mut state = self.lock();
        let phase = if passed { Phase::Ordered } else { Phase::Committing };
        *state = TransactionState { phase, seqno, flags, passed };
        self.aborted.load(Ordering::SeqCst)
    }

    /// It got no place. Answers whether an abort was the reason, which with that is told to its owner.
    pub fn on_not_ordered(&self) -> bool {
        let mut state = self.lock();
        state.phase = Phase::Collecting;
        self.aborted.swap(false, Ordering::SeqCst)
    }

    /// Its turn has come, or an abort ended its wait: from here it goes through the order in any case. Answers whether
    /// it was an abort, which with that is told to its owner.
    pub fn begin_commit(&self) -> bool {
        let mut state = self.lock();
        state.phase = Phase::Committing;
        let was_aborted = self.aborted.swap(false, Ordering::SeqCst);
        state.passed &= !was_aborted;
        was_aborted
    }

    /// The abort is told to its owner, and with that over: from here it goes through the order in any case.
    pub fn acknowledge_abort(&self) {
        let mut state = self.lock();
        state.phase = Phase::Committing;
        state.passed = false;
        self.aborted.store(false, Ordering::SeqCst);
    }

    /// Its part, or all of it, is done: what is collected from here on belongs to the next part.
    pub fn finish_fragment(&self) {
        let mut state = self.lock();
        *state = TransactionState { phase: Phase::Collecting, ..*state };
        self.aborted.store(false, Ordering::SeqCst);
        drop(state);
        self.collected().clear();
    }

    /// A transaction in the order before `by` (-1: it does not say, being alone by now) wants this one out of its way.
    pub fn abort(&self, by: i64) -> AbortAnswer {
        let state = self.lock();
        let refused = match state.phase {
            _ if self.aborted.load(Ordering::SeqCst) => true,
            Phase::Collecting | Phase::Certifying => false,
            Phase::Ordered => by >= 0 && state.seqno < by && state.flags.has(Flags::TRX_END),
            Phase::Committing => true,
        };
        let seqno = if matches!(state.phase, Phase::Ordered | Phase::Committing) { state.seqno } else { -1 };
        if refused {
            return AbortAnswer::Refused(seqno);
        }
        self.aborted.store(true, Ordering::SeqCst);
        AbortAnswer::Granted(seqno)
    }

    /// Set while an abort waits to be told.
    pub fn interrupt(&self) -> &AtomicBool {
        &self.aborted
    }

    /// Whether an abort waits to be told.
    pub fn is_aborted(&self) -> bool {
        self.aborted.load(Ordering::SeqCst)
    }

    fn lock(&self) -> MutexGuard<'_, TransactionState> {
        self.state.lock().expect(POISON)
    }
}

const POISON: &str = "nothing panics while it holds a transaction";
