//! Raft's state at one moment, for status variables and metrics. The replica publishes it; any thread reads it.

use std::fmt;

use super::Replica;
use super::host::Host;
use crate::consensus::raft::Role;
use crate::log::Index;
use crate::protocol::{ProtocolRange, ProtocolVersion};

/// Minimum interval of publishing.
const PUBLISH_INTERVAL_MS: u64 = 100;

/// Raft's state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RaftStatus {
    /// The protocol version in force; None: this node is not connected.
    pub protocol: Option<ProtocolVersion>,
    /// The term.
    pub term: u64,
    /// The role of this node; None: it is not connected.
    pub role: Option<Role>,
    /// The leader's name; empty: there is none.
    pub leader: String,
    /// The last entry of this node's log.
    pub last_index: Index,
    /// Entries up to here are on a majority, as far as this node knows.
    pub commit_index: Index,
    /// Entries up to here have their verdicts here.
    pub applied_index: Index,
    /// Number of voters.
    pub voters: usize,
    /// Number of votes of this node, as committed; 0: it is no voter.
    pub weight: u8,
    /// The other nodes, by node id.
    pub peers: Vec<PeerStatus>,
    /// Whether this node asks for a flow control pause.
    pub is_behind: bool,
}

/// Another node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerStatus {
    /// `wsrep_node_name`.
    pub name: String,
    /// The address for other nodes.
    pub address: String,
    /// The protocol versions that it speaks.
    pub versions: ProtocolRange,
    /// Whether it is linked to this node.
    pub is_linked: bool,
    /// Number of its votes; 0: it is no voter.
    pub weight: u8,
    /// Whether it is a witness.
    pub is_witness: bool,
    /// As leader: the node's log equals this one's up to here, durably.
    pub match_index: Option<Index>,
    /// As leader: the last seqno that it has reported as applied.
    pub applied: Option<i64>,
}

impl fmt::Display for PeerStatus {
    /// The node in `wsrep_raft_peers`: `node2 10.0.0.2:4567 linked voter match=812 applied=640`; a witness ends in
    /// `match=812 witness`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, address, versions: _, is_linked, weight, is_witness, match_index, applied } = self;
        let (link, vote) =
            (if *is_linked { "linked" } else { "unlinked" }, if *weight > 0 { "voter" } else { "learner" });
        write!(out, "{name} {address} {link} {vote}")?;
        if *weight > 1 {
            write!(out, " votes={weight}")?;
        }
        if let Some(match_index) = match_index {
            write!(out, " match={match_index}")?;
        }
        if *is_witness {
            return out.write_str(" witness");
        }
        applied.map_or(Ok(()), |applied| write!(out, " applied={applied}"))
    }
}

impl<H: Host> Replica<H> {
    /// Publishes Raft's state, if the last time is long ago.
    pub(super) fn publish_raft_status(&mut self, now_ms: u64, is_behind: bool) {
        if self.raft_published_ms > 0 && now_ms < self.raft_published_ms + PUBLISH_INTERVAL_MS {
            return;
        }
        self.raft_published_ms = now_ms.max(1);
        let status = self.raft_status(is_behind);
        self.host.set_raft_status(status);
    }

    fn raft_status(&self, is_behind: bool) -> RaftStatus {
        let is_leader = self.raft.role() == Role::Leader;
        let membership = self.raft.membership();
        let peers = self.peers.iter().map(|(node, peer)| PeerStatus {
            name: peer.hello.name.clone(),
            address: peer.hello.address.clone(),
            versions: peer.hello.versions,
            is_linked: peer.unlinked_since_ms.is_none(),
            weight: membership.weight(*node),
            is_witness: peer.is_witness(),
            match_index: self.raft.progress().find(|progress| progress.node == *node).map(|found| found.match_index),
            applied: peer.status.as_ref().filter(|_| is_leader).map(|(member_status, _)| member_status.applied),
        });
        let has_vote = self.hard_state.voters.contains_key(&self.own_node());
        RaftStatus {
            protocol: Some(self.hard_state.protocol),
            term: self.raft.term().0,
            role: Some(self.raft.role()),
            leader: self.raft.leader().map(|leader| self.node_name(leader)).unwrap_or_default(),
            last_index: self.raft.last().index,
            commit_index: self.raft.commit_index(),
            applied_index: self.ordered.index.unwrap_or(Index(0)),
            voters: membership.voters.len(),
            weight: if has_vote { self.hard_state.weight(self.own_node()) } else { 0 },
            peers: peers.collect(),
            is_behind,
        }
    }
}
