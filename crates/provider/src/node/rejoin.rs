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
//!
//! The server rolls back in a thread of its own, one transaction after the other: first it removes the fragments from its
//! table, then it releases the locks. While it opens fragments again it has the rows of that table locked, and applies
//! them. If both happen at once, each can wait for the other, for ever. So the node waits between the two until the table
//! has none of its fragments. The wsrep API does not tell this; the server's SQL service does. With a server that has no
//! such service there is a pause ([`rollback_time`]).

use std::time::{Duration, Instant};

use super::{Node, lock};
use crate::identity::{Gtid, Uuid};
use crate::server::{CallbackError, Level, Member, Receiver, View, ViewStatus};

/// Between two looks at the server's table of fragments.
const ROLLBACK_POLL: Duration = Duration::from_millis(50);
/// Between two notes that the node waits.
const NOTE_INTERVAL: Duration = Duration::from_mins(1);
/// A server that has removed no fragments for so long will not: something else is wrong.
const LONGEST_WAIT: Duration = Duration::from_hours(2);

/// The time in which the server rolls back the open streaming transactions, each with its number of fragments, also on a
/// slow and busy machine.
fn rollback_time(streaming: &[u64]) -> Duration {
    const LEAST: Duration = Duration::from_secs(2);
    const OF_TRANSACTION: Duration = Duration::from_millis(20);
    const OF_FRAGMENT: Duration = Duration::from_millis(2);
    const LONGEST: Duration = Duration::from_mins(1);
    let times = |of_one: Duration, count: u64| of_one.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX));
    if streaming.is_empty() {
        return Duration::ZERO;
    }
    let fragments = streaming.iter().sum();
    let time = LEAST + times(OF_TRANSACTION, streaming.len() as u64);
    time.saturating_add(times(OF_FRAGMENT, fragments)).min(LONGEST)
}

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
        self.wait_for_rollbacks();
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

    /// Waits until the server has removed the fragments of its clients. Ends early if the node leaves.
    fn wait_for_rollbacks(&self) {
        let former_id = self.server_member_id();
        let begun = Instant::now();
        let pause = rollback_time(&self.transactions.streaming());
        let mut notes = 0;
        loop {
            match self.server.fragments_of(former_id) {
                Some(0) => break,
                Some(fragments) if begun.elapsed() < LONGEST_WAIT => {
                    if begun.elapsed() >= notes * NOTE_INTERVAL {
                        notes += 1;
                        self.note(&format!(
                            "waits for the server's rollback of streaming transactions: {fragments} fragments"
                        ));
                    }
                }
                Some(fragments) => {
                    let text = format!("{fragments} fragments of {former_id} are still in mysql.wsrep_streaming_log");
                    self.server.log(Level::Warning, &format!("{text} after {LONGEST_WAIT:?}: the node goes on"));
                    break;
                }
                None if begun.elapsed() < pause && !self.transactions.streaming().is_empty() => {}
                None => break,
            }
            if self.recv_queue.wait_for_leave(ROLLBACK_POLL) {
                return;
            }
        }
        if notes > 0 {
            self.note(&format!("the streaming transactions were rolled back in {:.1?}", begun.elapsed()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rollbacks_get_time_for_what_is_open() {
        assert_eq!(rollback_time(&[]), Duration::ZERO);
        assert_eq!(rollback_time(&[1]), Duration::from_millis(2_022));
        assert_eq!(rollback_time(&[1; 200]), Duration::from_millis(6_400));
        assert_eq!(rollback_time(&[u64::MAX / 2]), Duration::from_mins(1));
    }
}
