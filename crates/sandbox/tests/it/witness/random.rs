//! Kills, pauses and isolations at random, of one of the three at a time and of all at once, under writing clients. At the
//! end, both nodes have the same rows, and all that were confirmed.

use std::thread;
use std::time::Duration;

use hortator_sandbox::{Node, State};

use crate::cluster_fixture::{Writers, wait_for};
use crate::kills::dice::Dice;
use crate::kills::seed;
use crate::witness::{cluster, witness};

/// Faults of a run.
const FAULTS: usize = 8;

#[test]
fn random_faults_of_two_nodes_and_a_witness_lose_nothing() {
    let seed = seed();
    eprintln!("HORTATOR_SEED={seed}");
    let mut dice = Dice::new(seed);
    let sandbox = cluster(2, "log.segment=1M");
    let writers = Writers::on(&sandbox, &[0, 1]);
    for fault in 0..FAULTS {
        let (kind, which) = (dice.below(4), dice.below(3) as usize);
        eprintln!("fault {fault}: kind {kind} of {which}");
        let pause = Duration::from_millis(dice.between(0, 3_000).unsigned_abs());
        match (kind, which) {
            (0, _) => sandbox.kill().unwrap(),
            (1, 2) => witness(&sandbox).isolate().unwrap(),
            (1, _) => sandbox.node(which).isolate().unwrap(),
            (2, 2) => witness(&sandbox).pause().unwrap(),
            (2, _) => sandbox.node(which).pause().unwrap(),
            (_, 2) => witness(&sandbox).kill().unwrap(),
            (_, _) => sandbox.node(which).kill().unwrap(),
        }
        thread::sleep(pause);
        if witness(&sandbox).is_isolated() || sandbox.nodes().any(Node::is_isolated) {
            sandbox.heal().unwrap();
        }
        if witness(&sandbox).state() == State::Paused || sandbox.nodes().any(|node| node.state() == State::Paused) {
            sandbox.resume().unwrap();
        }
        sandbox.start().unwrap();
        writers.wait_for_more();
    }
    wait_for("the witness's vote", || witness(&sandbox).has_vote());
    writers.stop(&sandbox);
}
