//! Who used one place: what certification has to know of it, and no more.
//!
//! A later use makes an earlier one forgotten where nobody could tell the difference. What is left in almost every case
//! is a single use, which lies in the place itself; else, for each mode, the latest use and the latest that came from
//! elsewhere than that one: whoever the second is, one of the two is the latest that it may lose against.

use super::sources::Origin;
use crate::{Mode, Relation, Seqno};

/// That a write set that passed used a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) seqno: Seqno,
    pub(super) origin: Origin,
    pub(super) mode: Mode,
}

/// What a second use of a place owes to those before; 0 stands for nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Owed {
    /// The latest that it must run after.
    pub(super) depends_on: Seqno,
    /// The latest that it conflicts with and that another source brought, or isolation.
    pub(super) rival: Seqno,
}

/// The uses of one place that may still matter. Sixteen bytes.
#[derive(Debug)]
pub(super) enum Uses {
    One(Use),
    Many(Box<Many>),
}

/// The latest uses in each of the four modes. Where there is none, the seqno is 0.
#[derive(Debug, Default)]
pub(super) struct Many {
    last: [Last; 4],
}

#[derive(Debug)]
struct Last {
    seqno: Seqno,
    origin: Origin,
    /// The latest that has another origin.
    elsewhere: Seqno,
}

impl Default for Last {
    fn default() -> Self {
        Self { seqno: Seqno(0), origin: Origin::ISOLATED, elsewhere: Seqno(0) }
    }
}

const ROW_MODES: [Mode; 4] = [Mode::RowShared, Mode::RowReference, Mode::RowUpdate, Mode::RowExclusive];

impl Use {
    /// Whether no second can tell if this use is forgotten, given a later one: what the later one is stands in a column
    /// of the matrix that is nowhere weaker, and it counts for everybody for whom this one counts.
    fn is_hidden_by(&self, later: &Self) -> bool {
        // Nothing conflicts with a first that shares, so where that came from does not matter.
        let counts_for_all = later.origin == Origin::ISOLATED || self.mode == Mode::RowShared;
        later.mode >= self.mode && (counts_for_all || self.origin == later.origin)
    }
}

impl Owed {
    fn to(second: Mode, own: Origin, first: &Use, elsewhere: Seqno) -> Self {
        match second.after(first.mode) {
            Relation::Free => Self::default(),
            Relation::Dependency => Self { depends_on: first.seqno, rival: Seqno(0) },
            Relation::Conflict => {
                let rival = if first.origin == own { elsewhere } else { first.seqno };
                Self { depends_on: first.seqno, rival }
            }
        }
    }
}

impl Uses {
    /// A place that nobody used: a use that lies at or below every cut.
    pub(super) const NONE: Self = Self::One(Use { seqno: Seqno(0), origin: Origin::ISOLATED, mode: Mode::RowShared });

    /// What a second use of the place owes. What lies at or below the cut may be counted or not.
    pub(super) fn owed(&self, second: Mode, own: Origin) -> Owed {
        match self {
            Self::One(first) => Owed::to(second, own, first, Seqno(0)),
            Self::Many(many) => {
                let of_mode = |(last, mode): (&Last, Mode)| {
                    let first = Use { seqno: last.seqno, origin: last.origin, mode };
                    Owed::to(second, own, &first, last.elsewhere)
                };
                many.last.iter().zip(ROW_MODES).map(of_mode).fold(Owed::default(), |sum, owed| Owed {
                    depends_on: sum.depends_on.max(owed.depends_on),
                    rival: sum.rival.max(owed.rival),
                })
            }
        }
    }

    /// Adds a use, the latest; forgets what lies at or below the cut where that makes the place smaller.
    pub(super) fn enter(&mut self, new: Use, cut: Seqno) {
        match self {
            Self::One(old) if old.seqno <= cut || old.is_hidden_by(&new) => *old = new,
            Self::One(old) if old.seqno == new.seqno && old.mode >= new.mode => {}
            Self::One(old) => {
                let mut many = Box::<Many>::default();
                many.enter(*old);
                many.enter(new);
                *self = Self::Many(many);
            }
            Self::Many(many) if many.latest() <= cut => *self = Self::One(new),
            Self::Many(many) => many.enter(new),
        }
    }

    /// The latest of all.
    pub(super) fn latest(&self) -> Seqno {
        match self {
            Self::One(only) => only.seqno,
            Self::Many(many) => many.latest(),
        }
    }

    /// What it holds outside of itself, in bytes.
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
        if last.origin != new.origin {
            last.elsewhere = last.seqno;
        }
        (last.seqno, last.origin) = (new.seqno, new.origin);
    }

    fn latest(&self) -> Seqno {
        self.last.iter().map(|last| last.seqno).max().unwrap_or_default()
    }
}
