//! Faults.

use super::upgrades;
use super::world::{Event, Slot, World};
use crate::log::{Index, LogRecords};
use crate::protocol::ProtocolRange;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InjectedFault {
    /// A process is killed; its tables fall back to what the engine has flushed.
    Crash,
    /// All processes are killed.
    CrashAll,
    /// All processes but the one that continues alone are killed while it is well, and has everything.
    CrashOthers,
    /// A killed process, and the disk loses or damages durable entries at the end of its log.
    LoseTail,
    /// All processes are killed, and the disks of all nodes with tables lose entries that a witness has.
    LoseTailsOfNodes,
    /// A killed process, and all its files are gone.
    LoseFiles,
    /// The log takes no more entries.
    FillDisk,
    /// A sync takes seconds.
    StallDisk,
    /// Two sides do not hear each other.
    Partition,
    /// One node hears another one no more.
    PartitionOneWay,
    /// Two nodes do not hear each other; the others hear both.
    PartitionPair,
    Heal,
    BreakLink,
    /// Like SIGSTOP.
    Stop,
    /// A clean stop.
    Leave,
    /// Clean stops of all nodes at once.
    LeaveAll,
    /// A server cannot apply a write set that the others can.
    FailApply,
    /// A server applies slowly.
    ApplySlowly,
    /// The next SSTs fail half-way.
    FailSst,
    /// A node wants another number of votes.
    Weigh,
    /// A restart with the newest release.
    Upgrade,
    /// A restart with the previous release.
    Downgrade,
}

/// Limit of the votes of a node.
const MOST_VOTES: u64 = 3;

impl World {
    pub fn next_fault(&mut self) {
        if self.is_calm {
            return;
        }
        let again_ms = self.rng.between(1, 2 * self.settings.fault_every_ms);
        self.at(again_ms, Event::Fault);
        let all: u64 = self.settings.faults.iter().map(|(weight, _)| weight).sum();
        let mut left = self.rng.between(1, all);
        let chosen = self.settings.faults.iter().find(|(weight, _)| {
            let is_it = left <= *weight;
            left = left.saturating_sub(*weight);
            is_it
        });
        let fault = chosen.expect("the weights sum up to all").1;
        self.happens(fault);
    }

    fn happens(&mut self, fault: InjectedFault) {
        let all: Vec<Slot> = self.nodes.keys().copied().collect();
        let (Some(one), Some(other)) = (self.rng.one_of(&all), self.rng.one_of(&all)) else { return };
        self.trace(|| format!("{one:?} {fault:?}"));
        let restart_ms = if self.rng.percent(40) { 50 } else { 6_000 };
        match fault {
            InjectedFault::CrashOthers => self.crash_others(&all),
            // Else a majority could go on without it while it continues alone.
            InjectedFault::Crash if self.settings.continues_alone.is_some() && self.settings.witnesses > 0 => {
                if self.settings.continues_alone != Some(one) && all.iter().all(|slot| self.is_well(*slot)) {
                    self.crash(one, 2_000);
                }
            }
            InjectedFault::Crash => self.crash(one, restart_ms),
            InjectedFault::CrashAll => all.into_iter().for_each(|slot| self.crash(slot, 1_000)),
            InjectedFault::LoseTail if self.can_lose_tail(one) => {
                self.crash(one, restart_ms);
                // The others have the entries, and have not purged them.
                let firsts = self.nodes.keys().filter(|slot| **slot != one).filter_map(|slot| self.host(*slot));
                let firsts = firsts.filter_map(|host| host.disk.log.as_ref().map(LogRecords::first));
                let keeps = firsts.max().unwrap_or_default();
                if let Some(log) = &mut self.nodes.get_mut(&one).expect("nodes stay").disk.log {
                    log.lose_tail(keeps, &mut self.rng);
                }
            }
            InjectedFault::LoseFiles if self.can_lose(one) => {
                self.crash(one, restart_ms);
                self.nodes.get_mut(&one).expect("nodes stay").disk = Default::default();
            }
            InjectedFault::LoseTail | InjectedFault::LoseFiles => {}
            InjectedFault::LoseTailsOfNodes => self.lose_tails_of_nodes(&all),
            InjectedFault::FillDisk => {
                let refuses = self.rng.percent(50);
                if let Some(log) = self.host_mut(one).and_then(|host| host.disk.log.as_mut()) {
                    (log.is_full, log.refuses) = (true, refuses);
                }
            }
            InjectedFault::StallDisk => self.nodes.get_mut(&one).expect("nodes stay").stalls_once = true,
            InjectedFault::Partition => {
                let side: Vec<Slot> = all.iter().copied().filter(|_| self.rng.percent(40)).collect();
                for &inside in &side {
                    for &outside in all.iter().filter(|slot| !side.contains(slot)) {
                        self.block(inside, outside);
                        self.block(outside, inside);
                    }
                }
            }
            InjectedFault::PartitionOneWay => self.block(one, other),
            InjectedFault::PartitionPair => {
                self.block(one, other);
                self.block(other, one);
            }
            InjectedFault::Heal => self.heal(),
            InjectedFault::BreakLink => self.break_link(one, other),
            InjectedFault::Stop => {
                let for_ms = self.rng.between(50, 7_000);
                self.stop_for(one, for_ms);
            }
            // The others could then commit without it, and it would not know.
            InjectedFault::Leave if self.settings.continues_alone == Some(one) => {}
            InjectedFault::Leave => self.leave(one),
            InjectedFault::LeaveAll => all.into_iter().for_each(|slot| self.leave(slot)),
            InjectedFault::FailApply => self.fail_apply(one),
            InjectedFault::ApplySlowly => {
                let apply_ms = if self.rng.percent(50) { 200 } else { 0 };
                self.nodes.get_mut(&one).expect("nodes stay").apply_ms = apply_ms;
            }
            InjectedFault::FailSst => self.failing_ssts = 1,
            InjectedFault::Weigh => {
                let weight = self.rng.between(1, MOST_VOTES) as u8;
                self.nodes.get_mut(&one).expect("nodes stay").wanted_weight = weight;
                if let Some(host) = self.host_mut(one) {
                    host.wanted_weight = weight;
                }
            }
            InjectedFault::Upgrade => self.install(one, ProtocolRange::SPOKEN, restart_ms),
            InjectedFault::Downgrade => self.install(one, upgrades::PREVIOUS, restart_ms),
        }
    }

    fn crash_others(&mut self, all: &[Slot]) {
        let Some(stays) = self.settings.continues_alone else { return };
        let log = |slot: Slot| self.host(slot).map_or(&self.nodes[&slot].disk, |host| &host.disk).log.as_ref();
        let holds = |slot: Slot| log(slot).map(|log| self.invariants.holds(log));
        if !self.is_well(stays) || all.iter().any(|slot| holds(*slot) > holds(stays)) {
            return;
        }
        for slot in all.iter().filter(|slot| **slot != stays) {
            // Before the node continues alone, or after that.
            let restarts_ms = if self.rng.percent(30) { (1, 1_500) } else { (10_000, 14_000) };
            let in_ms = self.rng.between(restarts_ms.0, restarts_ms.1);
            self.crash_for(*slot, in_ms);
        }
    }

    /// What is lost on this disk is on others: all other nodes are well, and have each other.
    fn can_lose(&self, slot: Slot) -> bool {
        let others: Vec<Slot> = self.nodes.keys().copied().filter(|other| *other != slot).collect();
        others.len() >= 2 && !self.links.has_partition() && others.iter().all(|other| self.is_well(*other))
    }

    /// All nodes lose entries at the end of their logs that a witness has on its disk.
    fn lose_tails_of_nodes(&mut self, all: &[Slot]) {
        let (witnesses, nodes): (Vec<Slot>, Vec<Slot>) = all.iter().partition(|slot| self.settings.is_witness(**slot));
        let log = |slot: &Slot| self.host(*slot).and_then(|host| host.disk.log.as_ref());
        let last = nodes.iter().filter_map(log).map(LogRecords::last).max();
        let Some(begins) =
            witnesses.iter().filter_map(log).find(|log| Some(log.durable()) >= last).map(LogRecords::first)
        else {
            return;
        };
        // A node that loses the entry of the voters, too, and does not know them otherwise, is alone.
        let knows_all = |slot: &Slot| {
            let hard_state = self.host(*slot).and_then(|host| host.disk.hard_state.as_ref());
            hard_state.is_some_and(|hard_state| hard_state.voters.len() == all.len())
        };
        if !all.iter().all(|slot| self.is_well(*slot) && knows_all(slot)) {
            return;
        }
        all.iter().for_each(|slot| self.crash(*slot, 1_000));
        for slot in nodes {
            if let Some(log) = &mut self.nodes.get_mut(&slot).expect("nodes stay").disk.log {
                // A node whose whole log is gone would be another one, and no voter may be missing now.
                let keeps = begins.max(log.first());
                log.lose_tail(keeps, &mut self.rng);
            }
        }
    }

    /// What is lost at the end of this log is in the log of another voter that is well, and no other log has lost its end.
    fn can_lose_tail(&self, slot: Slot) -> bool {
        let disk = |slot: Slot| self.host(slot).map_or(&self.nodes[&slot].disk, |host| &host.disk);
        let holds = |slot: Slot| disk(slot).log.as_ref().map_or(Index(0), |log| self.invariants.holds(log));
        let hard_states = || self.nodes.keys().filter_map(|slot| disk(*slot).hard_state.as_ref());
        let latest = hard_states().max_by_key(|hard_state| hard_state.membership_log_id);
        let Some(voters) = latest.map(|hard_state| &hard_state.voters) else { return false };
        let is_voter =
            |slot: Slot| disk(slot).hard_state.as_ref().is_some_and(|state| voters.contains_key(&state.node));
        let others = || self.nodes.keys().copied().filter(|other| *other != slot);
        let has_lost = |slot: Slot| disk(slot).log.as_ref().is_some_and(LogRecords::has_lost_tail);
        self.host(slot).is_some()
            && !others().any(has_lost)
            && others().any(|other| is_voter(other) && self.is_well(other) && holds(other) >= holds(slot))
    }

    fn fail_apply(&mut self, slot: Slot) {
        let are_well = self.nodes.len() >= 3 && self.nodes.keys().all(|slot| self.is_well(*slot));
        let has_one = self.nodes.keys().any(|slot| self.host(*slot).is_some_and(|host| host.fails_at.is_some()));
        if !are_well || has_one {
            return;
        }
        let ahead = self.rng.between(1, 20) as i64;
        if let Some(host) = self.host_mut(slot)
            && let Some(order) = &host.order
        {
            host.fails_at = Some(order.seqno + ahead);
        }
    }

    /// No more faults; all nodes run.
    pub fn end_faults(&mut self) {
        self.is_calm = true;
        self.failing_ssts = 0;
        self.heal();
        self.install_everywhere();
        let all: Vec<Slot> = self.nodes.keys().copied().collect();
        for slot in all {
            let node = self.nodes.get_mut(&slot).expect("nodes stay");
            (node.stalls_once, node.apply_ms) = (false, 0);
            if let Some(host) = self.host_mut(slot) {
                host.fails_at.take_if(|_| !host.has_asked);
                if let Some(log) = &mut host.disk.log {
                    (log.is_full, log.refuses) = (false, false);
                }
            }
        }
    }
}
