//! Apply errors: the thread waits for the vote of the nodes.
//!
//! The Raft driver reports the error to the leader, and delivers the vote result, which is an entry of the log
//! (`replica/inconsistency_vote.rs`).

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::cluster::Command;
use super::{Node, OrderState, lock};
use crate::entry::{self, Stamp};
use crate::galera_lines::KnownMessage;
use crate::gate::GateState;
use crate::identity::Uuid;
use crate::resource_errors::resource_error;
use crate::saved_state::SavedState;
use crate::server::{CallbackError, Level};
use crate::vote_result::{ApplyError, VoteResult};

#[cfg(test)]
mod tests;

/// What could not be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailedWork {
    /// Rows of another node, or of this one before a crash.
    WriteSet,
    /// A statement of another node in total order isolation.
    Statement,
    /// A statement of this node: its client knows that it failed.
    OwnStatement,
}

/// Vote results, and the apply error that waits for one.
#[derive(Debug)]
pub(super) struct Inconsistency {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// The apply error that waits for a vote.
    apply_error: Option<ApplyError>,
    /// A statement of this node failed: its client knows.
    is_own_statement: bool,
    /// By seqno, as far as some node may still need them.
    results: BTreeMap<i64, VoteResult>,
    /// The tables match all vote results up to this seqno.
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

    /// Adds vote results from the log. The first result for a seqno counts.
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

    /// Drops results that no node needs any more.
    pub(super) fn purge(&self, seqno: i64) {
        let mut state = self.lock();
        let resolved_upto = state.resolved_upto;
        state.results.retain(|at, result| *at > seqno || result.error != 0 && *at > resolved_upto);
    }

    /// The vote result for a seqno.
    pub(super) fn result(&self, seqno: i64) -> Option<VoteResult> {
        self.lock().results.get(&seqno).copied()
    }

    /// The apply error that waits for a vote.
    pub(super) fn apply_error(&self) -> Option<ApplyError> {
        self.lock().apply_error
    }

    /// Whether the failed statement is this node's own.
    pub(super) fn is_own_statement(&self) -> bool {
        self.lock().is_own_statement
    }

    /// The tables match all vote results up to `seqno`.
    pub(super) fn set_resolved_upto(&self, seqno: i64) {
        let mut state = self.lock();
        state.resolved_upto = state.resolved_upto.max(seqno);
    }

    /// An SST has replaced the tables; they match the vote results up to `resolved_upto`. The cluster may be another
    /// one than before.
    pub(super) fn on_sst_received(&self, resolved_upto: i64) {
        let mut state = self.lock();
        state.results.clear();
        state.resolved_upto = resolved_upto;
    }

    /// The tables are at `seqno`, and later seqnos will be applied again.
    pub(super) fn reset_to(&self, seqno: i64) {
        let mut state = self.lock();
        state.resolved_upto = state.resolved_upto.min(seqno);
    }

    pub(super) fn resolved_upto(&self) -> i64 {
        self.lock().resolved_upto
    }

    /// A seqno up to `applied` that the tables hold against the vote result.
    pub(super) fn wrongly_applied(&self, applied: i64) -> Option<i64> {
        let state = self.lock();
        let mut vote_results = state.results.iter();
        let wrong = vote_results
            .find(|(seqno, result)| result.error != 0 && state.resolved_upto < **seqno && **seqno <= applied);
        wrong.map(|(seqno, _)| *seqno)
    }

    /// Registers an apply error.
    pub(super) fn raise(&self, apply_error: ApplyError, is_own: bool) {
        let mut state = self.lock();
        (state.apply_error, state.is_own_statement) = (Some(apply_error), is_own);
    }

    /// Waits for the vote result. None: there is no vote.
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

    /// No vote is possible now.
    pub(super) fn abandon_vote(&self) {
        self.lock().apply_error = None;
        self.changed.notify_all();
    }

    /// The node leaves: no result comes any more.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// The node is connected again.
    pub(super) fn reopen(&self) {
        self.lock().is_closed = false;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Node {
    /// The server could not apply `seqno`, for the given reason: waits for the vote. True: the nodes skip it. False:
    /// others have applied it, or there is no vote, and this node cannot continue.
    pub(super) fn resolve_apply_error(&self, seqno: i64, message: &[u8], work: FailedWork) -> bool {
        let is_own = work == FailedWork::OwnStatement;
        let apply_error = ApplyError::new(seqno, message);
        let apply_error = if is_own { apply_error.of_own_statement() } else { apply_error };
        // The server counts the seqno as applied: a crash during the wait must not make it so.
        self.record_failed_seqno(seqno);
        if work == FailedWork::WriteSet
            && let Some(reason) = resource_error(message)
        {
            let text = format!(
                "seqno {seqno} could not be applied here: {reason}. That says nothing of the other nodes, so there is \
                 no vote. Remove the cause, then restart the server: it applies seqno {seqno} from its own log"
            );
            self.server.log(Level::Error, &text);
            return false;
        }
        let is_single_node = lock(&self.order).as_ref().is_none_or(|OrderState { is_single_node, .. }| *is_single_node);
        let result = match (self.inconsistency.result(seqno), self.cluster()) {
            (Some(result), _) => Some(result),
            (None, Some(cluster)) if !is_single_node => {
                let said = String::from_utf8_lossy(message);
                let said = said.trim_end_matches(['\0', '\n', ' ']);
                self.note(&format!("seqno {seqno} could not be applied here ({said}): the nodes vote on it"));
                self.log_vote(apply_error, said);
                self.inconsistency.raise(apply_error, is_own);
                // Makes the driver tell the leader.
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
        // The server's own error is in the log already.
        self.note(&format!(
            "inconsistency vote on seqno {seqno}: it failed on {} nodes, so all nodes skip it",
            result.agreeing
        ));
        true
    }

    /// The tables match the vote result from now on. Saved before the turn ends: after a crash, the node must know that
    /// its tables are consistent.
    fn record_resolved(&self, seqno: i64) -> Result<(), CallbackError> {
        self.inconsistency.set_resolved_upto(seqno);
        let saved = lock(&self.saved).ok_or(CallbackError)?;
        self.save(SavedState { failed_at: -1, ..saved })
    }

    /// A single node's own statement failed: all nodes that join later skip it too. False: this is no single node.
    pub(super) fn decide_as_single_node(&self, seqno: i64, message: &[u8]) -> bool {
        let is_single_node =
            || lock(&self.order).as_ref().is_some_and(|OrderState { is_single_node, .. }| *is_single_node);
        if !is_single_node() || self.record_resolved(seqno).is_err() {
            return false;
        }
        let order_state = lock(&self.order);
        let (Some(OrderState { order, is_single_node: true, .. }), Some(log)) = (order_state.as_ref(), self.log())
        else {
            return false;
        };
        let result = VoteResult { error: ApplyError::new(seqno, message).cause(), agreeing: 1 };
        let mut bytes = entry::encode_vote_result(seqno, result);
        let stamp = Stamp { seqno: order.seqno, term: self.term(), protocol: order.protocol };
        entry::set_stamp(&mut bytes, stamp);
        // Without room for it, nodes that need this result receive an SST from this node.
        let _ = log.append(&[&bytes]);
        true
    }

    /// The tables are inconsistent: after the next start the node receives an SST.
    fn mark_tables_inconsistent(&self) {
        // A failure is logged there.
        if self.save(SavedState::running(Uuid::UNDEFINED, Uuid::UNDEFINED)).is_ok() {
            self.note(
                "the tables of this node are inconsistent with the cluster: restart the server, and it receives the \
                 tables of another node",
            );
        }
    }

    /// Leaves if this node has applied a seqno that the vote skips.
    pub(super) fn check_vote_results(&self) {
        if self.gate.state() == GateState::Failed {
            return;
        }
        if let Some(seqno) = self.inconsistency.wrongly_applied(self.commit_monitor.last_left()) {
            self.mark_tables_inconsistent();
            let text = format!(
                "inconsistency vote on seqno {seqno}: most nodes could not apply it and skip it, but this node has \
                 applied it"
            );
            self.fail_and_leave(&KnownMessage::Outvoted(self.gtid_of(seqno)), &text);
        }
    }
}
