//! Runs the scenarios of `testdata/raft/scenarios.txt`, line by line.

use super::fixture::{TIMING, TestCluster, membership};
use crate::consensus::NodeId;
use crate::consensus::raft::{Raft, Role, Term};
use crate::log::Index;

const SCENARIOS: &str = include_str!("../../../../testdata/raft/scenarios.txt");

#[test]
fn every_scenario_ends_as_its_text_says() {
    let mut cluster = TestCluster::default();
    let mut title = "";
    let mut count = 0;
    for (nth, line) in SCENARIOS.lines().enumerate() {
        let line = line.trim();
        if let Some(next) = line.strip_prefix("== ") {
            (title, count) = (next, count + 1);
        } else if !line.is_empty() && !line.starts_with('#') {
            let words: Vec<&str> = line.split_whitespace().collect();
            let result = run(&mut cluster, &words);
            assert_eq!(result, Ok(()), "line {}, `{line}`, of `{title}`", nth + 1);
        }
    }
    assert!(count > 20, "only {count} scenarios were found");
}

fn numbers(words: &[&str]) -> Vec<u64> {
    words.iter().map(|word| word.parse().unwrap()).collect()
}

fn expect<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("it is {found:?}")) }
}

fn run(cluster: &mut TestCluster, words: &[&str]) -> Result<(), String> {
    match words {
        ["nodes", voters @ ..] => *cluster = TestCluster::new(&numbers(voters)),
        ["heal"] => cluster.partitioned.clear(),
        ["partition", one, "from", others @ ..] => {
            for other in numbers(others) {
                let (one, other) = (NodeId(one.parse().unwrap()), NodeId(other));
                cluster.partitioned.extend([(one, other), (other, one)]);
            }
        }
        [node, rest @ ..] => return run_on(cluster, NodeId(node.parse().unwrap()), rest),
        [] => {}
    }
    Ok(())
}

fn run_on(cluster: &mut TestCluster, node: NodeId, words: &[&str]) -> Result<(), String> {
    match words {
        ["campaigns"] => campaign(cluster, node),
        ["ticks"] => tick(cluster, node),
        ["appends", count] => {
            for _ in 0..count.parse::<u64>().unwrap() {
                cluster.append(node, None).map_err(|error| error.to_string())?;
            }
        }
        ["appends", _, "is", "refused"] => return expect(&cluster.append(node, None).is_err(), &true),
        ["changes", "votes", "to", voters @ .., "is", "refused"] => {
            return expect(&cluster.append(node, Some(membership(numbers(voters)))).is_err(), &true);
        }
        ["changes", "votes", "to", voters @ ..] => {
            cluster.append(node, Some(membership(numbers(voters)))).map_err(|error| error.to_string())?;
        }
        ["adds", "learner", other] => {
            let other = NodeId(other.parse().unwrap());
            if !cluster.nodes.contains_key(&other) {
                cluster.add(other, None);
            }
            cluster.on(node, |raft, _, out| raft.add_learner(other, out));
        }
        ["transfers", "leadership", "to", other] => {
            let other = NodeId(other.parse().unwrap());
            return expect(&cluster.on(node, |raft, _, out| raft.transfer_leadership(other, out)), &true);
        }
        ["stops", "syncing"] => cluster.set_syncing(node, false),
        ["syncs"] => cluster.set_syncing(node, true),
        ["is", "down"] => cluster.crash(node),
        ["crashes", "and", "loses", count] => cluster.lose(node, count.parse().unwrap()),
        ["is", "up"] => cluster.start(node),
        ["purges", "to", upto] => cluster.purge(node, Index(upto.parse().unwrap())),
        ["leads"] => return expect(&cluster.raft(node).role(), &Role::Leader),
        ["follows", "nobody"] => return expect(&cluster.raft(node).leader(), &None),
        ["follows", other] => return expect(&cluster.raft(node).leader(), &Some(NodeId(other.parse().unwrap()))),
        ["has", terms @ ..] => {
            let expected = numbers(terms).into_iter().map(Term).collect::<Vec<_>>();
            return expect(&cluster.nodes[&node].log.iter().map(|meta| meta.term).collect(), &expected);
        }
        ["committed", upto] => {
            return expect(&cluster.raft(node).apply_bound(), &Index(upto.parse().unwrap()));
        }
        _ => return Err("unknown step".to_owned()),
    }
    Ok(())
}

fn tick(cluster: &mut TestCluster, node: NodeId) {
    cluster.now_ms += TIMING.heartbeat_ms;
    cluster.on(node, Raft::tick);
}

/// Two election timeouts pass. Leaders keep sending heartbeats meanwhile.
fn campaign(cluster: &mut TestCluster, node: NodeId) {
    for _ in 0..2 * TIMING.election_ms / TIMING.heartbeat_ms {
        cluster.now_ms += TIMING.heartbeat_ms;
        let up = cluster.nodes.iter().filter_map(|(id, node_state)| Some((*id, node_state.raft.as_ref()?.role())));
        let leaders: Vec<NodeId> = up.filter(|(_, role)| *role == Role::Leader).map(|(id, _)| id).collect();
        for leader in leaders {
            cluster.on(leader, Raft::tick);
        }
    }
    cluster.on(node, Raft::tick);
}
