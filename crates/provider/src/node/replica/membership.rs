//! Membership changes: the leader gives a joiner with nearly all entries a vote, takes the votes of a leaving node, and
//! those of a node that is gone and would block the others; and it gives each present node as many votes as it wants
//! (`pc.weight`).
//!
//! One vote changes at a time (`consensus/raft/membership.rs`). An absent node loses its votes before it could keep the others
//! from a majority, or count beside its replacement; when it comes back, it gets a vote as a joiner.

use super::Replica;
use super::host::Host;
use super::known_node::{AWAY_TIMEOUT_MS, Peer};
use super::leader::{CATCH_UP_LIMIT_ENTRIES, NEW_LEADER_GRACE_TIMEOUT_MS};
use crate::consensus::NodeId;
use crate::consensus::raft::{LogId, Term, WEIGHT_LIMIT};
use crate::consensus::wire::Frame;
use crate::entry::{self, Entry, Voter};
use crate::log::Index;
use crate::protocol::ProtocolVersion;
use std::collections::BTreeMap;

impl<H: Host> Replica<H> {
    /// Changes one vote, if needed. True: a change is in flight.
    pub(super) fn reconcile_membership(&mut self) -> bool {
        let now = self.now_ms();
        for (node, peer) in &self.peers {
            if self.hard_state.voters.contains_key(node) {
                continue;
            }
            if peer.is_leaving {
                self.host.send(*node, &Frame::LeaveReply);
            }
            // The node gets entries again when it reports itself.
            if peer.unlinked_since_ms.is_some_and(|since| now - since > AWAY_TIMEOUT_MS) {
                self.raft.remove_learner(*node);
            }
        }
        if !self.raft.can_change_membership() {
            return false;
        }
        let voters = self.voters();
        if self.has_uncommitted_bootstrap {
            self.has_uncommitted_bootstrap = false;
            return self.propose_voters(voters);
        }
        if self.leaver().is_some() {
            return self.remove_leaver();
        }
        let next = next_voters(&voters, None, self.next_joiner(), |node| self.presence(node));
        let next = next.or_else(|| {
            next_weight(&voters, |node| self.wanted_weight_of(node), |node| self.presence_with_entries(node))
        });
        next.is_some_and(|voters| self.propose_voters(voters))
    }

    /// The next voter to remove.
    pub(super) fn leaver(&self) -> Option<NodeId> {
        let voters = &self.hard_state.voters;
        let leaver = self.peers.iter().find(|(node, peer)| peer.is_leaving && voters.contains_key(node));
        let own = || (self.leave.is_leaving && voters.len() > 1).then(|| self.own_node());
        leaver.map(|(node, _)| *node).or_else(own)
    }

    /// Takes a vote of a voter that leaves, or of one that is gone. True: a change is in flight.
    pub(super) fn remove_leaver(&mut self) -> bool {
        let leaver = self.leaver();
        let requested_ms = self.leave_requested_ms(leaver);
        if leaver.is_none() || !self.raft.can_change_membership() {
            return false;
        }
        let next = next_voters(&self.voters(), leaver, None, |node| self.presence_since(node, requested_ms));
        next.is_some_and(|voters| self.propose_voters(voters))
    }

    /// The voters of the last committed membership.
    fn voters(&self) -> Voters {
        let all = self.hard_state.voters.iter();
        all.map(|(node, address)| (*node, (address.clone(), self.hard_state.weight(*node)))).collect()
    }

    /// The number of votes that a node wants. None: it is not known, or an earlier release could not count them.
    fn wanted_weight_of(&self, node: NodeId) -> Option<u8> {
        if self.hard_state.protocol < ProtocolVersion::WEIGHTS {
            return None;
        }
        if node == self.own_node() {
            return Some(self.host.wanted_weight());
        }
        let peer = self.peers.get(&node).filter(|peer| peer.unlinked_since_ms.is_none() && !peer.is_leaving)?;
        peer.status.as_ref().map(|(member_status, _)| member_status.weight.clamp(1, WEIGHT_LIMIT))
    }

    /// Takes the last committed membership over into the hard state: when it is committed, whether or not its entry is
    /// ordered. A node that crashes in between orders only what its tables lack, and that may begin after the entry.
    pub(super) fn take_committed_membership(&mut self) {
        let known = self.hard_state.membership_log_id.index;
        let Some(index) = self.raft.committed_membership().map(|(index, _)| *index).filter(|index| *index > known)
        else {
            return;
        };
        let entry = match self.host.entries(index, 1) {
            Ok(entries) => entries.first().and_then(|(_, bytes)| entry::decode(bytes).ok()),
            Err(error) => return self.fail(&format!("the log cannot be read: {error}")),
        };
        match entry {
            Some((stamp, Entry::Membership(voters))) => self.on_membership_committed(index, stamp.term, voters),
            _ => self.fail(&format!("entry {index} of the log is not valid: it should be the voters")),
        }
    }

    /// A membership is committed.
    fn on_membership_committed(&mut self, index: Index, term: Term, voters: Vec<Voter>) {
        self.hard_state.membership_log_id = LogId { term, index };
        let membership = entry::membership(&voters);
        let addresses = voters.into_iter().map(|voter| (voter.node, voter.address)).collect();
        self.hard_state.set_voters(addresses, &membership);
        self.save_hard_state();
        // Two nodes that joined through a third need each other when that one is gone.
        for (_, address) in self.hard_state.voters.iter().filter(|(node, _)| **node != self.hard_state.node) {
            self.host.dial(address);
        }
        let name = |(node, address): (&NodeId, &String)| match membership.weight(*node) {
            1 => address.clone(),
            several => format!("{address} ({several} votes)"),
        };
        let names: Vec<String> = self.hard_state.voters.iter().map(name).collect();
        self.host.note(&format!("voters are {}", names.join(", ")));
        if self.leave.is_leaving && !self.hard_state.voters.contains_key(&self.own_node()) {
            self.status.has_left = true;
        }
    }

    fn propose_voters(&mut self, voters: Voters) -> bool {
        let listed = |(node, (address, weight)): (NodeId, (String, u8))| {
            std::iter::repeat_n(Voter { node, address }, weight.into())
        };
        let voters: Vec<Voter> = voters.into_iter().flat_map(listed).collect();
        self.propose(entry::encode_membership(&voters), Some(&voters))
    }

    /// Since when that node has been the next to leave.
    fn leave_requested_ms(&mut self, leaver: Option<NodeId>) -> u64 {
        let now = self.now_ms();
        let Some(leader_duties) = &mut self.leader_duties else { return now };
        if leader_duties.leaver.map(|(node, _)| node) != leaver {
            leader_duties.leaver = leaver.map(|node| (node, now));
        }
        leader_duties.leaver.map_or(now, |(_, since)| since)
    }

    /// Whether a voter is present without the leaver: it has replied since the leave was requested, and takes entries.
    fn presence_since(&self, node: NodeId, requested_ms: u64) -> Presence {
        let peer = self.peers.get(&node);
        let is_linked = peer.is_some_and(|peer| peer.unlinked_since_ms.is_none());
        // A voter whose log ends before this one begins acknowledges no entry: without the leaver, nothing would be
        // committed before its SST begins, and after a restart of this leader nothing at all. A new leader knows that
        // only when the voter has accepted something.
        let has_answered = || {
            let mut progress = self.raft.progress();
            progress.any(|it| {
                it.node == node && it.last_contact_ms > requested_ms && it.match_index > Index(0) && !it.needs_snapshot
            })
        };
        if node == self.own_node() || is_linked && has_answered() {
            return if self.has_tables(node) { Presence::Present } else { Presence::WithoutTables };
        }
        // The link may be re-established, or be new with a new leader.
        let led_since = self.leader_duties.as_ref().map_or(0, |leader_duties| leader_duties.since_ms);
        let away_since = peer.and_then(|peer| peer.unlinked_since_ms).unwrap_or(requested_ms);
        let is_given_up = self.now_ms() - led_since.max(away_since) >= AWAY_TIMEOUT_MS;
        if is_given_up { Presence::Gone } else { Presence::Unknown }
    }

    /// Whether the node has tables. A node that needs an SST knows no view: the other node says it.
    pub(super) fn has_tables(&self, node: NodeId) -> bool {
        if node == self.own_node() {
            return self.ordered.index.is_some() && !self.is_waiting_for_tables() && !self.is_witness;
        }
        let status = self.peers.get(&node).and_then(|peer| peer.status.as_ref());
        status.is_some_and(|(member_status, _)| member_status.has_tables)
    }

    /// Whether this node waits for an SST.
    pub(super) fn is_waiting_for_tables(&self) -> bool {
        self.joiner.request.is_some() || self.status.snapshot_upto.is_some() && self.ordered.index.is_none()
    }

    /// Whether a voter is present, by the rules of the view.
    fn presence(&self, node: NodeId) -> Presence {
        let now = self.now_ms();
        let since = self.leader_duties.as_ref().map_or(now, |leader_duties| leader_duties.since_ms);
        match self.peers.get(&node) {
            _ if node == self.own_node() => Presence::Present,
            Some(peer) if peer.is_present(now) => Presence::Present,
            // A new leader has not met all nodes yet.
            _ if now - since < NEW_LEADER_GRACE_TIMEOUT_MS => Presence::Unknown,
            _ => Presence::Gone,
        }
    }

    /// The same, for a change of weights. A present voter that takes no entries cannot make a majority: it may need an SST, and
    /// gets none while nothing is committed.
    fn presence_with_entries(&self, node: NodeId) -> Presence {
        let nearly_all = self.status.apply_bound.0.saturating_sub(CATCH_UP_LIMIT_ENTRIES);
        let takes_entries = || {
            self.raft.progress().any(|it| {
                it.node == node && it.match_index > Index(0) && it.match_index.0 >= nearly_all && !it.needs_snapshot
            })
        };
        match self.presence(node) {
            Presence::Present if node != self.own_node() && !takes_entries() => Presence::Unknown,
            presence => presence,
        }
    }

    fn next_joiner(&self) -> Option<(NodeId, String)> {
        let nearly_caught_up = self.status.apply_bound.0.saturating_sub(CATCH_UP_LIMIT_ENTRIES);
        self.raft.progress().find_map(|progress| {
            let peer = self.peers.get(&progress.node)?;
            let (member_status, _) = peer.status.as_ref()?;
            // A witness takes entries: the cluster may need it for the next one.
            let is_witness = peer.is_witness() && progress.match_index > Index(0) && !progress.needs_snapshot;
            let is_eligible = (member_status.wants_view || is_witness)
                && !peer.is_leaving
                && peer.unlinked_since_ms.is_none()
                && progress.match_index.0 >= nearly_caught_up
                // Else nothing is committed before its SST, and after a restart of this leader nothing at all.
                && !progress.needs_snapshot
                && progress.match_index >= self.raft.last_purged().index
                && self.node_at_address(&peer.hello.address, progress.node).is_none();
            (is_eligible && !self.hard_state.voters.contains_key(&progress.node))
                .then(|| (progress.node, peer.hello.address.clone()))
        })
    }

    /// Another running node, this one included, with that address.
    pub(super) fn node_at_address(&self, address: &str, besides: NodeId) -> Option<NodeId> {
        let is_there = |(node, peer): &(&NodeId, &Peer)| {
            **node != besides && peer.unlinked_since_ms.is_none() && peer.hello.address == address
        };
        let other = self.peers.iter().find(is_there).map(|(node, _)| *node);
        other.or_else(|| (self.host.own_address() == address).then(|| self.own_node()))
    }
}

/// The voters, with their addresses and numbers of votes.
pub(super) type Voters = BTreeMap<NodeId, (String, u8)>;

/// What is known of a voter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// It is present.
    Present,
    /// It is present and waits for an SST, or is a witness: it could not continue alone.
    WithoutTables,
    /// Unknown for now: wait a moment.
    Unknown,
    /// It is gone.
    Gone,
}

/// The voters when `leaver` leaves, or else when `joiner` joins. `None`: no change for now.
pub(super) fn next_voters(
    voters: &Voters,
    leaver: Option<NodeId>,
    joiner: Option<(NodeId, String)>,
    presence: impl Fn(NodeId) -> Presence,
) -> Option<Voters> {
    let gone = |voters: &Voters| voters.keys().copied().find(|node| presence(*node) == Presence::Gone);
    if let Some(leaver) = leaver {
        let mut rest = voters.clone();
        rest.remove(&leaver);
        if !rest.keys().any(|node| presence(*node) == Presence::Present) {
            return None;
        }
        if keeps_majority(&rest, &presence) {
            return Some(with_one_vote_less(voters, leaver));
        }
        // The remaining voters would have no majority. While the leaver is there, they do.
        return gone(&rest).map(|gone| with_one_vote_less(voters, gone));
    }
    let (joiner, address) = joiner?;
    // A node that has lost its log is a new node at the same address; the old one does not come back. But only if it is
    // gone: another one may have been given its address by mistake.
    let former = voters.iter().find(|(node, (known, _))| *known == address && **node != joiner).map(|(node, _)| *node);
    if former.is_some_and(|former| presence(former) != Presence::Gone) {
        return None;
    }
    if let Some(former) = former.or_else(|| gone(voters)) {
        return Some(with_one_vote_less(voters, former));
    }
    let mut next = voters.clone();
    next.insert(joiner, (address, 1));
    Some(next)
}

/// The voters when a present one gets one vote more or less, on the way to what it wants. `None`: no change for now.
pub(super) fn next_weight(
    voters: &Voters,
    wanted: impl Fn(NodeId) -> Option<u8>,
    presence: impl Fn(NodeId) -> Presence,
) -> Option<Voters> {
    let differs = |(node, (_, weight)): (&NodeId, &(String, u8))| {
        let is_here = matches!(presence(*node), Presence::Present | Presence::WithoutTables);
        let wanted = wanted(*node).filter(|wanted| is_here && wanted != weight)?;
        Some((*node, *weight, wanted))
    };
    let (node, weight, wanted) = voters.iter().find_map(differs)?;
    if wanted < weight {
        let less = with_one_vote_less(voters, node);
        if keeps_majority(&less, &presence) {
            return Some(less);
        }
        let gone = voters.keys().copied().find(|node| presence(*node) == Presence::Gone);
        return gone.map(|gone| with_one_vote_less(voters, gone));
    }
    let mut more = voters.clone();
    if let Some((_, votes)) = more.get_mut(&node) {
        *votes += 1;
    }
    Some(more)
}

/// Whether the voters that are present have more than half of the votes.
fn keeps_majority(voters: &Voters, presence: impl Fn(NodeId) -> Presence) -> bool {
    let votes = |(_, (_, weight)): (&NodeId, &(String, u8))| usize::from(*weight);
    let is_here =
        |(node, _): &(&NodeId, &(String, u8))| matches!(presence(**node), Presence::Present | Presence::WithoutTables);
    let here: usize = voters.iter().filter(is_here).map(votes).sum();
    2 * here > voters.iter().map(votes).sum()
}

/// The voters when one loses a vote, and with its last one its place.
fn with_one_vote_less(voters: &Voters, node: NodeId) -> Voters {
    let mut next = voters.clone();
    match next.get_mut(&node) {
        Some((_, weight)) if *weight > 1 => *weight -= 1,
        _ => _ = next.remove(&node),
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    fn voters(nodes: &[u64]) -> Voters {
        nodes.iter().map(|node| (NodeId(*node), (format!("10.0.0.{node}:4567"), 1))).collect()
    }

    /// The voters after each step, until nothing changes or everything requested is done.
    fn steps(
        nodes: &[u64],
        unknown: &[u64],
        gone: &[u64],
        leaver: Option<u64>,
        joiner: Option<(u64, u64)>,
    ) -> Vec<Vec<u64>> {
        let mut now = voters(nodes);
        let mut steps = Vec::new();
        let presence = |node: NodeId| match node.0 {
            node if gone.contains(&node) => Presence::Gone,
            node if unknown.contains(&node) => Presence::Unknown,
            _ => Presence::Present,
        };
        while steps.len() < 9 {
            let leaver = leaver.map(NodeId).filter(|node| now.contains_key(node));
            let joiner = joiner.filter(|(node, _)| !now.contains_key(&NodeId(*node)));
            let joiner = joiner.map(|(node, at)| (NodeId(node), format!("10.0.0.{at}:4567")));
            let Some(next) = next_voters(&now, leaver, joiner, presence) else { break };
            steps.push(next.keys().map(|node| node.0).collect());
            now = next;
        }
        steps
    }

    #[test]
    fn a_leaver_is_removed_at_once_if_the_others_keep_a_majority() {
        assert_eq!(steps(&[1, 2, 3], &[], &[], Some(2), None), [[1, 3]]);
        assert_eq!(steps(&[1, 2], &[], &[], Some(2), None), [[1]]);
        assert_eq!(steps(&[1, 2, 3, 4], &[], &[4], Some(2), None), [[1, 3, 4]], "two of three");
    }

    #[test]
    fn an_absent_voter_is_removed_first_if_the_others_lack_a_majority() {
        assert_eq!(steps(&[1, 2, 3], &[], &[3], Some(2), None), [vec![1, 2], vec![1]]);
        assert_eq!(steps(&[1, 2, 3], &[], &[3], Some(1), None), [vec![1, 2], vec![2]], "also the leader itself");
        assert_eq!(steps(&[1, 2, 3, 4, 5], &[], &[4, 5], Some(3), None), [vec![1, 2, 3, 5], vec![1, 2, 5]]);
        assert_eq!(steps(&[1, 2, 3], &[], &[3], Some(3), None), [[1, 2]], "the leaver itself is gone");
    }

    #[test]
    fn an_unknown_voter_is_awaited_only_if_it_matters() {
        assert_eq!(steps(&[1, 2, 3], &[3], &[], Some(2), None), [[0; 0]; 0]);
        assert_eq!(steps(&[1, 2, 3, 4], &[4], &[], Some(2), None), [[1, 3, 4]]);
        assert_eq!(steps(&[1, 2, 3, 4, 5], &[4], &[5], Some(3), None), [vec![1, 2, 3, 4], vec![1, 2, 4]]);
    }

    #[test]
    fn the_last_voter_with_tables_does_not_leave() {
        let next = |nodes: &[u64], empty: &[u64], gone: &[u64], leaver: u64| {
            let presence = |node: NodeId| match node.0 {
                node if empty.contains(&node) => Presence::WithoutTables,
                node if gone.contains(&node) => Presence::Gone,
                _ => Presence::Present,
            };
            let next = next_voters(&voters(nodes), Some(NodeId(leaver)), None, presence);
            next.map(|next| next.keys().map(|node| node.0).collect::<Vec<_>>())
        };
        assert_eq!(next(&[1, 2], &[1], &[], 2), None);
        assert_eq!(next(&[1, 2, 3], &[1], &[3], 2), None);
        assert_eq!(next(&[1, 2, 3], &[1], &[], 2).unwrap(), [1, 3]);
        assert_eq!(next(&[1, 2, 3], &[1], &[], 1).unwrap(), [2, 3]);
    }

    #[test]
    fn a_joiner_replaces_the_voter_at_its_address_or_an_absent_one() {
        assert_eq!(steps(&[1, 2, 3], &[], &[], None, Some((4, 4))), [[1, 2, 3, 4]]);
        assert_eq!(steps(&[1, 2, 3], &[], &[3], None, Some((4, 3))), [vec![1, 2], vec![1, 2, 4]]);
        assert_eq!(steps(&[1, 2, 3], &[], &[], None, Some((4, 3))), [[0; 0]; 0], "the other node at it lives");
        assert_eq!(steps(&[1, 2, 3], &[3], &[], None, Some((4, 3))), [[0; 0]; 0], "it may live");
        assert_eq!(steps(&[1, 2, 3], &[], &[3], None, Some((4, 4))), [vec![1, 2], vec![1, 2, 4]]);
        assert_eq!(steps(&[1, 2, 3], &[3], &[], None, Some((4, 4))), [[1, 2, 3, 4]], "it may be back soon");
    }

    /// The votes of each voter, by node, after each step towards what the present ones want.
    fn weights(votes: &[u8], gone: &[u64], wanted: &[u8]) -> Vec<Vec<u8>> {
        let nodes = (1..).zip(votes).map(|(node, weight)| (NodeId(node), (format!("10.0.0.{node}:4567"), *weight)));
        let mut now: Voters = nodes.collect();
        let presence = |node: NodeId| if gone.contains(&node.0) { Presence::Gone } else { Presence::Present };
        let wanted = |node: NodeId| wanted.get(node.0 as usize - 1).copied();
        let mut steps = Vec::new();
        while let Some(next) = next_weight(&now, wanted, presence).filter(|_| steps.len() < 9) {
            steps.push(next.values().map(|(_, weight)| *weight).collect());
            now = next;
        }
        steps
    }

    #[test]
    fn a_present_voter_gets_the_votes_that_it_wants_one_by_one() {
        assert_eq!(weights(&[1, 1, 1], &[], &[3, 1, 1]), [[2, 1, 1], [3, 1, 1]]);
        assert_eq!(weights(&[3, 1, 1], &[], &[1, 2, 1]), [[2, 1, 1], [1, 1, 1], [1, 2, 1]]);
        assert_eq!(weights(&[1, 1, 1], &[2], &[1, 3, 1]), [[0; 0]; 0], "it is not here");
        assert_eq!(weights(&[1, 1], &[], &[]), [[0; 0]; 0], "nothing is known");
    }

    #[test]
    fn absent_voters_go_before_fewer_votes_would_stop_the_cluster() {
        assert_eq!(weights(&[3, 1, 1], &[2, 3], &[1, 1, 1]), [vec![3, 1], vec![2, 1], vec![2], vec![1]]);
        assert_eq!(weights(&[3, 1, 2], &[3], &[1, 1, 2]), [vec![2, 1, 2], vec![2, 1, 1], vec![1, 1, 1]]);
    }

    #[test]
    fn a_leaver_with_several_votes_loses_them_one_by_one() {
        let mut now = voters(&[1, 2, 3]);
        now.get_mut(&NodeId(1)).unwrap().1 = 3;
        let mut steps = Vec::new();
        while let Some(next) =
            next_voters(&now, Some(NodeId(1)), None, |_| Presence::Present).filter(|_| steps.len() < 9)
        {
            steps.push(next.values().map(|(_, weight)| *weight).collect::<Vec<_>>());
            now = next;
            if !now.contains_key(&NodeId(1)) {
                break;
            }
        }
        assert_eq!(steps, [vec![2, 1, 1], vec![1, 1, 1], vec![1, 1]]);
    }

    #[test]
    fn no_joiner_and_no_leaver_change_nothing() {
        assert_eq!(steps(&[1, 2, 3], &[2], &[3], None, None), [[0; 0]; 0]);
    }
}
