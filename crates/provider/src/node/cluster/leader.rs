//! The leader's duties: the view and the commit cuts. Voters: `membership`.

use super::driver::{Peer, RaftDriver};
use super::next_view::next_view;
use crate::consensus::NodeId;
use crate::consensus::raft::Action;
use crate::consensus::wire::{Frame, MemberStatus};
use crate::entry::{self, Voter};
use crate::gate::GateState;
use crate::identity::Uuid;
use crate::log::Index;
use crate::node::{OrderState, lock};
use crate::server::Member;

/// A node without a link for this long is excluded from the view.
pub(super) const AWAY_TIMEOUT_MS: u64 = 1_500;
/// A linked node without a status report for this long is excluded, too.
const SILENCE_TIMEOUT_MS: u64 = 5_000;
/// A new leader waits this long for nodes that it has not met yet.
pub(super) const NEW_LEADER_GRACE_TIMEOUT_MS: u64 = 3_000;
/// A node without a vote that is gone for this long is forgotten.
const FORGET_TIMEOUT_MS: u64 = 60_000;
/// Interval of checks of voters and view.
const DUTIES_INTERVAL_MS: u64 = 20;
/// Minimum interval of commit cuts: not one for each step of a slow member.
const COMMIT_CUT_INTERVAL_MS: u64 = 100;
/// A leader that cannot order committed entries for this long transfers leadership.
const STUCK_TIMEOUT_MS: u64 = 1_000;
/// A node that lacks fewer entries than this may get a vote.
pub(super) const CATCH_UP_LIMIT_ENTRIES: u64 = 256;

/// State of a leader.
#[derive(Debug)]
pub(super) struct LeaderDuties {
    /// The last seqno in its log, committed or not.
    pub appended_seqno: i64,
    pub(super) since_ms: u64,
    /// No duty runs before this entry is ordered: then all earlier entries are.
    pub(super) ready_at: Index,
    /// The last view, commit cut or membership that it has appended. A commit cut and a view are never in flight
    /// together: a commit cut contains the view that is in force at its index.
    last_appended: Index,
    last_cut_ms: u64,
    last_run_ms: u64,
    /// Some duty is not complete, and may continue when the last entry is committed.
    has_pending_duties: bool,
    /// The next voter to remove, and since when.
    pub(super) leaver: Option<(NodeId, u64)>,
}

impl Peer {
    /// The node is linked, or was a moment ago.
    pub(super) fn is_present(&self, now_ms: u64) -> bool {
        let is_linked = self.unlinked_since_ms.is_none_or(|since| now_ms - since < AWAY_TIMEOUT_MS);
        is_linked && self.status.as_ref().is_some_and(|(_, at)| now_ms - at < SILENCE_TIMEOUT_MS)
    }
}

impl RaftDriver {
    /// This node has become leader.
    pub(super) fn on_became_leader(&mut self, term: crate::consensus::raft::Term) {
        let Some(appended_seqno) = self.last_seqno() else {
            return self.fail("the last entry of the log cannot be read");
        };
        {
            let _order = lock(&self.node.order);
            self.node.leader_term.store(term.0, std::sync::atomic::Ordering::Relaxed);
        }
        let since_ms = self.now_ms();
        self.leader_duties = Some(LeaderDuties {
            appended_seqno,
            since_ms,
            ready_at: Index(u64::MAX),
            last_appended: Index(0),
            last_cut_ms: 0,
            last_run_ms: 0,
            has_pending_duties: true,
            leaver: None,
        });
        let index = self.append(&mut entry::encode_no_op(), None);
        if let (Some(leader_duties), Some(index)) = (&mut self.leader_duties, index) {
            leader_duties.ready_at = index;
        }
        if self.raft.membership().voters.len() > 1 {
            self.node.note(&format!("this node is the Raft leader ({term:?})"));
        }
    }

    /// The last seqno in the log, committed or not. None: the log cannot be read.
    fn last_seqno(&self) -> Option<i64> {
        let log = self.node.log()?;
        if log.last() < log.first() {
            return Some(0);
        }
        let entries = log.entries(log.last(), 1).ok()?;
        let (stamp, _) = entry::meta(&entries.first()?.1).ok()?;
        Some(stamp.seqno)
    }

    /// Whether other nodes are linked.
    fn has_linked_peers(&self) -> bool {
        self.peers.values().any(|peer| peer.unlinked_since_ms.is_none())
    }

    /// Enters single-node mode: clients' threads append to the log themselves.
    fn enter_single_node(&mut self) {
        if self.status.is_single_node
            || self.has_linked_peers()
            || self.leader_duties.is_none()
            || !self.raft.is_single_node()
        {
            return;
        }
        let Some(log) = self.node.log() else { return };
        let mut order_state = lock(&self.node.order);
        match order_state.as_mut() {
            // The tables are not there yet: the node starts as a single node. Or it is connected again, and was one
            // before.
            None | Some(OrderState { is_single_node: true, .. }) => {}
            Some(OrderState { order, is_single_node }) => {
                let own = self.node.member_id();
                let is_alone_in_view = order.members().iter().all(|member| member.id == own);
                let is_quiet = self.ordered_index == Some(log.last())
                    && self.proposals.is_empty()
                    && self.cluster.pending_proposals.len() == 0
                    && self.node.gate.state() == GateState::Open
                    && is_alone_in_view;
                if !is_quiet {
                    return;
                }
                *is_single_node = true;
            }
        }
        drop(order_state);
        log.set_keeps_recent(false);
        self.status.is_single_node = true;
    }

    /// Leaves single-node mode: another node is there, and entries need a majority from now on.
    pub(super) fn leave_single_node(&mut self) {
        if !self.status.is_single_node {
            return;
        }
        let Some(log) = self.node.log() else { return };
        let mut order_state = lock(&self.node.order);
        let Some(OrderState { order, is_single_node }) = order_state.as_mut() else { return };
        if !matches!(self.node.gate.state(), GateState::Open | GateState::Paused) {
            // The startup is not complete yet.
            return;
        }
        let last = log.last();
        if let Err(error) = log.flush(last) {
            drop(order_state);
            self.node.fail(&format!("the log cannot be written: {error}"));
            return;
        }
        log.set_keeps_recent(true);
        *is_single_node = false;
        self.raft.on_single_node_append(last);
        self.ordered_index = Some(last);
        self.status.apply_bound = last;
        if let Some(leader_duties) = &mut self.leader_duties {
            leader_duties.appended_seqno = order.seqno;
            leader_duties.ready_at = leader_duties.ready_at.min(last);
        }
        self.status.is_single_node = false;
        self.cluster.is_caught_up.store(true, std::sync::atomic::Ordering::SeqCst);
    }

    /// Forgets nodes without a vote that are long gone, and dials them no more. They know this node's address.
    fn forget_absent_peers(&mut self) {
        let now = self.now_ms();
        let voters = &self.hard_state.voters;
        let is_gone = |node: &NodeId, peer: &Peer| {
            !voters.contains_key(node) && peer.unlinked_since_ms.is_some_and(|since| now - since > FORGET_TIMEOUT_MS)
        };
        let gone: Vec<NodeId> =
            self.peers.iter().filter(|(node, peer)| is_gone(node, peer)).map(|(node, _)| *node).collect();
        for node in gone {
            let Some(peer) = self.peers.remove(&node) else { continue };
            self.donors.remove(&node);
            let address = peer.hello.address;
            let is_anothers = self.hard_state.voters.values().any(|peer| *peer == address)
                || self.peers.values().any(|other| other.hello.address == address)
                || self.hosts.contains(&address);
            if !is_anothers {
                self.links.hang_up(&address);
            }
        }
    }

    /// The duties of one round.
    pub(super) fn run_leader_duties(&mut self, actions: &mut Vec<Action>) {
        self.forget_absent_peers();
        if self.has_linked_peers() {
            self.leave_single_node();
        } else {
            self.enter_single_node();
        }
        if self.is_leaving {
            self.request_leave(actions);
        }
        self.update_flow_control(actions);
        self.handle_vote_results();
        if self.status.is_single_node {
            return;
        }
        let Some(LeaderDuties { ready_at, last_appended: latest, .. }) = self.leader_duties else { return };
        if self.is_stuck() {
            self.transfer_leadership_if_stuck(actions);
        }
        let now = self.now_ms();
        let is_ready = self.ordered_index.is_some_and(|ordered| ordered >= ready_at && ordered >= latest);
        let is_due = self.next_run_ms().is_some_and(|at| at <= now);
        // A vote result may make room for entries before it.
        let has_seen = self.ordered_index.is_some_and(|ordered| ordered.max(self.scanned_upto) >= ready_at.max(latest));
        let is_deciding = has_seen && is_due && self.decide_inconsistencies();
        let is_changing = is_deciding || is_ready && is_due && (self.reconcile_membership() || self.reconcile_view());
        if is_ready && is_due && !is_changing {
            self.propose_commit_cut();
        }
        if is_due && let Some(leader_duties) = &mut self.leader_duties {
            (leader_duties.last_run_ms, leader_duties.has_pending_duties) = (now, is_changing || !is_ready);
        }
        self.run_actions(actions, None);
    }

    /// When the duties run next, at the earliest.
    fn next_run_ms(&self) -> Option<u64> {
        self.leader_duties.as_ref().map(|leader_duties| leader_duties.last_run_ms + DUTIES_INTERVAL_MS)
    }

    /// When the duties must run even without an event.
    pub(super) fn duties_deadline_ms(&self) -> Option<u64> {
        let has_chores = self.leader_duties.as_ref().is_some_and(|leader_duties| leader_duties.has_pending_duties);
        self.next_run_ms().filter(|_| has_chores && !self.status.is_single_node)
    }

    /// Whether it cannot order committed entries, for example during a backup, or without tables: no new view would
    /// come into force here.
    fn is_stuck(&mut self) -> bool {
        let is_held = self.is_waiting_for_tables()
            || self.ordered_index.is_some_and(|ordered| ordered < self.status.apply_bound)
                && !self.node.can_order(&self.cluster);
        let now = self.now_ms();
        let since = *self.stuck_since_ms.get_or_insert(now);
        let is_stuck = is_held && now - since >= STUCK_TIMEOUT_MS;
        if !is_held || is_stuck {
            // The next leader may be stuck too, and this one's turn come again.
            self.stuck_since_ms = None;
        }
        is_stuck
    }

    /// A stuck leader, or one without tables, transfers leadership to the next voter that has tables and nearly all
    /// entries: nothing is appended until that one has everything.
    fn transfer_leadership_if_stuck(&mut self, actions: &mut Vec<Action>) {
        let voters = self.hard_state.voters.keys();
        let after = voters.clone().filter(|node| **node > self.own_node());
        let before = voters.filter(|node| **node < self.own_node());
        let nearly_caught_up = self.status.apply_bound.0.saturating_sub(CATCH_UP_LIMIT_ENTRIES);
        let has_nearly_all = |node: NodeId| {
            self.raft.progress().any(|progress| progress.node == node && progress.match_index.0 >= nearly_caught_up)
        };
        let is_there = |node: &NodeId| self.peers.get(node).is_some_and(|peer| peer.unlinked_since_ms.is_none());
        let is_better_off = |node: &NodeId| is_there(node) && has_nearly_all(*node) && self.has_tables(*node);
        let other = after.chain(before).copied().find(is_better_off);
        if let Some(other) = other {
            self.raft.transfer_leadership(other, actions);
        }
    }

    /// Asks to leave the cluster.
    fn request_leave(&mut self, actions: &mut Vec<Action>) {
        let has_vote = self.hard_state.voters.contains_key(&self.own_node());
        let is_last = self.hard_state.voters.len() <= 1;
        // A new leader may be elected in a moment, if the old one has just crashed.
        let has_no_leader =
            self.raft.leader().is_none() && self.now_ms() - self.leader_seen_ms > self.quorum_loss_timeout_ms();
        if self.status.is_single_node || !has_vote || is_last || has_no_leader {
            self.status.has_left = true;
        } else if self.leader_duties.is_none()
            && let Some(leader) = self.raft.leader()
        {
            let now = self.now_ms();
            if now - self.requested_ms > 200 {
                self.requested_ms = now;
                self.links.send(leader, &Frame::Leave);
            }
        }
        self.run_actions(actions, None);
    }

    pub(super) fn propose(&mut self, mut bytes: Vec<u8>, voters: Option<&[Voter]>) -> bool {
        let membership = voters.map(entry::membership);
        let index = self.append(&mut bytes, membership);
        if let (Some(leader_duties), Some(index)) = (&mut self.leader_duties, index) {
            leader_duties.last_appended = index;
        }
        index.is_some()
    }

    /// Proposes a new view if the members have changed. True: one is in flight.
    fn reconcile_view(&mut self) -> bool {
        let (current, number) = {
            let order_state = lock(&self.node.order);
            let Some(OrderState { order, .. }) = order_state.as_ref() else { return false };
            (order.members().to_vec(), order.view_number)
        };
        let as_member = |member_status: &MemberStatus, name: &str, incoming: &str| {
            member_status.wants_view.then(|| Member {
                id: member_status.member_id,
                name: name.to_owned(),
                incoming: incoming.to_owned(),
            })
        };
        let own = (!self.is_leaving).then(|| self.node.own_member());
        let own = own.and_then(|own| as_member(&self.member_status(), &own.name, &own.incoming));
        let others = self.peers.iter().filter_map(|(node, peer)| {
            let may = self.hard_state.voters.contains_key(node) && peer.unlinked_since_ms.is_none() && !peer.is_leaving;
            let (member_status, _) = peer.status.as_ref().filter(|_| may)?;
            as_member(member_status, &peer.hello.name, &peer.hello.incoming)
        });
        match next_view(&current, |member_id| self.is_member_present(member_id), own.into_iter().chain(others)) {
            Some(members) => self.propose(entry::encode_view(number + 1, &members), None),
            None => false,
        }
    }

    /// Whether a member of the view is still there.
    pub(super) fn is_member_present(&self, member_id: Uuid) -> bool {
        if member_id == self.node.member_id() {
            return !self.is_leaving;
        }
        let now = self.now_ms();
        let peer = self
            .peers
            .values()
            .find(|peer| peer.status.as_ref().is_some_and(|(member_status, _)| member_status.member_id == member_id));
        match peer {
            Some(peer) => peer.is_present(now) && !peer.is_leaving,
            None => {
                // The node has a newer member ID, which ends this one.
                let since = self.leader_duties.as_ref().map_or(now, |leader_duties| leader_duties.since_ms);
                let have_all_reported = self.hard_state.voters.keys().all(|node| {
                    *node == self.own_node() || self.peers.get(node).is_some_and(|peer| peer.status.is_some())
                });
                !have_all_reported && now - since < NEW_LEADER_GRACE_TIMEOUT_MS
            }
        }
    }

    fn propose_commit_cut(&mut self) {
        let now = self.now_ms();
        if self
            .leader_duties
            .as_ref()
            .is_none_or(|leader_duties| now - leader_duties.last_cut_ms < COMMIT_CUT_INTERVAL_MS)
        {
            return;
        }
        let applied = {
            let order_state = lock(&self.node.order);
            let Some(OrderState { order, .. }) = order_state.as_ref() else { return };
            if !order.needs_commit_cut() {
                return;
            }
            let member_ids = order.members().iter().map(|member| member.id);
            let own = self.node.member_id();
            let applied_by = |member_id: Uuid| {
                if member_id == own {
                    return self.node.commit_monitor.last_released();
                }
                let statuses = self.peers.values().filter_map(|peer| peer.status.as_ref());
                statuses
                    .filter(|(member_status, _)| member_status.member_id == member_id)
                    .map(|(member_status, _)| member_status.applied)
                    .min()
                    .unwrap_or(0)
            };
            let upto = member_ids.map(applied_by).min().unwrap_or(0).min(order.seqno);
            (upto > order.last_cut_upto).then(|| order.next_commit_cut(upto))
        };
        if let Some(cut) = applied {
            if let Some(leader_duties) = &mut self.leader_duties {
                leader_duties.last_cut_ms = now;
            }
            self.propose(entry::encode_commit_cut(&cut), None);
        }
    }
}
