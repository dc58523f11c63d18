//! What rows use of the target: keys by which transactions are found that may run beside each other. Pure.
//!
//! ```text
//!   table map, rows ──► values by column ──► TableKeys: unique keys, foreign keys ──► WriteSet
//! ```
//!
//! Keys make two transactions wait for each other that need not (letters are folded, numbers of indexes are hashes), and
//! may miss a use (a value in another collation, rows that a foreign key deletes). They are there for speed. The result
//! does not depend on them: groups commit in the source's order, and the target's locks and errors tell of every use that
//! was missed, see `apply/workers`.

mod order;
mod row_keys;
mod table_keys;

pub use order::Order;

pub(crate) use row_keys::{KeyedTable, TableCache};
pub(crate) use table_keys::{ForeignColumn, TableKeys, UniqueColumn};

#[cfg(test)]
mod tests;
