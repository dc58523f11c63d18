//! The path of a client's transaction: certify, commit in order, release; or abort and replay.

use std::sync::Arc;

use hortator_core::{Failure, Key, Mode};

use super::cluster::Command;
use super::inconsistency::FailedWork;
use super::recv_queue::Applying;
use super::total_order::Verdict;
use super::{Node, OrderState, lock};
use crate::commit_monitor::EnterError;
use crate::entry::{self, Stamp, WriteSetHead};
use crate::galera_lines::KnownMessage;
use crate::gate::GateState;
use crate::identity::{Gtid, Uuid};
use crate::log::{self, Index};
use crate::server::{Flags, Handle, Level, Meta, Receiver};
use crate::transaction::{AbortAnswer, Phase, Transaction};

/// The result of certify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// May commit in its turn.
    Passed(Meta),
    /// Ordered, and must be rolled back in its turn.
    Failed(Meta),
    /// Ordered and passed, but aborted by brute force: must be replayed.
    Aborted(Meta),
    /// Not ordered: there is no cluster, or the transaction was aborted before.
    NotOrdered,
    /// Not ordered: larger than the write set limit.
    TooLarge,
    /// The log is broken: the outcome is unknown.
    Broken,
    /// Not ordered: the transaction has a seqno already, and is not done with it.
    NotAllowed,
}

/// The result of entering the commit order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnterOutcome {
    /// It may commit.
    Granted,
    /// Aborted by brute force while it waited.
    Aborted,
    /// The seqno does not belong to the caller, or not any more.
    NotAllowed,
    /// The node has failed: no turn comes any more.
    NodeFailed,
}

/// An ordered write set.
#[derive(Clone, Copy, Debug)]
pub struct Ordered {
    /// Its seqno and source.
    pub meta: Meta,
    /// Its verdict.
    pub passed: bool,
    /// Why certification failed it.
    pub failure: Option<Failure>,
    /// Its log index, if it must still be synced. None: it is committed by a majority.
    pub index: Option<Index>,
    /// Whether a brute-force abort came before the seqno.
    pub aborted: bool,
}

/// The distances from a write set to earlier ones, in seqnos.
#[derive(Clone, Copy, Debug)]
pub(super) struct Distances {
    to_dependency: i64,
    to_last_seen: i64,
}

impl Distances {
    pub(super) fn of(seqno: i64, depends_on: i64, last_seen: i64) -> Self {
        Self { to_dependency: seqno - depends_on, to_last_seen: (seqno - 1 - last_seen).max(0) }
    }
}

/// Why a write set was not ordered.
#[derive(Debug)]
pub(super) enum NotOrdered {
    /// There is no cluster, or the transaction was aborted before.
    Refused,
    /// The log takes it not.
    Log(log::Error),
}

/// A write set to order.
pub(super) struct Proposal<'a> {
    pub flags: Flags,
    pub trx: u64,
    pub conn: u64,
    pub keys: &'a [(Key, Mode)],
    pub data: &'a [&'a [u8]],
    /// The transaction that may be aborted while it waits.
    pub transaction: Option<&'a Arc<Transaction>>,
}

impl Node {
    /// Starts the transaction of a new handle.
    pub fn begin(&self, id: u64) -> Arc<Transaction> {
        self.transactions.add(id)
    }

    /// Orders and certifies a transaction, or a fragment of it. Returns when the log is on disk.
    pub fn certify(&self, conn: u64, transaction: &Arc<Transaction>, flags: Flags) -> Outcome {
        let collected = transaction.collected();
        if collected.bytes() as u64 > self.limits.write_set_bytes() {
            return Outcome::TooLarge;
        }
        if !transaction.begin_certification() {
            return Outcome::NotAllowed;
        }
        let proposal = Proposal {
            flags,
            trx: transaction.id,
            conn,
            keys: collected.keys(),
            data: &[collected.data()],
            transaction: Some(transaction),
        };
        let ordered = self.propose(&proposal);
        drop(collected);
        let ordered = match ordered {
            Ok(ordered) => ordered,
            Err(reason) => {
                if transaction.on_not_ordered() {
                    self.counters.local_bf_aborts.add(1);
                }
                self.roll_back_if_aborted_in_isolation(transaction);
                return self.report_not_ordered(&reason);
            }
        };
        // What has passed with its end is committed, if need be by a replay.
        if !(ordered.passed && flags.has(Flags::TRX_END)) {
            self.roll_back_if_aborted_in_isolation(transaction);
        }
        if ordered.index.is_some_and(|index| self.flush_log(index).is_err()) {
            return Outcome::Broken;
        }
        if self.refusals.end() {
            self.note("the log has room again: transactions are accepted");
        }
        if !ordered.passed {
            self.on_cert_failure(conn, &ordered);
            return Outcome::Failed(ordered.meta);
        }
        if ordered.aborted || transaction.is_aborted() {
            self.counters.local_bf_aborts.add(1);
            transaction.acknowledge_abort();
            let is_whole = flags.has(Flags::TRX_END);
            return if is_whole { Outcome::Aborted(ordered.meta) } else { Outcome::Failed(ordered.meta) };
        }
        Outcome::Passed(ordered.meta)
    }

    /// Behind its fragments: see [`Node::abort`].
    fn roll_back_if_aborted_in_isolation(&self, transaction: &Transaction) {
        if transaction.take_isolation_abort() && transaction.state().fragments > 0 {
            self.roll_back(transaction.id, &[]);
        }
    }

    /// A transaction of this node has failed certification.
    fn on_cert_failure(&self, conn: u64, ordered: &Ordered) {
        self.counters.local_cert_failures.add(1);
        if matches!(ordered.failure, Some(Failure::TooOld { .. })) {
            self.counters.local_cert_too_old.add(1);
        }
        if lock(&self.options).logs_conflicts() {
            let Meta { gtid, trx, .. } = ordered.meta;
            let why = ordered
                .failure
                .map_or_else(|| "its member ID is not in the view".to_owned(), |failure| failure.to_string());
            self.note(&format!(
                "certification failed transaction {trx} of connection {conn} at seqno {}: {why}",
                gtid.seqno
            ));
        }
    }

    /// Logs why a write set was not ordered, unless the server knows.
    pub(super) fn report_not_ordered(&self, reason: &NotOrdered) -> Outcome {
        match reason {
            NotOrdered::Refused => {}
            NotOrdered::Log(error @ (log::Error::Full { .. } | log::Error::TooLarge { .. })) => {
                if self.refusals.begins() {
                    let text = format!("transactions are refused, each with an error to its client: {error}");
                    self.server.log(Level::Error, &text);
                }
            }
            NotOrdered::Log(error) => self.fail(&format!("the log cannot be appended to: {error}")),
        }
        Outcome::NotOrdered
    }

    /// Orders a write set.
    pub(super) fn propose(&self, proposal: &Proposal<'_>) -> Result<Ordered, NotOrdered> {
        let Proposal { flags, trx, conn, keys, data, transaction } = *proposal;
        let data_bytes = data.iter().map(|part| part.len()).sum();
        let request_id = self.new_request_id();
        let mut head = WriteSetHead { flags, source: Uuid::UNDEFINED, trx, conn, last_seen: 0, request_id };
        let mut bytes = entry::encode_write_set(&head, keys, data_bytes);
        let log = self.log().ok_or(NotOrdered::Refused)?;
        log.throttle().map_err(NotOrdered::Log)?;
        loop {
            let mut order_state = lock(&self.order);
            match self.gate.state() {
                GateState::Open => {}
                GateState::Paused => {
                    drop(order_state);
                    self.gate.wait_while_paused(transaction.map(Arc::as_ref));
                    if transaction.is_some_and(|transaction| transaction.is_aborted()) {
                        return Err(NotOrdered::Refused);
                    }
                    continue;
                }
                GateState::Closed | GateState::Failed => return Err(NotOrdered::Refused),
            }
            if transaction.is_some_and(|transaction| transaction.is_aborted()) {
                return Err(NotOrdered::Refused);
            }
            let state = order_state.as_mut().ok_or(NotOrdered::Refused)?;
            self.order_held_rollbacks(state)?;
            let OrderState { order, is_single_node, .. } = state;
            head.last_seen = self.commit_monitor.last_left();
            head.source = order.member;
            entry::set_source(&mut bytes, &head);
            if !*is_single_node {
                let cluster = self.cluster().ok_or(NotOrdered::Refused)?;
                // Under the order's lock: whoever closes the gate finds it among the pending proposals.
                let answer = cluster.register_proposal(&head, transaction);
                drop(order_state);
                bytes.reserve_exact(data_bytes);
                data.iter().for_each(|part| bytes.extend_from_slice(part));
                cluster.send(Command::Propose { request_id: head.request_id, bytes });
                return answer.wait().ok_or(NotOrdered::Refused);
            }
            return self.append_as_single_node(order, &log, proposal, &head, &mut bytes);
        }
    }

    /// Orders a write set of a single node. `bytes`: the entry without its data.
    pub(super) fn append_as_single_node(
        &self,
        order: &mut super::TotalOrder,
        log: &log::DiskLog,
        proposal: &Proposal<'_>,
        head: &WriteSetHead,
        bytes: &mut [u8],
    ) -> Result<Ordered, NotOrdered> {
        let Proposal { flags, trx, conn, keys, data, transaction } = *proposal;
        let data_bytes = data.iter().map(|part| part.len()).sum();
        let seqno = order.seqno + 1;
        entry::set_stamp(bytes, Stamp { seqno, term: self.term(), protocol: order.protocol });
        let parts: Vec<&[u8]> = std::iter::once(&*bytes).chain(data.iter().copied()).collect();
        let index = log.append(&parts).map_err(NotOrdered::Log)?;
        let verdict = order.certify_write_set(seqno, head, keys, data_bytes);
        self.commit_monitor.set_last_ordered(seqno);
        let aborted = transaction.is_some_and(|transaction| transaction.on_ordered(seqno, flags, verdict.passed));
        if order.needs_commit_cut() {
            self.append_commit_cut(order, head.last_seen);
        }
        let gtid = Gtid { history_uuid: order.history_uuid, seqno };
        self.count(keys.len(), bytes.len(), data_bytes, Distances::of(seqno, verdict.depends_on, head.last_seen));
        let meta = Meta { gtid, source: head.source, trx, conn, depends_on: verdict.depends_on };
        let Verdict { passed, failure, .. } = verdict;
        Ok(Ordered { meta, passed, failure, index: Some(index), aborted })
    }

    /// A single node has applied everything up to `seqno`, so every member has. The Raft driver purges the log.
    fn append_commit_cut(&self, order: &mut super::TotalOrder, seqno: i64) {
        let Some(log) = self.log() else { return };
        if seqno <= order.last_cut_upto {
            return;
        }
        let cut = order.next_commit_cut(seqno);
        let mut bytes = entry::encode_commit_cut(&cut);
        let stamp = Stamp { seqno: order.seqno, term: self.term(), protocol: order.protocol };
        entry::set_stamp(&mut bytes, stamp);
        if let Ok(index) = log.append(&[&bytes]) {
            order.apply_commit_cut(index, &cut);
        }
    }

    pub(super) fn count(&self, keys: usize, head_bytes: usize, data_bytes: usize, distances: Distances) {
        let key_bytes = keys as i64 * (Key::BYTES as i64 + 1);
        self.counters.replicated.add(1);
        self.counters.replicated_bytes.add((head_bytes + data_bytes) as i64);
        self.counters.repl_keys.add(keys as i64);
        self.counters.repl_keys_bytes.add(key_bytes);
        self.counters.repl_data_bytes.add(data_bytes as i64);
        self.counters.distance.add(distances.to_dependency);
        self.counters.interval.add(distances.to_last_seen);
    }

    /// Waits for the turn of `seqno`.
    pub fn enter_commit_order(&self, transaction: Option<&Transaction>, seqno: i64) -> EnterOutcome {
        let transaction = transaction.filter(|transaction| transaction.state().phase == Phase::Ordered);
        let entered = self.commit_monitor.enter(seqno, transaction.map(Transaction::interrupt));
        match entered {
            Ok(()) | Err(EnterError::Interrupted) => {}
            Err(EnterError::Closed) => return EnterOutcome::NodeFailed,
            Err(EnterError::NotAllowed) => {
                self.log_not_allowed("enters", seqno);
                return EnterOutcome::NotAllowed;
            }
        }
        // A brute-force abort may have been granted right after the turn came.
        let was_aborted = transaction.is_some_and(Transaction::begin_commit);
        if was_aborted || entered == Err(EnterError::Interrupted) {
            self.counters.local_bf_aborts.add(1);
            return EnterOutcome::Aborted;
        }
        EnterOutcome::Granted
    }

    /// Logs a call of the server that the commit monitor does not allow; the turns of others come as before.
    fn log_not_allowed(&self, does: &str, seqno: i64) {
        self.server.log(
            Level::Warning,
            &format!(
                "the server {does} the commit order at seqno {seqno}, which has no turn \
                                           now"
            ),
        );
    }

    /// Ends the turn. `error`: why the server could not apply the write set; empty: it could. Returns whether the node
    /// is consistent: also if most nodes could not apply it.
    pub fn leave_commit_order(&self, meta: &Meta, error: &[u8]) -> bool {
        let seqno = meta.gtid.seqno;
        let applying = self.recv_queue.applying(seqno);
        let is_applied = applying.is_some();
        let resolve = |what| match what {
            Applying::WriteSet => self.resolve_apply_error(seqno, error, FailedWork::WriteSet),
            Applying::Statement => self.resolve_apply_error(seqno, error, FailedWork::Statement),
        };
        let is_consistent = error.is_empty() || applying.is_some_and(resolve);
        if !self.commit_monitor.leave(seqno) {
            self.log_not_allowed("leaves", seqno);
            return false;
        }
        if is_applied {
            return is_consistent;
        }
        if is_consistent {
            self.counters.local_commits.add(1);
        }
        true
    }

    /// The transaction, or its last ordered fragment, has released its locks. True: the transaction is over.
    pub fn release(&self, transaction: &Arc<Transaction>) -> bool {
        let state = transaction.state();
        let was_ordered = matches!(state.phase, Phase::Ordered | Phase::Committing) && state.seqno > 0;
        // Its turn has come before the release: only failed fragments skip the commit order.
        let is_whole = state.flags.has(Flags::TRX_END);
        if state.phase == Phase::Ordered && is_whole && self.commit_monitor.last_left() < state.seqno {
            let (id, seqno) = (transaction.id, state.seqno);
            let text = format!(
                "the server released transaction {id} at seqno {seqno} without a commit, though certification passed"
            );
            self.fail_and_leave(&KnownMessage::Inconsistent(self.gtid_of(seqno)), &text);
        }
        if was_ordered {
            // The server does not enter the commit order for a failed fragment.
            self.commit_monitor.self_cancel(state.seqno);
            self.commit_monitor.release(state.seqno);
        }
        // The server does not use the handle of a transaction with a failed fragment again.
        let has_more_fragments = was_ordered && state.passed && !state.flags.has(Flags::TRX_END);
        if has_more_fragments {
            transaction.finish_fragment();
        } else {
            self.transactions.remove(transaction);
        }
        !has_more_fragments
    }

    /// Replays a transaction of this node that was aborted by brute force after it was ordered.
    pub fn replay(&self, transaction: &Arc<Transaction>, conn_context: Receiver, handle: Handle) -> bool {
        let state = transaction.state();
        let seqno = state.seqno;
        // The server asks twice, or for a transaction without a seqno.
        if self.commit_monitor.enter(seqno, None).is_err() {
            return false;
        }
        let history_uuid = self.last_committed().history_uuid;
        let gtid = Gtid { history_uuid, seqno };
        let source = self.server_member_id();
        let meta = Meta { gtid, source, trx: transaction.id, conn: 0, depends_on: seqno - 1 };
        let data = transaction.collected().data().to_vec();
        self.counters.local_replays.add(1);
        if self.server.apply(conn_context, handle, state.flags, &data, &meta).is_err() {
            self.commit_monitor.leave(seqno);
            let text = format!("the transaction at {gtid} could not be replayed");
            self.fail_and_leave(&KnownMessage::Inconsistent(gtid), &text);
            return false;
        }
        self.commit_monitor.leave(seqno);
        true
    }

    /// The write set `by` (-1: unknown) aborts transaction `id` by brute force. Waits for no other transaction. None: the
    /// transaction is unknown, so it blocks nothing here.
    pub fn abort(&self, by: i64, id: u64) -> Option<AbortAnswer> {
        let transaction = self.transactions.find(id)?;
        let is_isolated = self.runs_in_isolation();
        let answer = transaction.abort(by, is_isolated);
        if let AbortAnswer::Granted(seqno) = answer {
            // The server does not do so: it takes it that such a statement aborts the transaction on every node. On the others,
            // the transaction may hold no lock of the statement's table. `by` does not tell: it is unknown then. While a
            // fragment is on its way, its client's thread does that behind it.
            let state = transaction.state();
            let is_behind = is_isolated && state.is_streaming() && state.phase != Phase::Certifying;
            if is_behind && transaction.take_isolation_abort() {
                self.roll_back_soon(id);
            }
            if seqno > 0 {
                self.commit_monitor.interrupt(seqno);
            }
            self.gate.wake();
            if let Some(cluster) = self.cluster() {
                // The transaction may have to be ordered before it can yield.
                cluster.send(Command::Recheck);
            }
        }
        Some(answer)
    }
}
