//! The rows of an INSERT: what the producer must know of them, where their literals stand, and the typed array that
//! carries them to a server that takes arrays.

mod array;
mod insert;
mod literal;
mod survey;
mod temporal;

pub use array::{Inexact, encode};
pub(crate) use insert::name;
pub use insert::{InsertHead, InsertVerb, RowSource, insert_head};
pub use literal::{Literal, LiteralKind, NotLiteral, Tuples, scan};
pub use survey::{Survey, survey};

#[cfg(test)]
mod tests;
