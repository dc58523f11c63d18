//! A leader: what it appends goes to the others, and is committed when a majority has it.

use std::collections::BTreeMap;

use super::peer::{Peer, Said, Standing};
use super::{Action, Membership, Message, Raft, State, majority};
use crate::group::NodeId;
use crate::log::Index;

/// What only a leader has, for as long as it leads.
pub(super) struct Reign {
    pub(super) peers: BTreeMap<NodeId, Peer>,
    /// Ascends with every heartbeat and every probe.
    pub(super) round: u64,
    pub(super) heartbeat_at_ms: u64,
    /// The end of the log when it came to lead: all that was ever committed before lies before that.
    pub(super) inherited: Index,
    /// A round that a majority has still to answer, and what was committed when it was asked for.
    pub(super) confirming: Option<(u64, Index)>,
    /// The one after that, for all who asked meanwhile.
    pub(super) confirming_next: Option<(u64, Index)>,
    pub(super) hand_over: Option<HandOver>,
}

/// Leadership on its way to another.
pub(super) struct HandOver {
    pub(super) to: NodeId,
    pub(super) until_ms: u64,
    pub(super) is_told: bool,
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
    pub(super) fn members_changed(&mut self, before: &Membership) {
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

    pub(super) fn go_on_with_hand_over(&mut self, out: &mut Vec<Action>) {
        let State::Leader(reign) = &mut self.state else { return };
        let Some(hand_over) = reign.hand_over.as_mut().filter(|hand_over| !hand_over.is_told) else { return };
        if reign.peers.get(&hand_over.to).is_some_and(|peer| peer.matched == self.shapes.last().index) {
            hand_over.is_told = true;
            out.push(Action::Send { to: hand_over.to, message: Message::TakeOver { term: self.term } });
        }
    }

    pub(super) fn check_confirmed(&mut self, out: &mut Vec<Action>) {
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
    pub(super) fn beat_all(&mut self, out: &mut Vec<Action>) {
        if let State::Leader(reign) = &mut self.state {
            reign.round += 1;
        }
        self.with_peers(|node, peer, said| peer.beat(node, said, out));
    }

    pub(super) fn offer_all(&mut self, out: &mut Vec<Action>) {
        self.with_peers(|node, peer, said| peer.offer(node, said, out));
    }

    fn with_peers(&mut self, mut act: impl FnMut(NodeId, &mut Peer, &Said<'_>)) {
        let State::Leader(reign) = &mut self.state else { return };
        let said = Said { term: self.term, committed: self.agreed, round: reign.round, shapes: &self.shapes };
        for (node, peer) in &mut reign.peers {
            act(*node, peer, &said);
        }
    }

    pub(super) fn with_peer(&mut self, to: NodeId, act: impl FnOnce(&mut Peer, &Said<'_>)) {
        let State::Leader(reign) = &mut self.state else { return };
        let said = Said { term: self.term, committed: self.agreed, round: reign.round, shapes: &self.shapes };
        if let Some(peer) = reign.peers.get_mut(&to) {
            act(peer, &said);
        }
    }
}
