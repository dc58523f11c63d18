//! Delivers ordered entries to the server: write sets of other nodes, own ones after a crash, and views.

use super::cluster::Command;
use super::recv_queue::Applying;
use super::{Node, OrderState, TotalOrder, lock};
use crate::entry::{Entry, Stamp, WriteSetHead};
use crate::events;
use crate::galera_lines::KnownMessage;
use crate::gate::GateState;
use crate::identity::{Gtid, Uuid};
use crate::log::Index;
use crate::saved_state::SavedState;
use crate::server::{CallbackError, Flags, Handle, Level, Member, Meta, Receiver, Server, View, ViewStatus};

/// Flags for a write set that failed certification: it only takes its turn.
const FAILED: Flags = Flags(Flags::ROLLBACK.0 | Flags::TRX_START.0);

/// The code for a joiner whose donor's server does not start the SST.
pub(super) const DONATION_REFUSED: i32 = -1;

/// An ordered entry, to be delivered in its turn.
#[derive(Debug)]
pub(super) struct Delivery {
    /// Its seqno.
    pub seqno: i64,
    /// The entry.
    pub entry: Delivered,
    /// The tables may hold parts of it.
    pub is_replay: bool,
    /// The binary log holds it: it must not get there again.
    pub is_logged: bool,
}

/// While it lives, the server writes nothing to its binary log. No other write set is being applied meanwhile, and there
/// are no clients.
struct BinaryLogPause<'a>(&'a dyn Server);

impl<'a> BinaryLogPause<'a> {
    fn of(server: &'a dyn Server) -> Self {
        server.write_binary_log(false);
        Self(server)
    }
}

impl Drop for BinaryLogPause<'_> {
    fn drop(&mut self) {
        self.0.write_binary_log(true);
    }
}

#[derive(Debug)]
pub(super) enum Delivered {
    WriteSet { head: WriteSetHead, data: Vec<u8>, passed: bool, depends_on: i64 },
    View { number: i64, members: Vec<Member> },
}

impl Delivery {
    /// Whether it can be applied in parallel with others.
    pub fn can_run_in_parallel(&self) -> bool {
        matches!(self.entry, Delivered::WriteSet { .. }) && !self.is_logged
    }

    /// Its approximate memory use.
    pub fn bytes(&self) -> usize {
        match &self.entry {
            Delivered::WriteSet { data, .. } => data.len() + size_of::<Self>(),
            Delivered::View { members, .. } => members.len() * size_of::<Member>() + size_of::<Self>(),
        }
    }
}

impl Node {
    /// Orders the next entry of the log of a single node that starts. Some: deliver it.
    pub(super) fn order_next(
        &self,
        index: Index,
        stamp: Stamp,
        entry: Entry,
    ) -> Result<Option<Delivery>, CallbackError> {
        let mut order_state = self.order_of_start();
        let order = &mut order_state.as_mut().ok_or(CallbackError)?.order;
        let verdict = order.apply_entry(index, stamp, &entry);
        let seqno = stamp.seqno;
        let entry = match (entry, verdict) {
            (Entry::WriteSet { head, data, .. }, Some(verdict)) => {
                Delivered::WriteSet { head, data, passed: verdict.passed, depends_on: verdict.depends_on }
            }
            (Entry::View { number, members }, _) => Delivered::View { number, members },
            _ => return Ok(None),
        };
        self.commit_monitor.set_last_ordered(seqno);
        Ok(Some(Delivery { seqno, entry, is_replay: false, is_logged: self.is_logged(seqno) }))
    }

    /// Delivers an entry of the queue to the server; if that fails, the node leaves. Returns whether the thread is
    /// still needed.
    pub(super) fn deliver_queued(&self, receiver: Receiver, delivery: Delivery) -> bool {
        let (seqno, bytes) = (delivery.seqno, delivery.bytes());
        if self.gate.state() == GateState::Failed {
            // Queued before the node failed: its tables are no longer those that it was ordered for.
            self.recv_queue.on_delivered(bytes);
            return true;
        }
        let is_needed = self.deliver(receiver, delivery).unwrap_or_else(|_| {
            let text = format!("seqno {seqno} could not be applied");
            self.fail_and_leave(&KnownMessage::Inconsistent(self.gtid_of(seqno)), &text);
            true
        });
        if self.recv_queue.on_delivered(bytes)
            && let Some(cluster) = self.cluster()
        {
            cluster.send(Command::Recheck);
        }
        is_needed
    }

    /// The donation is over: the server becomes synced again, unless the node has lost the quorum meanwhile.
    pub(super) fn rejoin_after_donation(&self) -> bool {
        if self.gate.node_state().takes_part() && self.server.synced().is_err() {
            self.server.log(Level::Warning, "the server did not become synced after the donation");
        }
        true
    }

    /// The node has lost the quorum: tells the server, so that clients get errors.
    pub(super) fn deliver_non_primary_view(&self, receiver: Receiver) -> bool {
        let members = vec![Member { id: self.server_member_id(), ..self.own_member() }];
        let state = Gtid { history_uuid: self.last_committed().history_uuid, seqno: -1 };
        let view = View { state, number: -1, status: ViewStatus::NonPrimary, own_index: 0, members };
        self.note(
            "quorum lost: this node is not connected to a majority of the cluster, and refuses statements \
                   until it is",
        );
        if self.deliver_to_server(receiver, &view).is_err() {
            self.server.log(Level::Warning, "the server refused the non-primary view");
        }
        true
    }

    /// Starts an SST to a joiner when everything up to `seqno` is applied.
    pub(super) fn donate_state(&self, receiver: Receiver, request: &[u8], seqno: i64) -> bool {
        if self.commit_monitor.wait_released(seqno, None) {
            let state =
                Gtid { history_uuid: self.last_committed().history_uuid, seqno: self.commit_monitor.last_released() };
            self.note(&format!("this node sends its state at {state} to another node"));
            if self.server.sst_donate(receiver, request, state).is_err() {
                self.finish_donation(DONATION_REFUSED);
            }
        }
        true
    }

    /// Delivers an entry to the server. Returns whether the thread is still needed.
    pub(super) fn deliver(&self, receiver: Receiver, delivery: Delivery) -> Result<bool, CallbackError> {
        let Delivery { seqno, entry, is_replay, is_logged } = delivery;
        let history_uuid = self.last_committed().history_uuid;
        let gtid = Gtid { history_uuid, seqno };
        match entry {
            Delivered::View { number, members } => {
                self.deliver_view(receiver, gtid, number, members)?;
                Ok(true)
            }
            Delivered::WriteSet { head, data, passed, depends_on } => {
                let handle = Handle { id: head.trx, address: 0 };
                let depends_on = self.limits.apply_after(depends_on, head.last_seen.min(seqno - 1));
                let meta = Meta { gtid, source: head.source, trx: head.trx, conn: head.conn, depends_on };
                let flags = if passed { head.flags } else { FAILED };
                let makes_tables = is_replay && !flags.has(Flags::ISOLATION);
                let data = if makes_tables { events::replacing_tables(data) } else { data };
                // A fragment writes nothing there; without its binary log, the server would not expect its end to.
                let pauses = is_logged && flags.has(Flags::TRX_END);
                let _pause = pauses.then(|| BinaryLogPause::of(&*self.server));
                self.apply(receiver, handle, flags, &data, &meta).inspect_err(|_| {
                    // While the node starts, no other line names the write set.
                    let level = if is_replay { Level::Error } else { Level::Note };
                    let text = "it could not be applied to the tables of this node";
                    self.server.log_known(level, &KnownMessage::NotApplied(gtid), text);
                })
            }
        }
    }

    /// In a view without this node, its members may have left streaming transactions open that end later in the order.
    /// The server needs itself in each view, so this node adds itself, and a placeholder
    /// ([`Node::placeholder_member`]).
    fn deliver_view(
        &self,
        receiver: Receiver,
        state: Gtid,
        number: i64,
        mut members: Vec<Member>,
    ) -> Result<(), CallbackError> {
        self.commit_monitor.enter_own(state.seqno).map_err(|_| CallbackError)?;
        // Read once: another thread may change the member ID meanwhile.
        let own_id = self.member_id();
        if self.has_left(&members) {
            self.take_new_member_id(receiver, own_id, state, &members)?;
        }
        let server_id = self.server_member_id();
        let own_index = members.iter().position(|member| member.id == server_id);
        if own_index.is_none() {
            members.insert(0, Member { id: server_id, ..self.own_member() });
            members.push(self.placeholder_member()?);
        }
        let is_in = own_index.is_some() && server_id == own_id;
        let own_index = own_index.unwrap_or(0) as i32;
        if is_in {
            self.log_view(&members, own_index, number, state);
        }
        self.deliver_to_server(receiver, &View { state, number, status: ViewStatus::Primary, own_index, members })?;
        self.commit_monitor.leave(state.seqno);
        self.commit_monitor.release(state.seqno);
        let has_stayed = |order: &TotalOrder| order.member == own_id && order.has_stayed_since(state.seqno);
        let is_still_in = lock(&self.order).as_ref().is_some_and(|OrderState { order, .. }| has_stayed(order));
        if is_in && is_still_in && self.gate.state() == GateState::Closed {
            self.save(SavedState::running(state.history_uuid, own_id))?;
            if self.take_part() {
                self.server.synced()?;
            }
        }
        Ok(())
    }

    /// A member that does not exist, for a view that this node has added itself to. If two primary views in a row have
    /// the same members, the server assumes that there was no cluster in between, and drops open streaming transactions
    /// of others; the next view with this node could have exactly the members of this one.
    pub(super) fn placeholder_member(&self) -> Result<Member, CallbackError> {
        let id = Uuid::random().map_err(|error| {
            self.server.log(Level::Error, &format!("no random numbers for a UUID: {error}"));
            CallbackError
        })?;
        Ok(Member { id, name: "nobody".to_owned(), incoming: String::new() })
    }

    /// Passes a write set to the server and ends its turn. Returns whether the thread is still needed. If the server
    /// could not apply it, no later turn comes.
    pub(super) fn apply(
        &self,
        receiver: Receiver,
        handle: Handle,
        flags: Flags,
        data: &[u8],
        meta: &Meta,
    ) -> Result<bool, CallbackError> {
        let seqno = meta.gtid.seqno;
        // A whole transaction waits for its dependencies. Fragments are applied in order.
        let is_whole = flags.has(Flags::TRX_START.with(Flags::TRX_END)) && !flags.has(Flags::ISOLATION);
        let after = if is_whole { meta.depends_on } else { seqno - 1 };
        if !self.commit_monitor.wait_released(after, None) {
            return Err(CallbackError);
        }
        let what = if flags.has(Flags::ISOLATION) { Applying::Statement } else { Applying::WriteSet };
        let distance = self.recv_queue.begin_applying(seqno, what);
        let result = self.server.apply(receiver, handle, flags, data, meta);
        let overtakes = self.recv_queue.end_applying(seqno);
        self.counters.on_applied(distance, overtakes);
        if result.is_err() {
            self.record_failed_seqno(seqno);
            // The node leaves. Nothing that depends on this write set may be applied to its tables meanwhile.
            self.commit_monitor.close();
            return Err(CallbackError);
        }
        // The server does not enter the commit order for every write set.
        if self.commit_monitor.last_left() < seqno && self.commit_monitor.enter(seqno, None).is_ok() {
            self.commit_monitor.leave(seqno);
        }
        self.commit_monitor.release(seqno);
        self.counters.received.add(1);
        self.counters.received_bytes.add(data.len() as i64);
        result.map(|exit| !exit)
    }
}
