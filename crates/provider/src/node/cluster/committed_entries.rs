//! Gives a committed entry its seqno and verdict, and passes it on: to the waiting thread, or to the receive queue. When:
//! `replica/committed_entries.rs`.

use super::{ClusterHandle, Command};
use crate::commit_monitor::Call;
use crate::entry::{self, CommitCut, Entry, WriteSetHead};
use crate::gate::GateState;
use crate::identity::{Gtid, Uuid};
use crate::log::Index;
use crate::node::commit::{Distances, Ordered, Proposal};
use crate::node::delivery::{Delivered, Delivery};
use crate::node::recv_queue::Work;
use crate::node::replica::OrderedEntry;
use crate::node::total_order::{Verdict, takes_seqno};
use crate::node::{Node, OrderState, lock};
use crate::node_state::StateEvent;
use crate::server::{CallbackError, Flags, Meta};
use std::sync::atomic::Ordering as Atomic;

/// Limit of the receive queue in bytes; beyond it nothing more is ordered here.
const QUEUE_LIMIT_BYTES: usize = 64 << 20;

impl Node {
    /// Whether the next entry can be ordered. Applying may wait for a transaction of this node to yield, which it does
    /// once it is ordered: then neither the queue limit nor a draining pause may hold it back.
    pub(super) fn can_order(&self, cluster: &ClusterHandle) -> bool {
        let has_room = self.recv_queue.queued_bytes() < QUEUE_LIMIT_BYTES;
        if self.recv_queue.is_held.load(Atomic::SeqCst) {
            self.recv_queue.is_draining.load(Atomic::SeqCst) && cluster.pending_proposals.has_victim()
        } else {
            has_room || cluster.pending_proposals.has_victim()
        }
    }

    /// Orders the next entry. An own write set goes to the waiting client's thread, all others to the receive queue.
    /// None: the node was paused meanwhile, and nothing is ordered. `own_member_ids`: all since the connect.
    pub(super) fn order_committed(
        &self,
        cluster: &ClusterHandle,
        index: Index,
        bytes: &[u8],
        own_member_ids: &[Uuid],
    ) -> Result<Option<OrderedEntry>, CallbackError> {
        let (stamp, entry) = entry::decode(bytes).map_err(|error| {
            self.fail(&format!("entry {index} of the log is not valid: {error}"));
            CallbackError
        })?;
        let mut ordered_entry = OrderedEntry { term: stamp.term, request: None, is_excluded: false };
        let mut order_state = lock(&self.order);
        // A pause meanwhile has reported its seqno: check again under the lock.
        if self.recv_queue.is_held.load(Atomic::SeqCst) && !self.can_order(cluster) {
            return Ok(None);
        }
        let OrderState { order, .. } = order_state.as_mut().ok_or(CallbackError)?;
        let seqno = stamp.seqno;
        if let Err(text) = order.check_entry(index, stamp, &entry) {
            drop(order_state);
            self.fail(&text);
            return Err(CallbackError);
        }
        // The log was behind the tables.
        let is_applied = seqno <= self.commit_monitor.last_left();
        let verdict = order.apply_entry(index, stamp, &entry);
        if takes_seqno(&entry) && !is_applied {
            self.commit_monitor.set_last_ordered(seqno);
        }
        let entry = match (entry, verdict) {
            (Entry::WriteSet { head, keys, data }, Some(verdict)) => {
                ordered_entry.request = Some((head.source, head.request_id));
                if let Some(proposed) = cluster.pending_proposals.take(head.source, head.request_id) {
                    let transaction = proposed.transaction.as_deref();
                    let aborted = transaction
                        .is_some_and(|transaction| transaction.on_ordered(seqno, head.flags, verdict.passed));
                    let gtid = Gtid { history_uuid: order.history_uuid, seqno };
                    let depends_on = verdict.depends_on;
                    let meta = Meta { gtid, source: head.source, trx: head.trx, conn: head.conn, depends_on };
                    let distances = Distances::of(seqno, depends_on, head.last_seen);
                    self.count(keys.len(), bytes.len() - data.len(), data.len(), distances);
                    let Verdict { passed, failure, .. } = verdict;
                    let ordered = Ordered { meta, passed, failure, index: None, aborted };
                    let answer = proposed.slot;
                    // A TOI statement waits for more than its turn; a rolled back write set need not wait.
                    let Some(transaction) = transaction.filter(|_| ordered.passed && !aborted) else {
                        answer.set(Some(ordered));
                        return Ok(Some(ordered_entry));
                    };
                    self.commit_monitor.call_on_turn(seqno, Call(Box::new(move || answer.set(Some(ordered)))));
                    // An abort that was granted in between found no waiter to interrupt.
                    if transaction.is_aborted() {
                        self.commit_monitor.interrupt(seqno);
                    }
                    return Ok(Some(ordered_entry));
                }
                // No thread waits for it: its client has had an error.
                let is_orphan = verdict.passed
                    && own_member_ids.contains(&head.source)
                    && !head.flags.has(Flags::TRX_START)
                    && !head.flags.has(Flags::ROLLBACK);
                if is_orphan && head.flags.has(Flags::TRX_END) && !is_applied {
                    // This server has dropped the first fragments; on other nodes the transaction commits.
                    drop(order_state);
                    self.fail(&format!(
                        "the last fragment of a streaming transaction was ordered at seqno {seqno} after this node \
                         had lost the quorum and dropped the transaction. Restart the node: it recovers the \
                         transaction from the log"
                    ));
                    return Err(CallbackError);
                }
                // The view that ends the member ID rolls the transaction back on all nodes: here nothing is added to it.
                let passed = verdict.passed && !is_orphan;
                Delivered::WriteSet { head, data, passed, depends_on: verdict.depends_on }
            }
            (Entry::View { number, members }, _) => {
                let is_in = members.iter().any(|member| member.id == order.member);
                cluster.pending_proposals.refuse_all_but_of(&members);
                ordered_entry.is_excluded = !is_in && matches!(self.gate.state(), GateState::Open | GateState::Paused);
                Delivered::View { number, members }
            }
            (Entry::CommitCut(CommitCut { upto, .. }), _) => {
                self.inconsistency.purge(upto.min(self.commit_monitor.last_released()));
                return Ok(Some(ordered_entry));
            }
            (Entry::VoteResult { seqno: of, result }, _) => {
                self.inconsistency.add_results(&[(of, result)]);
                return Ok(Some(ordered_entry));
            }
            _ => return Ok(Some(ordered_entry)),
        };
        if !is_applied {
            let (is_replay, is_logged) = (cluster.is_replay(index), self.is_logged(seqno));
            self.recv_queue.push(Work::Deliver(Delivery { seqno, entry, is_replay, is_logged }));
        }
        Ok(Some(ordered_entry))
    }

    /// In a cluster, proposes a write set without keys that needs no reply; it comes back like those of others. False:
    /// this is a single node.
    pub(in crate::node) fn send_without_waiting(&self, proposal: &Proposal<'_>) -> bool {
        if self.cluster().is_none() {
            return false;
        }
        let order_state = lock(&self.order);
        let Some(OrderState { order, is_single_node: false, .. }) = order_state.as_ref() else { return false };
        // Without quorum, the member ID ends, and its streaming transactions with it.
        if matches!(self.gate.state(), GateState::Open | GateState::Paused) {
            self.send_proposal(proposal, order.member, self.new_request_id());
        }
        true
    }

    /// A new request id, higher than all before.
    pub(in crate::node) fn new_request_id(&self) -> u64 {
        self.cluster().map_or(0, |cluster| cluster.new_request_id())
    }

    /// Proposes a write set without keys of the member `source` in a cluster. Under the order's lock: a node does not become a
    /// single node before the driver has seen it.
    pub(in crate::node) fn send_proposal(&self, proposal: &Proposal<'_>, source: Uuid, request_id: u64) {
        let Some(cluster) = self.cluster() else { return };
        let Proposal { flags, trx, conn, keys, data, .. } = *proposal;
        let head = WriteSetHead { flags, source, trx, conn, last_seen: entry::SEEN_ALL, request_id };
        let mut bytes = entry::encode_write_set(&head, keys, data.iter().map(|part| part.len()).sum());
        data.iter().for_each(|part| bytes.extend_from_slice(part));
        cluster.send(Command::Propose { request_id, bytes });
    }

    /// This node has lost the quorum, or was excluded from the view: pending clients get an error, and the node gets a
    /// new member ID, which is returned. None: it was not in the cluster.
    pub(super) fn lose_quorum(&self, cluster: &ClusterHandle) -> Option<Uuid> {
        let member_id = match Uuid::random() {
            Ok(member_id) => member_id,
            Err(error) => {
                self.fail(&format!("no random numbers for a UUID: {error}"));
                return None;
            }
        };
        let shift = {
            let mut order_state = lock(&self.order);
            let OrderState { order, .. } = order_state.as_mut()?;
            let shift = self.gate.shift(StateEvent::QuorumLost);
            if !shift.is_change() {
                return None;
            }
            order.member = member_id;
            *lock(&self.member_id) = member_id;
            shift
        };
        self.log_non_primary(&shift);
        cluster.pending_proposals.refuse_all_but_last_fragments();
        // The node takes part again when it is back.
        self.counters.desync_count.reset();
        self.recv_queue.push(Work::NonPrimary);
        Some(member_id)
    }
}
