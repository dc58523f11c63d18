//! The rows of an INSERT: the prescan for the coordinator, the scan of literals for the worker, and their encoding as typed
//! parameters of bulk execute or of a batch.

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
