//! Pending memberships: those that this node has accepted, and whose entries it may lose with the end of its log, or never
//! get to its disk.
//!
//! A leader commits entries with a majority of the latest voters in its log. A node that has lost the entry of these
//! voters must still name them to a candidate ([`super::recovering`](super)), so the hard state has them before the log.
//!
//! # How long a membership is pending
//!
//! Until the node's durable log has a committed entry of a later term, or one of the same term behind the membership. Then
//! the log has everything that was committed with these voters, or it has the membership itself, and the hard state names
//! it as the committed one.
//!
//! A committed membership is enough for all earlier ones: its majority has acknowledged everything before it. A leader adds
//! a membership only when the previous one is committed, so of those in a log, the last two are pending. With those that
//! leaders of other terms had added and that were truncated, this is a short list.

use super::{Action, LogId, Membership, Raft};
use crate::log::Index;

/// A membership, and the entry that sets it.
pub type PendingMembership = (LogId, Membership);

impl Raft {
    /// Memberships that this node has accepted and may lose: for the next [`super::InitialState`].
    #[must_use]
    pub fn pending_memberships(&self) -> &[PendingMembership] {
        &self.pending_memberships
    }

    /// The entries from `first` on are new in the log. The hard state gets the memberships among them before the log does.
    pub(super) fn add_pending_memberships(&mut self, first: Index, out: &mut Vec<Action>) {
        let pending = &mut self.pending_memberships;
        let before = pending.len();
        for (log_id, membership) in self.log_meta.memberships_from(first) {
            if !pending.iter().any(|(known, _)| *known == log_id) {
                pending.push((log_id, membership));
            }
        }
        if pending.len() == before {
            return;
        }
        if let Some(previous) = self.log_meta.previous_membership_index() {
            let log_meta = &self.log_meta;
            pending.retain(|(log_id, _)| log_id.index >= previous || !log_meta.holds(*log_id));
        }
        out.push(Action::SavePendingMemberships { memberships: self.pending_memberships.clone() });
    }

    /// The log is committed and durable up to `upto`.
    pub(super) fn settle_pending_memberships(&mut self, upto: Index, out: &mut Vec<Action>) {
        let Some(term) = self.log_meta.term_at(upto) else { return };
        let before = self.pending_memberships.len();
        self.pending_memberships.retain(|(log_id, _)| log_id.term > term || log_id.term == term && log_id.index > upto);
        if self.pending_memberships.len() < before {
            out.push(Action::SettlePendingMemberships { memberships: self.pending_memberships.clone() });
        }
    }

    /// All memberships that this node knows: the last committed one, those behind it in the log, and the pending ones.
    pub(super) fn known_memberships(&self) -> Vec<Membership> {
        let mut known: Vec<Membership> = Vec::new();
        let pending = self.pending_memberships.iter().map(|(_, membership)| membership);
        for membership in self.log_meta.memberships().chain(pending) {
            if !known.contains(membership) {
                known.push(membership.clone());
            }
        }
        known
    }
}
