//! The server's member ID after a loss of the quorum.
//!
//! The node gets its new member ID when it loses the quorum. Its server keeps the former one: entries with that may still be
//! ordered, and the server's table of fragments names it. The first view without the former one ends it, at the same seqno
//! on all nodes: no later entry with it passes. There the server gets
//!
//! ```text
//!   a view without this node   rolls back what its clients have open as fragments, as the other nodes do
//!   the final view             forgets its member ID; closes the open fragments of other nodes, which stay in its table
//!   connected                  has the new member ID
//!   the ordered view           opens the fragments of other nodes again
//! ```
//!
//! So no view contains two member IDs of one node, and none returns.

use super::{Node, lock};
use crate::identity::{Gtid, Uuid};
use crate::server::{CallbackError, Member, Receiver, View, ViewStatus};

impl Node {
    /// Whether the view ends the member ID that the server knows.
    pub(super) fn has_left(&self, members: &[Member]) -> bool {
        let server_id = self.server_member_id();
        let is_former = server_id != self.member_id();
        // A server that stops waits for its own final view.
        let stays = self.cluster().is_some_and(|cluster| !cluster.is_leaving());
        is_former && stays && members.iter().all(|member| member.id != server_id)
    }

    /// Gives the server the member ID `own_id`, right before the view at `state`, which has these members.
    pub(super) fn take_new_member_id(
        &self,
        receiver: Receiver,
        own_id: Uuid,
        state: Gtid,
        members: &[Member],
    ) -> Result<(), CallbackError> {
        let number = lock(&self.order).as_ref().map_or(-1, |order_state| order_state.order.view_number);
        // The turn of the view has come, so everything before it is applied.
        let state = Gtid { seqno: state.seqno - 1, ..state };
        let mut others: Vec<Member> = members.iter().filter(|member| member.id != own_id).cloned().collect();
        others.push(self.placeholder_member()?);
        let without = View { state, number, status: ViewStatus::Primary, own_index: -1, members: others };
        self.deliver_to_server(receiver, &without)?;
        let before = self.server.stop_mark();
        let last = View { state, number, status: ViewStatus::Disconnected, own_index: -1, members: Vec::new() };
        self.deliver_to_server(receiver, &last)?;
        self.report_connected_as(own_id, state)?;
        if self.server.stop_mark() != before {
            // A server that stopped between the two calls took itself for disconnected, and waits for these threads only.
            self.disconnect();
        }
        Ok(())
    }
}
