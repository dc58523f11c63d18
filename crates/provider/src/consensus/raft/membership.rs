//! The voters, and how many votes each has.
//!
//! Elections and commits need more than half of all votes. Raft asks only that any two majorities share a voter, and two sets
//! that each have more than half of the same votes do.
//!
//! # One vote at a time
//!
//! A change of the membership adds or takes one vote: a voter with one vote comes or goes, or a voter gets one vote more or
//! less. Then a majority of the votes before the change and one of those after it share a voter, as with voters of one vote
//! each (4.1). Let there be `n` votes on one side of the change and `n + 1` on the other. A majority of the `n` has at least
//! `⌊n/2⌋ + 1` of them, and leaves at most `⌈n/2⌉ - 1` to all other voters. With the vote that differs these have at most
//! `⌈n/2⌉`, and a majority of the `n + 1` needs `⌈n/2⌉ + 1`.
//!
//! Messages, entries and the hard state list each voter as often as it has votes.

use std::collections::{BTreeMap, BTreeSet};

use crate::consensus::NodeId;

/// The most votes of a voter.
pub const WEIGHT_LIMIT: u8 = 16;

/// The voters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Membership {
    /// The nodes that vote.
    pub voters: BTreeSet<NodeId>,
    /// The votes of those that have several.
    weights: BTreeMap<NodeId, u8>,
}

impl Membership {
    /// The voters, each as often as it has votes.
    pub fn of(votes: impl IntoIterator<Item = NodeId>) -> Self {
        let mut membership = Self::default();
        for voter in votes {
            membership.set_weight(voter, membership.weight(voter).saturating_add(1));
        }
        membership
    }

    /// Number of votes of a node; 0: it is no voter.
    #[must_use]
    pub fn weight(&self, node: NodeId) -> u8 {
        if self.voters.contains(&node) { self.weights.get(&node).copied().unwrap_or(1) } else { 0 }
    }

    /// Sets the number of votes of a node. 0: it is no voter any more.
    pub fn set_weight(&mut self, node: NodeId, weight: u8) {
        self.weights.remove(&node);
        match weight {
            0 => _ = self.voters.remove(&node),
            1 => _ = self.voters.insert(node),
            several => {
                self.voters.insert(node);
                self.weights.insert(node, several);
            }
        }
    }

    /// Each voter as often as it has votes, ascending.
    pub fn votes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.voters.iter().flat_map(|voter| std::iter::repeat_n(*voter, self.weight(*voter).into()))
    }

    /// Number of votes of the voters for which the condition holds.
    pub fn votes_of(&self, is_so: impl Fn(&NodeId) -> bool) -> usize {
        self.voters.iter().filter(|voter| is_so(voter)).map(|voter| usize::from(self.weight(*voter))).sum()
    }

    /// More than half of the votes.
    #[must_use]
    pub fn majority(&self) -> usize {
        self.votes_of(|_| true) / 2 + 1
    }

    /// Whether no voter has a majority alone.
    #[must_use]
    pub fn needs_several(&self) -> bool {
        // Each commit asks.
        if self.weights.is_empty() {
            return self.voters.len() > 1;
        }
        let majority = self.majority();
        self.weights.values().all(|weight| usize::from(*weight) < majority)
    }

    /// Number of votes that a change adds and takes.
    #[must_use]
    pub fn distance(&self, to: &Self) -> usize {
        let nodes: BTreeSet<NodeId> = self.voters.union(&to.voters).copied().collect();
        nodes.into_iter().map(|node| usize::from(self.weight(node).abs_diff(to.weight(node)))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(votes: &[u64]) -> Membership {
        Membership::of(votes.iter().copied().map(NodeId))
    }

    #[test]
    fn a_voter_has_as_many_votes_as_it_is_listed() {
        let membership = of(&[3, 1, 1, 2]);
        assert_eq!(membership.votes().map(|voter| voter.0).collect::<Vec<_>>(), [1, 1, 2, 3]);
        assert_eq!([1, 2, 4].map(|node| membership.weight(NodeId(node))), [2, 1, 0]);
        assert_eq!(membership.majority(), 3);
        assert_eq!(membership.votes_of(|voter| voter.0 != 2), 3);
        let mut less = membership.clone();
        less.set_weight(NodeId(1), 1);
        assert_eq!((less.distance(&membership), less), (1, of(&[1, 2, 3])));
        assert_eq!(of(&[1, 2]).distance(&of(&[1, 3, 3])), 3);
    }

    #[test]
    fn a_voter_with_more_than_half_of_the_votes_needs_no_other() {
        assert!(of(&[1, 2]).needs_several() && of(&[1, 1, 2, 2]).needs_several());
        assert!(!of(&[1]).needs_several() && !of(&[1, 1, 2]).needs_several());
    }

    /// The proof above, for all small memberships.
    #[test]
    fn majorities_before_and_after_one_more_vote_share_a_voter() {
        for code in 0..4_u32.pow(4) {
            let weight = |node: u32| code / 4_u32.pow(node) % 4;
            let votes = |extra: Option<u32>| {
                let listed = (0..4).flat_map(move |node| (0..weight(node)).map(move |_| node));
                Membership::of(listed.chain(extra).map(|node| NodeId(node.into())))
            };
            let before = votes(None);
            for changed in 0..4 {
                let after = votes(Some(changed));
                assert_eq!(before.distance(&after), 1);
                for set in 0..16_u32 {
                    let is_in = |node: &NodeId| set >> node.0 & 1 == 1;
                    let both = before.votes_of(is_in) >= before.majority()
                        && after.votes_of(|node| !is_in(node)) >= after.majority();
                    assert!(!both, "{before:?} {after:?}");
                }
            }
        }
    }
}
