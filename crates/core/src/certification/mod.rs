//! Certification: the verdict on each write set of a cluster, in the cluster's order.
//!
//! A node sends a transaction's write set with the position up to which it had seen the others' when it committed. By
//! the time its place in the order is known, later ones may lie before it. It fails when one of those that its origin
//! had not seen conflicts with it, and its keys are forgotten; else it passes, its keys are entered, and the verdict
//! says after whom it must be applied.
//!
//! ```text
//!            cut          last_seen                seqno
//!   ──────────┼───────────────┼──────────────────────┼──►
//!   forgotten │ depends on    │ depends on, and      │
//!             │ at most       │ fails by conflicts   │
//! ```
//!
//! The rule, which `oracle.rs` writes down plainly:
//!
//! - Every key counts in its own mode at its place, and as [`Mode::RowShared`] at each place above. The matrix of the
//!   row modes ([`Mode::after`]) holds at every place, a table's or a schema's too.
//! - A conflict counts when the first is later than what the second's origin had seen, and came from another source
//!   or was under total order isolation. Conflicts that do not count, and dependencies, are depended on.
//! - Total order isolation never fails. It, and what is not safe to apply in parallel, depends on all before it; and
//!   all after what is not safe depends on that, because its keys do not tell all that it does.
//! - At or below the cut everything is forgotten, so whatever was made before the cut fails, and everything depends at
//!   least on the cut, where all nodes have applied everything.
//!
//! All of that follows from the order of the calls alone: nodes that make the same calls get the same verdicts, however
//! far each is with its sweeping. An index made anew at a position ([`CertificationIndex::new`]) gives from there on
//! the verdicts of one that was purged there when it got there ([`CertificationIndex::purge`]): so a node joins.
//!
//! Rooms: `uses` is what is kept of one place, `places` finds and drops places, `sources` gives short numbers.

use crate::{Key, Level, Mode, Seqno};

#[cfg(test)]
mod oracle;
mod places;
mod sources;
#[cfg(test)]
mod tests;
mod uses;

use places::{Places, Spot};
use sources::{Origin, Sources};
use uses::Use;

/// How many of the last places above rows are remembered within a write set: the rows of a few tables in turns ask for
/// their tables and schemas once.
const RECENT: usize = 8;

/// A write set with more places than this does not leave its room behind for the next.
const ROOM_LIMIT: usize = 1 << 16;

/// Who made a write set: one incarnation of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub u64);

/// A write set that asks for its verdict.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Its place in the order.
    pub seqno: Seqno,
    /// Who made it.
    pub source: SourceId,
    /// Up to where its origin had applied the order when it was made. A value that is not before `seqno` counts as the
    /// one right before: nothing can have seen itself.
    pub last_seen: Seqno,
    /// It runs alone everywhere (definitions, under total order isolation).
    pub isolation: bool,
    /// Its keys do not tell all that it does: nothing may be applied beside it.
    pub pa_unsafe: bool,
    /// It depends on all that its origin had seen, whatever its keys say.
    pub implicit_deps: bool,
    /// What it uses, at any depth. Modes from above the row count as the row's read or write ([`Mode::at`]).
    pub keys: &'a [(Key, Mode)],
}

impl Candidate<'_> {
    /// What it must wait for, given what its keys depend on.
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

/// What becomes of a write set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is to be applied.
    Passed {
        /// Everything up to here that it has to do with, and it is before the write set itself. It may be applied when
        /// all up to here are.
        depends_on: Seqno,
    },
    /// It has its place in the order, but nothing of it is applied.
    Failed(Failure),
}

/// Why a write set failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// It met one that its origin had not seen.
    #[error("it conflicts at {key} with {winner}, which its origin had not seen")]
    Conflict {
        /// The latest that it lost against.
        winner: Seqno,
        /// The first of its places at which they met: keys in their order, the places above right after each.
        key: Key,
    },
    /// It was made before the cut: what it may conflict with is forgotten.
    #[error("its origin had seen {last_seen}, and what came after that is known from {cut} on only")]
    TooOld {
        /// What its origin had seen.
        last_seen: Seqno,
        /// The least that an origin must have seen.
        cut: Seqno,
    },
}

/// Knows who used what since the cut, and judges by that.
///
/// It holds a place for each key that was used since then and, while purges go on, up to a third more. A place takes 40
/// to 110 bytes, tables that are partly empty included, and 96 more when sources or modes in turns use it. Cuts in the
/// order bound it: whoever writes the order puts them there by what [`CertificationIndex::bytes`] says.
#[derive(Debug)]
pub struct CertificationIndex {
    places: Places,
    sources: Sources,
    cut: Seqno,
    last: Seqno,
    last_pa_unsafe: Seqno,
    /// The places of the write set at hand; here for its room.
    asked: Vec<(Spot, Mode)>,
}

impl CertificationIndex {
    /// An index that knows nothing of what lies at or before `cut`, and counts it as applied everywhere.
    pub fn new(cut: Seqno) -> Self {
        let (places, sources) = (Places::new(), Sources::default());
        Self { places, sources, cut, last: cut, last_pa_unsafe: cut, asked: Vec::new() }
    }

    /// The verdict on the next write set of the order.
    ///
    /// # Panics
    /// When its seqno does not come after every one before and after the cut: then this is not the order.
    pub fn certify(&mut self, candidate: &Candidate<'_>) -> Verdict {
        let (origin, last_seen) = self.meet(candidate);
        if last_seen < self.cut && !candidate.isolation {
            return Verdict::Failed(Failure::TooOld { last_seen, cut: self.cut });
        }
        let (depends_on, conflict) = self.ask(candidate.keys, origin, last_seen);
        let verdict = match conflict {
            Some(failure) if !candidate.isolation => Verdict::Failed(failure),
            _ => Verdict::Passed { depends_on: candidate.waits_for(depends_on, last_seen) },
        };
        self.take(candidate, origin, matches!(verdict, Verdict::Passed { .. }));
        verdict
    }

    /// Takes the next write set of the order, whose verdict is known from elsewhere, as [`CertificationIndex::certify`]
    /// did there. Some: it passed, and what it depends on as far as this index knows.
    ///
    /// # Panics
    /// As there.
    pub fn recall(&mut self, candidate: &Candidate<'_>, has_passed: bool) -> Option<Seqno> {
        let (origin, last_seen) = self.meet(candidate);
        if !has_passed {
            return None;
        }
        let (depends_on, _) = self.ask(candidate.keys, origin, last_seen);
        self.take(candidate, origin, true);
        Some(candidate.waits_for(depends_on, last_seen))
    }

    /// Goes on to the next of the order. Gives where it came from, and what that had seen.
    fn meet(&mut self, candidate: &Candidate<'_>) -> (Origin, Seqno) {
        let Candidate { seqno, source, isolation, .. } = *candidate;
        let latest = self.last.max(self.cut);
        assert!(seqno > latest, "write set {seqno} comes to certification after {latest}");
        self.last = seqno;
        let origin = if isolation { Origin::ISOLATED } else { self.sources.origin(source, seqno, self.cut) };
        (origin, candidate.last_seen.min(Seqno(seqno.0 - 1)))
    }

    /// What was asked for is used by one that passed, or forgotten.
    fn take(&mut self, candidate: &Candidate<'_>, origin: Origin, has_passed: bool) {
        let asked = self.asked.len();
        if has_passed {
            let seqno = candidate.seqno;
            if candidate.pa_unsafe {
                self.last_pa_unsafe = seqno;
            }
            for (spot, mode) in self.asked.drain(..) {
                self.places.enter(spot, Use { seqno, origin, mode }, self.cut);
            }
        } else {
            self.asked.drain(..).for_each(|(spot, _)| self.places.leave_out(spot));
        }
        self.asked.shrink_to(ROOM_LIMIT);
        self.places.pay(asked, self.cut);
    }

    /// Looks at all places of a write set and keeps in `asked` where they are. Gives what it depends on, and whom it
    /// lost against.
    fn ask(&mut self, keys: &[(Key, Mode)], own: Origin, last_seen: Seqno) -> (Seqno, Option<Failure>) {
        let mut depends_on = self.cut.max(self.last_pa_unsafe);
        let mut conflict = None;
        let mut latest_winner = last_seen;
        let mut ask = |key: Key, mode: Mode| {
            let (owed, spot) = self.places.ask(key, mode, own);
            self.asked.push((spot, mode));
            depends_on = depends_on.max(owed.depends_on);
            if owed.rival > latest_winner {
                latest_winner = owed.rival;
                conflict = Some(Failure::Conflict { winner: owed.rival, key });
            }
        };
        // Whoever finds a place here needs none above it either: those were asked for right after it.
        let mut recent = [None; RECENT];
        let mut turn = 0;
        for &(key, mode) in keys {
            ask(key, mode.at(Level::Row));
            for above in key.ancestors() {
                if recent.contains(&Some(above)) {
                    break;
                }
                ask(above, Mode::RowShared);
                recent[turn % RECENT] = Some(above);
                turn += 1;
            }
        }
        (depends_on, conflict)
    }

    /// Forgets what lies at or below `cut`, because nothing will come any more whose origin had not seen that much, and
    /// because every node has applied it. A cut that is not above the one before changes nothing.
    ///
    /// It must stand at the same place of the order on all nodes. It takes no time: the calls of
    /// [`CertificationIndex::certify`] that follow drop the places, each a few.
    pub fn purge(&mut self, cut: Seqno) {
        if cut > self.cut {
            self.cut = cut;
            self.places.expire();
        }
    }

    /// Looks at about so many places and drops those that expired; for a quiet moment. Says whether there is more to
    /// look at. No verdict depends on it.
    pub fn sweep(&mut self, places: usize) -> bool {
        self.places.sweep(places, self.cut)
    }

    /// The least that the origin of a write set must have seen.
    pub fn cut(&self) -> Seqno {
        self.cut
    }

    /// How many places are held, with those that expired and are not dropped yet.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether no place is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What all of it takes in memory, in bytes; nearly, for allocators round up.
    pub fn bytes(&self) -> usize {
        self.places.bytes() + self.sources.bytes() + self.asked.capacity() * size_of::<(Spot, Mode)>()
    }
}
