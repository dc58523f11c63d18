//! What agreement begins with.

use super::{Membership, Place, Term};
use crate::group::NodeId;
use crate::log::Index;

/// How long things take.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// A leader is heard from at least this often.
    pub heartbeat_ms: u64,
    /// Who hears no leader for one to two times this asks for votes; a leader that hears no majority for this steps
    /// down. Several times `heartbeat_ms`.
    pub election_ms: u64,
}

/// What a node knows when it starts.
#[derive(Clone, Debug)]
pub struct Start {
    /// Its own.
    pub id: NodeId,
    /// Of the last [`super::Action::Persist`].
    pub term: Term,
    /// Of the same.
    pub voted_for: Option<NodeId>,
    /// Right before the first entry that the log has.
    pub base: Place,
    /// The log's terms, ascending: from this entry on, that term. All behind `base`.
    pub runs: Vec<(Index, Term)>,
    /// The log's last entry; that of `base` if there is none.
    pub last: Index,
    /// The last one that was known to be committed ([`super::Raft::settled_membership`]), and where it stands, in the log or
    /// before it. None: this node was never told, and waits for entries or for [`super::Raft::begin_behind`].
    pub settled: Option<(Index, Membership)>,
    /// Those that stand in the log, ascending. Whether they are committed is not known from that.
    pub memberships: Vec<(Index, Membership)>,
    /// Known to be; `base` and `settled` count as well.
    pub committed: Index,
    /// Elections are spread by chance; all of it comes from here.
    pub seed: u64,
}
