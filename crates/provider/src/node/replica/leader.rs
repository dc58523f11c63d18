//! The leader's duties: when each runs, and the commit cuts. Views: `view`. Voters: `membership`.

use super::Replica;
use super::commit_cut::{self, MemberSeqnos};
use super::host::Host;
use super::known_node::Peer;
use crate::consensus::NodeId;
use crate::consensus::raft::{Action, Term};
use crate::consensus::wire::MemberStatus;
use crate::entry::{self, Voter};
use crate::identity::Uuid;
use crate::log::Index;
use crate::protocol::ProtocolVersion;

/// A new leader waits this long for nodes that it has not met yet.
pub(super) const NEW_LEADER_GRACE_TIMEOUT_MS: u64 = 3_000;
/// A node without a vote that is gone for this long is forgotten.
const FORGET_TIMEOUT_MS: u64 = 60_000;
/// Interval of checks of voters and view.
const DUTIES_INTERVAL_MS: u64 = 20;
/// Minimum interval of commit cuts: not one for each step of a slow member.
const COMMIT_CUT_INTERVAL_MS: u64 = 100;
/// A node that lacks fewer entries than this may get a vote.
pub(super) const CATCH_UP_LIMIT_ENTRIES: u64 = 256;

/// State of a leader.
#[derive(Debug)]
pub(super) struct LeaderDuties {
    /// The last seqno in its log, committed or not.
    pub appended_seqno: i64,
    /// The protocol version of the last entry in its log, committed or not.
    pub(super) appended_protocol: ProtocolVersion,
    pub(super) since_ms: u64,
    /// No duty runs before this entry is ordered: then all earlier entries are.
    pub(super) ready_at: Index,
    /// The last view, commit cut or membership that it has appended. A commit cut and a view are never in flight
    /// together: a commit cut contains the view that is in force at its index.
    last_appended: Index,
    last_cut_ms: u64,
    last_run_ms: u64,
    /// Some duty is not complete, and may continue when the last entry is committed.
    has_pending_duties: bool,
    /// The next voter to remove, and since when.
    pub(super) leaver: Option<(NodeId, u64)>,
}

impl<H: Host> Replica<H> {
    /// This node has become leader.
    pub(super) fn on_became_leader(&mut self, term: Term) {
        let Some((appended_seqno, appended_protocol)) = self.last_appended() else {
            return self.fail("the last entry of the log cannot be read");
        };
        self.host.set_leader_term(term);
        let since_ms = self.now_ms();
        self.leader_duties = Some(LeaderDuties {
            appended_seqno,
            appended_protocol,
            since_ms,
            ready_at: Index(u64::MAX),
            last_appended: Index(0),
            last_cut_ms: 0,
            last_run_ms: 0,
            has_pending_duties: true,
            leaver: None,
        });
        let index = self.append(&mut entry::encode_no_op(), None);
        // Nothing is committed in this term before that entry is.
        let Some(index) = index else {
            return self.fail("this node was elected Raft leader, and its log takes no entry: check the disk");
        };
        if let Some(leader_duties) = &mut self.leader_duties {
            leader_duties.ready_at = index;
        }
        if self.raft.membership().voters.len() > 1 {
            self.host.note(&format!("this node is the Raft leader ({term:?})"));
        }
    }

    /// The last seqno in the log, and the protocol version there, committed or not. None: the log cannot be read.
    fn last_appended(&self) -> Option<(i64, ProtocolVersion)> {
        let (first, last) = self.host.bounds()?;
        let in_force = self.hard_state.protocol;
        if last < first {
            return Some((0, in_force));
        }
        let entries = self.host.entries(last, 1).ok()?;
        let (stamp, _) = entry::meta(&entries.first()?.1).ok()?;
        Some((stamp.seqno, stamp.protocol.max(in_force)))
    }

    /// Forgets nodes without a vote that are long gone, and dials them no more. They know this node's address.
    fn forget_absent_peers(&mut self) {
        let now = self.now_ms();
        let voters = &self.hard_state.voters;
        let is_gone = |node: &NodeId, peer: &Peer| {
            !voters.contains_key(node) && peer.unlinked_since_ms.is_some_and(|since| now - since > FORGET_TIMEOUT_MS)
        };
        let gone: Vec<NodeId> =
            self.peers.iter().filter(|(node, peer)| is_gone(node, peer)).map(|(node, _)| *node).collect();
        for node in gone {
            let Some(peer) = self.peers.remove(&node) else { continue };
            self.donors.remove(&node);
            let address = peer.hello.address;
            let is_anothers = self.hard_state.voters.values().any(|peer| *peer == address)
                || self.peers.values().any(|other| other.hello.address == address)
                || self.hosts.contains(&address);
            if !is_anothers {
                self.host.hang_up(&address);
            }
        }
    }

    /// The duties of one round.
    pub(super) fn run_leader_duties(&mut self, actions: &mut Vec<Action>) {
        self.forget_absent_peers();
        if self.has_linked_peers() {
            self.leave_single_node();
        } else {
            self.enter_single_node();
        }
        if self.leave.is_leaving {
            self.request_leave(actions);
        }
        self.update_flow_control(actions);
        self.handle_vote_results();
        if self.status.is_single_node {
            return;
        }
        let Some(LeaderDuties { ready_at, last_appended: latest, .. }) = self.leader_duties else { return };
        if self.is_stuck() {
            self.transfer_leadership_if_stuck(actions);
        }
        let now = self.now_ms();
        let is_ready = self.ordered.index.is_some_and(|ordered| ordered >= ready_at && ordered >= latest);
        let is_due = self.next_run_ms().is_some_and(|at| at <= now);
        // A vote result may make room for entries before it.
        let has_seen =
            self.ordered.index.is_some_and(|ordered| ordered.max(self.ordered.scanned_upto) >= ready_at.max(latest));
        let is_deciding = has_seen && is_due && self.decide_inconsistencies();
        // A node that leaves orders nothing more, and one with a long queue does so slowly. That what it has is committed is enough
        // to take votes: the voters follow the commit index.
        let may_remove = self.status.apply_bound >= ready_at.max(latest) && self.leaver().is_some();
        let is_changing = is_deciding || is_due && (is_ready && self.reconcile() || may_remove && self.remove_leaver());
        // A commit cut records verdicts, which a witness does not know.
        if is_ready && is_due && !is_changing && !self.is_witness {
            self.propose_commit_cut();
        }
        if is_due && let Some(leader_duties) = &mut self.leader_duties {
            (leader_duties.last_run_ms, leader_duties.has_pending_duties) = (now, is_changing || !is_ready);
        }
        self.run_actions(actions, None);
    }

    /// Changes voters, view or protocol version, if needed. True: a change is in flight.
    fn reconcile(&mut self) -> bool {
        self.reconcile_membership() || self.reconcile_view() || self.reconcile_protocol()
    }

    /// When the duties run next, at the earliest.
    fn next_run_ms(&self) -> Option<u64> {
        self.leader_duties.as_ref().map(|leader_duties| leader_duties.last_run_ms + DUTIES_INTERVAL_MS)
    }

    /// When the duties must run even without an event.
    pub(super) fn duties_deadline_ms(&self) -> Option<u64> {
        let has_chores = self.leader_duties.as_ref().is_some_and(|leader_duties| leader_duties.has_pending_duties);
        self.next_run_ms().filter(|_| has_chores && !self.status.is_single_node)
    }

    pub(super) fn propose(&mut self, mut bytes: Vec<u8>, voters: Option<&[Voter]>) -> bool {
        let membership = voters.map(entry::membership);
        let index = self.append(&mut bytes, membership);
        if let (Some(leader_duties), Some(index)) = (&mut self.leader_duties, index) {
            leader_duties.last_appended = index;
        }
        index.is_some()
    }

    fn propose_commit_cut(&mut self) {
        let now = self.now_ms();
        if self
            .leader_duties
            .as_ref()
            .is_none_or(|leader_duties| now - leader_duties.last_cut_ms < COMMIT_CUT_INTERVAL_MS)
        {
            return;
        }
        let own = self.host.member_id();
        let seqnos_of = |member_id: Uuid| {
            if member_id == own {
                let applied = self.host.last_released();
                return MemberSeqnos { applied, oldest_seen: self.host.oldest_seen().unwrap_or(i64::MAX).min(applied) };
            }
            let statuses = self.peers.values().filter_map(|peer| peer.status.as_ref());
            let reported = statuses.filter(|(member_status, _)| member_status.member_id == member_id).map(
                |(MemberStatus { applied, oldest_seen, .. }, _)| MemberSeqnos {
                    applied: *applied,
                    oldest_seen: *oldest_seen,
                },
            );
            reported.min_by_key(|seqnos| seqnos.applied).unwrap_or_default()
        };
        let cut = self.host.with_order(|order| {
            if !order.needs_commit_cut() {
                return None;
            }
            let members = order.members().iter().map(|member| seqnos_of(member.id));
            let upto = commit_cut::upto(members, order.seqno, order.keys());
            (upto > order.last_cut_upto).then(|| order.next_commit_cut(upto))
        });
        if let Some(cut) = cut.flatten() {
            if let Some(leader_duties) = &mut self.leader_duties {
                leader_duties.last_cut_ms = now;
            }
            self.propose(entry::encode_commit_cut(&cut), None);
        }
    }
}
