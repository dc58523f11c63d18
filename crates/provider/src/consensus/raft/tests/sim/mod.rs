//! A deterministic simulator: a few nodes, their disks and links, clients, and everything that goes wrong.
//!
//! One seed gives a whole run: a phase with faults, then a phase without in which everything proposed must come to
//! stand in the order. What must hold is in `invariants/`, one property a file. Seeds: the module `seeds`. It runs Raft and
//! the proposals alone, at a finer grain than the simulator of the whole replica (`node/replica/tests/sim`).

mod clients;
mod disk;
mod faults;
mod instance;
mod invariants;
mod links;
mod members;
mod settings;
mod world;

use crate::seeds::run;
use settings::Settings;
use world::World;

#[test]
fn sim_calm() {
    run("sim_calm", 300, |seed| World::new(Settings::calm(seed)).run());
}

#[test]
fn sim_crashes_and_partitions() {
    run("sim_crashes_and_partitions", 600, |seed| World::new(Settings::crashes_and_cuts(seed)).run());
}

#[test]
fn sim_membership_changes() {
    run("sim_membership_changes", 500, |seed| World::new(Settings::members_come_and_go(seed)).run());
}

#[test]
fn sim_weights() {
    run("sim_raft_weights", 500, |seed| World::new(Settings::weights(seed)).run());
}

#[test]
fn sim_lost_tails_and_membership_changes() {
    run("sim_lost_tails_and_membership_changes", 500, |seed| World::new(Settings::lost_tails_of_members(seed)).run());
}

#[test]
fn sim_lost_duplicated_and_reordered_messages() {
    run("sim_lost_duplicated_and_reordered_messages", 600, |seed| {
        World::new(Settings::lost_and_twice_and_out_of_order(seed)).run()
    });
}
