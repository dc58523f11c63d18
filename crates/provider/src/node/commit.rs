//! A client's transaction on its way through the order: certify, commit in turn, release; or give way and be replayed.

use std::sync::Arc;

use hortator_core::{Key, Mode};

use super::cluster::Command;
use super::{Node, OrderState, lock};
use crate::commit_monitor::EnterError;
use crate::entry::{self, Stamp, WriteSetHead};
use crate::gate::GateState;
use crate::identity::{Gtid, Uuid};
use crate::log::{self, Index};
use crate::server::{Flags, Handle, Level, Meta, Receiver};
use crate::transaction::{AbortAnswer, Phase, Transaction};

/// What certify came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It may commit, in its turn.
    Passed(Meta),
    /// It has its place and must be rolled back, in its turn.
    Failed(Meta),
    /// It has its place and passed, and was aborted by brute force: it is to be replayed.
    Aborted(Meta),
    /// It was not ordered: there is no cluster, or it was aborted before.
    NotOrdered,
    /// It was not ordered, and is to be rolled back.
    RollBack,
    /// It was not ordered: it is larger than a write set may be.
    TooLarge,
    /// The log is broken: nobody knows.
    Broken,
    /// It was not ordered: it has a place already, and is not done with it.
    NotAllowed,
}

/// Whether it may commit now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnterOutcome {
    /// It may.
    Granted,
    /// It was aborted by brute force while it waited.
    Aborted,
    /// That place is not its own, or not any more.
    NotAllowed,
    /// The node has failed: nobody's turn comes any more.
    NodeFailed,
}

/// Something that has its place.
#[derive(Clone, Copy, Debug)]
pub struct Ordered {
    /// Its place and origin.
    pub meta: Meta,
    /// Its verdict.
    pub passed: bool,
    /// Where in the log it is, if that must still be synced. None: a majority has it.
    pub index: Option<Index>,
    /// Whether a brute-force abort had come by then.
    pub aborted: bool,
}

/// Why something has no place.
#[derive(Debug)]
pub(super) enum NotOrdered {
    /// There is no cluster, or it was aborted before.
    Refused,
    /// It is to be rolled back.
    RollBack,
    /// The log has no room for it.
    Log(log::Error),
}

/// What is to be ordered.
pub(super) struct Proposal<'a> {
    pub flags: Flags,
    pub trx: u64,
    pub conn: u64,
    pub keys: &'a [(Key, Mode)],
    pub data: &'a [&'a [u8]],
    /// Who can be aborted while it waits.
    pub transaction: Option<&'a Arc<Transaction>>,
}

impl Node {
    /// The transaction of that handle, made if it is new.
    pub fn begin(&self, id: u64) -> Arc<Transaction> {
        self.transactions.add(id)
    }

    /// Gives a transaction, or a part of it, its place and its verdict. Returns when the log is on the disk.
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
                return self.report_not_ordered(&reason);
            }
        };
        if ordered.index.is_some_and(|index| self.flush_log(index).is_err()) {
            return Outcome::Broken;
        }
        if self.refusals.end() {
            self.note("the log has room again");
        }
        if !ordered.passed {
            self.counters.local_cert_failures.add(1);
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

    /// Tells why something has no place, where it is not plain.
    pub(super) fn report_not_ordered(&self, reason: &NotOrdered) -> Outcome {
        match reason {
            NotOrdered::Refused => {}
            NotOrdered::RollBack => return Outcome::RollBack,
            NotOrdered::Log(error @ (log::Error::Full { .. } | log::Error::TooLarge { .. })) => {
                if self.refusals.begins() {
                    let text = format!("transactions are refused, each with an error to its client: {error}");
                    self.server.log(Level::Error, &text);
                }
            }
            NotOrdered::Log(error) => self.fail(&format!("the log takes nothing any more: {error}")),
        }
        Outcome::NotOrdered
    }

    /// Puts something into the order.
    pub(super) fn propose(&self, proposal: &Proposal<'_>) -> Result<Ordered, NotOrdered> {
        let Proposal { flags, trx, conn, keys, data, transaction } = *proposal;
        let data_bytes = data.iter().map(|part| part.len()).sum();
        let request_id = self.cluster().map_or(0, |cluster| cluster.new_request_id());
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
            let OrderState { order, is_single_node } = order_state.as_mut().ok_or(NotOrdered::Refused)?;
            let is_whole = flags.has(Flags::TRX_START.with(Flags::TRX_END));
            if transaction.is_some() && !is_whole && !self.has_server_member_id() {
                return Err(NotOrdered::RollBack);
            }
            head.last_seen = self.commit_monitor.last_left();
            head.source = order.member;
            entry::set_source(&mut bytes, &head);
            if !*is_single_node {
                if flags.has(Flags::ROLLBACK) {
                    // Of a receiving thread, which others' write sets before it may need: it does not wait here.
                    return Err(NotOrdered::Refused);
                }
                let cluster = self.cluster().ok_or(NotOrdered::Refused)?;
                // Under the order: who closes the gate finds it among those that wait.
                let answer = cluster.register_proposal(head.source, head.request_id, transaction);
                drop(order_state);
                bytes.reserve_exact(data_bytes);
                data.iter().for_each(|part| bytes.extend_from_slice(part));
                cluster.send(Command::Propose { request_id: head.request_id, bytes });
                return answer.wait().ok_or(NotOrdered::Refused);
            }
            let seqno = order.seqno + 1;
            entry::set_stamp(&mut bytes, Stamp { seqno, term: self.term() });
            let parts: Vec<&[u8]> = std::iter::once(bytes.as_slice()).chain(data.iter().copied()).collect();
            let index = log.append(&parts).map_err(NotOrdered::Log)?;
            let verdict = order.certify_write_set(seqno, &head, keys);
            self.commit_monitor.set_last_ordered(seqno);
            let aborted = transaction.is_some_and(|transaction| transaction.on_ordered(seqno, flags, verdict.passed));
            if order.needs_commit_cut() {
                self.append_commit_cut(order, head.last_seen);
            }
            let gtid = Gtid { history_uuid: order.history_uuid, seqno };
            self.count(keys.len(), bytes.len(), data_bytes, seqno - verdict.depends_on);
            let source = self.member_id_for_server(head.source);
            let meta = Meta { gtid, source, trx, conn, depends_on: verdict.depends_on };
            return Ok(Ordered { meta, passed: verdict.passed, index: Some(index), aborted });
        }
    }

    /// Everything up to `seqno` is applied here, and here is everywhere. What the log holds of it may go.
    fn append_commit_cut(&self, order: &mut super::TotalOrder, seqno: i64) {
        let Some(log) = self.log() else { return };
        if seqno <= order.last_cut_upto {
            return;
        }
        let cut = order.next_commit_cut(seqno);
        let mut bytes = entry::encode_commit_cut(&cut);
        entry::set_stamp(&mut bytes, Stamp { seqno: order.seqno, term: self.term() });
        if let Ok(index) = log.append(&[&bytes])
            && let Some(below) = order.apply_commit_cut(index, &cut)
        {
            log.purge(below);
        }
    }

    pub(super) fn count(&self, keys: usize, head_bytes: usize, data_bytes: usize, distance: i64) {
        let key_bytes = keys as i64 * (Key::BYTES as i64 + 1);
        self.counters.replicated.add(1);
        self.counters.replicated_bytes.add((head_bytes + data_bytes) as i64);
        self.counters.repl_keys.add(keys as i64);
        self.counters.repl_keys_bytes.add(key_bytes);
        self.counters.repl_data_bytes.add(data_bytes as i64);
        self.counters.distance.add(distance);
    }

    /// Waits for the turn of what stands at `seqno`.
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
        // An abort may have been granted right behind the turn.
        let was_aborted = transaction.is_some_and(Transaction::begin_commit);
        if was_aborted || entered == Err(EnterError::Interrupted) {
            self.counters.local_bf_aborts.add(1);
            return EnterOutcome::Aborted;
        }
        EnterOutcome::Granted
    }

    /// The server is broken that does so: it is told, and the turns of others come as before.
    fn log_not_allowed(&self, does: &str, seqno: i64) {
        self.server
            .log(Level::Warning, &format!("the server {does} the commit order at {seqno}, which has no turn now"));
    }

    /// Gives the turn on. `error`: why the server could not do what the order says; empty: it could. Answers whether all is
    /// well, which it also is if most nodes could not.
    pub fn leave_commit_order(&self, meta: &Meta, error: &[u8]) -> bool {
        let seqno = meta.gtid.seqno;
        let is_applied = self.recv_queue.is_applying(seqno);
        let is_well = error.is_empty() || is_applied && self.resolve_apply_error(seqno, error, false);
        if !self.commit_monitor.leave(seqno) {
            self.log_not_allowed("leaves", seqno);
            return false;
        }
        if is_applied {
            return is_well;
        }
        if is_well {
            self.counters.local_commits.add(1);
        }
        true
    }

    /// The transaction, or the part that was ordered last, holds no locks any more. True: the transaction is over.
    pub fn release(&self, transaction: &Arc<Transaction>) -> bool {
        let state = transaction.state();
        let was_ordered = matches!(state.phase, Phase::Ordered | Phase::Committing) && state.seqno > 0;
        // Before it was released its turn must have come: only parts that failed are not taken through the order.
        let is_whole = state.flags.has(Flags::TRX_END);
        if state.phase == Phase::Ordered && is_whole && self.commit_monitor.last_left() < state.seqno {
            let (id, seqno) = (transaction.id, state.seqno);
            self.fail_and_leave(&format!(
                "the server let go of transaction {id} at {seqno}, which passed, without a commit"
            ));
        }
        if was_ordered {
            // A part that failed is not taken through the commit order by the server.
            self.commit_monitor.self_cancel(state.seqno);
            self.commit_monitor.release(state.seqno);
        }
        // The server does not come back with the handle of one whose part failed.
        let goes_on = was_ordered && state.passed && !state.flags.has(Flags::TRX_END);
        if goes_on {
            transaction.finish_fragment();
        } else {
            self.transactions.remove(transaction);
        }
        !goes_on
    }

    /// Applies a transaction of this node that was aborted by brute force after it had its place.
    pub fn replay(&self, transaction: &Arc<Transaction>, conn_context: Receiver, handle: Handle) -> bool {
        let state = transaction.state();
        let seqno = state.seqno;
        // Of a server that asks twice, or for what never had a place.
        if self.commit_monitor.enter(seqno, None).is_err() {
            return false;
        }
        let history_uuid = self.last_committed().history_uuid;
        let gtid = Gtid { history_uuid, seqno };
        let source = self.member_id_for_server(self.member_id());
        let meta = Meta { gtid, source, trx: transaction.id, conn: 0, depends_on: seqno - 1 };
        let data = transaction.collected().data().to_vec();
        self.counters.local_replays.add(1);
        if self.server.apply(conn_context, handle, state.flags, &data, &meta).is_err() {
            self.commit_monitor.leave(seqno);
            self.fail_and_leave(&format!("the transaction at {gtid} could not be applied anew"));
            return false;
        }
        self.commit_monitor.leave(seqno);
        true
    }

    /// What stands at `by` (-1: it does not say) wants transaction `id` out of its way. Never waits.
    /// None: it is not known, and so in nobody's way here.
    pub fn abort(&self, by: i64, id: u64) -> Option<AbortAnswer> {
        let answer = self.transactions.find(id)?.abort(by);
        if let AbortAnswer::Granted(seqno) = answer {
            if seqno > 0 {
                self.commit_monitor.interrupt(seqno);
            }
            self.gate.wake();
            if let Some(cluster) = self.cluster() {
                // It may have to take its place before it can give way.
                cluster.send(Command::Recheck);
            }
        }
        Some(answer)
    }
}
