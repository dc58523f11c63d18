//! The host of a node, for nodes that are on networks and disks of their own.

use serde::{Deserialize, Serialize};

/// Where a node is, as if on another machine: its address, and the command that runs programs there.
///
/// Clients reach the node through its socket, which is on this machine's file system all the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// The IP address at which the other nodes reach it.
    pub address: String,
    /// The words of a command that gets the server's program and arguments as further words, such as `ip netns exec NAME`.
    /// It must end as the same process as the server (by exec), and runs as the caller: it is the one to take the server's
    /// account.
    pub command: Vec<String>,
}
