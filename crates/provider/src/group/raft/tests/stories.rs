//! Stories of groups (`testdata/raft/stories.txt`), told line by line.

use super::group::{Group, TIMING, membership};
use crate::group::NodeId;
use crate::group::raft::{Raft, Role, Term};
use crate::log::Index;

const STORIES: &str = include_str!("../../../../testdata/raft/stories.txt");

#[test]
fn stories_end_as_they_are_told() {
    let mut group = Group::default();
    let mut title = "";
    let mut count = 0;
    for (nth, line) in STORIES.lines().enumerate() {
        let line = line.trim();
        if let Some(next) = line.strip_prefix("== ") {
            (title, count) = (next, count + 1);
        } else if !line.is_empty() && !line.starts_with('#') {
            let words: Vec<&str> = line.split_whitespace().collect();
            let came = tell(&mut group, &words);
            assert_eq!(came, Ok(()), "line {}, `{line}`, of `{title}`", nth + 1);
        }
    }
    assert!(count > 20, "only {count} stories were found");
}

fn numbers(words: &[&str]) -> Vec<u64> {
    words.iter().map(|word| word.parse().unwrap()).collect()
}

fn expect<T: PartialEq + std::fmt::Debug>(found: &T, told: &T) -> Result<(), String> {
    if found == told { Ok(()) } else { Err(format!("it is {found:?}")) }
}

fn tell(group: &mut Group, words: &[&str]) -> Result<(), String> {
    match words {
        ["nodes", voters @ ..] => *group = Group::new(&numbers(voters)),
        ["heal"] => group.cut.clear(),
        ["cut", one, "from", others @ ..] => {
            for other in numbers(others) {
                let (one, other) = (NodeId(one.parse().unwrap()), NodeId(other));
                group.cut.extend([(one, other), (other, one)]);
            }
        }
        [node, rest @ ..] => return tell_of(group, NodeId(node.parse().unwrap()), rest),
        [] => {}
    }
    Ok(())
}

fn tell_of(group: &mut Group, node: NodeId, words: &[&str]) -> Result<(), String> {
    match words {
        ["stands"] => let_stand(group, node),
        ["beats"] => let_beat(group, node),
        ["appends", count] => {
            for _ in 0..count.parse::<u64>().unwrap() {
                group.append(node, None).map_err(|error| error.to_string())?;
            }
        }
        ["appends", _, "is", "refused"] => return expect(&group.append(node, None).is_err(), &true),
        ["changes", "votes", "to", voters @ .., "is", "refused"] => {
            return expect(&group.append(node, Some(membership(numbers(voters)))).is_err(), &true);
        }
        ["changes", "votes", "to", voters @ ..] => {
            group.append(node, Some(membership(numbers(voters)))).map_err(|error| error.to_string())?;
        }
        ["observes", other] => {
            let other = NodeId(other.parse().unwrap());
            if !group.seats.contains_key(&other) {
                group.add(other, None);
            }
            group.on(node, |raft, _, out| raft.observe(other, out));
        }
        ["hands", "over", "to", other] => {
            let other = NodeId(other.parse().unwrap());
            return expect(&group.on(node, |raft, _, out| raft.hand_over(other, out)), &true);
        }
        ["stops", "syncing"] => group.set_syncing(node, false),
        ["syncs"] => group.set_syncing(node, true),
        ["is", "down"] => group.crash(node),
        ["is", "up"] => group.start(node),
        ["purges", "to", upto] => group.purge(node, Index(upto.parse().unwrap())),
        ["leads"] => return expect(&group.raft(node).role(), &Role::Leader),
        ["follows", "nobody"] => return expect(&group.raft(node).leader(), &None),
        ["follows", other] => return expect(&group.raft(node).leader(), &Some(NodeId(other.parse().unwrap()))),
        ["has", terms @ ..] => {
            let told = numbers(terms).into_iter().map(Term).collect::<Vec<_>>();
            return expect(&group.seats[&node].log.iter().map(|shape| shape.term).collect(), &told);
        }
        ["committed", upto] => {
            return expect(&group.raft(node).committed(), &Index(upto.parse().unwrap()));
        }
        _ => return Err("nobody knows what that means".to_owned()),
    }
    Ok(())
}

fn let_beat(group: &mut Group, node: NodeId) {
    group.now_ms += TIMING.heartbeat_ms;
    group.on(node, Raft::tick);
}

/// Two election times pass, in which those who lead go on leading if they can.
fn let_stand(group: &mut Group, node: NodeId) {
    for _ in 0..2 * TIMING.election_ms / TIMING.heartbeat_ms {
        group.now_ms += TIMING.heartbeat_ms;
        let up = group.seats.iter().filter_map(|(id, seat)| Some((*id, seat.raft.as_ref()?.role())));
        let leaders: Vec<NodeId> = up.filter(|(_, role)| *role == Role::Leader).map(|(id, _)| id).collect();
        for leader in leaders {
            group.on(leader, Raft::tick);
        }
    }
    group.on(node, Raft::tick);
}
