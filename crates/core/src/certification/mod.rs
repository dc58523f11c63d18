//! Certification: the verdict on each write set of a cluster, in the cluster's order.
//!
//! A node sends a transaction's write set with the seqno up to which the node had seen the others' write sets when the
//! transaction committed (last seen). When the write set gets its own seqno, later write sets may lie before it. It
//! fails if one that its node had not seen conflicts with it; the index then drops its keys. Otherwise it passes, the
//! index enters its keys, and the verdict says after which seqno to apply it.
//!
//! ```text
//!         purged_upto      last_seen                seqno
//!   ──────────┼───────────────┼──────────────────────┼──►
//!   purged    │ depends on    │ depends on, and      │
//!             │ at most       │ fails by conflicts   │
//! ```
//!
//! The rules, which `oracle.rs` implements in the simplest form:
//!
//! - Every key counts in its own mode, and as [`Mode::RowShared`] at each of its ancestors. The matrix of the row modes
//!   ([`Mode::after`]) holds for every key, a table's or a schema's too.
//! - A conflict counts when the first write set is later than the last-seen seqno of the second, and came from another
//!   source or ran under total order isolation. All other conflicts, and dependencies, are dependencies.
//! - Total order isolation never fails. A write set under isolation, or one that is unsafe for parallel applying,
//!   depends on everything before it. Everything after a parallel-apply-unsafe write set depends on it, because its
//!   keys do not describe all that it does.
//! - At or below the purged seqno the index knows nothing. So a write set whose last-seen seqno is below it fails, and
//!   everything depends at least on the purged seqno, up to which all nodes have applied everything.
//!
//! The verdicts follow from the order of the calls alone: nodes that make the same calls get the same verdicts,
//! whatever the progress of their sweeps. A new index at a position ([`CertificationIndex::new`]) gives from there on
//! the same verdicts as one that was purged there when it arrived there ([`CertificationIndex::purge`]): this is how a
//! node joins.
//!
//! The rules have a version, [`CERTIFICATION_RULES`]: all nodes must judge an entry of the order by the same rules, and so
//! must a node that judges it again after an upgrade.
//!
//! Modules: `uses` holds the uses of one key, `key_index` finds and drops keys, `sources` assigns short numbers.

use crate::{Key, Level, Mode, Seqno};

mod key_index;
#[cfg(test)]
mod oracle;
mod sources;
#[cfg(test)]
mod tests;
mod uses;

use key_index::{EntryPosition, KeyIndex};
use sources::{SourceIndex, Sources};
use uses::Use;

/// The version of the rules of this module. A change of any verdict, of a failure or of a dependency, needs the next
/// version; an order names the version that judges its write sets.
pub const CERTIFICATION_RULES: u8 = 1;

/// The number of recent ancestors that are remembered within a write set: the rows of a few alternating tables look up
/// their tables and schemas once.
const RECENT_LIMIT: usize = 8;

/// The index shrinks its buffer to this capacity after a larger write set.
const CAPACITY_LIMIT: usize = 1 << 16;

/// The source of a write set: one incarnation of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub u64);

/// A write set to certify.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Its position in the order.
    pub seqno: Seqno,
    /// The source that created it.
    pub source: SourceId,
    /// The seqno up to which its node had applied the order when the write set was created. A value that is not before
    /// `seqno` counts as the one right before: a write set has not seen itself.
    pub last_seen: Seqno,
    /// It runs under total order isolation (DDL).
    pub isolation: bool,
    /// Its keys do not describe all that it does: nothing may be applied in parallel with it.
    pub pa_unsafe: bool,
    /// It depends on everything up to its last-seen seqno, whatever its keys are.
    pub implicit_deps: bool,
    /// The keys that it uses, at any level. Modes from above the row count as the row's read or write ([`Mode::at`]).
    pub keys: &'a [(Key, Mode)],
}

impl Candidate<'_> {
    /// The seqno that it must wait for, given the dependency of its keys.
    fn waits_for(&self, depends_on: Seqno, last_seen: Seqno) -> Seqno {
        if self.isolation || self.pa_unsafe {
            Seqno(self.seqno.0 - 1)
        } else if self.implicit_deps {
            depends_on.max(last_seen)
        } else {
            depends_on
        }
    }
}

/// The verdict on a write set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The write set is to be applied.
    Passed {
        /// The latest seqno that it depends on; before its own seqno. It may be applied when everything up to here is
        /// applied.
        depends_on: Seqno,
    },
    /// The write set keeps its seqno, but nothing of it is applied.
    Failed(Failure),
}

/// The reason why a write set failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// It conflicts with a write set that its node had not seen.
    #[error("key {key} conflicts with seqno {winner}, which is later than the last-seen seqno of the write set")]
    Conflict {
        /// The latest conflicting seqno.
        winner: Seqno,
        /// The first conflicting key: keys in their order, the ancestors right after each.
        key: Key,
    },
    /// Its last-seen seqno is below the purged seqno: the write sets that it may conflict with are unknown.
    #[error("the last-seen seqno {last_seen} of the write set is too old: keys are purged up to seqno {purged_upto}")]
    TooOld {
        /// Its last-seen seqno.
        last_seen: Seqno,
        /// The least last-seen seqno that a write set must have.
        purged_upto: Seqno,
    },
}

/// Records which write set used which key since the purged seqno, and decides the verdicts.
///
/// It holds an entry for each key that was used since then and, while purges continue, up to a third more. An entry
/// takes 40 to 110 bytes, including partly empty tables, and 96 more when different sources or modes use it in turn.
/// Purges bound the memory: the node that orders them does so by [`CertificationIndex::bytes`].
#[derive(Debug)]
pub struct CertificationIndex {
    keys: KeyIndex,
    sources: Sources,
    purged_upto: Seqno,
    last: Seqno,
    last_pa_unsafe: Seqno,
    /// The keys of the current write set; kept for their capacity.
    looked_up: Vec<(EntryPosition, Mode)>,
}

impl CertificationIndex {
    /// An index that knows nothing at or before `purged_upto`, and counts everything up to there as applied on all
    /// nodes.
    pub fn new(purged_upto: Seqno) -> Self {
        let (keys, sources) = (KeyIndex::new(), Sources::default());
        Self { keys, sources, purged_upto, last: purged_upto, last_pa_unsafe: purged_upto, looked_up: Vec::new() }
    }

    /// Certifies the next write set of the order.
    ///
    /// # Panics
    /// When its seqno is not later than all before it and than the purged seqno: then the calls do not follow the
    /// order.
    pub fn certify(&mut self, candidate: &Candidate<'_>) -> Verdict {
        let (source_index, last_seen) = self.advance(candidate);
        if last_seen < self.purged_upto && !candidate.isolation {
            return Verdict::Failed(Failure::TooOld { last_seen, purged_upto: self.purged_upto });
        }
        let (depends_on, conflict) = self.look_up_all(candidate.keys, source_index, last_seen);
        let verdict = match conflict {
            Some(failure) if !candidate.isolation => Verdict::Failed(failure),
            _ => Verdict::Passed { depends_on: candidate.waits_for(depends_on, last_seen) },
        };
        self.record(candidate, source_index, matches!(verdict, Verdict::Passed { .. }));
        verdict
    }

    /// Records the next write set of the order, whose verdict is already known from [`CertificationIndex::certify`]
    /// elsewhere. Returns the seqno that it depends on as far as this index knows, if it passed.
    ///
    /// # Panics
    /// As [`CertificationIndex::certify`].
    pub fn replay_verdict(&mut self, candidate: &Candidate<'_>, has_passed: bool) -> Option<Seqno> {
        let (source_index, last_seen) = self.advance(candidate);
        if !has_passed {
            return None;
        }
        let (depends_on, _) = self.look_up_all(candidate.keys, source_index, last_seen);
        self.record(candidate, source_index, true);
        Some(candidate.waits_for(depends_on, last_seen))
    }

    /// Advances to the next write set of the order. Returns its source and its last-seen seqno.
    fn advance(&mut self, candidate: &Candidate<'_>) -> (SourceIndex, Seqno) {
        let Candidate { seqno, source, isolation, .. } = *candidate;
        let latest = self.last.max(self.purged_upto);
        assert!(seqno > latest, "write set {seqno} was certified after {latest}");
        self.last = seqno;
        let source_index =
            if isolation { SourceIndex::ISOLATED } else { self.sources.index_of(source, seqno, self.purged_upto) };
        (source_index, candidate.last_seen.min(Seqno(seqno.0 - 1)))
    }

    /// Enters the looked-up keys if the write set passed, else drops them.
    fn record(&mut self, candidate: &Candidate<'_>, source_index: SourceIndex, has_passed: bool) {
        let looked_up = self.looked_up.len();
        if has_passed {
            let seqno = candidate.seqno;
            if candidate.pa_unsafe {
                self.last_pa_unsafe = seqno;
            }
            for (position, mode) in self.looked_up.drain(..) {
                self.keys.enter(position, Use { seqno, source_index, mode }, self.purged_upto);
            }
        } else {
            self.looked_up.drain(..).for_each(|(position, _)| self.keys.drop_if_new(position));
        }
        self.looked_up.shrink_to(CAPACITY_LIMIT);
        self.keys.sweep_for(looked_up, self.purged_upto);
    }

    /// Looks up all keys of a write set and keeps their positions in `looked_up`. Returns what the write set depends
    /// on, and its conflict.
    fn look_up_all(&mut self, keys: &[(Key, Mode)], own: SourceIndex, last_seen: Seqno) -> (Seqno, Option<Failure>) {
        let mut depends_on = self.purged_upto.max(self.last_pa_unsafe);
        let mut conflict = None;
        let mut latest_winner = last_seen;
        let mut look_up = |key: Key, mode: Mode| {
            let (dependencies, position) = self.keys.look_up(key, mode, own);
            self.looked_up.push((position, mode));
            depends_on = depends_on.max(dependencies.depends_on);
            if dependencies.conflicting_seqno > latest_winner {
                latest_winner = dependencies.conflicting_seqno;
                conflict = Some(Failure::Conflict { winner: dependencies.conflicting_seqno, key });
            }
        };
        // An ancestor that is found here needs no lookup of its own ancestors: they were looked up right after it.
        let mut recent = [None; RECENT_LIMIT];
        let mut next_recent = 0;
        for &(key, mode) in keys {
            look_up(key, mode.at(Level::Row));
            for ancestor in key.ancestors() {
                if recent.contains(&Some(ancestor)) {
                    break;
                }
                look_up(ancestor, Mode::RowShared);
                recent[next_recent % RECENT_LIMIT] = Some(ancestor);
                next_recent += 1;
            }
        }
        (depends_on, conflict)
    }

    /// Purges everything at or below `purged_upto`: no later write set has a lower last-seen seqno, and every node has
    /// applied everything up to there. A value that is not above the last one changes nothing.
    ///
    /// Call it at the same position of the order on all nodes. It takes no time: the following calls of
    /// [`CertificationIndex::certify`] drop the entries, a few each.
    pub fn purge(&mut self, purged_upto: Seqno) {
        if purged_upto > self.purged_upto {
            self.purged_upto = purged_upto;
            self.keys.start_sweep();
        }
    }

    /// Reads about that many entries and drops the expired ones; for idle time. Returns whether there are more to read.
    /// No verdict depends on it.
    pub fn sweep(&mut self, entries: usize) -> bool {
        self.keys.sweep(entries, self.purged_upto)
    }

    /// The least last-seen seqno that a write set must have.
    pub fn purged_upto(&self) -> Seqno {
        self.purged_upto
    }

    /// The number of entries, including expired ones that are not dropped yet.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether the index holds no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The approximate memory of the index, in bytes; allocators round up.
    pub fn bytes(&self) -> usize {
        self.keys.bytes() + self.sources.bytes() + self.looked_up.capacity() * size_of::<(EntryPosition, Mode)>()
    }
}
