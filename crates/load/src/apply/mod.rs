//! Appliers: chunks, the pool that orders them, and the workers that send them.

mod chunk;
mod lock_waits;
mod packet;
mod pieces;
mod pool;
mod road;
mod worker;

pub use chunk::{Chunk, ChunkStatement, RowTarget, Work};
pub use lock_waits::holds_up_another;
pub(crate) use packet::check_packet;
pub use pool::{Pool, Stopped, Turn};
pub use worker::Worker;
pub(crate) use worker::{COMMIT, READ_ONLY, ROLLBACK, set_next_id};
