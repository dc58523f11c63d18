//! How a transaction uses a resource, and the one matrix that says which uses exclude each other.
//!
//! Above the row: the multi-granularity modes of Gray, Lorie, Putzolu and Traiger, "Granularity of Locks and Degrees of
//! Consistency in a Shared Data Base" (1976). At the row: the four key types of the wsrep API. A mode of one half never
//! meets one of the other half at the same key, because [`Mode::at`] translates.
//!
//! [`MATRIX`] is the only definition; `testdata/modes.txt` lists it cell by cell.

use crate::Level;

#[cfg(test)]
mod tests;

/// How a transaction uses a resource.
///
/// SIX (shared, with the intention to write below) is left out: shared and intention exclusive together count as
/// exclusive. That waits more than necessary, in a case that no frontend produces on its hot path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Above the row (IS): reads something below.
    IntentionShared,
    /// Above the row (IX): writes something below.
    IntentionExclusive,
    /// Above the row (S): reads all of it.
    Shared,
    /// Above the row (X): writes all of it, or changes its definition.
    Exclusive,
    /// At the row (wsrep's SHARED): reads it.
    RowShared,
    /// At the row (wsrep's REFERENCE): needs it to exist, as the parent of a foreign key.
    RowReference,
    /// At the row (wsrep's UPDATE): changes the row, but not its key.
    RowUpdate,
    /// At the row (wsrep's EXCLUSIVE): inserts or deletes the row, or changes its key.
    RowExclusive,
}

/// The relation of the second of two transactions that use the same resource to the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// None: both may run at once.
    Free,
    /// It must run after the first.
    Dependency,
    /// It must run after the first; certification fails it if it was created without having seen the first.
    Conflict,
}

use Mode::{Exclusive, IntentionExclusive, IntentionShared, RowExclusive, RowReference, RowShared, RowUpdate, Shared};
use Relation::{Conflict as C, Dependency as D, Free as O};

/// Rows: the second transaction's mode; columns: the first's; both in the order of the enum. A mode above the row never
/// meets a mode at the row; these cells are conflicts, to be safe.
#[rustfmt::skip]
const MATRIX: [[Relation; 8]; 8] = [
    // first:             IS IX S  X  RS RR RU RX
    /* IntentionShared */    [O, O, O, C, C, C, C, C],
    /* IntentionExclusive */ [O, O, C, C, C, C, C, C],
    /* Shared */             [O, C, O, C, C, C, C, C],
    /* Exclusive */          [C, C, C, C, C, C, C, C],
    /* RowShared */          [C, C, C, C, O, O, D, C],
    /* RowReference */       [C, C, C, C, O, O, D, C],
    /* RowUpdate */          [C, C, C, C, D, D, C, C],
    /* RowExclusive */       [C, C, C, C, D, C, C, C],
];

impl Mode {
    /// Every mode, in the order of the matrix.
    pub const ALL: [Self; 8] =
        [IntentionShared, IntentionExclusive, Shared, Exclusive, RowShared, RowReference, RowUpdate, RowExclusive];

    /// The relation of a later transaction with this mode to an earlier one with mode `first` on the same key.
    pub fn after(self, first: Self) -> Relation {
        MATRIX[self as usize][first as usize]
    }

    /// Whether a later transaction with this mode must wait for an earlier one with mode `first` on the same key.
    pub fn waits_for(self, first: Self) -> bool {
        self.after(first) != Relation::Free
    }

    /// Whether it changes something, at the resource or below.
    pub fn writes(self) -> bool {
        match self {
            IntentionShared | Shared | RowShared | RowReference => false,
            IntentionExclusive | Exclusive | RowUpdate | RowExclusive => true,
        }
    }

    /// The same use at another level, or a stronger one if there is no such mode: a row mode at a table is the use of
    /// all its rows, a mode from above at a row is the row's read or write.
    #[must_use]
    pub fn at(self, level: Level) -> Self {
        match (level, self) {
            (Level::Row, IntentionShared | Shared) => RowShared,
            (Level::Row, IntentionExclusive | Exclusive) => RowExclusive,
            (Level::Server | Level::Schema | Level::Table, RowShared | RowReference) => Shared,
            (Level::Server | Level::Schema | Level::Table, RowUpdate | RowExclusive) => Exclusive,
            (_, same) => same,
        }
    }

    /// The intention that this use implies for all ancestors.
    #[must_use]
    pub fn intention(self) -> Self {
        if self.writes() { IntentionExclusive } else { IntentionShared }
    }

    /// The weakest mode that excludes everything that either of the two excludes. Both belong to the same half.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        match (self, other) {
            (IntentionExclusive, Shared) | (Shared, IntentionExclusive) => Exclusive,
            // Each half is declared from weak to strong and, except for the pair above, is a chain.
            _ => self.max(other),
        }
    }

    /// Whether this use of a resource implies the use `below` of a resource below it.
    pub fn covers(self, below: Self) -> bool {
        match self {
            Exclusive => true,
            Shared => !below.writes(),
            _ => false,
        }
    }
}
