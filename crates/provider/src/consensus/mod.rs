//! How several nodes agree on one order: Raft, the links between the nodes, and the state that a node keeps for both.
//!
//! | module | content |
//! |---|---|
//! | `raft/` | Raft as a pure state machine: no clock, no disk, no network |
//! | `proposals` | proposals of this node that are not ordered yet: each is ordered once, or known to be lost |
//! | `wire/` | messages as bytes: frames with version and checksum |
//! | `links/` | connections to the other nodes |
//! | `lineage` | the generation of the cluster that a node belongs to; tells two clusters with a common past apart |
//! | `hard_state` | the node's vote, term and voters: `hortator.raft.log` |
//!
//! Why not a library: of the maintained implementations, only openraft has a licence that is compatible with GPLv2-only
//! mariadbd, and one of its dependencies has not (`anyerror` is Apache-2.0 only). openraft would also bring seventy
//! packages and an executor into the database's process. This module implements Raft as published (Ongaro, "Consensus:
//! Bridging Theory and Practice", 2014), with the extensions of the thesis: pre-vote (9.6), check quorum (6.2),
//! leadership transfer (3.10), single-server membership changes (4.1), ReadIndex by a round of heartbeats (6.4). A
//! simulator checks the paper's properties.

pub mod hard_state;
pub mod lineage;
pub mod links;
pub mod proposals;
pub mod raft;
pub mod wire;

/// The random id of a node. It lives as long as the node's log: a node that has lost its log gets another id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u64);

impl std::fmt::Display for NodeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
