//! Who votes next. One comes or goes at a time. Those who are not there give up their votes before they keep others from going on or
//! count beside who takes their place; who comes back gets its vote back by itself, as a joiner.

use std::collections::BTreeMap;

use crate::group::NodeId;

/// Those who vote, each with its address.
pub(super) type Voters = BTreeMap<NodeId, String>;

/// What is known of a voter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// It is heard.
    There,
    /// It is heard and has a vote, and waits for the tables of another: alone it could not go on.
    Empty,
    /// It is to be waited for a moment.
    Unknown,
    /// Nobody waits for it.
    Gone,
}

/// The voters when `leaver` goes, or without one when `joiner` comes. `None`: they stay as they are, for now.
pub(super) fn next_voters(
    voters: &Voters,
    leaver: Option<NodeId>,
    joiner: Option<(NodeId, String)>,
    presence: impl Fn(NodeId) -> Presence,
) -> Option<Voters> {
    let gone = |voters: &Voters| voters.keys().copied().find(|node| presence(*node) == Presence::Gone);
    if let Some(leaver) = leaver {
        let rest = without(voters, leaver);
        let count = |wanted| rest.keys().filter(|node| presence(**node) == wanted).count();
        let there = count(Presence::There);
        if there == 0 {
            return None;
        }
        if 2 * (there + count(Presence::Empty)) > rest.len() {
            return Some(rest);
        }
        // Those that are left would stand still. As long as the leaver is there they still are a majority.
        return gone(&rest).map(|gone| without(voters, gone));
    }
    let (joiner, address) = joiner?;
    // A node that lost its log is another node at the same address; the former one will not come back.
    let former = voters.iter().find(|(node, known)| **known == address && **node != joiner).map(|(node, _)| *node);
    if let Some(former) = former.or_else(|| gone(voters)) {
        return Some(without(voters, former));
    }
    let mut next = voters.clone();
    next.insert(joiner, address);
    Some(next)
}

fn without(voters: &Voters, node: NodeId) -> Voters {
    let mut next = voters.clone();
    next.remove(&node);
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    fn voters(nodes: &[u64]) -> Voters {
        nodes.iter().map(|node| (NodeId(*node), format!("10.0.0.{node}:4567"))).collect()
    }

    /// The voters after each step until nothing changes, or all that was wanted has happened.
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
            _ => Presence::There,
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
    fn who_leaves_goes_at_once_when_the_others_are_a_majority_without_it() {
        assert_eq!(steps(&[1, 2, 3], &[], &[], Some(2), None), [[1, 3]]);
        assert_eq!(steps(&[1, 2], &[], &[], Some(2), None), [[1]]);
        assert_eq!(steps(&[1, 2, 3, 4], &[], &[4], Some(2), None), [[1, 3, 4]], "two of three");
    }

    #[test]
    fn who_is_gone_goes_first_when_the_others_would_stand_still() {
        assert_eq!(steps(&[1, 2, 3], &[], &[3], Some(2), None), [vec![1, 2], vec![1]]);
        assert_eq!(steps(&[1, 2, 3], &[], &[3], Some(1), None), [vec![1, 2], vec![2]], "the one that leads, too");
        assert_eq!(steps(&[1, 2, 3, 4, 5], &[], &[4, 5], Some(3), None), [vec![1, 2, 3, 5], vec![1, 2, 5]]);
        assert_eq!(steps(&[1, 2, 3], &[], &[3], Some(3), None), [[1, 2]], "whoever leaves is gone as well");
    }

    #[test]
    fn of_whom_nothing_is_known_yet_is_waited_for_only_when_it_counts() {
        assert_eq!(steps(&[1, 2, 3], &[3], &[], Some(2), None), [[0; 0]; 0]);
        assert_eq!(steps(&[1, 2, 3, 4], &[4], &[], Some(2), None), [[1, 3, 4]]);
        assert_eq!(steps(&[1, 2, 3, 4, 5], &[4], &[5], Some(3), None), [vec![1, 2, 3, 4], vec![1, 2, 4]]);
    }

    #[test]
    fn who_has_tables_does_not_leave_those_alone_who_wait_for_them() {
        let next = |nodes: &[u64], empty: &[u64], gone: &[u64], leaver: u64| {
            let presence = |node: NodeId| match node.0 {
                node if empty.contains(&node) => Presence::Empty,
                node if gone.contains(&node) => Presence::Gone,
                _ => Presence::There,
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
    fn who_comes_takes_the_place_of_the_one_at_its_address_or_of_one_that_is_gone() {
        assert_eq!(steps(&[1, 2, 3], &[], &[], None, Some((4, 4))), [[1, 2, 3, 4]]);
        assert_eq!(steps(&[1, 2, 3], &[], &[], None, Some((4, 3))), [vec![1, 2], vec![1, 2, 4]]);
        assert_eq!(steps(&[1, 2, 3], &[], &[3], None, Some((4, 4))), [vec![1, 2], vec![1, 2, 4]]);
        assert_eq!(steps(&[1, 2, 3], &[3], &[], None, Some((4, 4))), [[1, 2, 3, 4]], "it may be back soon");
    }

    #[test]
    fn nothing_changes_when_nobody_comes_or_goes() {
        assert_eq!(steps(&[1, 2, 3], &[2], &[3], None, None), [[0; 0]; 0]);
    }
}
