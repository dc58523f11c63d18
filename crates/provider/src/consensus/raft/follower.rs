//! The follower: receives entries from the leader.

use super::{Action, Append, FollowerState, LogId, Message, Raft, State};
use crate::consensus::NodeId;
use crate::log::Index;

impl Raft {
    pub(super) fn on_append(&mut self, from: NodeId, append: &Append, out: &mut Vec<Action>) {
        if append.term < self.term {
            return self.reject_append(from, append.round, self.commit_index, out);
        }
        if append.term == self.term && self.leader.is_some_and(|leader| leader != from) {
            // A term has one leader. The sender is not it.
            return;
        }
        if append.term > self.term {
            self.update_term(append.term, out);
        }
        if self.leader != Some(from) || !matches!(self.state, State::Follower(_)) {
            self.become_follower(Some(from), out);
        }
        self.last_contact_ms = self.now_ms;
        self.reset_election_timer();
        if let Some(mismatch) = self.find_history_mismatch(append) {
            return out.push(mismatch);
        }
        match self.find_conflict(append) {
            Some(hint) => self.reject_append(from, append.round, hint, out),
            None => self.append_entries(append, out),
        }
    }

    /// Below the commit index the logs are equal (leader completeness, 3.6.3), so nothing there needs a comparison. Where
    /// both terms are known, they are compared all the same: a node whose disk breaks this rule must not continue.
    fn find_history_mismatch(&self, append: &Append) -> Option<Action> {
        let prev = append.prev_log_id;
        if prev.index > self.commit_index || prev.index == Index(0) {
            return None;
        }
        let term = self.log_meta.term_at(prev.index).filter(|term| *term != prev.term)?;
        Some(Action::HistoryMismatch { here: LogId { term, index: prev.index }, leader: prev.term })
    }

    /// None: the log holds `prev_log_id`. Some: the leader should retry from the entry after this index. Committed
    /// entries are the same on both, so the hint is never before them.
    fn find_conflict(&self, append: &Append) -> Option<Index> {
        let prev = append.prev_log_id;
        if prev.index <= self.commit_index {
            return None;
        }
        let hint = match self.log_meta.term_at(prev.index) {
            None => self.log_meta.last().index,
            Some(term) if term == prev.term => return None,
            // Up to this index, all entries of the leader are of that term or an earlier one.
            Some(term) if term > prev.term => self.log_meta.last_not_later(prev.index, prev.term),
            // The leader may hold a part of that run; where the part ends is unknown here.
            Some(_) => self.log_meta.last_before_run(prev.index),
        };
        Some(hint.max(self.commit_index))
    }

    fn append_entries(&mut self, append: &Append, out: &mut Vec<Action>) {
        let prev = append.prev_log_id.index.0;
        // Skips committed entries: they cannot differ, and must not be truncated.
        let committed = usize::try_from(self.commit_index.0.saturating_sub(prev)).unwrap_or(usize::MAX);
        let mut skip = committed.min(append.entries.len());
        let index_of = |nth: usize| Index(prev + 1 + nth as u64);
        let has = |nth: usize| self.log_meta.term_at(index_of(nth)) == Some(append.entries[nth].term);
        while skip < append.entries.len() && has(skip) {
            skip += 1;
        }
        if skip < append.entries.len() {
            let from = index_of(skip);
            if from <= self.log_meta.last().index {
                self.log_meta.truncate(from);
                self.durable_index = self.durable_index.min(Index(from.0 - 1));
                if let State::Follower(follower) = &mut self.state {
                    follower.match_index = follower.match_index.min(Index(from.0 - 1));
                }
                out.push(Action::Truncate { from });
            }
            for entry in &append.entries[skip..] {
                self.log_meta.push(entry);
            }
            self.add_pending_memberships(from, out);
            out.push(Action::WriteEntries { skip, first: from });
        }
        let State::Follower(follower) = &mut self.state else { return };
        let end = Index(prev + append.entries.len() as u64);
        follower.match_index = follower.match_index.max(end).max(self.commit_index);
        follower.round = follower.round.max(append.round);
        self.commit_index = self.commit_index.max(append.leader_commit.min(follower.match_index));
        follower.leader_commit = Some(append.leader_commit);
        self.check_recovery(out);
        self.send_append_reply(out);
        self.update_apply_bound(out);
    }

    /// More of the log has become durable: tells the leader.
    pub(super) fn on_follower_durable(&mut self, out: &mut Vec<Action>) {
        if self.leader.is_some() && matches!(self.state, State::Follower(_)) {
            self.check_recovery(out);
            self.send_append_reply(out);
        }
    }

    /// Tells the leader how much of its log is durable here, if that or the round is new.
    fn send_append_reply(&mut self, out: &mut Vec<Action>) {
        let last = self.log_meta.last().index;
        let State::Follower(FollowerState { match_index: matched, round, last_reply: answered, .. }) = &mut self.state
        else {
            return;
        };
        let Some(leader) = self.leader else { return };
        let upto = (*matched).min(self.durable_index);
        if answered.is_none_or(|(round_before, upto_before)| *round > round_before || upto > upto_before) {
            *answered = Some((*round, upto));
            let message = Message::AppendReply { term: self.term, round: *round, is_accepted: true, upto, last };
            out.push(Action::Send { to: leader, message });
        }
    }

    fn reject_append(&self, to: NodeId, round: u64, upto: Index, out: &mut Vec<Action>) {
        let (term, last) = (self.term, self.log_meta.last().index);
        out.push(Action::Send { to, message: Message::AppendReply { term, round, is_accepted: false, upto, last } });
    }
}
