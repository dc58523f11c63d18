//! A leader: what it appends goes to the others, and is committed when a majority has it.

use std::collections::BTreeMap;

use super::peer::{Peer, Said, Standing};
use super::{Action, Membership, Message, Raft, Shape, State, majority};
use crate::group::NodeId;
use crate::log::Index;

/// What only a leader has, for as long as it leads.
pub(super) struct Reign {
    peers: BTreeMap<NodeId, Peer>,
    /// Ascends with every heartbeat and every probe.
    round: u64,
    pub(super) heartbeat_at_ms: u64,
    /// The end of the log when it came to lead: all that was ever committed before lies before that.
    inherited: Index,
    /// A round that a majority has still to answer, and what was committed when it was asked for.
    confirming: Option<(u64, Index)>,
    /// The one after that, for all who asked meanwhile.
    confirming_next: Option<(u64, Index)>,
    hand_over: Option<HandOver>,
}

struct HandOver {
    to: NodeId,
    until_ms: u64,
    is_told: bool,
}

/// Why entries cannot be appended here and now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It does not lead.
    #[error("this node does not lead the group: send it to the leader ({0:?})")]
    NotLeader(Option<NodeId>),
    /// Another is about to lead.
    #[error("leadership is being handed over: try again when the leader is known")]
    HandingOver,
    /// The one before is not committed yet, or nothing of this leader's is.
    #[error("the members are being changed already: try again when that is agreed on")]
    MembersChanging,
    /// Of two majorities of groups that differ by more than one, neither needs to know of the other.
    #[error("more than one vote would come or go at once: change one after the other")]
    TooManyAtOnce,
    /// The last one cannot leave.
    #[error("nobody would be left to decide: stop this node instead")]
    NobodyLeft,
}

/// How far another node is, as its leader knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberProgress {
    /// Which.
    pub node: NodeId,
    /// Its log is the leader's up to here, and safe.
    pub matched: Index,
    /// When it was heard last.
    pub heard_ms: u64,
    /// What it needs next is purged here.
    pub is_too_far_behind: bool,
}

/// For whoever drives a leader.
impl Raft {
    /// Puts entries at the end of the log; at most one of them changes who decides. The driver puts their payloads into
    /// its log, with [`Raft::term`], before it carries out the actions, and calls [`Raft::stored`] when they are safe.
    /// Returns where the first stands.
    ///
    /// # Errors
    /// When this node does not lead, or may not change the members now.
    pub fn append(&mut self, shapes: &[Option<Membership>], out: &mut Vec<Action>) -> Result<Index, Refused> {
        let State::Leader(reign) = &self.state else { return Err(Refused::NotLeader(self.leader)) };
        if reign.hand_over.is_some() {
            return Err(Refused::HandingOver);
        }
        let mut changes = shapes.iter().flatten();
        if let Some(change) = changes.next() {
            self.check_change(change)?;
            if changes.next().is_some() {
                return Err(Refused::MembersChanging);
            }
        }
        let before = shapes.iter().any(Option::is_some).then(|| self.membership().clone());
        let first = self.shapes.last().index.next();
        for membership in shapes {
            self.shapes.push(&Shape { term: self.term, membership: membership.clone() });
        }
        if let Some(before) = before {
            self.members_changed(&before);
        }
        self.offer_all(out);
        Ok(first)
    }

    /// Whether [`Raft::append`] would take entries.
    #[must_use]
    pub fn takes_entries(&self) -> bool {
        matches!(&self.state, State::Leader(reign) if reign.hand_over.is_none())
    }

    fn check_change(&self, to: &Membership) -> Result<(), Refused> {
        if !self.may_change_membership() {
            return Err(Refused::MembersChanging);
        }
        if to.voters.is_empty() {
            return Err(Refused::NobodyLeft);
        }
        let differing = self.membership().voters.symmetric_difference(&to.voters).count();
        if differing > 1 { Err(Refused::TooManyAtOnce) } else { Ok(()) }
    }

    /// Whether one member may come or go now: the change before is committed, and so is an entry of this leader's own
    /// (without that, two leaders' changes could each have a majority that the other does not know of).
    #[must_use]
    pub fn may_change_membership(&self) -> bool {
        matches!(self.state, State::Leader(_))
            && self.shapes.membership_index() <= self.agreed
            && self.shapes.term_at(self.agreed) == Some(self.term)
    }

    /// Fewer entries went to `to` than [`Action::SendEntries`] offered: only up to `upto`. [`Raft::resume`] goes on
    /// with the rest, at the latest the next answer from there does.
    pub fn sent(&mut self, to: NodeId, upto: Index) {
        let State::Leader(reign) = &mut self.state else { return };
        if let Some(peer) = reign.peers.get_mut(&to)
            && peer.standing == Standing::Replicate
            && upto.next() < peer.next
        {
            peer.next = upto.next().max(peer.matched.next());
        }
    }

    /// There is room on the way to `to` for more.
    pub fn resume(&mut self, to: NodeId, out: &mut Vec<Action>) {
        self.with_peer(to, |peer, said| peer.offer(to, said, out));
    }

    /// What was on its way to `to` is lost, and the way is open again. Without this, the next heartbeat finds out.
    pub fn link_renewed(&mut self, to: NodeId, out: &mut Vec<Action>) {
        if let State::Leader(reign) = &mut self.state {
            reign.round += 1;
        }
        self.with_peer(to, |peer, said| {
            peer.lost();
            peer.beat(to, said, out);
        });
    }

    /// Also sends entries to a node that has no vote, or not yet. Known to this leader alone, while it leads.
    pub fn observe(&mut self, node: NodeId, out: &mut Vec<Action>) {
        let State::Leader(reign) = &mut self.state else { return };
        if node == self.id || reign.peers.contains_key(&node) {
            return;
        }
        reign.round += 1;
        reign.peers.insert(node, Peer::new(&self.shapes, self.now_ms, reign.round));
        self.with_peer(node, |peer, said| peer.beat(node, said, out));
    }

    /// No more of that. Nothing happens to a node that votes.
    pub fn forget(&mut self, node: NodeId) {
        if self.membership().voters.contains(&node) {
            return;
        }
        if let State::Leader(reign) = &mut self.state {
            reign.peers.remove(&node);
        }
    }

    /// Everybody whom this leader sends entries to.
    pub fn progress(&self) -> impl Iterator<Item = MemberProgress> + '_ {
        let peers = match &self.state {
            State::Leader(reign) => Some(reign.peers.iter()),
            _ => None,
        };
        peers.into_iter().flatten().map(|(node, peer)| MemberProgress {
            node: *node,
            matched: peer.matched,
            heard_ms: peer.heard_ms,
            is_too_far_behind: peer.standing == Standing::Behind,
        })
    }

    /// Whether this node is the group: it leads, nobody else votes or is sent entries, and all is committed. Then
    /// entries may go into the log without asking; [`Raft::appended_alone`] says so afterwards.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        let State::Leader(reign) = &self.state else { return false };
        reign.peers.is_empty()
            && reign.hand_over.is_none()
            && self.is_voter()
            && self.membership().voters.len() == 1
            && self.committed == self.shapes.last().index
    }

    /// Entries up to `upto` were put into the log and are safe: with nobody to ask, that is all there is to it.
    ///
    /// # Panics
    /// When it is not alone.
    pub fn appended_alone(&mut self, upto: Index) {
        assert!(self.is_alone(), "only a leader that is alone may append without asking");
        if upto > self.shapes.last().index {
            self.shapes.extend(self.term, upto);
            (self.safe, self.agreed, self.committed) = (upto, upto, upto);
        }
    }

    /// Somebody wants to read what is committed by now: [`Action::Confirmed`] says when a majority has answered a
    /// round that begins after this (6.4); alone, it says so at once. Many who ask share a round. None: this node does not
    /// lead.
    pub fn confirm(&mut self, out: &mut Vec<Action>) -> Option<u64> {
        let State::Leader(reign) = &mut self.state else { return None };
        let asked = |round| (round, self.agreed.max(reign.inherited));
        if reign.confirming.is_some() {
            let next = reign.confirming_next.take().filter(|(round, _)| *round > reign.round);
            let round = next.map_or(reign.round + 1, |(round, _)| round);
            reign.confirming_next = Some(asked(round));
            return Some(round);
        }
        let round = reign.round + 1;
        reign.confirming = Some(asked(round));
        self.beat_all(out);
        self.check_confirmed(out);
        Some(round)
    }

    /// Lets `to` lead instead, as soon as it has everything (3.10). Nothing is appended until it does, or until an
    /// election time is over. False: `to` has no vote, or this node does not lead.
    pub fn hand_over(&mut self, to: NodeId, out: &mut Vec<Action>) -> bool {
        let is_voter = to != self.id && self.membership().voters.contains(&to);
        let State::Leader(reign) = &mut self.state else { return false };
        if is_voter {
            reign.hand_over = Some(HandOver { to, until_ms: self.now_ms + self.timing.election_ms, is_told: false });
            self.go_on_with_hand_over(out);
        }
        is_voter
    }
}

/// What happens to a leader.
impl Raft {
    pub(super) fn lead(&mut self, out: &mut Vec<Action>) {
        self.leader = Some(self.id);
        let voters = self.membership().voters.iter().filter(|&&voter| voter != self.id);
        self.state = State::Leader(Reign {
            peers: voters.map(|voter| (*voter, Peer::new(&self.shapes, self.now_ms, 0))).collect(),
            round: 0,
            heartbeat_at_ms: self.now_ms + self.timing.heartbeat_ms,
            inherited: self.shapes.last().index,
            confirming: None,
            confirming_next: None,
            hand_over: None,
        });
        self.announce(out);
        out.push(Action::Lead { term: self.term });
        self.beat_all(out);
    }

    /// Time passes for a leader: who leads without a majority's word steps down (6.2).
    pub(super) fn reign(&mut self, out: &mut Vec<Action>) {
        if !self.is_heard() {
            return self.follow(None, out);
        }
        let (now_ms, election_ms) = (self.now_ms, self.timing.election_ms);
        let State::Leader(reign) = &mut self.state else { return };
        reign.hand_over.take_if(|hand_over| self.now_ms >= hand_over.until_ms);
        reign.peers.retain(|_, peer| peer.leaving.is_none() || now_ms.saturating_sub(peer.heard_ms) < election_ms);
        if self.now_ms >= reign.heartbeat_at_ms {
            reign.heartbeat_at_ms = self.now_ms + self.timing.heartbeat_ms;
            self.beat_all(out);
        }
    }

    /// Whether a majority was heard within an election time.
    fn is_heard(&self) -> bool {
        let since = self.now_ms.saturating_sub(self.timing.election_ms);
        self.has_majority_of(|peer| peer.heard_ms >= since)
    }

    /// Whether more than half of the voters are so; this node is, if it votes.
    fn has_majority_of(&self, is_so: impl Fn(&Peer) -> bool) -> bool {
        let State::Leader(reign) = &self.state else { return false };
        let membership = self.membership();
        let counts = |voter: &&NodeId| **voter == self.id || reign.peers.get(voter).is_some_and(&is_so);
        membership.voters.iter().filter(counts).count() >= majority(membership)
    }

    pub(super) fn count_reply(&mut self, from: NodeId, round: u64, is_taken: bool, upto: Index, out: &mut Vec<Action>) {
        let State::Leader(reign) = &mut self.state else { return };
        let Some(peer) = reign.peers.get_mut(&from) else { return };
        if round > reign.round || (is_taken && upto > self.shapes.last().index) {
            return;
        }
        peer.heard_ms = self.now_ms;
        peer.answered_round = peer.answered_round.max(round);
        if is_taken {
            peer.took(round, upto);
            self.count(out);
            self.resume(from, out);
            self.let_go(from);
        } else if peer.refused(round, upto, reign.round + 1, &self.shapes) {
            reign.round += 1;
            self.with_peer(from, |peer, said| peer.beat(from, said, out));
        } else if peer.standing == Standing::Behind {
            out.push(Action::TooFarBehind { node: from, has: upto });
        }
        self.check_confirmed(out);
        self.go_on_with_hand_over(out);
    }

    /// What a majority has, safely, is committed, if it is of this term: only then can nobody be elected without it
    /// (3.6.2). All before it is committed with it.
    pub(super) fn count(&mut self, out: &mut Vec<Action>) {
        let State::Leader(reign) = &mut self.state else { return };
        let membership = self.shapes.membership();
        let upto = |voter: &NodeId| {
            if *voter == self.id { self.safe } else { reign.peers.get(voter).map_or(Index(0), |peer| peer.matched) }
        };
        let mut have: Vec<Index> = membership.voters.iter().map(upto).collect();
        have.sort_unstable();
        let Some(&agreed) = have.get(have.len().wrapping_sub(majority(membership))) else { return };
        if agreed <= self.agreed || self.shapes.term_at(agreed) != Some(self.term) {
            return;
        }
        self.agreed = agreed;
        self.tell(out);
        self.offer_all(out);
        self.spread_commit(out);
        if !self.is_voter() && self.shapes.membership_index() <= self.agreed {
            self.leave(out);
        }
    }

    /// Those who are not sent entries now hear at once what is committed: their clients wait.
    fn spread_commit(&mut self, out: &mut Vec<Action>) {
        let committed = self.agreed;
        self.with_peers(|node, peer, said| {
            if peer.standing == Standing::Replicate && peer.knows_committed < committed {
                peer.beat(node, said, out);
            }
        });
    }

    /// It is no member any more, and that is agreed on: the one that has most leads next (4.2.2).
    fn leave(&mut self, out: &mut Vec<Action>) {
        let term = self.term;
        let next = self.progress().filter(|peer| self.membership().voters.contains(&peer.node));
        if let Some(next) = next.max_by_key(|peer| peer.matched) {
            out.push(Action::Send { to: next.node, message: Message::TakeOver { term } });
        }
        self.follow(None, out);
    }

    /// One whose vote was taken away, and who knows it, is sent nothing more.
    fn let_go(&mut self, node: NodeId) {
        let State::Leader(reign) = &mut self.state else { return };
        let Some(peer) = reign.peers.get(&node) else { return };
        if peer.leaving.is_some_and(|at| peer.matched >= at && peer.knows_committed >= at && self.agreed >= at) {
            reign.peers.remove(&node);
        }
    }

    /// Others decide: new ones are sent entries, those who left hear of it.
    fn members_changed(&mut self, before: &Membership) {
        let State::Leader(reign) = &mut self.state else { return };
        let at = self.shapes.membership_index();
        let voters = &self.shapes.membership().voters;
        for voter in voters.difference(&before.voters).filter(|&&voter| voter != self.id) {
            let new = || Peer::new(&self.shapes, self.now_ms, reign.round);
            reign.peers.entry(*voter).or_insert_with(new).leaving = None;
        }
        for voter in before.voters.difference(voters) {
            if let Some(peer) = reign.peers.get_mut(voter) {
                peer.leaving = Some(at);
            }
        }
    }

    fn go_on_with_hand_over(&mut self, out: &mut Vec<Action>) {
        let State::Leader(reign) = &mut self.state else { return };
        let Some(hand_over) = reign.hand_over.as_mut().filter(|hand_over| !hand_over.is_told) else { return };
        if reign.peers.get(&hand_over.to).is_some_and(|peer| peer.matched == self.shapes.last().index) {
            hand_over.is_told = true;
            out.push(Action::Send { to: hand_over.to, message: Message::TakeOver { term: self.term } });
        }
    }

    fn check_confirmed(&mut self, out: &mut Vec<Action>) {
        while let State::Leader(reign) = &self.state
            && let Some((round, upto)) = reign.confirming
            && self.has_majority_of(|peer| peer.answered_round >= round)
        {
            out.push(Action::Confirmed { round, upto });
            let State::Leader(reign) = &mut self.state else { return };
            reign.confirming = reign.confirming_next.take();
            if reign.confirming.is_some_and(|(next, _)| next > reign.round) {
                self.beat_all(out);
            }
        }
    }

    /// A new round of heartbeats.
    fn beat_all(&mut self, out: &mut Vec<Action>) {
        if let State::Leader(reign) = &mut self.state {
            reign.round += 1;
        }
        self.with_peers(|node, peer, said| peer.beat(node, said, out));
    }

    fn offer_all(&mut self, out: &mut Vec<Action>) {
        self.with_peers(|node, peer, said| peer.offer(node, said, out));
    }

    fn with_peers(&mut self, mut act: impl FnMut(NodeId, &mut Peer, &Said<'_>)) {
        let State::Leader(reign) = &mut self.state else { return };
        let said = Said { term: self.term, committed: self.agreed, round: reign.round, shapes: &self.shapes };
        for (node, peer) in &mut reign.peers {
            act(*node, peer, &said);
        }
    }

    fn with_peer(&mut self, to: NodeId, act: impl FnOnce(&mut Peer, &Said<'_>)) {
        let State::Leader(reign) = &mut self.state else { return };
        let said = Said { term: self.term, committed: self.agreed, round: reign.round, shapes: &self.shapes };
        if let Some(peer) = reign.peers.get_mut(&to) {
            act(peer, &said);
        }
    }
}
