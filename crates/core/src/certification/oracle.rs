//! The rule of certification in its simplest form: keep every write set that passed, and compare each new one with all
//! of them, key by key.

use super::{Candidate, Failure, SourceId, Verdict};
use crate::{Key, Level, Mode, Relation, Seqno};

#[derive(Default)]
pub(super) struct Oracle {
    passed: Vec<Passed>,
    purged_upto: Seqno,
}

struct Passed {
    seqno: Seqno,
    source: SourceId,
    isolation: bool,
    pa_unsafe: bool,
    uses: Vec<(Key, Mode)>,
}

impl Oracle {
    pub(super) fn certify(&mut self, second: &Candidate<'_>) -> Verdict {
        let verdict = self.verdict(second);
        if matches!(verdict, Verdict::Passed { .. }) {
            let Candidate { seqno, source, isolation, pa_unsafe, keys, .. } = *second;
            self.passed.push(Passed { seqno, source, isolation, pa_unsafe, uses: uses(keys) });
        }
        verdict
    }

    pub(super) fn purge(&mut self, purged_upto: Seqno) {
        self.purged_upto = self.purged_upto.max(purged_upto);
        self.passed.retain(|first| first.seqno > self.purged_upto);
    }

    fn verdict(&self, second: &Candidate<'_>) -> Verdict {
        let before = Seqno(second.seqno.0 - 1);
        let last_seen = second.last_seen.min(before);
        if second.isolation {
            return Verdict::Passed { depends_on: before };
        }
        if last_seen < self.purged_upto {
            return Verdict::Failed(Failure::TooOld { last_seen, purged_upto: self.purged_upto });
        }
        let lost_against = |first: &&Passed| {
            let counts = first.seqno > last_seen && (first.source != second.source || first.isolation);
            counts && meeting(second, first, |relation| relation == Relation::Conflict).is_some()
        };
        if let Some(winner) = self.passed.iter().rfind(lost_against) {
            let key = meeting(second, winner, |relation| relation == Relation::Conflict).expect("it lost somewhere");
            return Verdict::Failed(Failure::Conflict { winner: winner.seqno, key });
        }
        if second.pa_unsafe {
            return Verdict::Passed { depends_on: before };
        }
        let depends = |first: &&Passed| {
            first.pa_unsafe || meeting(second, first, |relation| relation != Relation::Free).is_some()
        };
        let latest = self.passed.iter().filter(depends).map(|first| first.seqno).max().unwrap_or_default();
        let seen = if second.implicit_deps { last_seen } else { Seqno(0) };
        Verdict::Passed { depends_on: latest.max(seen).max(self.purged_upto) }
    }
}

/// The first key of the second write set that has such a relation to the first write set.
fn meeting(second: &Candidate<'_>, first: &Passed, wanted: impl Fn(Relation) -> bool) -> Option<Key> {
    let meets = |key: Key, mode: Mode| first.uses.iter().any(|&(other, held)| other == key && wanted(mode.after(held)));
    uses(second.keys).into_iter().find(|&(key, mode)| meets(key, mode)).map(|(key, _)| key)
}

/// Each key in its own mode, and right after it its ancestors, shared.
fn uses(keys: &[(Key, Mode)]) -> Vec<(Key, Mode)> {
    let with_above = |&(key, mode): &(Key, Mode)| {
        let above = key.ancestors().map(|above| (above, Mode::RowShared));
        std::iter::once((key, mode.at(Level::Row))).chain(above)
    };
    keys.iter().flat_map(with_above).collect()
}
