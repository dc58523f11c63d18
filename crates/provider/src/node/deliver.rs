//! What the order brings to this node's tables: write sets of others, and its own after a crash; views.

use super::together::Command;
use super::{Node, Ordering, lock};
use crate::entry::{Entry, Stamp, WriteSetHead};
use crate::events;
use crate::gate::Passage;
use crate::identity::{Gtid, Uuid};
use crate::log::Index;
use crate::saved_state::SavedState;
use crate::server::{Flags, Handle, Level, Member, Meta, Receiver, Refused, View, ViewStatus};

/// What a write set that failed certification is delivered with: it takes its turn, and nothing else.
const FAILED: Flags = Flags(Flags::ROLLBACK.0 | Flags::TRX_START.0);

/// What a joiner is told where the server does not even begin.
pub(super) const CANNOT_GIVE: i32 = -1;

/// Something that has its seqno and is to be given to the server in its turn.
#[derive(Debug)]
pub(super) struct Delivery {
    /// Its place.
    pub seqno: i64,
    /// What it is.
    pub what: Delivered,
    /// The tables may hold parts of it.
    pub is_replay: bool,
}

#[derive(Debug)]
pub(super) enum Delivered {
    WriteSet { head: WriteSetHead, data: Vec<u8>, passed: bool, depends_on: i64 },
    View { number: i64, members: Vec<Member> },
}

impl Delivery {
    /// Whether others may be applied beside it.
    pub fn is_write_set(&self) -> bool {
        matches!(self.what, Delivered::WriteSet { .. })
    }

    /// How much memory it takes, nearly.
    pub fn bytes(&self) -> usize {
        match &self.what {
            Delivered::WriteSet { data, .. } => data.len() + size_of::<Self>(),
            Delivered::View { members, .. } => members.len() * size_of::<Member>() + size_of::<Self>(),
        }
    }
}

impl Node {
    /// Takes the next entry of the order. Some: it is to be delivered.
    pub(super) fn take_next(&self, index: Index, stamp: Stamp, entry: Entry) -> Result<Option<Delivery>, Refused> {
        let mut ordering = lock(&self.order);
        let order = &mut ordering.as_mut().ok_or(Refused)?.order;
        let verdict = order.take(index, stamp, &entry);
        let seqno = stamp.seqno;
        let what = match (entry, verdict) {
            (Entry::WriteSet { head, data, .. }, Some(verdict)) => {
                Delivered::WriteSet { head, data, passed: verdict.passed, depends_on: verdict.depends_on }
            }
            (Entry::View { number, members }, _) => Delivered::View { number, members },
            _ => return Ok(None),
        };
        self.turns.give(seqno);
        Ok(Some(Delivery { seqno, what, is_replay: false }))
    }

    /// Gives what waited in the queue to the server; if that cannot be, the node cannot go on. Answers whether the
    /// thread is needed any longer.
    pub(super) fn deliver_queued(&self, receiver: Receiver, delivery: Delivery) -> bool {
        let (seqno, bytes) = (delivery.seqno, delivery.bytes());
        let is_needed = self.deliver(receiver, delivery).unwrap_or_else(|_| {
            self.fail_in_order(&format!("what stands at {seqno} could not be taken over"));
            true
        });
        if self.receiving.delivered(bytes)
            && let Some(together) = self.together()
        {
            together.ask(Command::Look);
        }
        is_needed
    }

    /// Its state was sent: the server takes its place again.
    pub(super) fn come_back(&self) -> bool {
        if self.gate.passage() != Passage::Failed && self.server.synced().is_err() {
            self.server.log(Level::Warning, "the server does not take its place again after it gave its state");
        }
        true
    }

    /// The node is out of touch with the others: the server is told, so that its clients are.
    pub(super) fn deliver_loss(&self, receiver: Receiver) -> bool {
        let members = vec![self.own_member()];
        let state = Gtid { history: self.last_committed().history, seqno: -1 };
        let view = View { state, number: -1, status: ViewStatus::NonPrimary, own_index: 0, members };
        self.note("out of touch with a majority of the cluster: statements are refused until it is back");
        if self.view(receiver, &view).is_err() {
            self.server.log(Level::Warning, "the server refused the view that says that it is cut off");
        }
        true
    }

    /// Gives the tables to another node, as they are when everything up to `seqno` is done.
    pub(super) fn give_state(&self, receiver: Receiver, request: &[u8], seqno: i64) -> bool {
        if self.turns.wait_released(seqno, None) {
            let state = Gtid { history: self.last_committed().history, seqno: self.turns.released() };
            self.note(&format!("the state at {state} goes to another node"));
            if self.server.sst_donate(receiver, request, state).is_err() {
                self.server.log(Level::Warning, "the server cannot give its state: see the lines above");
                self.donation_is_over(CANNOT_GIVE);
            }
        }
        true
    }

    /// Gives it to the server. Answers whether the thread is needed any longer.
    pub(super) fn deliver(&self, receiver: Receiver, delivery: Delivery) -> Result<bool, Refused> {
        let Delivery { seqno, what, is_replay } = delivery;
        let history = self.last_committed().history;
        let gtid = Gtid { history, seqno };
        match what {
            Delivered::View { number, members } => {
                self.deliver_view(receiver, gtid, number, members)?;
                Ok(true)
            }
            Delivered::WriteSet { head, data, passed, depends_on } => {
                let handle = Handle { id: head.trx, address: 0 };
                let source = self.name_for_server(head.source);
                let meta = Meta { gtid, source, trx: head.trx, conn: head.conn, depends_on };
                let flags = if passed { head.flags } else { FAILED };
                let makes_tables = is_replay && !flags.has(Flags::ISOLATION);
                let data = if makes_tables { events::replacing_tables(data) } else { data };
                self.apply(receiver, handle, flags, &data, &meta).inspect_err(|_| {
                    let text =
                        format!("the write set at {gtid} could not be applied: the tables are not what they were");
                    self.server.log(Level::Error, &text);
                    self.could_not_apply(seqno);
                })
            }
        }
    }

    /// The lives of a view that this node is not in may have left something open that is decided further on; it counts
    /// itself in, because the server knows no other way, and somebody besides ([`Node::nobody`]).
    fn deliver_view(
        &self,
        receiver: Receiver,
        state: Gtid,
        number: i64,
        mut members: Vec<Member>,
    ) -> Result<(), Refused> {
        // Once: another thread may give the node another life meanwhile.
        let names = self.names();
        let own = Member { id: names.member, ..self.own_member() };
        let own_id = own.id;
        let own_index = members.iter().position(|member| member.id == own.id);
        if own_index.is_none() {
            members.insert(0, own);
            members.push(self.nobody()?);
        }
        let is_in = own_index.is_some();
        let own_index = own_index.unwrap_or(0) as i32;
        for member in &mut members {
            member.id = names.for_server(member.id);
        }
        self.turns.enter(state.seqno, None).map_err(|_| Refused)?;
        self.view(receiver, &View { state, number, status: ViewStatus::Primary, own_index, members })?;
        self.turns.leave(state.seqno);
        self.turns.release(state.seqno);
        let is_still_in = lock(&self.order).as_ref().is_some_and(|Ordering { order, .. }| order.is_in_view(own_id));
        if is_in && is_still_in && self.gate.passage() == Passage::Closed {
            self.save(SavedState::running(state.history, own_id))?;
            self.gate.set(Passage::Open);
            self.server.synced()?;
        }
        Ok(())
    }

    /// A member that there is not, for a view in which this node counts itself in. Where two primary views follow each other
    /// with the same members, the server takes it that there was no cluster in between, and drops what others have sent in
    /// parts and not ended; and the view that this node is in may have just the members that it counted here.
    pub(super) fn nobody(&self) -> Result<Member, Refused> {
        let id = Uuid::random().map_err(|error| {
            self.server.log(Level::Error, &format!("no random numbers for a UUID: {error}"));
            Refused
        })?;
        Ok(Member { id, name: "nobody".to_owned(), incoming: String::new() })
    }

    /// Hands a write set to the server and finishes its turn, whatever the server did. Answers whether the thread is
    /// needed any longer.
    pub(super) fn apply(
        &self,
        receiver: Receiver,
        handle: Handle,
        flags: Flags,
        data: &[u8],
        meta: &Meta,
    ) -> Result<bool, Refused> {
        let seqno = meta.gtid.seqno;
        // A whole transaction waits for what it depends on. Parts of one follow each other, as they were made.
        let is_whole = flags.has(Flags::TRX_START.with(Flags::TRX_END)) && !flags.has(Flags::ISOLATION);
        let after = if is_whole { meta.depends_on } else { seqno - 1 };
        if !self.turns.wait_released(after, None) {
            return Err(Refused);
        }
        self.receiving.begin_applying(seqno);
        let result = self.server.apply(receiver, handle, flags, data, meta);
        self.receiving.end_applying(seqno);
        // Not everything is taken through the order by the server.
        if self.turns.left() < seqno && self.turns.enter(seqno, None).is_ok() {
            self.turns.leave(seqno);
        }
        self.turns.release(seqno);
        self.counters.received.add(1);
        self.counters.received_bytes.add(data.len() as i64);
        result.map(|exit| !exit)
    }
}
