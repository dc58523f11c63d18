//! A node whose cluster was bootstrapped again without it.
//!
//! The module `lineage` explains generations and forks; `bootstrap` begins one. A node that meets a newer generation of its
//! cluster, and has no live majority of its own, does not go on:
//!
//! - it has heard no leader for the quorum loss timeout. A shorter time is not enough: while a correct majority elects
//!   a leader, its nodes also meet the other cluster, once a second.
//! - It is the leader and has had no clients since its start: it and other excluded nodes have started together. Then
//!   the next of them is elected, and stops as well, until there is no majority. Such nodes do not begin elections while
//!   they meet the newer generation.
//!
//! So excluded nodes that are restarted do not continue with the old cluster, unless they cannot reach the new one. A
//! node that starts and finds a leader with clients follows it.
//!
//! # Joining the newer generation
//!
//! Let `f` be the fork: the newer generation's log has all entries up to `f` as its bootstrapping node had them, and others
//! behind it. What does it lack of this log ([`lacks`])?
//!
//! - *A log whose last entry is of the term of `f`, and not behind it, is a part of that log* (Raft, 3.5: log matching).
//!   Nothing is lacking, and all of it counts as committed there: this node keeps it.
//! - *What is known to be committed.* If no leader of a later term than that of `f` has told this node so, the leader of `f`
//!   had it (3.6.3: leader completeness), and a log that ends with `f` has it, if it is not behind `f`. Else it is lacking, or
//!   nobody knows: the node stops, and keeps its data.
//! - *The rest* may have been committed by a majority without the bootstrapping node. The node drops it with
//!   `pc.ignore_sb` only, which prefers progress to such entries. One exception: two voters. Each commit needs both, also this
//!   node, so what has a term before that of `f` was not committed, if `f` is of a later leader and lacks it.
//!
//! A log that is no part of the other one is cut behind the last entry that is known to be committed. The leader sends the
//! rest. If it has purged that, the node needs an SST; a node that runs stops then, and gets the SST at its next start. It
//! keeps its tables. It has no vote until it gets one as any joiner: its votes and acknowledgements so far were in another
//! generation. First the log is cut, then the hard state names the new generation. After a crash in between, the log says
//! that it has lost its end, the vote of the node counts accordingly ([`crate::consensus::raft`], recovering nodes), and it
//! keeps what it has. The other way round, entries behind `f` could be taken for those of the new generation.
//!
//! Voters from before the fork do not count any more. A node that gets such an entry from the leader is not elected, and does
//! not continue alone, until it has the next one, with which the new generation begins.

use super::Replica;
use super::host::Host;
use crate::consensus::lineage::LineageRelation;
use crate::consensus::proposals::{Proposals, SessionId};
use crate::consensus::raft::{Action, Candidacy, LogId, Membership, Term};
use crate::consensus::wire::{BATCH_LIMIT_BYTES, Hello};
use crate::entry;
use crate::gate::GateState;
use crate::log::Index;
use crate::node::total_order::takes_seqno;
use crate::server::Level;

/// A node met longer ago may be gone, or in this node's cluster by now. Nodes that reach each other meet once a second.
/// Shorter than the quorum loss timeout: else a node would stop whose leader left at the same moment as the other
/// cluster.
const CONTACT_TIMEOUT_MS: u64 = 3_000;
const HAS_ALL: &str = "That cluster has everything that this node has: it joins it";

/// The cluster was bootstrapped without this node, as one of the other nodes has told.
#[derive(Debug)]
pub(super) struct Excluded {
    /// The message about it.
    text: String,
    /// The node that has told.
    by: Box<Hello>,
    met_ms: u64,
}

/// What the newer generation lacks of this node's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lacks {
    /// Nothing: its log begins with this one.
    Nothing,
    /// Entries that were never committed.
    Uncommitted,
    /// Entries that may have been committed.
    Unknown,
    /// Committed entries; or nobody knows.
    Committed,
}

/// The log of a node.
#[derive(Clone, Copy, Debug)]
struct OwnLog {
    /// The last entry that is known to be committed. None: the position of the tables is unknown, and they may hold more.
    committed: Option<LogId>,
    last: LogId,
    /// The latest term that the node knows.
    term: Term,
    /// It is one of two voters.
    is_of_two: bool,
}

/// What a generation with this fork lacks of a log.
fn lacks(fork: Option<LogId>, own: OwnLog) -> Lacks {
    let Some(fork) = fork else { return Lacks::Committed };
    let is_in = |entry: LogId| entry.term == fork.term && entry.index <= fork.index;
    let is_told_before = own.term <= fork.term;
    let has = |committed: LogId| is_in(committed) || is_told_before && committed.index <= fork.index;
    if is_in(own.last) {
        Lacks::Nothing
    } else if !own.committed.is_some_and(has) {
        Lacks::Committed
    } else if own.committed == Some(own.last) {
        Lacks::Nothing
    } else if own.last.term < fork.term && own.is_of_two && is_told_before {
        Lacks::Uncommitted
    } else {
        Lacks::Unknown
    }
}

impl<H: Host> Replica<H> {
    /// A node with the same history UUID and another lineage was met.
    pub(super) fn on_lineage_mismatch(
        &mut self,
        relation: LineageRelation,
        text: String,
        is_news: bool,
        other: Box<Hello>,
    ) {
        match relation {
            LineageRelation::Descendant => {
                // Without a leader, the node is about to join that cluster, or to say why it cannot.
                if is_news && self.raft.leader().is_some() {
                    let advice = "This node continues with the old cluster as long as that has a majority: what \
                                    one side confirms from now on, the other never gets. Decide which side to \
                                    discard: stop its nodes, move the files hortator* out of their data folders, and \
                                    start them: they join the other side";
                    self.host.log(Level::Error, &format!("{text}. {advice}"));
                }
                self.quorum.excluded = Some(Excluded { text, by: other, met_ms: self.now_ms() });
            }
            LineageRelation::Diverged if is_news => self.host.log(Level::Error, &text),
            LineageRelation::Ancestor if is_news => {
                let remedy = "That node joins by itself if it has no majority of the old cluster, and nothing that this \
                              cluster lacks. Else its error log says what it has";
                self.host.note(&format!("{text}. {remedy}"));
            }
            _ => {}
        }
    }

    /// Whether the newer generation was met a moment ago.
    fn is_excluded(&self) -> bool {
        self.quorum.excluded.as_ref().is_some_and(|excluded| self.now_ms() - excluded.met_ms <= CONTACT_TIMEOUT_MS)
    }

    /// An excluded node that starts elects nobody, itself included: there may be enough of them. A witness never has clients.
    pub(super) fn hold_elections_if_excluded(&mut self) {
        let had_clients = self.quorum.had_clients && !self.is_witness;
        self.raft.set_candidacy(if self.has_old_voters() {
            Candidacy::Never
        } else if self.is_excluded() && !had_clients {
            // A witness that leads needs a successor.
            Candidacy::OnRequest
        } else {
            Candidacy::Free
        });
    }

    /// Whether the voters that this node knows are from before its generation.
    pub(super) fn has_old_voters(&self) -> bool {
        self.hard_state.lineage.own_fork().is_some_and(|fork| self.raft.membership_index() < fork.index)
    }

    /// If the cluster was bootstrapped without this node, and it has no live majority of the old one: joins the new one, or
    /// stops.
    pub(super) fn leave_old_generation(&mut self) {
        let has_clients = matches!(self.host.gate_state(), GateState::Open | GateState::Paused);
        self.quorum.had_clients |= has_clients;
        if !self.is_excluded() {
            return;
        }
        let has_live_majority = match self.raft.leader() {
            None => !self.has_lost_leader(),
            Some(leader) if leader == self.own_node() => self.quorum.had_clients,
            Some(_) => true,
        };
        if has_live_majority {
            return;
        }
        if self.round.is_syncing {
            let synced = self.host.wait_for_synced();
            self.on_synced(synced);
        }
        let Some(excluded) = self.quorum.excluded.take() else { return };
        let Excluded { text, by, .. } = &excluded;
        let why = match self.own_log() {
            Ok(own) => {
                let fork = by.lineage.fork_from(self.hard_state.lineage.generation());
                match (lacks(fork, own), own.committed) {
                    (Lacks::Nothing, _) => {
                        self.host.note(&format!("{text}. {HAS_ALL}"));
                        return self.join_generation(by, own.last);
                    }
                    (Lacks::Uncommitted, Some(committed)) => {
                        self.host.note(&format!("{text}. {HAS_ALL}"));
                        return self.join_generation(by, committed);
                    }
                    (Lacks::Unknown, Some(committed)) if self.host.ignores_quorum() => {
                        self.host.log(
                            Level::Warning,
                            &format!(
                                "{text}. pc.ignore_sb: this node joins it, and drops the end of its log, up to index {}, \
                                 behind index {}: that cluster has not all of it. Transactions there were confirmed only \
                                 if a majority without that cluster has them",
                                own.last.index, committed.index
                            ),
                        );
                        return self.join_generation(by, committed);
                    }
                    (_, None) => {
                        "the position of its tables is not known: they may hold transactions that the bootstrapped cluster \
                         lacks (start it as systemd's unit does, with the position that --wsrep-recover prints)"
                    }
                    (Lacks::Unknown, _) => {
                        "its log ends with transactions that the bootstrapped cluster lacks, and that may have been \
                         confirmed (with pc.ignore_sb=yes it drops them and joins)"
                    }
                    _ if fork.is_none() => "it cannot know whether the bootstrapped cluster has everything that it has",
                    _ => "it has committed transactions that the bootstrapped cluster lacks",
                }
            }
            Err(why) => why,
        };
        // The next start must know as much.
        self.hard_state.committed = self.hard_state.committed.max(self.raft.commit_index());
        self.save_hard_state();
        let text = format!(
            "{text}. This node has no majority of the old cluster, so it stops, and {why}. To join the bootstrapped \
             cluster: move the files hortator* out of this node's data folder and start it again; it receives \
             everything from there, and what only the old cluster has confirmed is lost. To continue with the \
             old cluster: stop the nodes of the new one first"
        );
        self.quorum.excluded = Some(excluded);
        let has_started = self.quorum.had_clients;
        self.fail(&text);
        if !has_started {
            self.host.end_start();
        }
    }

    /// The log of this node, to compare it with the fork.
    ///
    /// # Errors
    /// Why it cannot be compared.
    fn own_log(&self) -> Result<OwnLog, &'static str> {
        if self.raft.is_recovering() || !self.host.has_log() || self.status.is_single_node {
            return Err("its log may lack transactions that it has confirmed");
        }
        if !self.is_witness && self.is_waiting_for_tables() {
            return Err("its tables are about to come from the old cluster");
        }
        let log_id = |index| self.raft.term_at(index).map(|term| LogId { term, index });
        let committed = match self.committed_or_applied()? {
            Some(index) => Some(log_id(index).ok_or("the beginning of its log is purged")?),
            None => None,
        };
        let membership = self.raft.membership();
        let voters = &membership.voters;
        Ok(OwnLog {
            committed,
            last: self.raft.last(),
            term: self.raft.term(),
            is_of_two: voters.len() == 2 && voters.contains(&self.own_node()) && membership.needs_several(),
        })
    }

    /// Raft's commit index; or that of the last seqno in the tables: the commit index of the last run may be lost.
    /// None: the position of the tables is not known.
    fn committed_or_applied(&self) -> Result<Option<Index>, &'static str> {
        let committed = self.raft.commit_index();
        if self.is_witness || self.host.has_no_tables() {
            return Ok(Some(committed));
        }
        let Some(tables) = self.host.tables_position() else { return Ok(None) };
        if tables.history_uuid != self.host.history_uuid() {
            return Err("its tables and its log belong to different clusters");
        }
        let last = self.raft.last().index;
        let Some((first, _)) = self.host.bounds() else { return Ok(Some(committed)) };
        let mut next = committed.max(first);
        let mut end = None;
        while next <= last {
            let entries = self.host.entries(next, BATCH_LIMIT_BYTES).map_err(|_| "its log cannot be read")?;
            for (index, bytes) in &entries {
                let (stamp, entry) = entry::decode(bytes).map_err(|_| "its log cannot be read")?;
                if *index <= committed && stamp.seqno >= tables.seqno || stamp.seqno > tables.seqno {
                    return Ok(Some(committed));
                }
                if takes_seqno(&entry) && stamp.seqno == tables.seqno {
                    return Ok(Some(*index));
                }
                end = Some(stamp.seqno);
                next = index.next();
            }
        }
        match end {
            Some(end) if end >= tables.seqno => Ok(Some(committed)),
            _ => Err("its tables may hold transactions that its log lacks"),
        }
    }

    /// Joins the cluster of the other node with the log up to `committed`, and with the tables.
    fn join_generation(&mut self, by: &Hello, committed: LogId) {
        // Pending proposals were never committed here: their outcome is unknown.
        self.lose_quorum();
        self.forget_proposals();
        if !self.sync_log() {
            return;
        }
        if committed < self.raft.last()
            && let Err(error) = self.host.abandon_tail(committed.index.next())
        {
            return self.fail(&format!("the end of the log cannot be truncated: {error}"));
        }
        let session = match self.host.random_uuid() {
            Ok(session) => SessionId(session.0),
            Err(error) => return self.fail(&format!("no random numbers for a UUID: {error}")),
        };
        (self.hard_state.term, self.hard_state.voted_for) = (committed.term, None);
        self.hard_state.pending_memberships.clear();
        self.hard_state.set_voters([(by.node, by.address.clone())].into(), &Membership::of([by.node]));
        (self.hard_state.membership_log_id, self.hard_state.committed, self.status.apply_bound) =
            (committed, committed.index, committed.index);
        self.hard_state.lineage = by.lineage;
        self.save_hard_state();
        if self.round.is_stopped {
            return;
        }
        if let Err(error) = self.host.confirm_tail() {
            return self.fail(&format!("the log cannot be written: {error}"));
        }
        let history_uuid = self.host.history_uuid();
        self.adopt_lineage(by.lineage, history_uuid);
        self.host.save_lineage();
        self.host.dial(&by.address);
        (self.quorum.leader_seen_ms, self.quorum.had_clients) = (self.now_ms(), false);
        self.has_uncommitted_bootstrap = false;
        if let Err(error) = self.restart_raft() {
            return self.fail(&error.to_string());
        }
        self.own.proposals = Proposals::new();
        self.own.session = session;
        let mut actions: Vec<Action> = Vec::new();
        self.on_leader_changed(self.raft.term(), None, &mut actions);
        self.run_actions(&mut actions, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(term: u64, index: u64) -> LogId {
        LogId { term: Term(term), index: Index(index) }
    }

    #[test]
    fn a_generation_lacks_what_is_behind_its_fork() {
        use Lacks::{Committed, Nothing, Uncommitted, Unknown};
        let fork = Some(place(5, 100));
        for (committed, last, term, of_two, of_more) in [
            // All of it is committed.
            (place(4, 90), place(4, 90), 5, Nothing, Nothing),
            // Parts of the other log.
            (place(5, 90), place(5, 100), 5, Nothing, Nothing),
            (place(5, 100), place(5, 100), 9, Nothing, Nothing),
            (place(4, 80), place(5, 90), 5, Nothing, Nothing),
            // The end was appended by an earlier leader, and the other log may have other entries there.
            (place(4, 80), place(4, 90), 5, Uncommitted, Unknown),
            (place(4, 80), place(4, 180), 5, Uncommitted, Unknown),
            // The end is of the same leader or a later one.
            (place(5, 100), place(5, 101), 5, Unknown, Unknown),
            (place(5, 90), place(6, 101), 6, Unknown, Unknown),
            // Behind the fork.
            (place(5, 101), place(5, 101), 5, Committed, Committed),
            (place(4, 101), place(4, 120), 5, Committed, Committed),
            (place(6, 90), place(6, 95), 6, Committed, Committed),
            // A later leader may have committed an entry of an earlier term (Raft, figure 8).
            (place(4, 80), place(4, 90), 6, Committed, Committed),
        ] {
            for (is_of_two, expected) in [(true, of_two), (false, of_more)] {
                let own = OwnLog { committed: Some(committed), last, term: Term(term), is_of_two };
                assert_eq!(lacks(fork, own), expected, "{own:?}");
                assert_eq!(lacks(None, own), Committed);
                let is_part = last.term == Term(5) && last.index <= Index(100);
                let unknown = if is_part { Nothing } else { Committed };
                assert_eq!(lacks(fork, OwnLog { committed: None, ..own }), unknown);
            }
        }
    }
}
