//! Taking a place in a cluster: the first view, what the tables lack, the view that opens the node to its clients.
//!
//! ```text
//!   connected(M) ─► view(N) ─► apply N+1 … M ─► view(M+1) ─► synced       after a crash
//!   connected(M) ─► view(M+1) ─► synced                                   else
//! ```
//!
//! view(N) takes no seqno. It has the life of the node before the crash as a member beside the new one, so that the
//! server keeps what that one left open; view(M+1), without it, makes the server roll that back.

use std::sync::Arc;
use std::time::Duration;

use super::deliver::Delivery;
use super::together::{self, Beginning, Command, Contact};
use super::{Error, Node, Ordering, lock};
use crate::entry::{self, Cut, Entry, Stamp};
use crate::gate::Passage;
use crate::group::saved::Saved;
use crate::identity::{Gtid, Uuid};
use crate::log::Index;
use crate::recovery::Plan;
use crate::saved_state::SavedState;
use crate::server::{Level, Member, Receiver, Refused, View, ViewStatus};

/// How long a server that runs waits for a majority of the cluster that it is told to connect to.
const REACH_LIMIT: Duration = Duration::from_secs(30);

impl Node {
    /// Takes the server's word for which cluster it belongs to. Nothing is called back before a thread receives.
    pub fn connect(self: &Arc<Self>, cluster: &str, address: &str, donor: &str, is_new: bool) -> Result<(), Error> {
        let Some(hosts) = address.strip_prefix("gcomm://") else {
            return Err(Error::Address(address.to_owned()));
        };
        let hosts = hosts.split('?').next().unwrap_or_default();
        let hosts: Vec<String> =
            hosts.split(',').map(str::trim).filter(|host| !host.is_empty()).map(str::to_owned).collect();
        if self.gate.passage() == Passage::Failed {
            return Err(Error::Failed);
        }
        let group = Saved::read(&self.setup.data_dir)?;
        let others: Vec<String> = group
            .iter()
            .flat_map(|group| {
                group.voters.iter().filter(|(node, _)| **node != group.node).map(|(_, address)| address.clone())
            })
            .collect();
        if is_new && !others.is_empty() {
            return Err(Error::OthersVote(others.join(", ")));
        }
        if self.log().is_none() && is_new {
            let history = if self.setup.position.is_undefined() {
                Uuid::random().map_err(Error::Random)?
            } else {
                self.setup.position.history
            };
            *lock(&self.saved) = Some(SavedState { stopped_at: 0, ..SavedState::running(history, self.member()) });
            self.open(history)?;
        }
        let beginning = match group {
            _ if self.log().is_none() && hosts.is_empty() => return Err(Error::NothingToJoin(address.to_owned())),
            _ if self.log().is_none() => Beginning::Joining,
            // What a release that ran single nodes left, or one whose file was moved away.
            None => match self.voters_in_log()? {
                Some(others) if !is_new => return Err(Error::NoVotes(others)),
                _ => Beginning::Alone,
            },
            // One without voters was about to join when it ended: it is a group by itself only if somebody says so.
            Some(group) if group.voters.is_empty() && is_new => Beginning::Alone,
            Some(group) => Beginning::Again(Box::new(group)),
        };
        if !self.receiving.start() {
            return Err(Error::Connected);
        }
        self.end_together();
        let is_again = lock(&self.order).is_some();
        if is_again {
            // Tickets count from 1 again, and the former life may be in the view still.
            *lock(&self.member) = Uuid::random().map_err(Error::Random)?;
        }
        self.inconsistency.begin_again();
        donor.clone_into(&mut lock(&self.donor));
        let together = together::start(self, cluster, &hosts, beginning).inspect_err(|_| self.receiving.stop())?;
        *lock(&self.together) = Some(Arc::clone(&together));
        // A server that runs never ends what has not begun: its next SET GLOBAL wsrep_cluster_address would wait for ever.
        let is_in_reach = |contact: &Contact| contact.in_touch || contact.is_alone || contact.is_too_far_behind;
        if is_again && together.wait_for(Some(REACH_LIMIT), is_in_reach).is_none() {
            self.receiving.stop();
            self.inconsistency.end();
            self.end_together();
            return Err(Error::OutOfReach(address.to_owned()));
        }
        Ok(())
    }

    /// Those who decide, as the log says, if they are several. Where what says so is purged, the view tells: of several
    /// members only if several vote.
    fn voters_in_log(&self) -> Result<Option<String>, Error> {
        let Some(log) = self.log() else { return Ok(None) };
        let (mut voters, mut members) = (None, None);
        for record in log.read(log.first())? {
            let (index, bytes) = record?;
            let decoded = entry::decode(&bytes);
            let (_, entry) = decoded.map_err(|error| crate::recovery::Error::Entry { index: index.0, error })?;
            match entry {
                Entry::Group(latest) => {
                    voters = Some(latest.into_iter().map(|voter| voter.address).collect::<Vec<_>>());
                }
                Entry::View { members: latest, .. } | Entry::Cut(Cut { members: latest, .. }) => {
                    members = Some(latest.into_iter().map(|member| member.name).collect());
                }
                Entry::WriteSet { .. } | Entry::Nothing | Entry::Decision { .. } => {}
            }
        }
        Ok(voters.or(members).filter(|several| several.len() > 1).map(|several| several.join(", ")))
    }

    /// All of it, on a receiving thread. False: it cannot be.
    pub(super) fn bring_up(&self, receiver: Receiver) -> bool {
        let Some(together) = self.together() else { return false };
        let is_ready =
            |contact: &Contact| contact.is_alone || contact.in_touch || contact.is_linked && self.log().is_none();
        // None: it is told to go before anybody was there.
        let Some(contact) = together.wait_for(None, is_ready) else { return self.gate.passage() != Passage::Failed };
        if !contact.is_alone {
            return self.find_place(receiver, &together).is_ok() || together.is_leaving();
        }
        let plan = lock(&self.plan).take();
        let ready = match plan {
            Some(plan) => self.recover(receiver, plan),
            // Connected again: nothing happened in between, but what the former life left open is closed by its name.
            None => self.live_anew().map(|()| false),
        };
        let is_up = ready.and_then(|is_connected| self.open_up(receiver, is_connected)).is_ok();
        together.ask(Command::Look);
        is_up
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
        let (behind, end) = (plan.behind(), plan.end.max(plan.tables_at));
        let Plan { mut order, tables_at, go_on_from, earlier, decisions, .. } = plan;
        self.inconsistency.begin_at(tables_at);
        self.inconsistency.learn(&decisions);
        if tables_at > order.seqno {
            order.skip_to(tables_at);
        }
        self.turns.begin_at(tables_at);
        *lock(&self.order) = Some(Ordering { order, is_alone: true });
        let was_stopped = lock(&self.saved).is_some_and(|saved| saved.stopped_at == end && end == tables_at);
        self.settle_in(receiver, tables_at, end, (!was_stopped).then_some(earlier), false)?;
        if behind > 0 {
            self.replay_log(receiver, go_on_from)?;
            self.note(&format!("{behind} places were applied from the log"));
        }
        Ok(!was_stopped)
    }

    /// Tells the server where its tables are. `earlier`: lives of nodes, its own among them, that may have left
    /// something open there; None: it need not be told, because a view comes that says the same.
    pub(super) fn settle_in(
        &self,
        receiver: Receiver,
        tables_at: i64,
        end: i64,
        earlier: Option<Vec<Member>>,
        is_connected: bool,
    ) -> Result<(), Refused> {
        let (history, number) =
            lock(&self.order).as_ref().map(|order| (order.order.history, order.order.view_number)).ok_or(Refused)?;
        // What a crash in between finds is what the last life left open, whose name this is.
        let former = lock(&self.saved).filter(|saved| saved.history == history).map(|saved| saved.member);
        let running = SavedState::running(history, former.filter(|_| earlier.is_some()).unwrap_or(self.member()));
        let failed_at = lock(&self.saved).map_or(-1, |saved| saved.failed_at);
        self.save(SavedState { begins_at: tables_at, failed_at, ..running })?;
        let Some(earlier) = earlier else { return Ok(()) };
        self.note(&format!("tables hold everything up to {history}:{tables_at}, the log ends at {end}"));
        if !is_connected {
            self.connected(end)?;
        }
        let mut members = vec![self.own_member()];
        members.extend(earlier);
        members.push(self.nobody()?);
        let state = Gtid { history, seqno: tables_at };
        self.view(receiver, &View { state, number, status: ViewStatus::Primary, own_index: 0, members })?;
        self.save(SavedState { failed_at, ..running })
    }

    /// Applies what the log holds from there on.
    fn replay_log(&self, receiver: Receiver, from: Index) -> Result<(), Refused> {
        let log = self.log().ok_or(Refused)?;
        let told = |error: &dyn std::fmt::Display| {
            self.server.log(Level::Error, &format!("the log cannot be read: {error}"));
            Refused
        };
        for record in log.read(from).map_err(|error| told(&error))? {
            let (index, bytes) = record.map_err(|error| told(&error))?;
            let (stamp, entry) = entry::decode(&bytes).map_err(|error| told(&error))?;
            if let Some(work) = self.take_next(index, stamp, entry)? {
                self.deliver(receiver, Delivery { is_replay: true, ..work })?;
            }
        }
        Ok(())
    }

    /// The view that has this life of the node alone, and with it clients.
    fn open_up(&self, receiver: Receiver, is_connected: bool) -> Result<(), Refused> {
        let log = self.log().ok_or(Refused)?;
        let members = vec![self.own_member()];
        let (history, seqno, number, appended) = {
            let mut ordering = lock(&self.order);
            let Ordering { order, .. } = ordering.as_mut().ok_or(Refused)?;
            let (seqno, number) = (order.seqno + 1, order.view_number + 1);
            let mut bytes = entry::encode_view(number, &members);
            entry::place(&mut bytes, Stamp { seqno, term: self.term() });
            let appended = log.append(&[&bytes]);
            order.member = members[0].id;
            if appended.is_ok() {
                order.view(seqno, number, &members);
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
        self.connected_to(Gtid { history: self.last_committed().history, seqno })
    }

    /// Tells the server that there is a cluster, and how far that is.
    pub(super) fn connected_to(&self, state: Gtid) -> Result<(), Refused> {
        let members = vec![self.own_member()];
        *lock(&self.known_as) = members[0].id;
        self.server.connected(&View { state, number: 0, status: ViewStatus::Primary, own_index: 0, members })
    }

    pub(super) fn view(&self, receiver: Receiver, view: &View) -> Result<(), Refused> {
        self.counters.received.add(1);
        self.server.view(receiver, view)
    }
}
