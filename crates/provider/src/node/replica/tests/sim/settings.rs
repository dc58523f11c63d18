//! Settings of a run.

use super::faults::InjectedFault;
use super::world::Slot;
use crate::consensus::raft::Timing;
use crate::seeds::Rng;

/// Faults, and their relative weights.
type Faults = [(u64, InjectedFault)];

/// Cuts between nodes, of all kinds.
const CUTS: &Faults = &[
    (2, InjectedFault::Partition),
    (1, InjectedFault::PartitionOneWay),
    (1, InjectedFault::PartitionPair),
    (3, InjectedFault::Heal),
    (1, InjectedFault::BreakLink),
];
/// Disks that stall, fill up and forget, under nodes that crash.
const DISKS: &Faults = &[
    (4, InjectedFault::Crash),
    (1, InjectedFault::CrashAll),
    (2, InjectedFault::LoseTail),
    (2, InjectedFault::StallDisk),
    (2, InjectedFault::FillDisk),
    (1, InjectedFault::BreakLink),
];

pub struct Settings {
    pub seed: u64,
    pub nodes: u64,
    /// Voters without tables, in the last slots.
    pub witnesses: u64,
    pub faulty_ms: u64,
    /// Mean interval of faults.
    pub fault_every_ms: u64,
    /// Relative weights of the faults.
    pub faults: Vec<(u64, InjectedFault)>,
    /// Mean interval of writes and reads.
    pub client_every_ms: u64,
    pub timing: Timing,
    pub delay_ms: u64,
    pub sync_ms: u64,
    /// Nodes begin with the previous release.
    pub has_upgrades: bool,
    /// The node with `pc.ignore_sb`. One only: two that do not reach each other are a split-brain.
    pub continues_alone: Option<Slot>,
}

impl Settings {
    pub fn is_witness(&self, slot: Slot) -> bool {
        slot.0 > self.nodes
    }

    fn usual(seed: u64, faults: &Faults) -> Self {
        let mut rng = Rng::new(!seed);
        Self {
            seed,
            nodes: rng.one_of(&[1, 2, 3, 3, 4, 5, 5]).unwrap(),
            witnesses: 0,
            faulty_ms: 40_000,
            fault_every_ms: rng.one_of(&[700, 2_000, 5_000]).unwrap(),
            faults: faults.to_vec(),
            client_every_ms: rng.one_of(&[20, 60, 200]).unwrap(),
            timing: Timing { heartbeat_ms: 100, election_ms: 500 },
            delay_ms: rng.one_of(&[1, 4, 25]).unwrap(),
            sync_ms: rng.one_of(&[0, 3, 30]).unwrap(),
            has_upgrades: false,
            continues_alone: None,
        }
    }

    fn with_nodes(self, least: u64) -> Self {
        Self { nodes: self.nodes.max(least), ..self }
    }

    /// Nodes come, go, stop, and lose nothing.
    pub fn members(seed: u64) -> Self {
        Self::usual(
            seed,
            &[
                (4, InjectedFault::Leave),
                (1, InjectedFault::LeaveAll),
                (2, InjectedFault::Crash),
                (1, InjectedFault::BreakLink),
                (1, InjectedFault::ApplySlowly),
            ],
        )
    }

    pub fn partitions(seed: u64) -> Self {
        let faults = [
            (3, InjectedFault::Partition),
            (3, InjectedFault::PartitionOneWay),
            (3, InjectedFault::PartitionPair),
            (4, InjectedFault::Heal),
            (2, InjectedFault::BreakLink),
            (2, InjectedFault::Stop),
            (1, InjectedFault::Crash),
            (1, InjectedFault::Leave),
        ];
        Self::usual(seed, &faults)
    }

    pub fn disks(seed: u64) -> Self {
        Self::usual(seed, DISKS).with_nodes(2)
    }

    /// Mostly two nodes and a witness, each of which comes, goes, stops, is cut off and loses all its files.
    pub fn witness(seed: u64) -> Self {
        let faults = [
            (3, InjectedFault::Crash),
            (1, InjectedFault::CrashAll),
            (2, InjectedFault::Leave),
            (2, InjectedFault::Stop),
            (1, InjectedFault::LoseFiles),
            (2, InjectedFault::FailApply),
            (1, InjectedFault::FailSst),
            (1, InjectedFault::ApplySlowly),
        ];
        Self::with_witness(seed, &[&faults[..], CUTS].concat())
    }

    /// The same with disks that stall, fill up and forget: also those of all nodes at once, so that only the witness
    /// has what they have confirmed.
    pub fn witness_disks(seed: u64) -> Self {
        Self::with_witness(seed, &[DISKS, &[(2, InjectedFault::LoseTailsOfNodes)]].concat())
    }

    fn with_witness(seed: u64, faults: &Faults) -> Self {
        let nodes = Rng::new(seed ^ 0xA5A5).one_of(&[1, 2, 2, 2, 2, 4]).unwrap();
        Self { nodes, witnesses: 1, ..Self::usual(seed, faults) }
    }

    /// Disks lose the ends of logs while nodes come, go and are partitioned.
    pub fn lost_tails_of_members(seed: u64) -> Self {
        let faults = [
            (4, InjectedFault::LoseTail),
            (4, InjectedFault::Leave),
            (2, InjectedFault::Crash),
            (2, InjectedFault::Partition),
            (2, InjectedFault::PartitionPair),
            (4, InjectedFault::Heal),
            (1, InjectedFault::StallDisk),
            (1, InjectedFault::Stop),
        ];
        Self::usual(seed, &faults).with_nodes(2)
    }

    /// Two nodes, one of which continues without the other. It never leaves, so every commit needs it, and nothing may be
    /// lost.
    pub fn continuing_alone(seed: u64) -> Self {
        let faults = [
            (4, InjectedFault::Crash),
            (1, InjectedFault::CrashAll),
            (2, InjectedFault::LoseTail),
            (2, InjectedFault::Leave),
            (2, InjectedFault::Stop),
            (1, InjectedFault::StallDisk),
            (1, InjectedFault::ApplySlowly),
        ];
        let usual = Self::usual(seed, &[&faults[..], CUTS].concat());
        Self { nodes: 2, continues_alone: Some(Slot(1)), ..usual }
    }

    /// Two nodes and a witness without partitions. The node continues alone only while both others are down, and then has
    /// everything that was confirmed.
    pub fn continuing_alone_with_witness(seed: u64) -> Self {
        let faults = [
            (3, InjectedFault::CrashOthers),
            (3, InjectedFault::Crash),
            (1, InjectedFault::StallDisk),
            (1, InjectedFault::ApplySlowly),
        ];
        // The others meet the node before they could elect one.
        let timing = Timing { heartbeat_ms: 100, election_ms: 2_000 };
        Self { nodes: 2, witnesses: 1, continues_alone: Some(Slot(1)), timing, ..Self::usual(seed, &faults) }
    }

    /// Nodes want other numbers of votes while they come, go, stop and are partitioned; in each third run beside upgrades. No
    /// disk loses anything: a node with a majority may have the only copy.
    pub fn weights(seed: u64) -> Self {
        let faults = [
            (8, InjectedFault::Weigh),
            (3, InjectedFault::Crash),
            (1, InjectedFault::CrashAll),
            (3, InjectedFault::Leave),
            (1, InjectedFault::LeaveAll),
            (2, InjectedFault::Stop),
            (1, InjectedFault::StallDisk),
            (1, InjectedFault::FillDisk),
            (1, InjectedFault::FailApply),
            (1, InjectedFault::ApplySlowly),
        ];
        let releases = [(6, InjectedFault::Upgrade), (2, InjectedFault::Downgrade)];
        let has_upgrades = seed.is_multiple_of(3);
        let releases = if has_upgrades { &releases[..] } else { &[] };
        Self { has_upgrades, ..Self::usual(seed, &[&faults[..], CUTS, releases].concat()) }
    }

    pub fn state_transfers(seed: u64) -> Self {
        let faults = [
            (3, InjectedFault::LoseFiles),
            (3, InjectedFault::FailApply),
            (2, InjectedFault::FailSst),
            (2, InjectedFault::Crash),
            (1, InjectedFault::Leave),
            (1, InjectedFault::Stop),
            (1, InjectedFault::BreakLink),
            (1, InjectedFault::ApplySlowly),
        ];
        Self::usual(seed, &faults).with_nodes(3)
    }

    /// Nodes of two releases: upgrades and downgrades, beside most other faults.
    pub fn upgrades(seed: u64) -> Self {
        let faults = [
            (8, InjectedFault::Upgrade),
            (3, InjectedFault::Downgrade),
            (3, InjectedFault::Crash),
            (1, InjectedFault::CrashAll),
            (1, InjectedFault::LoseTail),
            (1, InjectedFault::LoseFiles),
            (2, InjectedFault::Leave),
            (1, InjectedFault::StallDisk),
            (1, InjectedFault::Stop),
            (1, InjectedFault::ApplySlowly),
        ];
        Self { has_upgrades: true, ..Self::usual(seed, &[&faults[..], CUTS].concat()) }
    }
}
