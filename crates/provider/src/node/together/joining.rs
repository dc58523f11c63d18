//! How a node gets what it needs to take part: a log from its leader, tables from a donor, a place in the view.
//!
//! ```text
//!   restarted   its log ──► what the leader has more ──► view(N) ─► apply N+1 … ─► view with it inside ─► synced
//!   joins       asks its server what a donor is told ─► Join ─► the leader says where the log begins, and asks a donor
//!               log from there ‖ tables from the donor, at N ─► as above
//! ```

use std::collections::BTreeMap;
use std::sync::atomic::Ordering as Atomic;

use super::thread::GroupThread;
use super::{Command, Together, Transfer};
use crate::group::NodeId;
use crate::group::descent::Kinship;
use crate::group::proposals::{Origin, Proposals};
use crate::group::raft::{Action, Membership, Place, Term};
use crate::group::wire::{Begin, Frame};
use crate::identity::{Gtid, Uuid};
use crate::log::{DiskLog, Index};
use crate::node::receiving::Work;
use crate::node::{Node, Ordering, lock};
use crate::recovery::{self, Plan};
use crate::saved_state::SavedState;
use crate::server::{Level, Receiver, Refused};

/// A donor that was chosen says by then that it is one.
const DONOR_TELLS_MS: u64 = 3_000;

/// A question to a leader is asked again after this long.
const ASK_AGAIN_MS: u64 = 2_000;

impl Node {
    /// Takes its place among others. On a receiving thread.
    pub(in crate::node) fn find_place(&self, receiver: Receiver, together: &Together) -> Result<(), Refused> {
        let saved = *lock(&self.saved);
        let mut tables = self.tables_at(saved.as_ref());
        let mut is_connected = false;
        let plan = loop {
            let contact = together.contact();
            let log = self.log().filter(|_| !contact.is_too_far_behind || is_connected);
            if let Some(log) = log {
                let history = Uuid(log.of_history());
                match recovery::plan(&log, contact.agreed, history, tables, saved.as_ref()) {
                    // A log that ends before the tables do has lost what the others may still have.
                    Ok(plan) if plan.is_certain && (plan.tables_at <= plan.end || is_connected) => break plan,
                    Ok(_) | Err(recovery::Error::Gap { .. } | recovery::Error::NoPosition { .. }) => {}
                    Err(error) => {
                        self.server.log(Level::Error, &error.to_string());
                        return Err(Refused);
                    }
                }
            }
            if is_connected {
                self.server.log(Level::Error, "the log that came with the state does not reach back to it");
                return Err(Refused);
            }
            tables = Some(self.receive_state(together)?);
            is_connected = true;
        };
        let Plan { order, tables_at, end, go_on_from, earlier, remark, .. } = plan;
        if let Some(remark) = remark {
            self.note(&remark);
        }
        self.turns.begin_at(tables_at);
        {
            let mut ordering = lock(&self.order);
            let member = self.member();
            let ordering = ordering.insert(Ordering { order, is_alone: false });
            ordering.order.member = member;
        }
        self.settle_in(receiver, tables_at, end, Some(earlier), is_connected)?;
        together.is_settled.store(true, Atomic::SeqCst);
        together.ask(Command::GoOnFrom(go_on_from));
        Ok(())
    }

    /// The tables of another node. Where they are then.
    fn receive_state(&self, together: &Together) -> Result<Gtid, Refused> {
        let contact = together.wait_for(None, |contact| !contact.history.is_undefined()).ok_or(Refused)?;
        let history = contact.history;
        self.note(&format!("a state transfer is needed from the cluster {history}"));
        self.connected_to(Gtid { history, seqno: i64::try_from(contact.agreed.0).unwrap_or(0) })?;
        let request = self.server.sst_request()?;
        // From here on the tables are nobody's until all of them have come, whatever a server that is killed meanwhile
        // finds in them.
        self.save(SavedState::running(Uuid::UNDEFINED, Uuid::UNDEFINED))?;
        together.ask(Command::Join { request });
        let position = match together.wait_for_transfer().ok_or(Refused)? {
            Transfer::Received(position) if position.history == history => position,
            Transfer::Received(position) => {
                self.server
                    .log(Level::Error, &format!("the state that came is at {position}, not of the cluster {history}"));
                return Err(Refused);
            }
            Transfer::Failed(code) => {
                self.server.log(
                    Level::Error,
                    &format!("the state transfer failed with {code}: see the error log above, and the donor's"),
                );
                return Err(Refused);
            }
        };
        self.note(&format!("the state is at {position}"));
        let reaches = |contact: &super::Contact| contact.joins_behind.is_some_and(|behind| contact.agreed >= behind);
        together.wait_for(None, reaches).ok_or(Refused)?;
        *lock(&self.saved) = Some(SavedState::running(history, self.member()));
        Ok(position)
    }

    /// Where the tables are: as they were before, or as the server says.
    fn tables_at(&self, saved: Option<&SavedState>) -> Option<Gtid> {
        let before = lock(&self.order).as_ref().map(|Ordering { order, .. }| order.history);
        match before {
            Some(history) => Some(Gtid { history, seqno: self.turns.released() }),
            None => recovery::tables_at(self.setup.position, saved),
        }
    }
}

impl GroupThread {
    /// A node wants the tables.
    pub(super) fn hear_join(&mut self, from: NodeId, request: Vec<u8>, donor: &str, actions: &mut Vec<Action>) {
        if self.leading.is_none() {
            match self.raft.leader() {
                // The leader has chosen this node to give them.
                Some(leader) if leader == from => self.node.donate(request),
                Some(leader) => self.point_to(from, leader),
                None => {}
            }
            return;
        }
        if self.contact.is_alone || self.taken.is_none() {
            return;
        }
        let Some(log) = self.node.log() else { return };
        let begins_at = lock(&self.node.order).as_ref().and_then(|Ordering { order, .. }| order.begins_at());
        // Asked again by one who had no answer yet: its donor is at work.
        let is_served = self.peers.get(&from).is_some_and(|peer| peer.served.as_ref() == Some(&request));
        let chosen = if is_served { None } else { self.choose_donor(from, donor) };
        if !is_served && chosen.is_none() {
            // It asks again: once it knows where its log begins it would only wait.
            let text = "no node is there that could give its state now".to_owned();
            self.links.send(from, &Frame::Refused { text });
            return;
        }
        let before = match begins_at {
            Some(place) => Index(place.index.0 - 1),
            None => Index(log.first().0 - 1),
        };
        let term = self.raft.term_at(before).unwrap_or(Term(0));
        let place = Place { term, index: before };
        let addresses = self.saved.voters.iter().map(|(node, address)| (*node, address.clone())).collect();
        let membership = Membership { voters: self.saved.voters.keys().copied().collect() };
        let upto = self.contact.agreed;
        let term = self.raft.term();
        let descent = self.saved.descent;
        let frame = Frame::BeginBehind(Begin { term, place, membership, addresses, upto, descent });
        self.links.send(from, &frame);
        self.raft.observe(from, actions);
        let Some(node) = chosen else { return };
        self.donors.insert(node, self.now_ms());
        if let Some(peer) = self.peers.get_mut(&from) {
            peer.served = Some(request.clone());
        }
        if node == self.own() {
            self.node.donate(request);
        } else {
            self.links.send(node, &Frame::Join { request, donor: String::new() });
        }
    }

    /// By the joiner's wish; else one that does not lead.
    fn choose_donor(&self, joiner: NodeId, wish: &str) -> Option<NodeId> {
        let lives: Vec<_> = lock(&self.node.order)
            .as_ref()
            .map(|Ordering { order, .. }| order.members().iter().map(|member| member.id).collect())
            .unwrap_or_default();
        let now = self.now_ms();
        let is_chosen = |node: NodeId| self.donors.get(&node).is_some_and(|chosen_ms| now - chosen_ms < DONOR_TELLS_MS);
        let may = |node: NodeId| {
            !is_chosen(node)
                && self.peers.get(&node).is_some_and(|peer| {
                    node != joiner
                        && peer.away_since_ms.is_none()
                        && peer.present.is_some_and(|(present, _)| !present.is_donor && lives.contains(&present.life))
                })
        };
        let may_itself = || {
            let own = self.present();
            !is_chosen(self.own()) && !own.is_donor && lives.contains(&own.life)
        };
        let wished = wish.split(',').map(str::trim).filter(|name| !name.is_empty()).find_map(|name| {
            if name == self.node.setup.name {
                return may_itself().then(|| self.own());
            }
            self.peers.iter().find(|(node, peer)| peer.hello.name == name && may(**node)).map(|(node, _)| *node)
        });
        let other = || self.peers.keys().copied().find(|node| may(*node));
        wished.or_else(other).or_else(|| may_itself().then(|| self.own()))
    }

    /// The leader says where this node's log begins.
    pub(super) fn begin_behind(&mut self, begin: Begin, actions: &mut Vec<Action>) {
        let Begin { term, place, membership, addresses, upto, descent } = begin;
        // Of two groups that this node, which was of none, asked, the first that answered is the one.
        if self.saved.descent.kinship(&descent) != Kinship::Same {
            return;
        }
        // Said by a leader of before, perhaps.
        if self.leading.is_some() || self.join.take().is_none() {
            return;
        }
        let history = self.contact.history;
        // False: this node's log is as good as the others', and only its tables are not.
        let is_behind = self.raft.begin_behind(term, place, (place.index, membership), actions);
        if self.node.log().is_none() || is_behind && self.raft.last() == place {
            self.node.close_log();
            let settings = self.node.log_settings();
            match DiskLog::begin_behind(&self.node.setup.data_dir, settings, history.0, place.index) {
                Ok(log) => {
                    log.set_keeps_recent(true);
                    self.node.set_log(log);
                }
                Err(error) => {
                    self.node.fail(&format!("no log can be begun behind {}: {error}", place.index));
                    return;
                }
            }
            self.saved.voters = addresses.iter().cloned().collect::<BTreeMap<_, _>>();
            self.saved.membership_at = place;
            self.saved.committed = place.index;
            self.contact.agreed = place.index;
        }
        if is_behind && let Ok(origin) = Uuid::random() {
            // It has not seen what was agreed on in between, so it cannot say what came of what it proposed before.
            self.proposals = Proposals::new();
            self.payloads.clear();
            self.origin = Origin(origin.0);
            let (term, leader) = (self.raft.term(), self.raft.leader());
            self.leader_is(term, leader, actions);
        }
        for (_, address) in &addresses {
            self.links.dial(address);
        }
        self.be_of(descent, history);
        self.contact.is_too_far_behind = false;
        self.contact.joins_behind = Some(upto);
        self.save();
    }

    /// Asks for the tables until somebody answers.
    pub(super) fn ask_again(&mut self, now_ms: u64) {
        let Some(request) = self.join.clone() else { return };
        if self.asked_ms != 0 && now_ms - self.asked_ms < ASK_AGAIN_MS {
            return;
        }
        self.asked_ms = now_ms.max(1);
        let donor = self.node.wished_donor();
        let frame = Frame::Join { request, donor };
        let linked = self.peers.iter().filter(|(_, peer)| peer.away_since_ms.is_none()).map(|(node, _)| *node);
        let linked: Vec<NodeId> = linked.collect();
        // Who does not lead says who does, and is linked by then.
        let to = self.raft.leader().filter(|leader| linked.contains(leader)).map_or(linked, |leader| vec![leader]);
        to.into_iter().for_each(|node| {
            self.links.send(node, &frame);
        });
    }
}

impl Node {
    /// Gives the tables to another node, when all that has its place by now is done.
    pub(super) fn donate(&self, request: Vec<u8>) {
        let seqno = lock(&self.order).as_ref().map_or(0, |Ordering { order, .. }| order.seqno);
        self.receiving.donates.store(true, Atomic::SeqCst);
        self.receiving.push(Work::Donate { request, seqno });
    }

    /// The server has sent its state, or could not.
    pub fn state_sent(&self, code: i32) {
        self.receiving.donates.store(false, Atomic::SeqCst);
        if code != 0 {
            self.server.log(Level::Warning, &format!("the state could not be sent: {code}"));
        }
        self.receiving.push(Work::Donated);
    }

    /// The server has the state of another node, or could not get it. False: nobody asked for one.
    pub fn state_received(&self, state: Gtid, code: i32) -> bool {
        let together = self.together();
        if let Some(together) = &together {
            together.transferred(if code == 0 { Transfer::Received(state) } else { Transfer::Failed(code) });
        }
        together.is_some()
    }

    /// Whom the server wants its state from.
    fn wished_donor(&self) -> String {
        lock(&self.donor).clone()
    }

    /// Whether it goes on without a majority by itself: `pc.ignore_sb`.
    pub(super) fn ignores_majorities(&self) -> bool {
        lock(&self.options).ignores_majorities()
    }

    /// Where other nodes find this one.
    pub(super) fn group_address(&self) -> String {
        lock(&self.options).group_address(&self.setup.address)
    }

    /// Where their connections are taken.
    pub(super) fn listen_address(&self) -> String {
        lock(&self.options).listen_address()
    }
}
