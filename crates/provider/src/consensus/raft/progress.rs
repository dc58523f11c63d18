//! The leader's view of another node, and the messages to it.

use super::{Action, Append, LogId, Message, Term, log_meta::LogMeta};
use crate::consensus::NodeId;
use crate::log::Index;

/// Limit of entries that are sent and not acknowledged as durable.
const IN_FLIGHT_LIMIT_ENTRIES: u64 = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProgressState {
    /// The match index is unknown: sends one empty append at a time to find it.
    Probe,
    /// Sends entries without waiting for replies.
    Replicate,
    /// The next entry is purged here.
    NeedsSnapshot,
}

pub(super) struct Progress {
    /// Its log equals the leader's up to here, durably.
    pub(super) match_index: Index,
    /// The next entry to send.
    pub(super) next_index: Index,
    pub(super) state: ProgressState,
    /// Time of its last message.
    pub(super) last_contact_ms: u64,
    /// When it had everything, or took entries, the last time.
    pub(super) last_level_ms: u64,
    /// The latest round that it has answered.
    pub(super) answered_round: u64,
    /// Rejections of earlier rounds are stale.
    probe_round: u64,
    /// The last commit index sent to it.
    pub(super) sent_commit: Index,
    /// The entry that removed its vote. The leader keeps sending until the node knows that this is committed.
    pub(super) removed_at: Option<Index>,
}

/// The leader's fields of each append.
pub(super) struct AppendHeader<'a> {
    pub(super) term: Term,
    pub(super) leader_commit: Index,
    pub(super) round: u64,
    pub(super) log_meta: &'a LogMeta,
}

impl Progress {
    pub(super) fn new(log_meta: &LogMeta, now_ms: u64, round: u64) -> Self {
        Self {
            match_index: Index(0),
            next_index: log_meta.last().index.next(),
            state: ProgressState::Probe,
            last_contact_ms: now_ms,
            last_level_ms: now_ms,
            answered_round: 0,
            probe_round: round,
            sent_commit: Index(0),
            removed_at: None,
        }
    }

    /// Sends entries up to the in-flight limit.
    pub(super) fn send_entries(&mut self, to: NodeId, header: &AppendHeader<'_>, out: &mut Vec<Action>) {
        if self.state != ProgressState::Replicate {
            return;
        }
        let Some(prev) = self.prev_log_id(header.log_meta) else { return };
        let limit = Index(self.match_index.0.saturating_add(IN_FLIGHT_LIMIT_ENTRIES));
        let upto = header.log_meta.last().index.min(limit);
        if upto < self.next_index {
            return;
        }
        let (term, committed, round) = (header.term, header.leader_commit, header.round);
        out.push(Action::SendEntries {
            to,
            term,
            prev_log_id: prev,
            first: self.next_index,
            upto,
            leader_commit: committed,
            round,
        });
        self.next_index = upto.next();
        self.sent_commit = committed;
    }

    /// Sends a heartbeat: carries the commit index, and detects lost appends.
    pub(super) fn send_heartbeat(&mut self, to: NodeId, header: &AppendHeader<'_>, out: &mut Vec<Action>) {
        if self.state != ProgressState::Replicate {
            self.probe_round = header.round;
        }
        let prev = self.prev_log_id(header.log_meta).unwrap_or(header.log_meta.last_purged());
        let (term, committed, round) = (header.term, header.leader_commit, header.round);
        let append = Append { term, prev_log_id: prev, leader_commit: committed, round, entries: Vec::new() };
        out.push(Action::Send { to, message: Message::Append(append) });
        self.sent_commit = committed;
    }

    /// The node holds everything up to `upto`, durably.
    pub(super) fn on_accepted(&mut self, round: u64, upto: Index, now_ms: u64) {
        if upto > self.match_index {
            self.last_level_ms = now_ms;
        }
        self.match_index = self.match_index.max(upto);
        self.next_index = self.next_index.max(self.match_index.next());
        if round >= self.probe_round {
            self.state = ProgressState::Replicate;
        }
    }

    /// The node lacks `prev_log_id`; its log may match up to `hint`, and ends at `last`. True: probe again from there.
    /// `next_round` is unused so far.
    pub(super) fn on_rejected(
        &mut self,
        round: u64,
        (hint, last): (Index, Index),
        next_round: u64,
        log_meta: &LogMeta,
    ) -> bool {
        if round < self.probe_round {
            return false;
        }
        // It has lost entries that it had acknowledged: they do not count any more.
        self.match_index = self.match_index.min(last);
        let has = hint.max(self.match_index).min(log_meta.last().index);
        self.probe_round = next_round;
        let last_purged = log_meta.last_purged().index;
        if has < last_purged && self.next_index > last_purged.next() && last >= last_purged {
            // The hint skips a whole term, and may skip the last entry that both logs have.
            self.state = ProgressState::Probe;
            self.next_index = last_purged.next();
            return true;
        }
        if has < last_purged {
            self.state = ProgressState::NeedsSnapshot;
            self.next_index = log_meta.last_purged().index.next();
            return false;
        }
        self.state = ProgressState::Probe;
        self.next_index = has.next();
        true
    }

    /// Appends without reply count as lost.
    pub(super) fn become_probe(&mut self) {
        if self.state == ProgressState::Replicate {
            self.next_index = self.match_index.next();
            self.state = ProgressState::Probe;
        }
    }

    /// The entry before the next one to send. None: it is purged.
    fn prev_log_id(&mut self, log_meta: &LogMeta) -> Option<LogId> {
        let prev = log_meta.log_id(Index(self.next_index.0 - 1));
        if prev.is_none() {
            self.state = ProgressState::NeedsSnapshot;
            self.next_index = log_meta.last_purged().index.next();
        }
        prev
    }
}
