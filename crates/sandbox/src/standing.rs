//! How a node stands in its cluster, in its own words.

use hortator_mysql::Connection;

use crate::node::{LOOK_LIMIT, Node, State};
use crate::status::status;

/// How a node stands in its cluster, in its own words. What it does not say is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// `wsrep_cluster_status`: `Primary` in the part that has the majority, else `non-Primary` or `Disconnected`.
    pub cluster: Option<String>,
    /// `wsrep_cluster_size`: how many nodes it sees, itself among them.
    pub size: Option<String>,
    /// `wsrep_local_state_comment`: `Synced` when it has everything.
    pub local_state: Option<String>,
    /// `wsrep_last_committed`: its place in the cluster's history.
    pub last_committed: Option<String>,
}

impl Standing {
    /// Whether it is in the part of the cluster that has the majority.
    pub fn is_primary(&self) -> bool {
        self.cluster.as_deref() == Some("Primary")
    }

    /// Whether it is there with all data.
    pub fn is_synced(&self) -> bool {
        self.is_primary() && self.local_state.as_deref() == Some("Synced")
    }
}

impl Node<'_> {
    /// How it stands in its cluster; `None` where there is no cluster, and when it does not run or does not answer.
    pub fn standing(self) -> Option<Standing> {
        if !self.is_of_a_cluster() || self.state() != State::Running {
            return None;
        }
        let mut options = self.connect_options();
        options.connect_timeout = LOOK_LIMIT;
        options.read_timeout = Some(LOOK_LIMIT);
        ask(&mut Connection::open(&options).ok()?).ok()
    }
}

fn ask(connection: &mut Connection) -> Result<Standing, hortator_mysql::Error> {
    Ok(Standing {
        cluster: status(connection, "wsrep_cluster_status")?,
        size: status(connection, "wsrep_cluster_size")?,
        local_state: status(connection, "wsrep_local_state_comment")?,
        last_committed: status(connection, "wsrep_last_committed")?,
    })
}
