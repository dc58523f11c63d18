//! The wsrep status of a node.

use hortator_mysql::Connection;

use crate::node::{Node, POLL_TIMEOUT, State};
use crate::status::status;

/// The wsrep status of a node. A value that the node does not report is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WsrepStatus {
    /// `wsrep_cluster_status`: `Primary` in the component with a quorum, else `non-Primary` or `Disconnected`.
    pub cluster: Option<String>,
    /// `wsrep_cluster_size`: the number of nodes that it sees, including itself.
    pub size: Option<String>,
    /// `wsrep_local_state_comment`: `Synced` when it has all data.
    pub local_state: Option<String>,
    /// `wsrep_last_committed`: the last committed seqno.
    pub last_committed: Option<String>,
    /// `wsrep_ready`: `ON` when it takes statements.
    pub ready: Option<String>,
}

impl WsrepStatus {
    /// Whether the node is in the primary component.
    pub fn is_primary(&self) -> bool {
        self.cluster.as_deref() == Some("Primary")
    }

    /// Whether the node is in the primary component with all data, and takes statements.
    pub fn is_synced(&self) -> bool {
        self.is_primary() && self.local_state.as_deref() == Some("Synced") && self.ready.as_deref() == Some("ON")
    }
}

impl Node<'_> {
    /// The node's wsrep status; `None` without a cluster, and when the node does not run or does not answer.
    pub fn wsrep_status(self) -> Option<WsrepStatus> {
        if !self.is_cluster_node() || self.state() != State::Running {
            return None;
        }
        let mut options = self.connect_options();
        options.connect_timeout = POLL_TIMEOUT;
        options.read_timeout = Some(POLL_TIMEOUT);
        ask(&mut Connection::open(&options).ok()?).ok()
    }
}

fn ask(connection: &mut Connection) -> Result<WsrepStatus, hortator_mysql::Error> {
    Ok(WsrepStatus {
        cluster: status(connection, "wsrep_cluster_status")?,
        size: status(connection, "wsrep_cluster_size")?,
        local_state: status(connection, "wsrep_local_state_comment")?,
        last_committed: status(connection, "wsrep_last_committed")?,
        // The server hears last of the rest.
        ready: status(connection, "wsrep_ready")?,
    })
}
