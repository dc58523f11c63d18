//! The rows of an INSERT: what the coordinator must know of them, where their literals stand, and the typed parameters that
//! carry them: one array where the server takes arrays, pieces of some rows where it does not.

mod array;
mod insert;
mod literal;
mod piece;
mod survey;
mod temporal;
mod wire;

pub use array::encode_array;
pub(crate) use insert::name;
pub use insert::{InsertHead, InsertVerb, RowSource, insert_head};
pub use literal::{Literal, LiteralKind, NotLiteral, Tuples, scan};
pub use piece::encode_piece;
pub use survey::{Survey, survey};
pub use wire::{Inexact, WireType, wire_types};

#[cfg(test)]
mod tests;
