//! Validates declared constraints: foreign keys and unique keys.
//!
//! If checks were off while rows were written, a server assumes that both are valid and never checks again. Here one
//! query per constraint checks it: an anti-join for a foreign key (rows without a parent), a count by value for a
//! unique key. Constraints are validated in parallel, over as many connections as the caller allows.
//!
//! All rows of a table count. Nothing is locked: concurrent changes may or may not be seen.

mod declared;
mod key_ranges;
mod queries;
mod validator;

use hortator_mysql::catalog::TableName;

pub use declared::{Constraint, ForeignKey, Scope, UniqueKey, foreign_keys, unique_keys};
pub use validator::{Observer, Validator};

/// A constraint that is violated, or that could not be validated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The constraint.
    pub constraint: Constraint,
    /// The violation.
    pub violation: Violation,
}

/// The violation of a constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// Violating rows: all rows without a parent; all of the rows with equal values.
    Rows {
        /// Their number.
        count: u64,
        /// The first of them, up to the requested number.
        first: Vec<ViolatingRow>,
    },
    /// The parent table does not exist.
    NoParent,
    /// The parent has no key that begins with the referenced columns (or lacks the columns): neither the server nor
    /// this crate can check the constraint.
    NoParentKey,
    /// The server refused the query, with this message.
    NotValidated(String),
}

/// A row that violates a constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViolatingRow {
    /// Names and values of the constraint's columns, then of the primary key's other columns. Texts are UTF-8.
    pub values: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    /// The number of the constraint's columns among them.
    pub constrained: usize,
    /// The number of rows with these values: all rows with the same values of a unique key, else 1.
    pub rows: u64,
}

impl Constraint {
    /// The constrained table.
    #[must_use]
    pub fn table(&self) -> &TableName {
        match self {
            Self::ForeignKey(key) => &key.child,
            Self::Unique(key) => &key.table,
        }
    }
}
