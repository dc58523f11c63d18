//! Taking a place in a cluster: the first view, what the tables lack, the view that opens the node to its clients.
//!
//! ```text
//!   connected(M) ─► view(N) ─► apply N+1 … M ─► view(M+1) ─► synced       after a crash
//!   connected(M) ─► view(M+1) ─► synced                                   else
//! ```
//!
//! view(N) takes no seqno. It has the life of the node before the crash as a member beside the new one, so that the
//! server keeps what that one left open; view(M+1), without it, makes the server roll that back.

use super::{Error, Node, lock};
use crate::entry::{self, Entry};
use crate::events;
use crate::gate::Passage;
use crate::identity::{Gtid, Uuid};
use crate::log::Index;
use crate::recovery::Plan;
use crate::saved_state::SavedState;
use crate::server::{Flags, Handle, Level, Member, Meta, Receiver, Refused, View, ViewStatus};

/// What a write set that failed certification is delivered with: it takes its turn, and nothing else.
const FAILED: Flags = Flags(Flags::ROLLBACK.0 | Flags::TRX_START.0);

impl Node {
    /// Takes the server's word for which cluster it belongs to. Nothing is called back before a thread receives.
    pub fn connect(&self, address: &str, is_new: bool) -> Result<(), Error> {
        let (_, hosts) = address.split_once("://").unwrap_or(("", address));
        let hosts = hosts.split('?').next().unwrap_or_default();
        if hosts.split(',').filter(|host| !host.trim().is_empty()).count() > 1 && !is_new {
            return Err(Error::SeveralNodes(address.to_owned()));
        }
        if self.gate.passage() == Passage::Failed {
            return Err(Error::Failed);
        }
        if self.log.get().is_none() {
            if !is_new {
                return Err(Error::NothingToJoin(address.to_owned()));
            }
            let history = if self.setup.position.is_undefined() {
                Uuid::random().map_err(Error::Random)?
            } else {
                self.setup.position.history
            };
            *lock(&self.saved) = Some(SavedState { stopped_at: 0, ..SavedState::running(history, self.member()) });
            self.open(history)?;
        }
        if !self.receiving.start() {
            return Err(Error::Connected);
        }
        Ok(())
    }

    /// All of it, on a receiving thread. False: it cannot be.
    pub(super) fn bring_up(&self, receiver: Receiver) -> bool {
        let plan = lock(&self.plan).take();
        let ready = match plan {
            Some(plan) => self.recover(receiver, plan),
            // Connected again: nothing happened in between, but what the former life left open is closed by its name.
            None => self.live_anew().map(|()| false),
        };
        ready.and_then(|is_connected| self.open_up(receiver, is_connected)).is_ok()
    }

    fn live_anew(&self) -> Result<(), Refused> {
        let member = Uuid::random().map_err(|error| {
            self.server.log(Level::Error, &format!("no random numbers for a UUID: {error}"));
            Refused
        })?;
        *lock(&self.member) = member;
        Ok(())
    }

    /// Brings the tables up to the end of the log. Answers whether the server has been told of the cluster.
    fn recover(&self, receiver: Receiver, plan: Plan) -> Result<bool, Refused> {
        let (tables_at, replay_from, behind) = (plan.tables_at, plan.replay_from, plan.behind());
        let Plan { order, failed, earlier_member, .. } = plan;
        let (history, end, number) = (order.history, order.seqno, order.view_number);
        self.turns.begin_at(tables_at);
        self.turns.give(end);
        *lock(&self.order) = Some(order);
        let was_stopped = lock(&self.saved).is_some_and(|saved| saved.stopped_at == end && end == tables_at);
        let earlier = earlier_member.filter(|_| !was_stopped);
        let running = SavedState::running(history, earlier.unwrap_or(self.member()));
        let failed_at = lock(&self.saved).map_or(-1, |saved| saved.failed_at);
        self.save(SavedState { begins_at: tables_at, failed_at, ..running })?;
        if was_stopped {
            return Ok(false);
        }
        self.note(&format!("tables hold everything up to {history}:{tables_at}, the log ends at {end}"));
        self.connected(end)?;
        let mut members = vec![self.own_member()];
        members.extend(earlier.map(former));
        let state = Gtid { history, seqno: tables_at };
        self.view(receiver, &View { state, number, status: ViewStatus::Primary, own_index: 0, members })?;
        self.save(SavedState { failed_at, ..running })?;
        if let Some(from) = replay_from {
            self.replay_log(receiver, from, tables_at, &failed)?;
            self.note(&format!("{behind} places were applied from the log"));
        }
        Ok(true)
    }

    /// Applies what the log holds behind `tables_at`.
    fn replay_log(
        &self,
        receiver: Receiver,
        from: Index,
        tables_at: i64,
        failed: &std::collections::HashSet<i64>,
    ) -> Result<(), Refused> {
        let log = self.log.get().ok_or(Refused)?;
        let history = self.last_committed().history;
        let told = |error: &dyn std::fmt::Display| {
            self.server.log(Level::Error, &format!("the log cannot be read: {error}"));
            Refused
        };
        for record in log.read(from).map_err(|error| told(&error))? {
            let (_, bytes) = record.map_err(|error| told(&error))?;
            let (seqno, entry) = entry::decode(&bytes).map_err(|error| told(&error))?;
            if seqno <= tables_at {
                continue;
            }
            let gtid = Gtid { history, seqno };
            match entry {
                Entry::Cut => {}
                Entry::View { number, members } => {
                    // The lives of that view may have left something open that is decided further on.
                    let mut all = vec![self.own_member()];
                    all.extend(members);
                    let status = ViewStatus::Primary;
                    let view = View { state: gtid, number, status, own_index: 0, members: all };
                    self.turns.enter(seqno, None).map_err(|_| Refused)?;
                    self.view(receiver, &view)?;
                    self.turns.leave(seqno);
                    self.turns.release(seqno);
                }
                Entry::WriteSet { head, data, .. } => {
                    let handle = Handle { id: head.trx, address: 0 };
                    let depends_on = seqno - 1;
                    let meta = Meta { gtid, source: head.source, trx: head.trx, conn: head.conn, depends_on };
                    let flags = if failed.contains(&seqno) { FAILED } else { head.flags };
                    let data = if flags.has(Flags::ISOLATION) { data } else { events::replacing_tables(data) };
                    if self.apply(receiver, handle, flags, &data, &meta).is_err() {
                        let text =
                            format!("the write set at {gtid} could not be applied: the tables are not what they were");
                        self.server.log(Level::Error, &text);
                        self.could_not_apply(seqno);
                        return Err(Refused);
                    }
                }
            }
        }
        Ok(())
    }

    /// The view that has this life of the node alone, and with it clients.
    fn open_up(&self, receiver: Receiver, is_connected: bool) -> Result<(), Refused> {
        let log = self.log.get().ok_or(Refused)?;
        let members = vec![self.own_member()];
        let (history, seqno, number, appended) = {
            let mut order = lock(&self.order);
            let order = order.as_mut().ok_or(Refused)?;
            let (seqno, number) = (order.seqno + 1, order.view_number + 1);
            let appended = log.append(&[&entry::encode_view(seqno, number, &members)]);
            order.member = members[0].id;
            if appended.is_ok() {
                order.view(seqno, number);
                self.turns.give(seqno);
            }
            (order.history, seqno, number, appended)
        };
        let index = appended.map_err(|error| {
            self.server.log(Level::Error, &format!("the view cannot be put into the log: {error}"));
            Refused
        })?;
        self.make_durable(index).map_err(|_| Refused)?;
        if !is_connected {
            self.connected(seqno - 1)?;
        }
        let state = Gtid { history, seqno };
        self.turns.enter(seqno, None).map_err(|_| Refused)?;
        self.view(receiver, &View { state, number, status: ViewStatus::Primary, own_index: 0, members })?;
        self.turns.leave(seqno);
        self.turns.release(seqno);
        self.save(SavedState::running(history, self.member()))?;
        self.gate.set(Passage::Open);
        self.server.synced()
    }

    fn connected(&self, seqno: i64) -> Result<(), Refused> {
        let history = self.last_committed().history;
        let state = Gtid { history, seqno };
        let members = vec![self.own_member()];
        self.server.connected(&View { state, number: 0, status: ViewStatus::Primary, own_index: 0, members })
    }

    fn view(&self, receiver: Receiver, view: &View) -> Result<(), Refused> {
        self.counters.received.add(1);
        self.server.view(receiver, view)
    }
}

fn former(id: Uuid) -> Member {
    Member { id, name: "before".to_owned(), incoming: String::new() }
}
