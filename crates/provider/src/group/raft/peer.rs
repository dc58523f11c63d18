//! What a leader knows of another node, and what it sends there.

use super::{Action, Append, Message, Place, Term, shapes::Shapes};
use crate::group::NodeId;
use crate::log::Index;

/// Entries sent to a node that has not said yet that they are safe there.
const IN_FLIGHT_LIMIT_ENTRIES: u64 = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Where its log stops being ours is not known: one empty message at a time looks for that.
    Probe,
    /// Entries are sent without waiting for answers.
    Replicate,
    /// What it needs is purged here.
    Behind,
}

pub(super) struct Peer {
    /// Its log is ours up to here, and safe.
    pub(super) matched: Index,
    /// The next entry to be sent.
    pub(super) next: Index,
    pub(super) standing: Standing,
    /// When it was heard last.
    pub(super) heard_ms: u64,
    /// The newest round it answered.
    pub(super) answered_round: u64,
    /// A refusal of an earlier round is old news.
    probe_round: u64,
    /// The commit index it was sent last.
    pub(super) knows_committed: Index,
    /// The entry that took its vote away: it is kept on until it knows that this is committed.
    pub(super) leaving: Option<Index>,
}

/// What is said of the leader in every message.
pub(super) struct Said<'a> {
    pub(super) term: Term,
    pub(super) committed: Index,
    pub(super) round: u64,
    pub(super) shapes: &'a Shapes,
}

impl Peer {
    pub(super) fn new(shapes: &Shapes, now_ms: u64, round: u64) -> Self {
        Self {
            matched: Index(0),
            next: shapes.last().index.next(),
            standing: Standing::Probe,
            heard_ms: now_ms,
            answered_round: 0,
            probe_round: round,
            knows_committed: Index(0),
            leaving: None,
        }
    }

    /// Entries, as many as may be under way.
    pub(super) fn offer(&mut self, to: NodeId, said: &Said<'_>, out: &mut Vec<Action>) {
        if self.standing != Standing::Replicate {
            return;
        }
        let Some(before) = self.before(said.shapes) else { return };
        let limit = Index(self.matched.0.saturating_add(IN_FLIGHT_LIMIT_ENTRIES));
        let upto = said.shapes.last().index.min(limit);
        if upto < self.next {
            return;
        }
        let (term, committed, round) = (said.term, said.committed, said.round);
        out.push(Action::SendEntries { to, term, before, first: self.next, upto, committed, round });
        self.next = upto.next();
        self.knows_committed = committed;
    }

    /// A heartbeat: it says what is committed, and finds out whether what was sent has come.
    pub(super) fn beat(&mut self, to: NodeId, said: &Said<'_>, out: &mut Vec<Action>) {
        if self.standing != Standing::Replicate {
            self.probe_round = said.round;
        }
        let before = self.before(said.shapes).unwrap_or(said.shapes.base());
        let (term, committed, round) = (said.term, said.committed, said.round);
        let append = Append { term, before, committed, round, entries: Vec::new() };
        out.push(Action::Send { to, message: Message::Append(append) });
        self.knows_committed = committed;
    }

    /// It has all up to `upto`, safely.
    pub(super) fn took(&mut self, round: u64, upto: Index) {
        self.matched = self.matched.max(upto);
        self.next = self.next.max(self.matched.next());
        if round >= self.probe_round {
            self.standing = Standing::Replicate;
        }
    }

    /// It lacks what stood before; its log may be ours up to `hint`. True: ask again, from there. `next_round` has not
    /// been used yet.
    pub(super) fn refused(&mut self, round: u64, hint: Index, next_round: u64, shapes: &Shapes) -> bool {
        if round < self.probe_round {
            return false;
        }
        let has = hint.max(self.matched).min(shapes.last().index);
        self.probe_round = next_round;
        if has < shapes.base().index {
            self.standing = Standing::Behind;
            self.next = shapes.base().index.next();
            return false;
        }
        self.standing = Standing::Probe;
        self.next = has.next();
        true
    }

    /// What was sent and not answered is taken to be lost.
    pub(super) fn lost(&mut self) {
        if self.standing == Standing::Replicate {
            self.next = self.matched.next();
            self.standing = Standing::Probe;
        }
    }

    /// What stands before the next entry. None: that is purged; what can be sent begins at the base.
    fn before(&mut self, shapes: &Shapes) -> Option<Place> {
        let before = shapes.place(Index(self.next.0 - 1));
        if before.is_none() {
            self.standing = Standing::Behind;
            self.next = shapes.base().index.next();
        }
        before
    }
}
