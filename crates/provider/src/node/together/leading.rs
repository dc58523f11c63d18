//! What a leader sees to: that the view is of those who are there, and that cuts come. Who votes: `voting`.

use super::next_view::next_view;
use super::telling::OUT_OF_TOUCH_MS;
use super::thread::{GroupThread, Peer, Present};
use crate::entry::{self, Voter};
use crate::gate::Passage;
use crate::group::NodeId;
use crate::group::raft::Action;
use crate::group::wire::Frame;
use crate::identity::Uuid;
use crate::log::Index;
use crate::node::{Ordering, lock};
use crate::server::Member;

/// A node whose link is down for so long is left out of the view.
pub(super) const AWAY_MS: u64 = 1_500;
/// One that says nothing for so long, though it is linked, too.
const SILENT_LIMIT_MS: u64 = 5_000;
/// So long a new leader waits for those whom it has not heard of yet.
pub(super) const GRACE_MS: u64 = 3_000;
/// Who is away for so long, and has no vote, is forgotten.
const GONE_MS: u64 = 60_000;
/// Votes and views are looked at so far apart.
const CHORES_APART_MS: u64 = 20;
/// Cuts are at least so far apart: not one for each step of a slow member.
const CUTS_APART_MS: u64 = 100;
/// A leader that cannot take what is agreed on for so long lets another lead.
const STUCK_MS: u64 = 1_000;
/// A node with fewer entries than this to go may vote.
pub(super) const NEAR: u64 = 256;

/// What a leader keeps while it leads.
#[derive(Debug)]
pub(super) struct Leading {
    /// The last seqno in its log, agreed on or not.
    pub appended_seqno: i64,
    pub(super) since_ms: u64,
    /// Nothing is seen to before this has taken its place: then all that came before has.
    pub(super) ready_at: Index,
    /// The last view, cut or group that it appended.
    /// A cut and a view are never on their way at once: a cut tells which view is in force where it stands.
    latest: Index,
    cut_ms: u64,
    chores_ms: u64,
    /// There was something to see to, and may be again as soon as that is agreed on.
    has_chores: bool,
    /// Who goes next, and since when it is to.
    pub(super) leaver: Option<(NodeId, u64)>,
}

impl Peer {
    /// It is not away, or only for a moment.
    pub(super) fn is_near(&self, now_ms: u64) -> bool {
        let is_linked = self.away_since_ms.is_none_or(|since| now_ms - since < AWAY_MS);
        is_linked && self.present.as_ref().is_some_and(|(_, at)| now_ms - at < SILENT_LIMIT_MS)
    }
}

impl GroupThread {
    /// This node leads from now on.
    pub(super) fn lead(&mut self, term: crate::group::raft::Term) {
        let Some(appended_seqno) = self.last_seqno() else {
            return self.fail("the last entry of the log cannot be read");
        };
        {
            let _order = lock(&self.node.order);
            self.node.leads_in.store(term.0, std::sync::atomic::Ordering::Relaxed);
        }
        let since_ms = self.now_ms();
        self.leading = Some(Leading {
            appended_seqno,
            since_ms,
            ready_at: Index(u64::MAX),
            latest: Index(0),
            cut_ms: 0,
            chores_ms: 0,
            has_chores: true,
            leaver: None,
        });
        let index = self.append(&mut entry::encode_nothing(), None);
        if let (Some(leading), Some(index)) = (&mut self.leading, index) {
            leading.ready_at = index;
        }
        if self.raft.membership().voters.len() > 1 {
            self.node.note(&format!("this node leads the group ({term:?})"));
        }
    }

    /// The seqno at the end of the log, agreed on or not. None: it cannot be read.
    fn last_seqno(&self) -> Option<i64> {
        let log = self.node.log()?;
        if log.last() < log.first() {
            return Some(0);
        }
        let entries = log.entries(log.last(), 1).ok()?;
        let (stamp, _) = entry::shape(&entries.first()?.1).ok()?;
        Some(stamp.seqno)
    }

    /// Whether others are, or were a moment ago.
    fn has_company(&self) -> bool {
        self.peers.values().any(|peer| peer.away_since_ms.is_none())
    }

    /// A node that is the whole group lets its clients' threads write the log themselves.
    fn try_to_be_alone(&mut self) {
        if self.contact.is_alone || self.has_company() || self.leading.is_none() || !self.raft.is_alone() {
            return;
        }
        let Some(log) = self.node.log() else { return };
        let mut ordering = lock(&self.node.order);
        match ordering.as_mut() {
            // Its tables are not there yet: it comes up alone.
            // Or: connected again, and it was alone before.
            None | Some(Ordering { is_alone: true, .. }) => {}
            Some(Ordering { order, is_alone }) => {
                let own = self.node.member();
                let is_alone_in_view = order.members().iter().all(|member| member.id == own);
                let is_quiet = self.taken == Some(log.last())
                    && self.proposals.is_empty()
                    && self.together.waiting.len() == 0
                    && self.node.gate.passage() == Passage::Open
                    && is_alone_in_view;
                if !is_quiet {
                    return;
                }
                *is_alone = true;
            }
        }
        drop(ordering);
        log.set_keeps_recent(false);
        self.contact.is_alone = true;
    }

    /// Somebody else is there: from now on it is agreed on what comes.
    pub(super) fn stop_being_alone(&mut self) {
        if !self.contact.is_alone {
            return;
        }
        let Some(log) = self.node.log() else { return };
        let mut ordering = lock(&self.node.order);
        let Some(Ordering { order, is_alone }) = ordering.as_mut() else { return };
        if !matches!(self.node.gate.passage(), Passage::Open | Passage::Paused) {
            // It is on its way up, and finishes that first.
            return;
        }
        let last = log.last();
        if let Err(error) = log.commit(last) {
            drop(ordering);
            self.node.fail(&format!("the log cannot be written: {error}"));
            return;
        }
        log.set_keeps_recent(true);
        *is_alone = false;
        self.raft.appended_alone(last);
        self.taken = Some(last);
        self.contact.agreed = last;
        if let Some(leading) = &mut self.leading {
            leading.appended_seqno = order.seqno;
            leading.ready_at = leading.ready_at.min(last);
        }
        self.contact.is_alone = false;
        self.together.is_settled.store(true, std::sync::atomic::Ordering::SeqCst);
    }

    /// Nodes that have no vote and are long gone are forgotten, and not called any more. They know where this one is.
    fn forget_the_gone(&mut self) {
        let now = self.now_ms();
        let voters = &self.saved.voters;
        let is_gone = |node: &NodeId, peer: &Peer| {
            !voters.contains_key(node) && peer.away_since_ms.is_some_and(|since| now - since > GONE_MS)
        };
        let gone: Vec<NodeId> =
            self.peers.iter().filter(|(node, peer)| is_gone(node, peer)).map(|(node, _)| *node).collect();
        for node in gone {
            let Some(peer) = self.peers.remove(&node) else { continue };
            self.donors.remove(&node);
            let address = peer.hello.address;
            let is_anothers = self.saved.voters.values().any(|known| *known == address)
                || self.peers.values().any(|other| other.hello.address == address)
                || self.hosts.contains(&address);
            if !is_anothers {
                self.links.hang_up(&address);
            }
        }
    }

    /// What has to be seen to in a round.
    pub(super) fn see_to_it(&mut self, actions: &mut Vec<Action>) {
        self.forget_the_gone();
        if self.has_company() {
            self.stop_being_alone();
        } else {
            self.try_to_be_alone();
        }
        if self.leaves {
            self.go(actions);
        }
        self.see_to_flow(actions);
        self.heed_decisions();
        if self.contact.is_alone {
            return;
        }
        let Some(Leading { ready_at, latest, .. }) = self.leading else { return };
        if self.is_stuck() {
            self.let_another_lead(actions);
        }
        let now = self.now_ms();
        let is_ready = self.taken.is_some_and(|taken| taken >= ready_at && taken >= latest);
        let is_due = self.chores_at_ms().is_some_and(|at| at <= now);
        // A decision may be what makes the room for what is to be taken before it.
        let has_seen = self.taken.is_some_and(|taken| taken.max(self.looked_to) >= ready_at.max(latest));
        let is_deciding = has_seen && is_due && self.see_to_decisions();
        let is_changing = is_deciding || is_ready && is_due && (self.see_to_votes() || self.see_to_view());
        if is_ready && is_due && !is_changing {
            self.see_to_cuts();
        }
        if is_due && let Some(leading) = &mut self.leading {
            (leading.chores_ms, leading.has_chores) = (now, is_changing || !is_ready);
        }
        self.carry_out(actions, None);
    }

    /// When a leader looks at votes and views again at the earliest.
    fn chores_at_ms(&self) -> Option<u64> {
        self.leading.as_ref().map(|leading| leading.chores_ms + CHORES_APART_MS)
    }

    /// When it has to, even if nothing happens: what comes next may only wait for its turn.
    pub(super) fn has_chores_at_ms(&self) -> Option<u64> {
        let has_chores = self.leading.as_ref().is_some_and(|leading| leading.has_chores);
        self.chores_at_ms().filter(|_| has_chores && !self.contact.is_alone)
    }

    /// Whether it cannot take what is agreed on, as while a backup locks its tables or it has none: then no view comes into force
    /// here, and none is made.
    fn is_stuck(&mut self) -> bool {
        let is_held = self.waits_for_tables()
            || self.taken.is_some_and(|taken| taken < self.contact.agreed) && !self.node.may_take(&self.together);
        let now = self.now_ms();
        let since = *self.held_since_ms.get_or_insert(now);
        let is_stuck = is_held && now - since >= STUCK_MS;
        if !is_held || is_stuck {
            // The next may be stuck too, and this one's turn come again.
            self.held_since_ms = None;
        }
        is_stuck
    }

    /// Who waits for the tables himself, or is stuck, can see to nothing. The next in turn may be better off. Not one that is far
    /// behind: nothing is appended until it has everything.
    fn let_another_lead(&mut self, actions: &mut Vec<Action>) {
        let voters = self.saved.voters.keys();
        let behind = voters.clone().filter(|node| **node > self.own());
        let before = voters.filter(|node| **node < self.own());
        let near = self.contact.agreed.0.saturating_sub(NEAR);
        let has_nearly_all =
            |node: NodeId| self.raft.progress().any(|progress| progress.node == node && progress.matched.0 >= near);
        let is_there = |node: &NodeId| self.peers.get(node).is_some_and(|peer| peer.away_since_ms.is_none());
        let is_better_off = |node: &NodeId| is_there(node) && has_nearly_all(*node) && self.has_tables(*node);
        let other = behind.chain(before).copied().find(is_better_off);
        if let Some(other) = other {
            self.raft.hand_over(other, actions);
        }
    }

    /// It wants to go in order.
    fn go(&mut self, actions: &mut Vec<Action>) {
        let votes = self.saved.voters.contains_key(&self.own());
        let is_last = self.saved.voters.len() <= 1;
        // Another may lead in a moment, when the one that led has just died.
        let nobody_leads = self.raft.leader().is_none() && self.now_ms() - self.leader_seen_ms > OUT_OF_TOUCH_MS;
        if self.contact.is_alone || !votes || is_last || nobody_leads {
            self.contact.has_left = true;
        } else if self.leading.is_none()
            && let Some(leader) = self.raft.leader()
        {
            let now = self.now_ms();
            if now - self.asked_ms > 200 {
                self.asked_ms = now;
                self.links.send(leader, &Frame::Leave);
            }
        }
        self.carry_out(actions, None);
    }

    pub(super) fn propose(&mut self, mut bytes: Vec<u8>, voters: Option<&[Voter]>) -> bool {
        let membership = voters.map(entry::membership);
        let index = self.append(&mut bytes, membership);
        if let (Some(leading), Some(index)) = (&mut self.leading, index) {
            leading.latest = index;
        }
        index.is_some()
    }

    /// True: another view is under way.
    fn see_to_view(&mut self) -> bool {
        let (current, number) = {
            let ordering = lock(&self.node.order);
            let Some(Ordering { order, .. }) = ordering.as_ref() else { return false };
            (order.members().to_vec(), order.view_number)
        };
        let as_member = |present: &Present, name: &str, incoming: &str| {
            present.wants_view.then(|| Member {
                id: present.life,
                name: name.to_owned(),
                incoming: incoming.to_owned(),
            })
        };
        let own = (!self.leaves).then(|| self.node.own_member());
        let own = own.and_then(|own| as_member(&self.present(), &own.name, &own.incoming));
        let others = self.peers.iter().filter_map(|(node, peer)| {
            let may = self.saved.voters.contains_key(node) && peer.away_since_ms.is_none() && !peer.leaves;
            let (present, _) = peer.present.as_ref().filter(|_| may)?;
            as_member(present, &peer.hello.name, &peer.hello.incoming)
        });
        match next_view(&current, |life| self.is_here(life), own.into_iter().chain(others)) {
            Some(members) => self.propose(entry::encode_view(number + 1, &members), None),
            None => false,
        }
    }

    /// Whether that member of the view is still there.
    pub(super) fn is_here(&self, life: Uuid) -> bool {
        if life == self.node.member() {
            return !self.leaves;
        }
        let now = self.now_ms();
        let known =
            self.peers.values().find(|peer| peer.present.as_ref().is_some_and(|(present, _)| present.life == life));
        match known {
            Some(peer) => peer.is_near(now) && !peer.leaves,
            None => {
                // Somebody who came back as another life has ended this one.
                let since = self.leading.as_ref().map_or(now, |leading| leading.since_ms);
                let all_told =
                    self.saved.voters.keys().all(|node| {
                        *node == self.own() || self.peers.get(node).is_some_and(|peer| peer.present.is_some())
                    });
                !all_told && now - since < GRACE_MS
            }
        }
    }

    fn see_to_cuts(&mut self) {
        let now = self.now_ms();
        if self.leading.as_ref().is_none_or(|leading| now - leading.cut_ms < CUTS_APART_MS) {
            return;
        }
        let applied = {
            let ordering = lock(&self.node.order);
            let Some(Ordering { order, .. }) = ordering.as_ref() else { return };
            if !order.wants_cut() {
                return;
            }
            let lives = order.members().iter().map(|member| member.id);
            let own = self.node.member();
            let of = |life: Uuid| {
                if life == own {
                    return self.node.turns.released();
                }
                let presents = self.peers.values().filter_map(|peer| peer.present.as_ref());
                presents
                    .filter(|(present, _)| present.life == life)
                    .map(|(present, _)| present.applied)
                    .min()
                    .unwrap_or(0)
            };
            let upto = lives.map(of).min().unwrap_or(0).min(order.seqno);
            (upto > order.last_cut).then(|| order.next_cut(upto))
        };
        if let Some(cut) = applied {
            if let Some(leading) = &mut self.leading {
                leading.cut_ms = now;
            }
            self.propose(entry::encode_cut(&cut), None);
        }
    }
}
