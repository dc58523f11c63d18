//! Commands of the server's threads to a replica. Its other inputs: events of the links, ends of syncs, and time.

use crate::log::Index;

/// A command of a server's thread.
#[derive(Debug)]
pub(in crate::node) enum Command {
    /// Propose an entry.
    Propose { request_id: u64, bytes: Vec<u8> },
    /// Get the read index.
    ReadIndex { request_id: u64 },
    /// Send a request to the leader.
    SendJoinRequest(JoinRequest),
    /// Order entries from this index on.
    OrderFrom(Index),
    /// Leave the cluster.
    Leave,
    /// Drop all links, or restore them.
    Isolate(bool),
    /// Bootstrap a cluster without the unreachable nodes.
    Bootstrap,
    /// Check again: there is room, or a pause has ended.
    Recheck,
    /// Stop.
    Stop,
}

/// A request to the leader.
#[derive(Clone, Debug)]
pub(in crate::node) enum JoinRequest {
    /// May the server prepare an SST?
    PrepareSst,
    /// The log and the tables, with the server's SST request.
    Join { request: Vec<u8> },
}
