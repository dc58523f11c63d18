//! The simulator of whole nodes: real replicas, with simulated disks, links, clocks, tables and servers.
//!
//! One seed gives a whole run: a phase with faults, then a phase without, in which all nodes must become well. What must
//! hold is in `invariants/`, one property a file. Seeds: the module `seeds`. `HORTATOR_TRACE` prints a run.
//!
//! | file | content |
//! |---|---|
//! | `world` | the events of a run, and the processes |
//! | `process` | the host of a replica: log, clock, links, total order |
//! | `server` | the server of a process: start, applying, SSTs, clients |
//! | `memory_log` | a log that crashes, loses its tail, and fills up |
//! | `links` | streams, and partitions of both or one direction |
//! | `upgrades` | releases: upgrades, downgrades, and what each release can read |
//! | `faults`, `settings` | what goes wrong, and how often |

mod faults;
mod invariants;
mod links;
mod memory_log;
mod process;
mod server;
mod settings;
mod upgrades;
mod world;

use crate::seeds::run;
use settings::Settings;
use world::World;

#[test]
fn sim_members_come_and_go() {
    run("sim_members_come_and_go", 60, |seed| World::new(Settings::members(seed)).run());
}

#[test]
fn sim_partitions() {
    run("sim_partitions", 60, |seed| World::new(Settings::partitions(seed)).run());
}

#[test]
fn sim_disks() {
    run("sim_disks", 60, |seed| World::new(Settings::disks(seed)).run());
}

#[test]
fn sim_witness() {
    run("sim_witness", 60, |seed| World::new(Settings::witness(seed)).run());
}

#[test]
fn sim_witness_disks() {
    run("sim_witness_disks", 60, |seed| World::new(Settings::witness_disks(seed)).run());
}

#[test]
fn sim_lost_tails_while_members_change() {
    run("sim_lost_tails_while_members_change", 60, |seed| World::new(Settings::lost_tails_of_members(seed)).run());
}

#[test]
fn sim_state_transfers() {
    run("sim_state_transfers", 60, |seed| World::new(Settings::state_transfers(seed)).run());
}

#[test]
fn sim_weights() {
    run("sim_weights", 60, |seed| World::new(Settings::weights(seed)).run());
}

#[test]
fn sim_upgrades() {
    run("sim_upgrades", 60, |seed| World::new(Settings::upgrades(seed)).run());
}

#[test]
fn sim_continuing_alone() {
    run("sim_continuing_alone", 60, |seed| World::new(Settings::continuing_alone(seed)).run());
}

#[test]
fn sim_continuing_alone_with_witness() {
    run("sim_continuing_alone_with_witness", 60, |seed| {
        World::new(Settings::continuing_alone_with_witness(seed)).run()
    });
}
