//! Applies chunks: the pool orders them, workers send them.

mod batches;
mod catalog_connection;
mod chunk;
mod commit_queues;
mod packet;
mod pool;
mod row_sender;
mod worker;
mod worker_start;

pub use catalog_connection::CatalogConnection;
pub(crate) use catalog_connection::close_table;
pub use chunk::{Atomicity, Chunk, ChunkStatement, RowTarget, Work};
pub use commit_queues::CommitSlot;
pub(crate) use packet::{Packets, check_packet};
pub use pool::{Pool, Stopped};
pub use worker::Worker;
pub(crate) use worker::{COMMIT, READ_ONLY, ROLLBACK, set_next_id};
pub use worker_start::{WorkerError, WorkerStart};
