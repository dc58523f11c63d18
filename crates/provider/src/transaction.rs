//! A transaction of this node: its write set, and its state on the way to the commit.
//!
//! Its client's thread moves it on; a brute-force abort may come from any thread at any time, in any [`Phase`]. The
//! state's lock is held for moments; only the commit monitor's may be taken under it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

#[cfg(test)]
mod tests;

use crate::server::Flags;
use crate::write_set::WriteSet;

/// A transaction of this node.
#[derive(Debug)]
pub struct Transaction {
    /// The server's transaction id.
    pub id: u64,
    collected: Mutex<WriteSet>,
    state: Mutex<TransactionState>,
    /// A brute-force abort was granted, and the client's thread does not know it yet.
    aborted: AtomicBool,
    /// By a statement in total order isolation.
    aborted_in_isolation: AtomicBool,
}

/// The phase of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Statements run.
    Collecting,
    /// The client's thread waits for the seqno.
    Certifying,
    /// Ordered and passed; not committed yet.
    Ordered,
    /// In the commit order, in any case: being committed, rolled back or replayed.
    Committing,
}

/// The state of a transaction.
#[derive(Clone, Copy, Debug)]
pub struct TransactionState {
    /// The phase.
    pub phase: Phase,
    /// The seqno of the transaction, or of its last fragment; -1: none.
    pub seqno: i64,
    /// The flags of the last ordered write set.
    pub flags: Flags,
    /// Whether it passed certification, and was not aborted since.
    pub passed: bool,
    /// The number of its ordered fragments, without the end.
    pub fragments: u64,
}

impl TransactionState {
    /// Whether the server has fragments of it in its table.
    pub fn is_streaming(&self) -> bool {
        self.fragments > 0 && !self.flags.has(Flags::TRX_END)
    }
}

/// The result of a brute-force abort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbortAnswer {
    /// The transaction yields. Its seqno, or -1.
    Granted(i64),
    /// The transaction is ordered before the other one, is past the point, or yields already.
    Refused(i64),
}

impl Transaction {
    /// A transaction without a write set.
    pub fn new(id: u64) -> Self {
        Self {
            id,
            collected: Mutex::default(),
            state: Mutex::new(TransactionState {
                phase: Phase::Collecting,
                seqno: -1,
                flags: Flags(0),
                passed: false,
                fragments: 0,
            }),
            aborted: AtomicBool::new(false),
            aborted_in_isolation: AtomicBool::new(false),
        }
    }

    /// The write set. For the client's thread only.
    pub fn collected(&self) -> MutexGuard<'_, WriteSet> {
        self.collected.lock().expect(POISON)
    }

    /// The current state.
    pub fn state(&self) -> TransactionState {
        *self.lock()
    }

    /// The client asks for a seqno. False: the transaction has one, and is not done with it.
    pub fn begin_certification(&self) -> bool {
        let mut state = self.lock();
        let may = state.phase == Phase::Collecting;
        if may {
            state.phase = Phase::Certifying;
        }
        may
    }

    /// The transaction is ordered. Returns whether it was aborted meanwhile.
    pub fn on_ordered(&self, seqno: i64, flags: Flags, passed: bool) -> bool {
        let mut state = self.lock();
        let phase = if passed { Phase::Ordered } else { Phase::Committing };
        let fragments = state.fragments + u64::from(!flags.has(Flags::TRX_END));
        *state = TransactionState { phase, seqno, flags, passed, fragments };
        self.aborted.load(Ordering::SeqCst)
    }

    /// The transaction was not ordered. Returns whether an abort was the reason, which is acknowledged with that.
    pub fn on_not_ordered(&self) -> bool {
        let mut state = self.lock();
        state.phase = Phase::Collecting;
        self.aborted.swap(false, Ordering::SeqCst)
    }

    /// The turn has come, or an abort has ended the wait: the transaction goes through the commit order in any case.
    /// Returns whether it was an abort, which is acknowledged with that.
    pub fn begin_commit(&self) -> bool {
        let mut state = self.lock();
        state.phase = Phase::Committing;
        let was_aborted = self.aborted.swap(false, Ordering::SeqCst);
        state.passed &= !was_aborted;
        was_aborted
    }

    /// Acknowledges an abort: the transaction goes through the commit order in any case.
    pub fn acknowledge_abort(&self) {
        let mut state = self.lock();
        state.phase = Phase::Committing;
        state.passed = false;
        self.aborted.store(false, Ordering::SeqCst);
    }

    /// The fragment, or the transaction, is done: what follows belongs to the next fragment.
    pub fn finish_fragment(&self) {
        let mut state = self.lock();
        *state = TransactionState { phase: Phase::Collecting, ..*state };
        self.aborted.store(false, Ordering::SeqCst);
        drop(state);
        self.collected().clear();
    }

    /// A write set with seqno `by` (-1: unknown, or a local one) aborts this transaction by brute force.
    /// `in_isolation`: that is a statement in total order isolation.
    pub fn abort(&self, by: i64, in_isolation: bool) -> AbortAnswer {
        let state = self.lock();
        let refused = match state.phase {
            _ if self.aborted.load(Ordering::SeqCst) => true,
            Phase::Collecting | Phase::Certifying => false,
            Phase::Ordered => by >= 0 && state.seqno < by && state.flags.has(Flags::TRX_END),
            // The transaction of a fragment can be rolled back after it.
            Phase::Committing => state.flags.has(Flags::TRX_END) || !state.passed,
        };
        let seqno = if matches!(state.phase, Phase::Ordered | Phase::Committing) { state.seqno } else { -1 };
        if refused {
            return AbortAnswer::Refused(seqno);
        }
        self.aborted_in_isolation.store(in_isolation, Ordering::SeqCst);
        self.aborted.store(true, Ordering::SeqCst);
        AbortAnswer::Granted(seqno)
    }

    /// Whether a statement in total order isolation has aborted it. Asked once.
    pub fn take_isolation_abort(&self) -> bool {
        self.aborted_in_isolation.swap(false, Ordering::SeqCst)
    }

    /// Set while an abort is not acknowledged.
    pub fn interrupt(&self) -> &AtomicBool {
        &self.aborted
    }

    /// Whether an abort is not acknowledged.
    pub fn is_aborted(&self) -> bool {
        self.aborted.load(Ordering::SeqCst)
    }

    fn lock(&self) -> MutexGuard<'_, TransactionState> {
        self.state.lock().expect(POISON)
    }
}

const POISON: &str = "nothing panics under a transaction's lock";
