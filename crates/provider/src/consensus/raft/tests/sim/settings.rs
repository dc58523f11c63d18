//! Settings of a run.

use super::faults::Fault;
use crate::consensus::raft::Timing;
use crate::seeds::Rng;

pub struct Settings {
    pub seed: u64,
    /// Voters at the start.
    pub nodes: u64,
    pub faulty_ms: u64,
    /// Mean interval of faults.
    pub fault_every_ms: u64,
    /// Relative weights of the faults.
    pub faults: Vec<(u64, Fault)>,
    /// Mean interval of proposals and reads.
    pub client_every_ms: u64,
    /// Messages are reordered, duplicated and lost, though the link holds.
    pub is_unordered: bool,
    /// Drivers learn of new links.
    pub has_link_news: bool,
    pub timing: Timing,
    pub delay_ms: u64,
    pub sync_ms: u64,
    /// Percentage of nodes that crash soon after a vote and restart at once.
    pub voters_crash_percent: u64,
}

impl Settings {
    fn usual(seed: u64, faults: &[(u64, Fault)]) -> Self {
        let mut rng = Rng::new(!seed);
        Self {
            seed,
            nodes: rng.between(1, 5),
            faulty_ms: 1500,
            fault_every_ms: rng.one_of(&[30, 80, 200]).unwrap(),
            faults: faults.to_vec(),
            client_every_ms: rng.one_of(&[5, 15, 40]).unwrap(),
            is_unordered: false,
            has_link_news: rng.percent(50),
            timing: Timing { heartbeat_ms: 25, election_ms: 100 },
            delay_ms: rng.one_of(&[1, 4, 25]).unwrap(),
            sync_ms: rng.one_of(&[0, 3, 30]).unwrap(),
            voters_crash_percent: 0,
        }
    }

    pub fn calm(seed: u64) -> Self {
        Self::usual(seed, &[(1, Fault::TransferLeadership), (1, Fault::Purge), (1, Fault::BreakLink)])
    }

    pub fn crashes_and_cuts(seed: u64) -> Self {
        let mut settings = Self::usual(
            seed,
            &[
                (6, Fault::Crash),
                (2, Fault::LoseTail),
                (1, Fault::CrashAll),
                (4, Fault::Restart),
                (2, Fault::FillDisk),
                (3, Fault::Partition),
                (3, Fault::PartitionOneWay),
                (2, Fault::Heal),
                (3, Fault::BreakLink),
                (2, Fault::Stop),
                (1, Fault::TransferLeadership),
                (1, Fault::Purge),
            ],
        );
        settings.nodes = settings.nodes.max(2);
        settings.voters_crash_percent = 25;
        settings
    }

    pub fn members_come_and_go(seed: u64) -> Self {
        Self::usual(
            seed,
            &[
                (8, Fault::Join),
                (8, Fault::Promote),
                (4, Fault::Leave),
                (2, Fault::Crash),
                (1, Fault::LoseTail),
                (3, Fault::Restart),
                (3, Fault::Partition),
                (1, Fault::PartitionOneWay),
                (2, Fault::Heal),
                (1, Fault::BreakLink),
                (1, Fault::TransferLeadership),
                (2, Fault::Purge),
            ],
        )
    }

    /// Voters get and lose votes, beside cuts and crashes. No disk loses anything: a voter with a majority may have the only
    /// copy.
    pub fn weights(seed: u64) -> Self {
        Self::usual(
            seed,
            &[
                (6, Fault::Join),
                (8, Fault::Promote),
                (6, Fault::Leave),
                (9, Fault::Weigh),
                (4, Fault::Crash),
                (1, Fault::CrashAll),
                (3, Fault::Restart),
                (3, Fault::Partition),
                (2, Fault::PartitionOneWay),
                (3, Fault::Heal),
                (1, Fault::BreakLink),
                (1, Fault::TransferLeadership),
                (1, Fault::Purge),
            ],
        )
    }

    /// Disks are slow and lose the ends of logs while the members change.
    pub fn lost_tails_of_members(seed: u64) -> Self {
        let mut settings = Self::usual(
            seed,
            &[
                (9, Fault::Join),
                (9, Fault::Promote),
                (5, Fault::Leave),
                (6, Fault::LoseTail),
                (2, Fault::Crash),
                (3, Fault::Restart),
                (4, Fault::Partition),
                (2, Fault::PartitionOneWay),
                (4, Fault::Heal),
                (1, Fault::BreakLink),
                (1, Fault::Stop),
                (1, Fault::Purge),
            ],
        );
        let mut rng = Rng::new(seed ^ 1);
        (settings.nodes, settings.faulty_ms) = (rng.between(1, 4), 2500);
        settings.sync_ms = rng.one_of(&[3, 30, 150]).unwrap();
        settings
    }

    pub fn lost_and_twice_and_out_of_order(seed: u64) -> Self {
        let mut settings = Self::crashes_and_cuts(seed);
        settings.faults.extend([(2, Fault::Join), (3, Fault::Promote), (2, Fault::Leave)]);
        settings.is_unordered = true;
        // Short compared with the delays, so that several nodes are candidates at a time.
        settings.timing.election_ms = 50;
        settings
    }
}
