//! The faults by name, and which of them a run can have.

use std::env;

use super::Provider;

/// What a fault needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// Hortator's provider.
    Ours,
    /// A network and a disk for each node.
    Machines,
    /// Both.
    OursOnMachines,
}

macro_rules! faults {
    ($($(#[$doc:meta])* $fault:ident, $word:literal, $needs:ident;)*) => {
        /// A fault, which [`super::nemesis`] injects.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Fault {
            $($(#[$doc])* $fault,)*
        }

        const ALL: &[(Fault, &str, Needs)] = &[$((Fault::$fault, $word, Needs::$needs),)*];
    };
}

faults! {
    /// SIGKILL.
    KillOne, "kill one", Nothing;
    /// All within a moment.
    KillAll, "kill all", Nothing;
    /// Each node is killed and comes back, one after the other.
    KillInTurn, "kill in turn", Nothing;
    /// Each node is killed while those before it are still down.
    KillOneByOne, "kill one by one", Nothing;
    /// A clean shutdown.
    StopOne, "stop", Nothing;
    /// One node is killed, another is shut down at the same time: the third continues.
    KillOneStopAnother, "kill one and stop another", Nothing;
    // Galera's nodes that all crash while one has no grastate.dat need an operator for minutes.
    /// A node that is down loses `grastate.dat`, and receives all tables.
    TransferState, "state transfer", Ours;
    /// A node that is down loses everything of the provider, and joins as a new member.
    Replace, "replace a member", Ours;
    /// One node has two votes while another is killed.
    Weigh, "pc.weight=2 and kill one", Ours;
    /// SIGSTOP.
    PauseOne, "pause one", Nothing;
    /// A global read lock, as a backup takes it. The node falls behind, and applies a long queue afterwards.
    LockTables, "global read lock on one", Nothing;
    /// So that no majority is left.
    PauseTwo, "pause two", Nothing;
    IsolateOne, "isolate one", Nothing;
    /// All nodes from each other.
    IsolateAll, "isolate all", Nothing;
    IsolateOneAndKillAll, "isolate one and kill all", Nothing;
    /// One node from the others, by the network.
    CutOne, "cut one off", Machines;
    CutAll, "cut all from each other", Machines;
    /// Two nodes do not reach each other; both reach the third.
    CutPair, "cut between two", Machines;
    /// One node does not hear another, which hears it.
    CutOneWay, "one-way cut between two", Machines;
    /// One node hears the others, which do not hear it.
    CutOutgoing, "cut what one sends", Machines;
    /// The others hear one node, which does not hear them.
    CutIncoming, "cut what one receives", Machines;
    PowerOne, "power loss of one", Machines;
    PowerAll, "power loss of all", Machines;
    /// One node does not sync its log, and loses its power.
    PowerUnsynced, "power loss of one with log.sync=no", OursOnMachines;
    CutOneAndPowerAll, "cut one off and power loss of all", Machines;
    SlowDisk, "slow disk of one", Machines;
    SlowDisks, "slow disks of all", Machines;
    /// Until the node is restarted.
    FullDisk, "full disk of one", OursOnMachines;
}

impl Fault {
    /// Each once in every round, in an order from the seed. HORTATOR_FIRE_FAULTS: only those with these names, separated by ;.
    pub fn round(provider: Provider, has_machines: bool) -> Vec<Fault> {
        let wanted = env::var("HORTATOR_FIRE_FAULTS").ok();
        let wanted: Option<Vec<&str>> = wanted.as_ref().map(|words| words.split(';').map(str::trim).collect());
        for word in wanted.iter().flatten() {
            assert!(ALL.iter().any(|(_, one, _)| one == word), "HORTATOR_FIRE_FAULTS: there is no fault `{word}`");
        }
        let is_wanted = |word: &str| wanted.as_ref().is_none_or(|words| words.contains(&word));
        let is_ours = provider == Provider::Ours;
        let is_possible = |needs| match needs {
            Needs::Nothing => true,
            Needs::Ours => is_ours,
            Needs::Machines => has_machines,
            Needs::OursOnMachines => is_ours && has_machines,
        };
        let round: Vec<Fault> = ALL
            .iter()
            .filter(|(_, word, needs)| is_possible(*needs) && is_wanted(word))
            .map(|(fault, ..)| *fault)
            .collect();
        assert!(!round.is_empty(), "HORTATOR_FIRE_FAULTS: {wanted:?} names no fault that is possible here");
        round
    }

    pub fn word(self) -> &'static str {
        ALL.iter().find(|(fault, ..)| *fault == self).map_or("", |(_, word, _)| word)
    }
}
