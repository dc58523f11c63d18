//! What this node could not apply, and others perhaps could: its thread waits until the nodes have decided what holds.
//!
//! The group's thread tells the leader of it, and brings the decision, which stands in the order (`together/deciding.rs`).

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::together::Command;
use super::{Node, Ordering, lock};
use crate::decision::{Decision, Fault};
use crate::entry::{self, Stamp};
use crate::gate::Passage;
use crate::identity::Uuid;
use crate::saved_state::SavedState;
use crate::server::Refused;

#[cfg(test)]
mod tests;

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
    /// It is a statement of this node's own: its client knows that it failed.
    is_own: bool,
    /// By place: those that some node may still come to.
    decisions: BTreeMap<i64, Decision>,
    /// What was decided on places up to here is how the tables are.
    heeded_to: i64,
    is_over: bool,
}

impl Inconsistency {
    pub(super) fn new(heeded_to: i64) -> Self {
        let state = State { fault: None, is_own: false, decisions: BTreeMap::new(), heeded_to, is_over: false };
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

    /// Whether that is a statement of this node's own.
    pub(super) fn is_own(&self) -> bool {
        self.lock().is_own
    }

    /// What was decided on places up to there is how the tables are.
    pub(super) fn heed_to(&self, seqno: i64) {
        let mut state = self.lock();
        state.heeded_to = state.heeded_to.max(seqno);
    }

    /// Those of another node came, which heed what was decided up to there; perhaps of another group than before.
    pub(super) fn tables_came(&self, heeded_to: i64) {
        let mut state = self.lock();
        state.decisions.clear();
        state.heeded_to = heeded_to;
    }

    /// The tables are at that place, and come to those behind it again.
    pub(super) fn begin_at(&self, seqno: i64) {
        let mut state = self.lock();
        state.heeded_to = state.heeded_to.min(seqno);
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

    /// It could not be applied.
    fn raise(&self, fault: Fault, is_own: bool) {
        let mut state = self.lock();
        (state.fault, state.is_own) = (Some(fault), is_own);
    }

    /// Waits for the decision on what was raised. None: nobody decides.
    fn wait(&self, fault: Fault) -> Option<Decision> {
        let mut state = self.lock();
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
    /// The server could not do what stands at `seqno`, and says why: waits until the nodes have decided what holds. True:
    /// they go on without it. False: others have it, or nobody decides, and this node cannot go on. `is_own`: it is a statement of
    /// this node's own, whose client knows.
    pub(super) fn goes_without(&self, seqno: i64, message: &[u8], is_own: bool) -> bool {
        let fault = Fault::new(seqno, message);
        // The server counts it as done by now: a crash while it waits must not make it so.
        self.could_not_apply(seqno);
        let is_alone = lock(&self.order).as_ref().is_none_or(|Ordering { is_alone, .. }| *is_alone);
        let decision = match (self.inconsistency.decision(seqno), self.together()) {
            (Some(decision), _) => Some(decision),
            (None, Some(together)) if !is_alone => {
                let said = String::from_utf8_lossy(message);
                let said = said.trim_end_matches(['\0', '\n', ' ']);
                self.note(&format!("what stands at {seqno} failed here ({said}): the nodes decide what holds"));
                self.inconsistency.raise(fault, is_own);
                // It tells the leader.
                together.ask(Command::Look);
                self.inconsistency.wait(fault)
            }
            _ => None,
        };
        let Some(decision) = decision else { return false };
        let is_right = decision.goes_without(fault.error) && self.inconsistency.held_wrongly(seqno - 1).is_none();
        if !is_right {
            self.tables_are_wrong();
            return false;
        }
        if self.heed(seqno).is_err() {
            return false;
        }
        // The server's own error stands beside it.
        self.note(&format!("what stands at {seqno} failed on {} nodes: they go on without it", decision.agreeing));
        true
    }

    /// The tables do without it from now on. On the disk before its place is over: after a crash it must be known that they are as
    /// they should be.
    fn heed(&self, seqno: i64) -> Result<(), Refused> {
        self.inconsistency.heed_to(seqno);
        let saved = lock(&self.saved).ok_or(Refused)?;
        self.save(SavedState { failed_at: -1, ..saved })
    }

    /// A statement of this node's own failed, and nobody else is in the group: that is how it is, for those who come, too. False:
    /// it is not alone.
    pub(super) fn decides_alone(&self, seqno: i64, message: &[u8]) -> bool {
        let is_alone = || lock(&self.order).as_ref().is_some_and(|Ordering { is_alone, .. }| *is_alone);
        if !is_alone() || self.heed(seqno).is_err() {
            return false;
        }
        let ordering = lock(&self.order);
        let (Some(Ordering { order, is_alone: true }), Some(log)) = (ordering.as_ref(), self.log()) else {
            return false;
        };
        let decision = Decision { error: Fault::new(seqno, message).error, agreeing: 1 };
        let mut bytes = entry::encode_decision(seqno, decision);
        entry::place(&mut bytes, Stamp { seqno: order.seqno, term: self.term() });
        // Without room for it whoever comes to this place gets the tables of this node.
        let _ = log.append(&[&bytes]);
        true
    }

    /// The tables hold, or lack, what they should not: whoever starts here next gets those of another node.
    fn tables_are_wrong(&self) {
        // What fails here has told so.
        if self.save(SavedState::running(Uuid::UNDEFINED, Uuid::UNDEFINED)).is_ok() {
            self.note(
                "the tables here are not those of the others: started anew, the server gets the tables of another node",
            );
        }
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
}
