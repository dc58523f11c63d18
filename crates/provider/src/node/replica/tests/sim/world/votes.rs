//! Two nodes, one of which cannot apply what the other one has confirmed, and that other one is shut down.

use super::*;
use crate::seeds::run;

/// The events of two nodes without faults, and without clients of their own.
fn two_nodes(seed: u64) -> World {
    let mut world = World::new(Settings { nodes: 2, client_every_ms: 1_000_000, ..Settings::members(seed) });
    world.is_calm = true;
    world.run_until("both nodes", World::is_settled);
    world
}

impl World {
    fn run_until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let limit_ms = self.now_ms + CALM_LIMIT_MS;
        while !is_so(self) {
            assert!(self.now_ms < limit_ms, "waits for {what}:\n{}", self.describe());
            self.step();
        }
    }

    fn run_for(&mut self, ms: u64) {
        let end_ms = self.now_ms + ms;
        self.run_until("the time", |world| world.now_ms >= end_ms);
    }

    fn has_apply_error(&self, slot: Slot) -> bool {
        self.host(slot).is_some_and(|host| host.inconsistency.apply_error().is_some())
    }

    /// A client of `right` writes what `wrong` cannot apply.
    fn write_what_fails(&mut self, right: Slot, wrong: Slot) {
        let host = self.host_mut(wrong).expect("it is well");
        host.fails_at = host.order.as_ref().map(|order| order.seqno + 1);
        self.host_mut(right).expect("it is well").write();
        self.arrive(right, Arrival::Time);
    }
}

/// The node with the right tables keeps its vote, whichever of the two leads: else nobody would have them who can go on.
fn leaves_in_the_vote(seed: u64, right: Slot, wrong: Slot) -> u64 {
    let mut world = two_nodes(seed);
    world.write_what_fails(right, wrong);
    world.run_until("the apply error", |world| world.has_apply_error(wrong));
    let node = world.node_id(right).expect("it is well");
    let in_ms = world.rng.between(0, 30);
    world.run_for(in_ms);
    world.leave(right);
    world.run_until("its end", |world| world.nodes[&right].replica.is_none());
    let hard_state = world.nodes[&right].disk.hard_state.as_ref().expect("it had a vote");
    assert!(hard_state.voters.contains_key(&node), "{right:?} has given up its vote:\n{}", world.describe());
    world.run_until("both nodes", World::is_settled);
    let entries = world.host(right).and_then(|host| host.disk.log.as_ref()).map_or(0, |log| log.last().0);
    assert!(world.host(wrong).is_some_and(|host| host.fails_at.is_none()));
    entries
}

#[test]
fn sim_right_one_of_two_leaves_in_a_vote() {
    run("sim_right_one_of_two_leaves_in_a_vote", 40, |seed| {
        leaves_in_the_vote(seed, Slot(1), Slot(2)) + leaves_in_the_vote(seed, Slot(2), Slot(1))
    });
}

/// The one with the wrong tables leaves: the other one goes on alone, and the vote is over with it.
#[test]
fn sim_wrong_one_of_two_leaves_in_a_vote() {
    run("sim_wrong_one_of_two_leaves_in_a_vote", 40, |seed| {
        let (right, wrong) = if seed.is_multiple_of(2) { (Slot(1), Slot(2)) } else { (Slot(2), Slot(1)) };
        let mut world = two_nodes(seed);
        world.write_what_fails(right, wrong);
        let in_ms = world.rng.between(0, 30);
        world.run_for(in_ms);
        world.leave(wrong);
        world.run_until("its end", |world| world.nodes[&wrong].replica.is_none());
        assert!(world.host(right).is_some());
        world.run_until("both nodes", World::is_settled);
        world.host(right).and_then(|host| host.disk.log.as_ref()).map_or(0, |log| log.last().0)
    });
}
