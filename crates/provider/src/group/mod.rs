//! How several nodes come to one order: agreement by Raft, the links between nodes, and what a node keeps of both.
//!
//! | room | what |
//! |---|---|
//! | `raft/` | agreement as a pure state machine: no clock, no disk, no network |
//! | `proposals` | what a node has proposed and not seen in the order yet: nothing twice, nothing lost without knowing |
//! | `wire/` | messages as bytes: frames, versioned and checked |
//! | `links/` | connections to the other nodes |
//! | `descent` | which beginning of its group a node is of: two groups that came of one are told apart |
//! | `saved` | what a node must remember of its votes and of the group: `hortator.group.log` |
//!
//! Why not a library: of the kept implementations, openraft alone has a licence that can stand beside GPLv2-only
//! mariadbd, and its tree has not (`anyerror` is Apache-2.0 only); it would bring seventy packages and an executor into the
//! database's process. What is here is Raft as published (Ongaro, "Consensus: Bridging Theory and Practice", 2014),
//! with the paper's own extensions: trial votes (9.6), leadership that needs a majority's word (6.2), hand-over (3.10),
//! one member at a time (4.1), reads by a round of heartbeats (6.4). A simulator holds it to the paper's properties.

pub mod descent;
pub mod links;
pub mod proposals;
pub mod raft;
pub mod saved;
pub mod wire;

/// A node, from the beginning of its log on: a random number. A node that lost its log is another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u64);

impl std::fmt::Display for NodeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
