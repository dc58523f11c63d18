//! Faults.

use super::world::{Event, Slot, World};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InjectedFault {
    /// A process is killed; its tables fall back to what the engine has flushed.
    Crash,
    /// All processes are killed.
    CrashAll,
    /// A killed process, and the disk loses or damages durable entries at the end of its log.
    LoseTail,
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
    /// A server cannot apply a write set that the others can.
    FailApply,
    /// A server applies slowly.
    ApplySlowly,
    /// The next SSTs fail half-way.
    FailSst,
}

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
            InjectedFault::Crash => self.crash(one, restart_ms),
            InjectedFault::CrashAll => all.into_iter().for_each(|slot| self.crash(slot, 1_000)),
            InjectedFault::LoseTail | InjectedFault::LoseFiles if self.can_lose(one) => {
                self.crash(one, restart_ms);
                let disk = &mut self.nodes.get_mut(&one).expect("nodes stay").disk;
                match (fault, &mut disk.log) {
                    (InjectedFault::LoseTail, Some(log)) => log.lose_tail(&mut self.rng),
                    _ => *disk = Default::default(),
                }
            }
            InjectedFault::LoseTail | InjectedFault::LoseFiles => {}
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
            InjectedFault::Leave => self.leave(one),
            InjectedFault::FailApply => self.fail_apply(one),
            InjectedFault::ApplySlowly => {
                let apply_ms = if self.rng.percent(50) { 200 } else { 0 };
                self.nodes.get_mut(&one).expect("nodes stay").apply_ms = apply_ms;
            }
            InjectedFault::FailSst => self.failing_ssts = 1,
        }
    }

    /// What is lost on this disk is on others: all other nodes are well, and have each other.
    fn can_lose(&self, slot: Slot) -> bool {
        let others: Vec<Slot> = self.nodes.keys().copied().filter(|other| *other != slot).collect();
        others.len() >= 2 && !self.links.has_partition() && others.iter().all(|other| self.is_well(*other))
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
