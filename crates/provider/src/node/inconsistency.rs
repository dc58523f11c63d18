//! What this node could not apply, and others perhaps could: its thread waits until the nodes have decided what holds.
//!
//! The group's thread tells the leader of it, and brings the decision, which stands in the order (`together/deciding.rs`).

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::together::Command;
use super::{Node, Ordering, lock};
use crate::decision::{Decision, Fault};
use crate::gate::Passage;
use crate::identity::Uuid;
use crate::saved_state::SavedState;

#[cfg(test)]
mod tests;

/// What holds, for whoever could not apply something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// It failed in the same way elsewhere: the node goes on without it.
    Same,
    /// So many have it, or saw it fail in another way: this node's tables are wrong.
    Other(u32),
    /// Nobody decides: the node is alone, or goes.
    Nobody,
}

/// What is decided, and who waits for a decision.
#[derive(Debug)]
pub(super) struct Inconsistency {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// What could not be applied here, and waits.
    fault: Option<Fault>,
    /// By place: those that some node may still come to.
    decisions: BTreeMap<i64, Decision>,
    /// What was decided on places up to here is how the tables are.
    heeded_to: i64,
    is_over: bool,
}

impl Inconsistency {
    pub(super) fn new(heeded_to: i64) -> Self {
        let state = State { fault: None, decisions: BTreeMap::new(), heeded_to, is_over: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// What is decided, from the log. Of two decisions on one place the first holds.
    pub(super) fn learn(&self, decisions: &[(i64, Decision)]) {
        if decisions.is_empty() {
            return;
        }
        let mut state = self.lock();
        for (seqno, decision) in decisions {
            state.decisions.entry(*seqno).or_insert(*decision);
        }
        self.changed.notify_all();
    }

    /// Nobody comes to places up to there any more, this node included.
    pub(super) fn forget_to(&self, seqno: i64) {
        let mut state = self.lock();
        let heeded_to = state.heeded_to;
        state.decisions.retain(|place, decision| *place > seqno || decision.error != 0 && *place > heeded_to);
    }

    /// What is decided on that place.
    pub(super) fn decision(&self, seqno: i64) -> Option<Decision> {
        self.lock().decisions.get(&seqno).copied()
    }

    /// What waits for a decision here.
    pub(super) fn fault(&self) -> Option<Fault> {
        self.lock().fault
    }

    /// What was decided on places up to there is how the tables are.
    pub(super) fn heed_to(&self, seqno: i64) {
        let mut state = self.lock();
        state.heeded_to = state.heeded_to.max(seqno);
    }

    pub(super) fn heeded_to(&self) -> i64 {
        self.lock().heeded_to
    }

    /// A place up to `applied` that tables hold which are not to hold it.
    pub(super) fn held_wrongly(&self, applied: i64) -> Option<i64> {
        let state = self.lock();
        let mut decisions = state.decisions.iter();
        let wrong =
            decisions.find(|(place, decision)| decision.error != 0 && state.heeded_to < **place && **place <= applied);
        wrong.map(|(place, _)| *place)
    }

    /// Waits for the decision on what could not be applied. None: nobody decides.
    fn wait(&self, fault: Fault) -> Option<Decision> {
        let mut state = self.lock();
        state.fault = Some(fault);
        let decision = loop {
            let decision = state.decisions.get(&fault.seqno).copied();
            if decision.is_some() || state.is_over || state.fault.is_none() {
                break decision;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        state.fault = None;
        decision
    }

    /// There is nobody who could decide now.
    pub(super) fn refuse(&self) {
        self.lock().fault = None;
        self.changed.notify_all();
    }

    /// The node goes: nothing is decided for it any more.
    pub(super) fn end(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    /// It is connected again.
    pub(super) fn begin_again(&self) {
        self.lock().is_over = false;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Node {
    /// The server could not do what stands at `seqno`, and says why: waits until the nodes have decided what holds.
    pub(super) fn ask_what_holds(&self, seqno: i64, message: &[u8]) -> Word {
        let fault = Fault::new(seqno, message);
        let known = self.inconsistency.decision(seqno);
        let is_alone = lock(&self.order).as_ref().is_none_or(|Ordering { is_alone, .. }| *is_alone);
        let decision = match (known, self.together()) {
            (Some(decision), _) => Some(decision),
            (None, Some(together)) if !is_alone => {
                let said = String::from_utf8_lossy(message);
                let said = said.trim_end_matches(['\0', '\n', ' ']);
                self.note(&format!("what stands at {seqno} failed here ({said}): the nodes decide what holds"));
                // It tells the leader.
                together.ask(Command::Look);
                self.inconsistency.wait(fault)
            }
            _ => None,
        };
        match decision {
            None => Word::Nobody,
            Some(Decision { error, agreeing }) if error == fault.error => {
                self.inconsistency.heed_to(seqno);
                // On the disk before its place is over: after a crash it must be known that the tables are as they should be.
                let saved = *lock(&self.saved);
                if saved.is_none_or(|saved| self.save(saved).is_err()) {
                    return Word::Nobody;
                }
                // The server's own error stands beside it.
                self.note(&format!("what stands at {seqno} failed on {agreeing} nodes alike: they go on without it"));
                Word::Same
            }
            Some(Decision { agreeing, .. }) => {
                if agreeing > 0 {
                    self.tables_are_wrong();
                }
                Word::Other(agreeing)
            }
        }
    }

    /// The tables hold, or lack, what they should not: whoever starts here next gets those of another node.
    fn tables_are_wrong(&self) {
        // What fails here has told so.
        let _ = self.save(SavedState::running(Uuid::UNDEFINED, Uuid::UNDEFINED));
    }

    /// Leaves if most nodes could not apply what this one has applied.
    pub(super) fn see_what_it_holds(&self) {
        if self.gate.passage() == Passage::Failed {
            return;
        }
        if let Some(seqno) = self.inconsistency.held_wrongly(self.turns.left()) {
            self.tables_are_wrong();
            self.fail_in_order(&format!(
                "most nodes could not apply what stands at {seqno}, and go on without it; here it is in the tables"
            ));
        }
    }

    /// Whether tables that hold everything up to there hold what most nodes could not apply.
    pub(super) fn holds_what_failed(&self, tables_at: i64) -> bool {
        let wrong = self.inconsistency.held_wrongly(tables_at);
        if let Some(seqno) = wrong {
            self.note(&format!("most nodes could not apply what stands at {seqno}: the tables come from one of them"));
        }
        wrong.is_some()
    }
}
