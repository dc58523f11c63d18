//! Total order isolation (TOI): a statement, mostly DDL, that every node runs alone at its seqno.

use hortator_core::{Key, Mode};

use super::commit::Proposal;
use super::inconsistency::FailedWork;
use super::recv_queue::Applying;
use super::{Node, Outcome, lock};
use crate::galera_lines::KnownMessage;
use crate::server::Flags;

impl Node {
    /// Orders the statement, and waits until everything before it is applied and released.
    pub fn begin_toi(&self, conn: u64, keys: &[(Key, Mode)], action: &[&[u8]], flags: Flags) -> Outcome {
        let bytes: usize = action.iter().map(|part| part.len()).sum();
        if bytes as u64 > self.limits.write_set_bytes() {
            return Outcome::TooLarge;
        }
        let flags = flags.with(Flags::ISOLATION);
        if lock(&self.toi_seqnos).contains_key(&conn) {
            return Outcome::NotAllowed;
        }
        let proposal = Proposal { flags, trx: u64::MAX, conn, keys, data: action, transaction: None };
        let ordered = match self.propose(&proposal) {
            Ok(ordered) => ordered,
            Err(reason) => return self.report_not_ordered(&reason),
        };
        if ordered.index.is_some_and(|index| self.flush_log(index).is_err()) {
            return Outcome::Broken;
        }
        let seqno = ordered.meta.gtid.seqno;
        if self.commit_monitor.enter(seqno, None).is_err() || !self.commit_monitor.wait_released(seqno - 1, None) {
            return Outcome::Broken;
        }
        let is_single_node = ordered.index.is_some();
        lock(&self.toi_seqnos).insert(conn, (seqno, is_single_node));
        // Failed: the others skip it, because the member ID has ended; so does this node. The server still ends its
        // TOI.
        if ordered.passed { Outcome::Passed(ordered.meta) } else { Outcome::Failed(ordered.meta) }
    }

    /// Whether a statement in total order isolation runs, of this node or of another one. Nothing else is applied meanwhile.
    pub(super) fn runs_in_isolation(&self) -> bool {
        self.recv_queue.is_applying(Applying::Statement) || !lock(&self.toi_seqnos).is_empty()
    }

    /// Ends the statement. `error`: the server's, if the statement failed and that matters; empty: none. The node leaves
    /// if the statement did not fail in the same way elsewhere.
    pub fn end_toi(&self, conn: u64, error: &[u8]) {
        let Some((seqno, was_single_node)) = lock(&self.toi_seqnos).remove(&conn) else { return };
        let is_consistent = error.is_empty()
            || was_single_node && self.decide_as_single_node(seqno, error)
            || self.resolve_apply_error(seqno, error, FailedWork::OwnStatement);
        if !is_consistent {
            let text =
                format!("the statement at seqno {seqno} failed on this node, and not in the same way on the others");
            self.fail_and_leave(&KnownMessage::Inconsistent(self.gtid_of(seqno)), &text);
        }
        self.commit_monitor.leave(seqno);
        self.commit_monitor.release(seqno);
    }
}
