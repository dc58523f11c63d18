//! Raft as a pure state machine.
//!
//! One [`Raft`] holds the state of one node. Its driver reports events (time, messages, durable log entries), and gets
//! back a list of [`Action`]s to run in order. The state machine sees no payloads: it knows the [`EntryMeta`] of each
//! entry, and stores a log of a million entries as a few runs of terms.
//!
//! | file | content | thesis |
//! |---|---|---|
//! | `election` | pre-vote, vote, elections | 3.4, 9.6 |
//! | `recovering` | logs that have lost acknowledged entries | 11 |
//! | `membership` | the voters, and how many votes each has | 4.1 |
//! | `pending_memberships` | memberships that a node may lose | |
//! | `follower` | appends, conflicts | 3.5 |
//! | `leader` | commit index, check quorum, removed voters | 3.6, 4.2, 6.2 |
//! | `calls` | calls to a leader: append, membership, ReadIndex, leadership transfer | 3.10, 4.1, 6.4 |
//! | `progress` | the leader's view of another node | 10.2 |
//! | `log_meta` | the log as runs of terms | |
//! | `message_check` | validation of messages | |
//!
//! *Absent*: clock, disk, network, threads, logging, payloads.
//!
//! # Invariants
//!
//! 1. No message of a peer causes a panic; invalid messages are dropped. Only misuse by the driver panics.
//! 2. [`Action::Committed`] is never ahead of this node's durable log, so tables are never ahead of the log.
//! 3. A reply covers durable entries only; the leader counts itself up to its own durable index.
//! 4. Committed entries are never truncated, whoever asks.

mod action;
mod calls;
mod election;
mod follower;
mod initial_state;
mod leader;
mod log_meta;
mod membership;
mod message;
mod message_check;
mod pending_memberships;
mod progress;
mod recovering;

#[cfg(test)]
mod tests;

pub use action::Action;
#[cfg(test)]
pub use calls::AppendError;
pub use election::Candidacy;
pub use initial_state::{InitialState, Timing};
use leader::LeaderState;
use log_meta::LogMeta;
pub use membership::{Membership, WEIGHT_LIMIT};
pub use message::{Append, EntryMeta, LogId, Message, Term};
use message_check::is_valid_message;
pub use pending_memberships::PendingMembership;
use recovering::Votes;

use crate::consensus::NodeId;
use crate::log::Index;

/// The role of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Appends entries.
    Leader,
    /// Follows a leader, or waits for one.
    Follower,
    /// Requests votes or pre-votes.
    Candidate,
}

enum State {
    Follower(FollowerState),
    /// Requests pre-votes.
    PreCandidate(Votes),
    /// Requests votes.
    Candidate(Votes),
    Leader(LeaderState),
}

/// A follower's view of the leader's log.
struct FollowerState {
    /// The log equals the leader's up to here.
    match_index: Index,
    /// The latest round received.
    round: u64,
    /// Round and index of the last reply.
    last_reply: Option<(u64, Index)>,
    /// The commit index in the latest accepted append. None: none was accepted.
    leader_commit: Option<Index>,
}

impl FollowerState {
    const fn new() -> Self {
        Self { match_index: Index(0), round: 0, last_reply: None, leader_commit: None }
    }
}

/// The Raft state of one node.
pub struct Raft {
    id: NodeId,
    timing: Timing,
    term: Term,
    voted_for: Option<NodeId>,
    log_meta: LogMeta,
    /// The log survives a crash up to here.
    durable_index: Index,
    /// Durable on a majority up to here.
    commit_index: Index,
    /// Committed, durable here and reported by [`Action::Committed`].
    apply_bound: Index,
    state: State,
    leader: Option<NodeId>,
    /// The log may lack entries that this node has acknowledged.
    is_recovering: bool,
    /// Accepted, and maybe not in the log after a crash.
    pending_memberships: Vec<PendingMembership>,
    /// A candidate has asked for this node's vote, and its log is behind this one's.
    is_ahead_of_candidate: bool,
    /// The last [`Action::LeaderChanged`].
    announced: (Term, Option<NodeId>),
    /// The latest time that the driver has reported.
    now_ms: u64,
    /// Time of the leader's last message.
    last_contact_ms: u64,
    election_at_ms: u64,
    /// Added to each election timeout of this node.
    candidacy_delay_ms: u64,
    candidacy: Candidacy,
    random: u64,
}

impl Raft {
    /// Starts as a follower without a leader. The whole log counts as durable.
    ///
    /// # Panics
    /// `start` is inconsistent: terms or indexes do not ascend.
    #[must_use]
    pub fn new(start: InitialState, timing: Timing, now_ms: u64) -> Self {
        let InitialState {
            id,
            term,
            voted_for,
            last_purged,
            term_runs,
            last,
            committed_membership,
            memberships,
            mut pending_memberships,
            commit_index: committed,
            has_lost_tail,
            seed,
        } = start;
        let settled_at = committed_membership.as_ref().map_or(Index(0), |(index, _)| *index);
        let committed = committed.max(last_purged.index).max(settled_at).min(last);
        if let Some((index, membership)) = committed_membership.as_ref().filter(|(index, _)| *index > last) {
            // Its entry is lost.
            let log_id = LogId { term, index: *index };
            pending_memberships.push((log_id, membership.clone()));
        }
        let in_log = memberships.into_iter().filter(|(index, _)| committed_membership.is_none() || *index > settled_at);
        let memberships = committed_membership.clone().into_iter().chain(in_log).collect();
        let log_meta = LogMeta::new(last_purged, term_runs, last, memberships);
        assert!(log_meta.last().term <= term, "the log has a later term than the hard state: restore the hard state");
        let state = State::Follower(FollowerState::new());
        let mut raft = Self {
            id,
            timing,
            term,
            voted_for,
            log_meta,
            durable_index: last,
            commit_index: committed,
            apply_bound: committed,
            state,
            leader: None,
            is_recovering: has_lost_tail,
            pending_memberships,
            is_ahead_of_candidate: false,
            announced: (term, None),
            now_ms,
            last_contact_ms: now_ms,
            election_at_ms: 0,
            candidacy_delay_ms: 0,
            candidacy: Candidacy::Free,
            random: seed,
        };
        raft.log_meta.drop_superseded(committed);
        raft.reset_election_timer();
        raft
    }

    /// This node starts elections that much later than others: it leads only if no other node can.
    pub fn delay_candidacy(&mut self, delay_ms: u64) {
        self.candidacy_delay_ms = delay_ms;
        self.reset_election_timer();
    }

    /// When this node may be elected. It grants votes all the same.
    pub fn set_candidacy(&mut self, candidacy: Candidacy) {
        self.candidacy = candidacy;
    }

    /// The driver's clock. Due at [`Raft::deadline_ms`]; earlier or later does no harm.
    pub fn tick(&mut self, now_ms: u64, out: &mut Vec<Action>) {
        self.now_ms = self.now_ms.max(now_ms);
        match self.state {
            State::Leader(_) => self.tick_leader(out),
            _ if self.now_ms >= self.election_at_ms => self.start_pre_vote(out),
            _ => {}
        }
    }

    /// When the next [`Raft::tick`] is due. None: not before another event.
    #[must_use]
    pub fn deadline_ms(&self) -> Option<u64> {
        match &self.state {
            State::Leader(leader_state) => Some(leader_state.heartbeat_at_ms),
            _ => self.is_promotable().then_some(self.election_at_ms),
        }
    }

    /// A message from another node.
    pub fn receive(&mut self, now_ms: u64, from: NodeId, message: Message, out: &mut Vec<Action>) {
        self.now_ms = self.now_ms.max(now_ms);
        if from == self.id || !is_valid_message(&message) {
            return;
        }
        match message {
            Message::VoteRequest { is_pre_vote: true, term, last } => self.on_pre_vote_request(from, term, last, out),
            Message::VoteRequest { is_pre_vote: false, term, last } => self.on_vote_request(from, term, last, out),
            Message::VoteReply { is_pre_vote, term, is_granted, is_recovering, memberships } => {
                let vote = recovering::Vote { is_granted, is_recovering, memberships };
                self.on_vote_reply(from, is_pre_vote, term, vote, out);
            }
            Message::Append(append) => self.on_append(from, &append, out),
            Message::AppendReply { term, .. } if term > self.term => self.update_term(term, out),
            Message::AppendReply { term, round, is_accepted, upto, last } => {
                if term == self.term {
                    self.on_append_reply(from, (round, last), is_accepted, upto, out);
                }
            }
            Message::TimeoutNow { term } => {
                if term == self.term
                    && self.leader == Some(from)
                    && self.is_promotable()
                    && self.candidacy != Candidacy::Never
                {
                    self.campaign(out);
                }
            }
        }
    }

    /// The log is durable up to `upto`: written, and synced if required. `upto` is what [`Raft::last`] returned before
    /// the sync began; the term tells it from another entry that took the same index meanwhile.
    pub fn on_durable(&mut self, upto: LogId, out: &mut Vec<Action>) {
        if upto.index <= self.durable_index || self.log_meta.term_at(upto.index) != Some(upto.term) {
            return;
        }
        self.durable_index = upto.index;
        match self.state {
            State::Leader(_) => self.advance_commit_index(out),
            _ => self.on_follower_durable(out),
        }
        self.update_apply_bound(out);
    }

    /// The driver has purged the log up to and including `log_id`.
    ///
    /// # Panics
    /// `log_id` is not committed.
    pub fn on_purged(&mut self, log_id: LogId) {
        assert!(log_id.index <= self.commit_index, "only committed entries may be purged");
        self.log_meta.purge_to(log_id);
    }

    /// The node has received the state up to and including `log_id` by another way; its log continues right after it. A
    /// leader of `term` says that this is committed, with `membership` as the last one up to there. False: this node
    /// knows as much already, and nothing changes. True: the driver must reset its log; if the log holds that entry,
    /// the driver only purges up to it.
    ///
    /// # Panics
    /// The node is a leader.
    pub fn install_snapshot(
        &mut self,
        term: Term,
        log_id: LogId,
        membership: (Index, Membership),
        out: &mut Vec<Action>,
    ) -> bool {
        assert!(!matches!(self.state, State::Leader(_)), "a leader holds all committed entries");
        if term > self.term {
            // A leader of an earlier term may lack this entry: it must not learn any more that this node has it.
            self.update_term(term, out);
        }
        if log_id.index <= self.commit_index || log_id.term > self.term {
            return false;
        }
        if self.log_meta.term_at(log_id.index) == Some(log_id.term) {
            self.commit_index = log_id.index;
            self.log_meta.purge_to(log_id);
        } else {
            self.log_meta = LogMeta::new(log_id, Vec::new(), log_id.index, vec![membership]);
            self.commit_index = log_id.index;
        }
        self.durable_index = self.durable_index.min(self.log_meta.last().index).max(log_id.index);
        self.apply_bound = self.apply_bound.max(log_id.index);
        if let State::Follower(follower) = &mut self.state {
            follower.match_index = log_id.index;
            follower.last_reply = None;
        }
        self.update_apply_bound(out);
        true
    }

    fn is_voter(&self) -> bool {
        self.membership().voters.contains(&self.id)
    }

    /// Whether it may start an election. A voter whose removal is not committed may, too: if only its log holds the
    /// removal, no other node can be elected without it (4.2.2). So may a node that a candidate needs and that has more
    /// than it: a membership with its vote is lost, and entries that it helped to commit are not ([`recovering`]). Neither
    /// counts its own vote.
    fn is_promotable(&self) -> bool {
        let is_leaving = self.log_meta.membership_index() > self.commit_index
            && self
                .log_meta
                .committed_membership(self.commit_index)
                .is_some_and(|(_, committed_membership)| committed_membership.voters.contains(&self.id));
        self.is_voter() || is_leaving || self.is_ahead_of_candidate
    }

    /// Reports once what is committed and durable here.
    fn update_apply_bound(&mut self, out: &mut Vec<Action>) {
        let upto = self.commit_index.min(self.durable_index);
        if upto > self.apply_bound {
            self.apply_bound = upto;
            self.settle_pending_memberships(upto, out);
            self.log_meta.drop_superseded(upto);
            out.push(Action::Committed { upto });
        }
    }

    /// A later term: this node becomes a follower.
    fn update_term(&mut self, term: Term, out: &mut Vec<Action>) {
        self.term = term;
        self.voted_for = None;
        out.push(Action::SaveHardState { term, voted_for: None });
        self.become_follower(None, out);
    }

    /// Becomes a follower of `leader`, or of none yet. A deposed leader restarts its election timer, so that others can
    /// be elected first.
    fn become_follower(&mut self, leader: Option<NodeId>, out: &mut Vec<Action>) {
        if matches!(self.state, State::Leader(_)) {
            self.reset_election_timer();
        }
        self.state = State::Follower(FollowerState::new());
        self.leader = leader;
        self.is_ahead_of_candidate &= leader.is_none();
        self.announce_leader(out);
    }

    fn announce_leader(&mut self, out: &mut Vec<Action>) {
        if self.announced != (self.term, self.leader) {
            self.announced = (self.term, self.leader);
            out.push(Action::LeaderChanged { term: self.term, leader: self.leader });
        }
    }
}

/// Queries.
impl Raft {
    /// The role of this node.
    #[must_use]
    pub fn role(&self) -> Role {
        match self.state {
            State::Leader(_) => Role::Leader,
            State::Follower(_) => Role::Follower,
            State::PreCandidate(_) | State::Candidate(_) => Role::Candidate,
        }
    }

    /// The latest term that it knows.
    #[must_use]
    pub fn term(&self) -> Term {
        self.term
    }

    /// The leader of that term; may be this node.
    #[must_use]
    pub fn leader(&self) -> Option<NodeId> {
        self.leader
    }

    /// Entries up to here are on a majority, as far as this node knows.
    #[must_use]
    pub fn commit_index(&self) -> Index {
        self.commit_index
    }

    /// The index of the last [`Action::Committed`]: committed, and durable here.
    #[must_use]
    pub fn apply_bound(&self) -> Index {
        self.apply_bound
    }

    /// The last entry of the log.
    #[must_use]
    pub fn last(&self) -> LogId {
        self.log_meta.last()
    }

    /// The entry right before the first one in the log.
    #[must_use]
    pub fn last_purged(&self) -> LogId {
        self.log_meta.last_purged()
    }

    /// An entry's term. None: before the last purged entry, or after the end.
    #[must_use]
    pub fn term_at(&self, index: Index) -> Option<Term> {
        self.log_meta.term_at(index)
    }

    /// The index of the membership in force.
    #[must_use]
    pub fn membership_index(&self) -> Index {
        self.log_meta.membership_index()
    }

    /// The membership in force: the last one in the log, committed or not.
    #[must_use]
    pub fn membership(&self) -> &Membership {
        self.log_meta.membership()
    }

    /// The last membership up to [`Raft::apply_bound`], and its index: for the next [`InitialState`], and for
    /// [`Raft::install_snapshot`] on another node. The driver saves it before it purges the log.
    #[must_use]
    pub fn committed_membership(&self) -> Option<&(Index, Membership)> {
        self.log_meta.committed_membership(self.apply_bound)
    }
}
