//! The machine in the middle of Hortator: it takes a stream of transactions that has an order, finds the few that
//! really depend on each other, and says at every moment which may run.
//!
//! - [`Key`]: a place in the hierarchy server / schema / table / row, hashed.
//! - [`Mode`]: how a transaction uses a place, and the one matrix that says which uses exclude each other.
//! - [`WriteSet`]: the keys of one transaction with their modes; it adds the intentions on the places above.
//! - [`Scheduler`]: admits transactions in order, hands out those that wait for nobody, takes completions in any order.
//! - [`CertificationIndex`]: the verdict on a write set of a cluster, given what the node it comes from had seen.
//! - [`CommitOrder`]: enter and leave by position, for doors that ask for commits in the stream's order.
//!
//! ```
//! use hortator_core::{Key, Mode, Scheduler, WriteSet};
//!
//! let orders = Key::table(b"shop", b"orders");
//! let mut scheduler = Scheduler::new(1 << 20);
//! let insert = WriteSet::new().with(Key::row_in(orders, 0, b"7"), Mode::RowExclusive);
//! let alter = WriteSet::new().with(orders, Mode::Exclusive);
//! let first = scheduler.admit(insert, 100, "INSERT").expect("an empty scheduler takes anything");
//! let second = scheduler.admit(alter, 100, "ALTER").expect("there is room for both");
//!
//! assert_eq!(scheduler.take_ready(), Some((first, "INSERT")));
//! assert_eq!(scheduler.take_ready(), None, "the ALTER waits for the row below its table");
//! assert_eq!(scheduler.waits(second)[0].predecessor, first);
//! scheduler.complete(first);
//! assert_eq!(scheduler.take_ready(), Some((second, "ALTER")));
//! ```
//!
//! What it is not for: it does no I/O, reads no clock, starts no thread, logs nothing and never blocks. It does not
//! know SQL, connections or what a transaction's payload is. It imports none of our other crates.

mod certification;
mod commit_order;
mod key;
mod mode;
mod scheduler;
mod seqno;
#[cfg(test)]
mod testing;
mod write_set;

pub use certification::{Candidate, CertificationIndex, Failure, SourceId, Verdict};
pub use commit_order::CommitOrder;
pub use key::{Key, Level};
pub use mode::{Mode, Relation};
pub use scheduler::{Full, Scheduler, Wait};
pub use seqno::Seqno;
pub use write_set::{KEYS_LIMIT, WriteSet};
