//! Settings of a run.

use super::faults::InjectedFault;
use crate::consensus::raft::Timing;
use crate::seeds::Rng;

pub struct Settings {
    pub seed: u64,
    pub nodes: u64,
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
}

impl Settings {
    fn usual(seed: u64, faults: &[(u64, InjectedFault)]) -> Self {
        let mut rng = Rng::new(!seed);
        Self {
            seed,
            nodes: rng.one_of(&[1, 2, 3, 3, 4, 5, 5]).unwrap(),
            faulty_ms: 40_000,
            fault_every_ms: rng.one_of(&[700, 2_000, 5_000]).unwrap(),
            faults: faults.to_vec(),
            client_every_ms: rng.one_of(&[20, 60, 200]).unwrap(),
            timing: Timing { heartbeat_ms: 100, election_ms: 500 },
            delay_ms: rng.one_of(&[1, 4, 25]).unwrap(),
            sync_ms: rng.one_of(&[0, 3, 30]).unwrap(),
        }
    }

    /// Nodes come, go, stop, and lose nothing.
    pub fn members(seed: u64) -> Self {
        Self::usual(
            seed,
            &[
                (4, InjectedFault::Leave),
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
        let faults = [
            (4, InjectedFault::Crash),
            (1, InjectedFault::CrashAll),
            (2, InjectedFault::LoseTail),
            (2, InjectedFault::StallDisk),
            (2, InjectedFault::FillDisk),
            (1, InjectedFault::BreakLink),
        ];
        let mut settings = Self::usual(seed, &faults);
        settings.nodes = settings.nodes.max(2);
        settings
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
        let mut settings = Self::usual(seed, &faults);
        settings.nodes = settings.nodes.max(3);
        settings
    }
}
