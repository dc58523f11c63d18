//! Whether what a schema declares of its rows is true of them: foreign keys, and unique keys.
//!
//! A server takes both for granted when checks were off while rows went in: it never looks again. Here each constraint
//! is asked for with one query of its own: an anti-join for a foreign key (rows whose parent is not there), a count by
//! value for a unique key. Constraints are proven side by side, over as many connections as the caller allows.
//!
//! All rows of a table count, whoever put them in and when. Nothing is locked: what others change meanwhile may or may
//! not be seen.

mod declared;
mod pieces;
mod prover;
mod queries;

use hortator_mysql::catalog::TableName;

pub use declared::{Constraint, ForeignKey, Scope, UniqueKey, foreign_keys, unique_keys};
pub use prover::{Prover, Watch};

/// A constraint that does not hold, or that could not be proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which one.
    pub constraint: Constraint,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What is wrong with a constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Rows that break it: all that have no parent; of equal ones, all.
    Rows {
        /// How many.
        count: u64,
        /// The first of them, as many as were asked for.
        first: Vec<Offender>,
    },
    /// The parent table is not there.
    NoParent,
    /// The parent has no key that begins with the columns referred to (or not these columns): the server can neither
    /// check the constraint nor can this.
    NoParentKey,
    /// The server refuses the query, in its words.
    Unproven(String),
}

/// A row that breaks a constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offender {
    /// Names and values of the constraint's columns, then of the primary key's other columns. Texts are UTF-8.
    pub values: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    /// How many of them are the constraint's.
    pub constrained: usize,
    /// How many rows these values stand for: all that share the values of a unique key, else 1.
    pub rows: u64,
}

impl Constraint {
    /// The table whose rows it is about.
    #[must_use]
    pub fn table(&self) -> &TableName {
        match self {
            Self::ForeignKey(key) => &key.child,
            Self::Unique(key) => &key.table,
        }
    }
}
