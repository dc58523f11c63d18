//! Agreement: Raft as a pure state machine.

mod message;

pub use message::{Append, Membership, Message, Place, Shape, Term};
