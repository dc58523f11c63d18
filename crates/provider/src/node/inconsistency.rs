//! What this node could not apply, and others perhaps could: its thread waits until the nodes have decided what holds.
//!
//! The group's thread tells the leader of it, and brings the decision, which stands in the order (`cluster/deciding.rs`).

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::cluster::Command;
use super::{Node, OrderState, lock};
use crate::entry::{self, Stamp};
use crate::gate::GateState;
use crate::identity::Uuid;
use crate::saved_state::SavedState;
use crate::server::CallbackError;
use crate::vote_result::{ApplyError, VoteResult};

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
    apply_error: Option<ApplyError>,
    /// It is a statement of this node's own: its client knows that it failed.
    is_own_statement: bool,
    /// By place: those that some node may still come to.
    results: BTreeMap<i64, VoteResult>,
    /// What was decided on places up to here is how the tables are.
    resolved_upto: i64,
    is_closed: bool,
}

impl Inconsistency {
    pub(super) fn new(resolved_upto: i64) -> Self {
        let state = State {
            apply_error: None,
            is_own_statement: false,
            results: BTreeMap::new(),
            resolved_upto,
            is_closed: false,
        };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// What is decided, from the log. Of two decisions on one place the first holds.
    pub(super) fn add_results(&self, vote_results: &[(i64, VoteResult)]) {
        if vote_results.is_empty() {
            return;
        }
        let mut state = self.lock();
        for (seqno, result) in vote_results {
            state.results.entry(*seqno).or_insert(*result);
        }
        self.changed.notify_all();
    }

    /// Nobody comes to places up to there any more, this node included.
    pub(super) fn purge(&self, seqno: i64) {
        let mut state = self.lock();
        let resolved_upto = state.resolved_upto;
        state.results.retain(|place, result| *place > seqno || result.error != 0 && *place > resolved_upto);
    }

    /// What is decided on that place.
    pub(super) fn result(&self, seqno: i64) -> Option<VoteResult> {
        self.lock().results.get(&seqno).copied()
    }

    /// What waits for a decision here.
    pub(super) fn apply_error(&self) -> Option<ApplyError> {
        self.lock().apply_error
    }

    /// Whether that is a statement of this node's own.
    pub(super) fn is_own_statement(&self) -> bool {
        self.lock().is_own_statement
    }

    /// What was decided on places up to there is how the tables are.
    pub(super) fn set_resolved_upto(&self, seqno: i64) {
        let mut state = self.lock();
        state.resolved_upto = state.resolved_upto.max(seqno);
    }

    /// Those of another node came, which heed what was decided up to there; perhaps of another group than before.
    pub(super) fn on_sst_received(&self, resolved_upto: i64) {
        let mut state = self.lock();
        state.results.clear();
        state.resolved_upto = resolved_upto;
    }

    /// The tables are at that place, and come to those behind it again.
    pub(super) fn reset_to(&self, seqno: i64) {
        let mut state = self.lock();
        state.resolved_upto = state.resolved_upto.min(seqno);
    }

    pub(super) fn resolved_upto(&self) -> i64 {
        self.lock().resolved_upto
    }

    /// A place up to `applied` that tables hold which are not to hold it.
    pub(super) fn wrongly_applied(&self, applied: i64) -> Option<i64> {
        let state = self.lock();
        let mut vote_results = state.results.iter();
        let wrong = vote_results
            .find(|(place, result)| result.error != 0 && state.resolved_upto < **place && **place <= applied);
        wrong.map(|(place, _)| *place)
    }

    /// It could not be applied.
    fn raise(&self, apply_error: ApplyError, is_own: bool) {
        let mut state = self.lock();
        (state.apply_error, state.is_own_statement) = (Some(apply_error), is_own);
    }

    /// Waits for the decision on what was raised. None: nobody decides.
    fn wait_for_result(&self, apply_error: ApplyError) -> Option<VoteResult> {
        let mut state = self.lock();
        let result = loop {
            let result = state.results.get(&apply_error.seqno).copied();
            if result.is_some() || state.is_closed || state.apply_error.is_none() {
                break result;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        state.apply_error = None;
        result
    }

    /// There is nobody who could decide now.
    pub(super) fn give_up(&self) {
        self.lock().apply_error = None;
        self.changed.notify_all();
    }

    /// The node goes: nothing is decided for it any more.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// It is connected again.
    pub(super) fn reopen(&self) {
        self.lock().is_closed = false;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Node {
    /// The server could not do what stands at `seqno`, and says why: waits until the nodes have decided what holds. True:
    /// they go on without it. False: others have it, or nobody decides, and this node cannot go on. `is_own`: it is a statement of
    /// this node's own, whose client knows.
    pub(super) fn resolve_apply_error(&self, seqno: i64, message: &[u8], is_own: bool) -> bool {
        let apply_error = ApplyError::new(seqno, message);
        // The server counts it as done by now: a crash while it waits must not make it so.
        self.record_failed_seqno(seqno);
        let is_single_node = lock(&self.order).as_ref().is_none_or(|OrderState { is_single_node, .. }| *is_single_node);
        let result = match (self.inconsistency.result(seqno), self.cluster()) {
            (Some(result), _) => Some(result),
            (None, Some(cluster)) if !is_single_node => {
                let said = String::from_utf8_lossy(message);
                let said = said.trim_end_matches(['\0', '\n', ' ']);
                self.note(&format!("what stands at {seqno} failed here ({said}): the nodes decide what holds"));
                self.inconsistency.raise(apply_error, is_own);
                // It tells the leader.
                cluster.send(Command::Recheck);
                self.inconsistency.wait_for_result(apply_error)
            }
            _ => None,
        };
        let Some(result) = result else { return false };
        let is_right =
            result.is_skipped_by(apply_error.error) && self.inconsistency.wrongly_applied(seqno - 1).is_none();
        if !is_right {
            self.mark_tables_inconsistent();
            return false;
        }
        if self.record_resolved(seqno).is_err() {
            return false;
        }
        // The server's own error stands beside it.
        self.note(&format!("what stands at {seqno} failed on {} nodes: they go on without it", result.agreeing));
        true
    }

    /// The tables do without it from now on. On the disk before its place is over: after a crash it must be known that they are as
    /// they should be.
    fn record_resolved(&self, seqno: i64) -> Result<(), CallbackError> {
        self.inconsistency.set_resolved_upto(seqno);
        let saved = lock(&self.saved).ok_or(CallbackError)?;
        self.save(SavedState { failed_at: -1, ..saved })
    }

    /// A statement of this node's own failed, and nobody else is in the group: that is how it is, for those who come, too. False:
    /// it is not alone.
    pub(super) fn decide_as_single_node(&self, seqno: i64, message: &[u8]) -> bool {
        let is_single_node =
            || lock(&self.order).as_ref().is_some_and(|OrderState { is_single_node, .. }| *is_single_node);
        if !is_single_node() || self.record_resolved(seqno).is_err() {
            return false;
        }
        let order_state = lock(&self.order);
        let (Some(OrderState { order, is_single_node: true }), Some(log)) = (order_state.as_ref(), self.log()) else {
            return false;
        };
        let result = VoteResult { error: ApplyError::new(seqno, message).error, agreeing: 1 };
        let mut bytes = entry::encode_vote_result(seqno, result);
        entry::set_stamp(&mut bytes, Stamp { seqno: order.seqno, term: self.term() });
        // Without room for it whoever comes to this place gets the tables of this node.
        let _ = log.append(&[&bytes]);
        true
    }

    /// The tables hold, or lack, what they should not: whoever starts here next gets those of another node.
    fn mark_tables_inconsistent(&self) {
        // What fails here has told so.
        if self.save(SavedState::running(Uuid::UNDEFINED, Uuid::UNDEFINED)).is_ok() {
            self.note(
                "the tables here are not those of the others: started anew, the server gets the tables of another node",
            );
        }
    }

    /// Leaves if most nodes could not apply what this one has applied.
    pub(super) fn check_vote_results(&self) {
        if self.gate.state() == GateState::Failed {
            return;
        }
        if let Some(seqno) = self.inconsistency.wrongly_applied(self.commit_monitor.last_left()) {
            self.mark_tables_inconsistent();
            self.fail_and_leave(&format!(
                "most nodes could not apply what stands at {seqno}, and go on without it; here it is in the tables"
            ));
        }
    }
}
