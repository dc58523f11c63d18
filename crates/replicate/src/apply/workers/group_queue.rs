//! Groups of transactions that are under way on several connections, and in which order they commit. Pure.
//!
//! ```text
//!         no earlier group        a worker          turn: all earlier ones have committed, or are about to
//!         uses its rows
//!   Waiting ────────────► Ready ────────────► Running ──► Executed ──────────► Committing ──► Committed
//!                                             │   ▲          │
//!                                     refused │   │          │ an earlier one waits for its locks
//!                                             ▼   │          ▼
//!                                           Again: rolled back, until a group before it has committed
//!
//!   refused with nothing before it:  Refused, for the applier to do one by one
//! ```

use std::collections::VecDeque;
use std::sync::Arc;

use hortator_core::{Full, Scheduler, Seqno, WriteSet};

/// Groups in the source's order.
#[derive(Debug)]
pub(super) struct GroupQueue<G> {
    scheduler: Scheduler<()>,
    /// From the earliest one that has not been given back.
    groups: VecDeque<Entry<G>>,
    groups_limit: usize,
    /// Groups that were rolled back to run again.
    again: u64,
}

#[derive(Debug)]
struct Entry<G> {
    seqno: Seqno,
    group: Arc<G>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    /// It waits for a worker only.
    Ready,
    Running {
        was_first: bool,
    },
    Executed,
    /// Executed, and to be rolled back.
    GivingWay,
    Committing {
        can_follow: bool,
    },
    Committed,
    Again {
        behind: Seqno,
    },
    Refused,
}

/// What a worker does with a group whose rows it has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// It waits.
    Wait,
    /// It commits.
    Commit,
    /// It rolls back.
    GiveWay,
}

impl<G> Entry<G> {
    /// Whether a worker can begin with it; `first` is the earliest that is not committed.
    fn can_run(&self, first: Seqno) -> bool {
        match self.stage {
            Stage::Ready => true,
            Stage::Again { behind } => behind < first,
            _ => false,
        }
    }
}

impl<G> GroupQueue<G> {
    /// An empty queue for so many groups and so many bytes of them.
    pub(super) fn new(groups_limit: usize, bytes_limit: usize) -> GroupQueue<G> {
        GroupQueue { scheduler: Scheduler::new(bytes_limit), groups: VecDeque::new(), groups_limit, again: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The last group that was admitted.
    pub(super) fn last(&self) -> Option<&Arc<G>> {
        self.groups.back().map(|entry| &entry.group)
    }

    /// Whether there is room for another group.
    pub(super) fn has_room(&self) -> bool {
        self.groups.len() < self.groups_limit
    }

    /// Whether a group that uses these keys would wait for one that is under way.
    pub(super) fn would_wait(&self, keys: &WriteSet) -> bool {
        self.scheduler.conflicts_in_flight(keys)
    }

    /// How often a group was rolled back to run again.
    pub(super) fn again(&self) -> u64 {
        self.again
    }

    /// Adds a group of so many bytes behind all others. The write set is given back where there is no room.
    pub(super) fn admit(&mut self, keys: WriteSet, bytes: usize, group: &Arc<G>) -> Result<(), WriteSet> {
        if !self.has_room() {
            return Err(keys);
        }
        match self.scheduler.admit(keys, bytes, ()) {
            Ok(seqno) => {
                self.groups.push_back(Entry { seqno, group: group.clone(), stage: Stage::Waiting });
                Ok(())
            }
            Err(Full { write_set, .. }) => Err(write_set),
        }
    }

    /// The next group for a worker.
    pub(super) fn take(&mut self) -> Option<(Seqno, Arc<G>)> {
        let first = self.groups.iter().find(|entry| entry.stage != Stage::Committed)?;
        if first.stage == Stage::Refused {
            return None;
        }
        let first = first.seqno;
        self.note_ready();
        // The earliest: all workers could be taken up by groups that wait for their turn behind it.
        let entry = self.groups.iter_mut().find(|entry| entry.can_run(first))?;
        entry.stage = Stage::Running { was_first: entry.seqno == first };
        Some((entry.seqno, entry.group.clone()))
    }

    /// Whether [`GroupQueue::take`] has another group, which it has found already.
    pub(super) fn has_work(&self) -> bool {
        let Some(first) = self.first() else { return false };
        first.stage != Stage::Refused && self.groups.iter().any(|entry| entry.can_run(first.seqno))
    }

    /// Takes note of groups that wait for no other one any more.
    fn note_ready(&mut self) {
        while let Some((seqno, ())) = self.scheduler.take_ready() {
            self.set(seqno, Stage::Ready);
        }
    }

    /// Its rows are sent.
    pub(super) fn executed(&mut self, seqno: Seqno) {
        self.set(seqno, Stage::Executed);
    }

    /// What becomes of a group whose rows are sent.
    pub(super) fn turn(&mut self, seqno: Seqno) -> Turn {
        let mut is_next = true;
        for entry in &mut self.groups {
            if entry.seqno < seqno {
                is_next &= matches!(entry.stage, Stage::Committed | Stage::Committing { can_follow: true });
                continue;
            }
            return match entry.stage {
                Stage::GivingWay => Turn::GiveWay,
                _ if is_next => {
                    entry.stage = Stage::Committing { can_follow: false };
                    Turn::Commit
                }
                _ => Turn::Wait,
            };
        }
        Turn::Wait
    }

    /// It holds the lock on the position until it has committed: the next one may ask for it.
    pub(super) fn can_follow(&mut self, seqno: Seqno) {
        self.set(seqno, Stage::Committing { can_follow: true });
    }

    /// It is committed.
    pub(super) fn committed(&mut self, seqno: Seqno) {
        self.set(seqno, Stage::Committed);
        self.scheduler.complete(seqno);
    }

    /// The target has refused it, and it is rolled back. What the target refuses counts where nothing is before it.
    pub(super) fn refused(&mut self, seqno: Seqno) {
        let is_first = self.first().is_some_and(|first| first.seqno == seqno);
        let Some(entry) = self.entry(seqno) else { return };
        let counts = match entry.stage {
            Stage::Running { was_first } => was_first,
            Stage::Committing { .. } => is_first,
            _ => false,
        };
        // A group before it may have failed and be again under way: then it is refused again, and runs again.
        entry.stage = if counts { Stage::Refused } else { Stage::Again { behind: Seqno(seqno.0 - 1) } };
        self.again += u64::from(!counts);
    }

    /// It is rolled back, for the first one to go on.
    pub(super) fn gave_way(&mut self, seqno: Seqno) {
        // It may be the first one itself by now.
        let first = self.first().map_or(0, |first| first.seqno.0);
        self.set(seqno, Stage::Again { behind: Seqno(first.min(seqno.0 - 1)) });
        self.again += 1;
    }

    /// Tells all but the first one that wait for their turn to roll back. False: there is none.
    pub(super) fn clear_the_way(&mut self) -> bool {
        let Some(first) = self.first().map(|first| first.seqno) else { return false };
        let mut any = false;
        for entry in self.groups.iter_mut().filter(|entry| entry.seqno > first && entry.stage == Stage::Executed) {
            entry.stage = Stage::GivingWay;
            any = true;
        }
        any
    }

    /// Whether the first one waits for a worker: it has none while others wait for their turn behind it.
    pub(super) fn is_first_left(&mut self) -> bool {
        self.note_ready();
        self.first().is_some_and(|first| first.can_run(first.seqno))
    }

    /// Whether a group waits for its turn.
    pub(super) fn has_executed(&self) -> bool {
        self.groups.iter().any(|entry| entry.stage == Stage::Executed)
    }

    /// The first one, where a worker sends its rows.
    pub(super) fn first_running(&self) -> Option<Seqno> {
        self.first().filter(|first| matches!(first.stage, Stage::Running { .. })).map(|first| first.seqno)
    }

    /// Whether the first one is for the applier: the target has refused it, or no worker is left for it.
    pub(super) fn is_for_applier(&self, has_workers: bool) -> bool {
        self.first().is_some_and(|first| {
            let is_idle = matches!(first.stage, Stage::Waiting | Stage::Ready | Stage::Again { .. });
            first.stage == Stage::Refused || !has_workers && is_idle
        })
    }

    /// Whether no other group than the first holds locks.
    pub(super) fn is_way_clear(&self) -> bool {
        let others = self.groups.iter().filter(|entry| entry.stage != Stage::Committed).skip(1);
        others.into_iter().all(|entry| matches!(entry.stage, Stage::Waiting | Stage::Ready | Stage::Again { .. }))
    }

    /// The applier has applied the first one, and counts it itself.
    pub(super) fn applied(&mut self, seqno: Seqno) {
        self.groups.retain(|entry| entry.seqno != seqno);
        self.scheduler.complete(seqno);
    }

    /// The first one, for the applier, which says [`GroupQueue::applied`] of it.
    pub(super) fn take_first(&mut self) -> Option<(Seqno, Arc<G>)> {
        self.note_ready();
        let first = self.groups.iter_mut().find(|entry| entry.stage != Stage::Committed)?;
        // Workers begin nothing meanwhile.
        first.stage = Stage::Refused;
        Some((first.seqno, first.group.clone()))
    }

    /// Groups that are committed, in their order; they are forgotten.
    pub(super) fn take_committed(&mut self) -> Vec<Arc<G>> {
        let count = self.groups.iter().take_while(|entry| entry.stage == Stage::Committed).count();
        self.groups.drain(..count).map(|entry| entry.group).collect()
    }

    fn first(&self) -> Option<&Entry<G>> {
        self.groups.iter().find(|entry| entry.stage != Stage::Committed)
    }

    fn entry(&mut self, seqno: Seqno) -> Option<&mut Entry<G>> {
        self.groups.iter_mut().find(|entry| entry.seqno == seqno)
    }

    fn set(&mut self, seqno: Seqno, stage: Stage) {
        if let Some(entry) = self.entry(seqno) {
            entry.stage = stage;
        }
    }
}

#[cfg(test)]
mod tests;
