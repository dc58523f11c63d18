//! The uses of one key: only what certification needs to know.
//!
//! A later use replaces an earlier one where no verdict can differ. In almost every case a single use remains, which is
//! stored in the entry itself; otherwise, for each mode, the latest use and the latest use from another source than
//! that one: whatever the second source is, one of the two is its latest possible conflict.

use super::sources::SourceIndex;
use crate::{Mode, Relation, Seqno};

/// One use of a key by a write set that passed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) seqno: Seqno,
    pub(super) source_index: SourceIndex,
    pub(super) mode: Mode,
}

/// What a second use of a key depends on; 0 stands for nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dependencies {
    /// The latest seqno that it must run after.
    pub(super) depends_on: Seqno,
    /// The latest seqno that conflicts with it and came from another source or from total order isolation.
    pub(super) conflicting_seqno: Seqno,
}

/// The uses of one key that may still matter. Sixteen bytes.
#[derive(Debug)]
pub(super) enum Uses {
    One(Use),
    Many(Box<Many>),
}

/// The latest uses in each of the four modes. The seqno is 0 if there is none.
#[derive(Debug, Default)]
pub(super) struct Many {
    last: [Last; 4],
}

#[derive(Debug)]
struct Last {
    seqno: Seqno,
    source_index: SourceIndex,
    /// The latest use from another source.
    elsewhere: Seqno,
}

impl Default for Last {
    fn default() -> Self {
        Self { seqno: Seqno(0), source_index: SourceIndex::ISOLATED, elsewhere: Seqno(0) }
    }
}

const ROW_MODES: [Mode; 4] = [Mode::RowShared, Mode::RowReference, Mode::RowUpdate, Mode::RowExclusive];

impl Use {
    /// Whether no verdict can differ if this use is dropped, given a later one: the later one's column of the matrix is
    /// nowhere weaker, and the later one counts for every source for which this one counts.
    fn is_hidden_by(&self, later: &Self) -> bool {
        // Nothing conflicts with a first use that shares, so its source does not matter.
        let counts_for_all = later.source_index == SourceIndex::ISOLATED || self.mode == Mode::RowShared;
        later.mode >= self.mode && (counts_for_all || self.source_index == later.source_index)
    }
}

impl Dependencies {
    fn to(second: Mode, own: SourceIndex, first: &Use, elsewhere: Seqno) -> Self {
        match second.after(first.mode) {
            Relation::Free => Self::default(),
            Relation::Dependency => Self { depends_on: first.seqno, conflicting_seqno: Seqno(0) },
            Relation::Conflict => {
                let conflicting_seqno = if first.source_index == own { elsewhere } else { first.seqno };
                Self { depends_on: first.seqno, conflicting_seqno }
            }
        }
    }
}

impl Uses {
    /// An unused key: a use that lies at or below every purged seqno.
    pub(super) const NONE: Self =
        Self::One(Use { seqno: Seqno(0), source_index: SourceIndex::ISOLATED, mode: Mode::RowShared });

    /// What a second use of the key depends on. A use at or below the purged seqno may count or not.
    pub(super) fn dependencies(&self, second: Mode, own: SourceIndex) -> Dependencies {
        match self {
            Self::One(first) => Dependencies::to(second, own, first, Seqno(0)),
            Self::Many(many) => {
                let of_mode = |(last, mode): (&Last, Mode)| {
                    let first = Use { seqno: last.seqno, source_index: last.source_index, mode };
                    Dependencies::to(second, own, &first, last.elsewhere)
                };
                many.last.iter().zip(ROW_MODES).map(of_mode).fold(Dependencies::default(), |sum, dependencies| {
                    Dependencies {
                        depends_on: sum.depends_on.max(dependencies.depends_on),
                        conflicting_seqno: sum.conflicting_seqno.max(dependencies.conflicting_seqno),
                    }
                })
            }
        }
    }

    /// Adds the latest use; drops uses at or below the purged seqno where that makes the entry smaller.
    pub(super) fn enter(&mut self, new: Use, purged_upto: Seqno) {
        match self {
            Self::One(old) if old.seqno <= purged_upto || old.is_hidden_by(&new) => *old = new,
            Self::One(old) if old.seqno == new.seqno && old.mode >= new.mode => {}
            Self::One(old) => {
                let mut many = Box::<Many>::default();
                many.enter(*old);
                many.enter(new);
                *self = Self::Many(many);
            }
            Self::Many(many) if many.latest() <= purged_upto => *self = Self::One(new),
            Self::Many(many) => many.enter(new),
        }
    }

    /// The latest seqno of all uses.
    pub(super) fn latest(&self) -> Seqno {
        match self {
            Self::One(only) => only.seqno,
            Self::Many(many) => many.latest(),
        }
    }

    /// The heap memory of the uses, in bytes.
    pub(super) fn boxed_bytes(&self) -> usize {
        match self {
            Self::One(_) => 0,
            Self::Many(_) => size_of::<Many>(),
        }
    }
}

impl Many {
    fn enter(&mut self, new: Use) {
        let last = &mut self.last[new.mode as usize - Mode::RowShared as usize];
        if last.seqno == new.seqno {
            return;
        }
        if last.source_index != new.source_index {
            last.elsewhere = last.seqno;
        }
        (last.seqno, last.source_index) = (new.seqno, new.source_index);
    }

    fn latest(&self) -> Seqno {
        self.last.iter().map(|last| last.seqno).max().unwrap_or_default()
    }
}
