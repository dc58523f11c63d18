//! The protocol version in force: when the leader raises it, and how the node follows.
//!
//! The nodes of a cluster are upgraded one by one, and meanwhile use the version that is in force. The leader raises it when
//! every voter, every member of the view and every linked node has reported that it speaks a higher one: it appends an
//! entry with that version. From there on the leader writes entries in it; frames and the hard state follow when the entry
//! is ordered. A single node raises the version with the view that opens it to its clients.
//!
//! A node that is not linked may come back with an earlier release, so it holds the version back. A node that is given an
//! earlier release after that entry was appended is refused by the other nodes, or by its own log.

use super::Replica;
use super::host::Host;
use crate::consensus::NodeId;
use crate::entry;
use crate::protocol::{ProtocolRange, ProtocolVersion};

impl<H: Host> Replica<H> {
    /// Proposes a higher protocol version, if all nodes speak it. True: it is in flight.
    pub(super) fn reconcile_protocol(&mut self) -> bool {
        let in_force = self.hard_state.protocol;
        if in_force >= self.versions.newest {
            return false;
        }
        let Some(next) = next_version(in_force, self.versions_of_nodes()) else { return false };
        let Some(leader_duties) = &mut self.leader_duties else { return false };
        let before = std::mem::replace(&mut leader_duties.appended_protocol, next);
        let is_appended = self.propose(entry::encode_no_op(), None);
        if let Some(leader_duties) = self.leader_duties.as_mut().filter(|_| !is_appended) {
            leader_duties.appended_protocol = before;
        }
        if is_appended {
            self.host.note(&format!("all nodes speak protocol version {next}, which is to replace version {in_force}"));
        }
        is_appended
    }

    /// What each node speaks that must speak the version in force. None: it is not here, or has not reported yet.
    fn versions_of_nodes(&self) -> Vec<Option<ProtocolRange>> {
        let of_peer = |node: NodeId| {
            let peer = self.peers.get(&node).filter(|peer| peer.unlinked_since_ms.is_none())?;
            peer.status.as_ref().map(|(member_status, _)| member_status.versions)
        };
        let voters = self.hard_state.voters.keys().chain(&self.raft.membership().voters).copied();
        let linked = self.peers.iter().filter(|(_, peer)| peer.unlinked_since_ms.is_none()).map(|(node, _)| *node);
        let own_node = self.own_node();
        let mut versions: Vec<Option<ProtocolRange>> =
            voters.chain(linked).filter(|node| *node != own_node).map(of_peer).collect();
        versions.push(Some(self.versions));
        let own_member_id = self.host.member_id();
        let members = self.host.with_order(|order| order.members().to_vec()).unwrap_or_default();
        let is_here = |member_id| {
            let mut linked = self.peers.values().filter(|peer| peer.unlinked_since_ms.is_none());
            linked.any(|peer| peer.status.as_ref().is_some_and(|(status, _)| status.member_id == member_id))
        };
        if members.iter().any(|member| member.id != own_member_id && !is_here(member.id)) {
            versions.push(None);
        }
        versions
    }

    /// Follows the total order to a higher version.
    pub(super) fn follow_protocol(&mut self) {
        let ordered = self.host.with_order(|order| order.protocol);
        if let Some(protocol) = ordered.filter(|protocol| *protocol > self.hard_state.protocol) {
            self.adopt_protocol(protocol);
            self.save_hard_state();
        }
    }

    /// This version is in force, or a higher one that the node knows already. The caller saves the hard state.
    pub(super) fn adopt_protocol(&mut self, protocol: ProtocolVersion) {
        if protocol > self.hard_state.protocol {
            self.hard_state.protocol = protocol;
            self.host.note(&format!("protocol version {protocol} is in force"));
        }
        self.host.set_protocol(self.hard_state.protocol);
    }
}

/// The version to bring into force: the newest one that all nodes speak. `None`: there is no higher one than now, or a node
/// is not known.
fn next_version(
    in_force: ProtocolVersion,
    nodes: impl IntoIterator<Item = Option<ProtocolRange>>,
) -> Option<ProtocolVersion> {
    let newest = nodes.into_iter().map(|node| node.map(|versions| versions.newest)).collect::<Option<Vec<_>>>()?;
    newest.into_iter().min().filter(|newest| *newest > in_force)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The version after 7, of nodes with these newest versions; 0: the node is not known.
    fn next(newest: &[u8]) -> Option<u8> {
        let lowest = ProtocolVersion(7);
        let range = |newest: &u8| (*newest > 0).then_some(ProtocolRange { lowest, newest: ProtocolVersion(*newest) });
        next_version(ProtocolVersion(7), newest.iter().map(range)).map(|version| version.0)
    }

    #[test]
    fn the_newest_version_of_all_nodes_is_next() {
        assert_eq!(next(&[8, 8, 8]), Some(8));
        assert_eq!(next(&[8]), Some(8), "a node alone");
        assert_eq!(next(&[8, 9, 10]), Some(8));
    }

    #[test]
    fn a_node_of_the_previous_release_or_an_unknown_one_holds_it_back() {
        assert_eq!(next(&[8, 7, 8]), None);
        assert_eq!(next(&[8, 0, 8]), None);
        assert_eq!(next(&[7, 7]), None);
    }
}
