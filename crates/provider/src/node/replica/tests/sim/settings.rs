//! Settings of a run.

use super::faults::Fault;
use crate::consensus::raft::Timing;
use crate::seeds::Rng;

pub struct Settings {
    pub seed: u64,
    pub nodes: u64,
    pub faulty_ms: u64,
    /// Mean interval of faults.
    pub fault_every_ms: u64,
    /// Relative weights of the faults.
    pub faults: Vec<(u64, Fault)>,
    /// Mean interval of writes and reads.
    pub client_every_ms: u64,
    pub timing: Timing,
    pub delay_ms: u64,
    pub sync_ms: u64,
}

impl Settings {
    fn usual(seed: u64, faults: &[(u64, Fault)]) -> Self {
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
        Self::usual(seed, &[(4, Fault::Leave), (2, Fault::Crash), (1, Fault::BreakLink), (1, Fault::ApplySlowly)])
    }

    pub fn partitions(seed: u64) -> Self {
        let faults = [
            (3, Fault::Partition),
            (3, Fault::PartitionOneWay),
            (3, Fault::PartitionPair),
            (4, Fault::Heal),
            (2, Fault::BreakLink),
            (2, Fault::Stop),
            (1, Fault::Crash),
            (1, Fault::Leave),
        ];
        Self::usual(seed, &faults)
    }

    pub fn disks(seed: u64) -> Self {
        let faults = [
            (4, Fault::Crash),
            (1, Fault::CrashAll),
            (2, Fault::LoseTail),
            (2, Fault::StallDisk),
            (2, Fault::FillDisk),
            (1, Fault::BreakLink),
        ];
        let mut settings = Self::usual(seed, &faults);
        settings.nodes = settings.nodes.max(2);
        settings
    }

    pub fn state_transfers(seed: u64) -> Self {
        let faults = [
            (3, Fault::LoseFiles),
            (3, Fault::FailApply),
            (2, Fault::FailSst),
            (2, Fault::Crash),
            (1, Fault::Leave),
            (1, Fault::Stop),
            (1, Fault::BreakLink),
            (1, Fault::ApplySlowly),
        ];
        let mut settings = Self::usual(seed, &faults);
        settings.nodes = settings.nodes.max(3);
        settings
    }
}
