//! The core of Hortator: it takes an ordered stream of transactions, finds the few real dependencies between them, and
//! decides at every moment which transactions may run.
//!
//! - [`Key`]: a hashed resource in the hierarchy server / schema / table / row.
//! - [`Mode`]: how a transaction uses a resource, and the one matrix that says which uses exclude each other.
//! - [`WriteSet`]: the keys of one transaction with their modes; it adds the intentions on the ancestors.
//! - [`Scheduler`]: admits transactions in order, hands out the ready ones, accepts completions in any order.
//! - [`CertificationIndex`]: the verdict on a write set of a cluster, given the last seqno that its node had seen.
//! - [`CommitOrder`]: enter and leave by position, for frontends that commit in the stream's order.
//!
//! ```
//! use hortator_core::{Key, Mode, Scheduler, WriteSet};
//!
//! let orders = Key::table(b"shop", b"orders");
//! let mut scheduler = Scheduler::new(1 << 20);
//! let insert = WriteSet::new().with(Key::row_in(orders, 0, b"7"), Mode::RowExclusive);
//! let alter = WriteSet::new().with(orders, Mode::Exclusive);
//! let first = scheduler.admit(insert, 100, "INSERT").expect("an empty scheduler admits anything");
//! let second = scheduler.admit(alter, 100, "ALTER").expect("there is room for both");
//!
//! assert_eq!(scheduler.take_ready(), Some((first, "INSERT")));
//! assert_eq!(scheduler.take_ready(), None, "the ALTER waits for the row of its table");
//! assert_eq!(scheduler.waits(second)[0].predecessor, first);
//! scheduler.complete(first);
//! assert_eq!(scheduler.take_ready(), Some((second, "ALTER")));
//! ```
//!
//! Not in this crate: it does no I/O, reads no clock, starts no thread, logs nothing and never blocks. It knows nothing
//! of SQL, connections or the payload of a transaction. It imports none of our other crates.

mod certification;
mod commit_order;
mod key;
mod mode;
mod scheduler;
mod seqno;
#[cfg(test)]
mod testing;
mod write_set;

pub use certification::{CERTIFICATION_RULES, Candidate, CertificationIndex, Failure, SourceId, Verdict};
pub use commit_order::CommitOrder;
pub use key::{Key, Level};
pub use mode::{Mode, Relation};
pub use scheduler::{Full, Scheduler, Wait};
pub use seqno::Seqno;
pub use write_set::{KEYS_LIMIT, WriteSet};
