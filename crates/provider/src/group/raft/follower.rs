//! A follower takes its leader's entries.

use super::{Action, Append, Following, Message, Raft, State};
use crate::group::NodeId;
use crate::log::Index;

impl Raft {
    pub(super) fn take_entries(&mut self, from: NodeId, append: &Append, out: &mut Vec<Action>) {
        if append.term < self.term {
            return self.refuse(from, append.round, self.agreed, out);
        }
        if append.term == self.term && self.leader.is_some_and(|leader| leader != from) {
            // There is one leader a term; whoever this is, it is none.
            return;
        }
        if append.term > self.term {
            self.adopt(append.term, out);
        }
        if self.leader != Some(from) || !matches!(self.state, State::Follower(_)) {
            self.follow(Some(from), out);
        }
        self.heard_ms = self.now_ms;
        self.put_off_election();
        match self.where_it_differs(append) {
            Some(hint) => self.refuse(from, append.round, hint, out),
            None => self.take(append, out),
        }
    }

    /// None: the log has the entry that stands before. Some: the leader should try from behind here. What is
    /// committed is the same at both, so never farther back than that.
    fn where_it_differs(&self, append: &Append) -> Option<Index> {
        let before = append.before;
        if before.index <= self.agreed {
            return None;
        }
        let hint = match self.shapes.term_at(before.index) {
            None => self.shapes.last().index,
            Some(term) if term == before.term => return None,
            // All the leader has up to there is of that term or earlier.
            Some(term) if term > before.term => self.shapes.last_not_later(before.index, before.term),
            // The leader may have a part of that run, but where it ends cannot be known here.
            Some(_) => self.shapes.before_run(before.index),
        };
        Some(hint.max(self.agreed))
    }

    fn take(&mut self, append: &Append, out: &mut Vec<Action>) {
        let before = append.before.index.0;
        // Never looks at what is committed: that cannot differ, and must not be cut off.
        let committed = usize::try_from(self.agreed.0.saturating_sub(before)).unwrap_or(usize::MAX);
        let mut skip = committed.min(append.entries.len());
        let place_of = |nth: usize| Index(before + 1 + nth as u64);
        let has = |nth: usize| self.shapes.term_at(place_of(nth)) == Some(append.entries[nth].term);
        while skip < append.entries.len() && has(skip) {
            skip += 1;
        }
        let State::Follower(following) = &mut self.state else { return };
        if skip < append.entries.len() {
            let from = place_of(skip);
            if from <= self.shapes.last().index {
                self.shapes.truncate(from);
                self.safe = self.safe.min(Index(from.0 - 1));
                following.matched = following.matched.min(Index(from.0 - 1));
                out.push(Action::Truncate { from });
            }
            for entry in &append.entries[skip..] {
                self.shapes.push(entry);
            }
            out.push(Action::Store { skip, first: from });
        }
        let end = Index(before + append.entries.len() as u64);
        following.matched = following.matched.max(end).max(self.agreed);
        following.round = following.round.max(append.round);
        self.agreed = self.agreed.max(append.committed.min(following.matched));
        self.answer(out);
        self.tell(out);
    }

    /// More of the log is safe: the leader wants to know.
    pub(super) fn answer_stored(&mut self, out: &mut Vec<Action>) {
        if self.leader.is_some() && matches!(self.state, State::Follower(_)) {
            self.answer(out);
        }
    }

    /// Says how much of the leader's log is safe here, if that, or its round, is news.
    fn answer(&mut self, out: &mut Vec<Action>) {
        let State::Follower(Following { matched, round, answered }) = &mut self.state else { return };
        let Some(leader) = self.leader else { return };
        let upto = (*matched).min(self.safe);
        if answered.is_none_or(|(round_before, upto_before)| *round > round_before || upto > upto_before) {
            *answered = Some((*round, upto));
            let message = Message::AppendReply { term: self.term, round: *round, is_taken: true, upto };
            out.push(Action::Send { to: leader, message });
        }
    }

    fn refuse(&self, to: NodeId, round: u64, upto: Index, out: &mut Vec<Action>) {
        out.push(Action::Send { to, message: Message::AppendReply { term: self.term, round, is_taken: false, upto } });
    }
}
