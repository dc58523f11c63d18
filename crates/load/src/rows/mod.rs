//! The rows of an INSERT: what the coordinator must know of them, where their literals stand, and the typed parameters that
//! carry them: one array where the server takes arrays, pieces of some rows where it does not.

mod batch;
mod bulk_execute;
mod insert;
mod literal;
mod prescan;
mod temporal;
mod wire;

pub use batch::encode_batch;
pub use bulk_execute::encode_bulk_execute;
pub(crate) use insert::name;
pub use insert::{InsertHead, InsertVerb, RowSource, insert_head};
pub use literal::{Literal, LiteralKind, NotLiteral, Tuples, scan};
pub use prescan::{Prescan, prescan};
pub use wire::{Inexact, WireType, wire_types};

#[cfg(test)]
mod tests;
