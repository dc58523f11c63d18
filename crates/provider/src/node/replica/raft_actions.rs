//! Carries out what Raft asks for.

use super::Replica;
use super::host::Host;
use crate::consensus::NodeId;
use crate::consensus::raft::{Action, Append};
use crate::consensus::wire::{BATCH_LIMIT_BYTES, Frame};
use crate::entry;
use crate::log::{self, Index};

/// Limit of queued bytes of entries for one node.
const IN_FLIGHT_LIMIT_BYTES: usize = 16 << 20;

impl<H: Host> Replica<H> {
    /// Runs actions until there are none and everything appended is durable, for rare changes that need that at once.
    pub(super) fn run_actions_and_sync(&mut self, actions: &mut Vec<Action>) {
        loop {
            self.run_actions(actions, None);
            if !self.round.has_unsynced || self.round.is_stopped {
                return;
            }
            self.raft.broadcast_append(actions);
            self.run_actions(actions, None);
            self.sync_appended(actions);
        }
    }

    /// Runs actions until there are none, without the sync. `arrived`: the payloads of a received append.
    pub(super) fn run_actions(&mut self, actions: &mut Vec<Action>, mut arrived: Option<Vec<Vec<u8>>>) {
        while !actions.is_empty() {
            for action in std::mem::take(actions) {
                // After a failed write, later entries must not take its place.
                if self.round.is_stopped {
                    return;
                }
                self.run_action(action, &mut arrived, actions);
            }
        }
    }

    /// One sync for everything appended.
    fn sync_appended(&mut self, actions: &mut Vec<Action>) {
        self.round.has_unsynced = false;
        if !self.host.has_log() {
            return;
        }
        let last = self.raft.last();
        // The other nodes write at the same time.
        self.host.flush_links();
        match self.host.flush() {
            Ok(()) => self.raft.on_durable(last, actions),
            Err(error) => self.fail(&format!("the log cannot be written: {error}")),
        }
    }

    pub(super) fn run_action(&mut self, action: Action, arrived: &mut Option<Vec<Vec<u8>>>, actions: &mut Vec<Action>) {
        match action {
            Action::SaveHardState { term, voted_for } => {
                (self.hard_state.term, self.hard_state.voted_for) = (term, voted_for);
                self.save_hard_state();
            }
            Action::SavePendingMemberships { memberships } => {
                self.hard_state.pending_memberships = memberships;
                self.save_hard_state();
            }
            Action::SettlePendingMemberships { memberships } => self.hard_state.pending_memberships = memberships,
            Action::Truncate { from } => {
                if let Err(error) = self.host.truncate(from) {
                    self.fail(&format!("the uncommitted end of the log cannot be truncated: {error}"));
                }
            }
            Action::WriteEntries { skip, first } => {
                let Some((_, last)) = self.host.bounds() else { return };
                if last.next() != first {
                    return self
                        .fail(&format!("the log ends at index {last}, but the next entry is for index {first}"));
                }
                for bytes in arrived.take().unwrap_or_default().iter().skip(skip) {
                    if let Err(error) = self.host.throttle().and_then(|()| self.host.append(bytes)) {
                        self.fail(&format!("the log cannot be appended to: {error}"));
                        return;
                    }
                }
                self.round.has_unsynced = true;
            }
            Action::Send { to, message } => {
                self.host.send(to, &Frame::Raft { message, payloads: Vec::new() });
            }
            Action::SendEntries { to, term, prev_log_id: before, first, upto, leader_commit: committed, round } => {
                let append = Append { term, prev_log_id: before, leader_commit: committed, round, entries: Vec::new() };
                self.send_entries(to, append, (first, upto), actions);
            }
            Action::Committed { upto } => {
                self.status.apply_bound = upto;
                self.take_committed_membership();
            }
            Action::LeaderChanged { term, leader } => self.on_leader_changed(term, leader, actions),
            Action::BecameLeader { term } => self.on_became_leader(term),
            Action::Recovered => match self.host.confirm_tail() {
                Ok(()) => self.host.note("the log has no gap any more: this node votes as usual"),
                Err(error) => self.fail(&format!("the log cannot be written: {error}")),
            },
            Action::HistoryMismatch { here, leader } => self.fail(&format!(
                "entry {} is committed in the log of this node with {:?}, but the leader's log has {leader:?} there: \
                 one of the two has lost confirmed transactions, or belongs to another cluster. Compare the data; then \
                 move the files hortator* out of the data folder of the node that is to give up its own, and start it: \
                 it joins again",
                here.index, here.term
            )),
            Action::SnapshotRequired { node, .. } => {
                self.host.send(node, &Frame::SnapshotRequired);
            }
            Action::ReadIndexReady { round, upto } => self.on_read_index_ready(round, upto),
        }
    }

    pub(super) fn save_hard_state(&mut self) {
        self.hard_state.committed = self.status.apply_bound.max(self.hard_state.committed);
        if let Err(error) = self.host.save_hard_state(&self.hard_state) {
            self.fail(&error.to_string());
        }
    }

    /// Sends as many entries as fit into one message; the rest follows while the send queue has room.
    fn send_entries(
        &mut self,
        to: NodeId,
        mut append: Append,
        (first, upto): (Index, Index),
        actions: &mut Vec<Action>,
    ) {
        if self.host.queued_bytes(to) > IN_FLIGHT_LIMIT_BYTES {
            // The next reply from the node continues.
            self.raft.on_partial_send(to, append.prev_log_id.index);
            return;
        }
        if !self.host.has_log() {
            return;
        }
        let entries = match self.host.entries(first, BATCH_LIMIT_BYTES) {
            Ok(entries) => entries,
            Err(error) => {
                // Nothing was sent: the next reply from the node tries again.
                self.raft.on_partial_send(to, append.prev_log_id.index);
                self.host.note(&format!("entries from index {first} on cannot be sent to {to}: {error}"));
                return;
            }
        };
        let mut payloads = Vec::with_capacity(entries.len());
        for (index, bytes) in entries.into_iter().take_while(|(index, _)| *index <= upto) {
            let Ok((_, shape)) = entry::meta(&bytes) else {
                self.fail(&format!("entry {index} of the log is not valid"));
                return;
            };
            append.entries.push(shape);
            payloads.push(bytes);
        }
        let sent = Index(first.0 + payloads.len() as u64 - 1);
        if self.host.send_append(to, &append, &payloads) && sent < upto {
            self.raft.on_partial_send(to, sent);
            self.raft.resume_sending(to, actions);
        }
    }

    /// Syncs the whole log without a report to Raft, which ends here or restarts. False: it failed.
    pub(super) fn sync_log(&mut self) -> bool {
        self.sync_log_by(H::flush)
    }

    /// The same, also with sync off: the hard state is about to name the end of the log.
    pub(super) fn sync_log_to_disk(&mut self) -> bool {
        self.sync_log_by(H::flush_to_disk)
    }

    fn sync_log_by(&mut self, flush: impl FnOnce(&mut H) -> Result<(), log::Error>) -> bool {
        self.round.has_unsynced = false;
        if !self.host.has_log() {
            return true;
        }
        let result = flush(&mut self.host);
        if let Err(error) = &result {
            self.fail(&format!("the log cannot be written: {error}"));
        }
        result.is_ok()
    }
}
