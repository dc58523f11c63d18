//! The leader's views: proposes the next one when the members have changed.

use super::Replica;
use super::host::Host;
use super::leader::NEW_LEADER_GRACE_TIMEOUT_MS;
use super::next_view::next_view;
use crate::consensus::wire::MemberStatus;
use crate::entry;
use crate::identity::Uuid;
use crate::server::Member;

impl<H: Host> Replica<H> {
    /// Proposes a new view if the members have changed. True: one is in flight.
    pub(super) fn reconcile_view(&mut self) -> bool {
        let view = self.host.with_order(|order| (order.members().to_vec(), order.view_number));
        let Some((current, number)) = view else { return false };
        if self.is_witness && current.is_empty() {
            // Its log begins after the view.
            return false;
        }
        let as_member = |member_status: &MemberStatus, name: &str, incoming: &str| {
            member_status.wants_view.then(|| Member {
                id: member_status.member_id,
                name: name.to_owned(),
                incoming: incoming.to_owned(),
            })
        };
        let own = (!self.leave.is_leaving).then(|| self.host.own_member());
        let own = own.and_then(|own| as_member(&self.member_status(), &own.name, &own.incoming));
        // A report from before this leader's election may be of a node whose member ID was excluded since: commit cuts have
        // not waited for it.
        let led_since = self.leader_duties.as_ref().map_or(0, |leader_duties| leader_duties.since_ms);
        let others = self.peers.iter().filter_map(|(node, peer)| {
            let may = self.hard_state.voters.contains_key(node) && peer.unlinked_since_ms.is_none() && !peer.is_leaving;
            let (member_status, _) = peer.status.as_ref().filter(|(_, at)| may && *at >= led_since)?;
            as_member(member_status, &peer.hello.name, &peer.hello.incoming)
        });
        match next_view(&current, |member_id| self.is_member_present(member_id), own.into_iter().chain(others)) {
            Some(members) => self.propose(entry::encode_view(number + 1, &members), None),
            None => false,
        }
    }

    /// Whether a member of the view is still there.
    pub(super) fn is_member_present(&self, member_id: Uuid) -> bool {
        if member_id == self.host.member_id() {
            return !self.leave.is_leaving;
        }
        let now = self.now_ms();
        let peer = self
            .peers
            .values()
            .find(|peer| peer.status.as_ref().is_some_and(|(member_status, _)| member_status.member_id == member_id));
        match peer {
            Some(peer) => peer.is_present(now) && !peer.is_leaving,
            None => {
                // The node has a newer member ID, which ends this one.
                let since = self.leader_duties.as_ref().map_or(now, |leader_duties| leader_duties.since_ms);
                let have_all_reported = self.hard_state.voters.keys().all(|node| {
                    *node == self.own_node() || self.peers.get(node).is_some_and(|peer| peer.status.is_some())
                });
                !have_all_reported && now - since < NEW_LEADER_GRACE_TIMEOUT_MS
            }
        }
    }
}
