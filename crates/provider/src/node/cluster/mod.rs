//! The road into the order when there are other nodes: a write set is proposed, agreed on, and comes back with its place.
//!
//! ```text
//!   client's thread                    the group's thread                          receiving thread
//!   propose ──► command ─────────────► append, or forward to the leader
//!      waits                             agreement (raft) over the links
//!   its place ◄── own ◄── next entry ◄── agreed on
//!                  others' ─────────────────────────────────────────────────────► queue: apply, views, donations
//! ```
//!
//! | file | what |
//! |---|---|
//! | `mod` | what the server's threads and the group's share |
//! | `waiting` | proposals whose threads wait |
//! | `starting` | the group's thread begins |
//! | `thread` | it goes round: commands, what agreement wants, the log |
//! | `hearing`, `telling` | what the links bring; how the node stands |
//! | `proposing`, `taking` | into the log, and out of it |
//! | `agreed` | what is agreed on takes its place |
//! | `flow` | flow control |
//! | `leader_duties` | what a leader sees to: views, cuts |
//! | `voting` | and votes: who comes, who goes, whose node is gone |
//! | `deciding` | what becomes of what not all nodes could apply |
//! | `next_view`, `next_voters` | who is in the next view, and who votes next |
//! | `anew` | the group is begun anew, by this node or without it |
//! | `joining` | how a node gets a log, tables and a view |
//! | `awaiting`, `donating` | the tables on their way: the node that is given them; leader and donor |
//!
//! Lock order: the order, the waiting, then the desk; nothing is called under the desk.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::lock;
use crate::consensus::links::Waker;
use crate::identity::{Gtid, Uuid};
use crate::log::Index;
use crate::transaction::Transaction;

mod bootstrap;
mod committed_entries;
mod dispatch;
mod donor;
mod driver;
mod driver_start;
mod flow_control;
mod inconsistency_vote;
mod joiner;
mod joiner_sst;
mod leader;
mod membership;
mod next_view;
mod pending_proposals;
mod status_report;

pub(super) use donor::Donation;
pub(super) use driver_start::{StartMode, start};
use joiner::JoinRequest;
use pending_proposals::{AnswerSlot, PendingProposal, PendingProposals};

/// What a server's thread wants of the group's.
#[derive(Debug)]
pub(super) enum Command {
    /// An entry without a place.
    Propose { request_id: u64, bytes: Vec<u8> },
    /// How far must one have applied who reads now?
    ReadIndex { request_id: u64 },
    /// Ask a leader for that.
    SendJoinRequest(JoinRequest),
    /// Entries from there on are to take their places.
    OrderFrom(Index),
    /// The node goes, in order.
    Leave,
    /// As if the cable were pulled.
    Isolate(bool),
    /// Go on without those who are away.
    Bootstrap,
    /// Look again: there is room, or it is not paused any more.
    Recheck,
    /// Stop.
    Stop,
}

/// How the node stands to its group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ClusterStatus {
    /// Somebody leads, and this node hears it.
    pub has_quorum: bool,
    /// This node leads and is alone.
    pub is_single_node: bool,
    /// Agreed on up to here, and in this node's log.
    pub apply_bound: Index,
    /// The history of the nodes that are linked.
    pub history_uuid: Uuid,
    /// Somebody is linked.
    pub is_linked: bool,
    /// The others' logs do not reach back to where this one ends.
    pub needs_snapshot: bool,
    /// The server may prepare to be given the tables.
    pub can_prepare_sst: bool,
    /// The log was begun anew for a joiner, whose tables will be behind this.
    pub snapshot_upto: Option<Index>,
    /// The donor has sent the tables, and this is up to where they heed what was decided; -1: nobody knows.
    pub donor_resolved_upto: Option<i64>,
    /// It has left in order, or never will.
    pub has_left: bool,
}

/// What came of a state transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SstResult {
    /// The tables are there.
    Received(Gtid),
    /// The server says that it failed.
    Failed(i32),
    /// They will not come, and why.
    DonorLost(String),
}

#[derive(Debug, Default)]
struct Mailbox {
    commands: Vec<Command>,
    status: ClusterStatus,
    sst_result: Option<SstResult>,
    /// The tables of another node are to come.
    is_waiting_for_sst: bool,
    /// Answers to [`Command::Confirm`]: the seqno, or that nobody knows.
    read_index_replies: Vec<(u64, Option<i64>)>,
    /// Of which somebody waits for the answer.
    open_read_requests: BTreeSet<u64>,
    is_over: bool,
    is_leaving: bool,
}

/// What the server's threads and the group's share.
#[derive(Debug)]
pub(super) struct ClusterHandle {
    mailbox: Mutex<Mailbox>,
    changed: Condvar,
    waker: Waker,
    /// Proposals whose threads wait.
    pub pending_proposals: PendingProposals,
    next_request_id: AtomicU64,
    /// The tables are where the order goes on from: what comes is applied.
    pub is_caught_up: AtomicBool,
    /// Of the log up to here the tables may hold parts.
    replayed_upto: Index,
}

impl ClusterHandle {
    fn new(waker: Waker, replayed_upto: Index) -> Self {
        Self {
            mailbox: Mutex::default(),
            changed: Condvar::new(),
            waker,
            pending_proposals: PendingProposals::default(),
            next_request_id: AtomicU64::new(1),
            is_caught_up: AtomicBool::new(false),
            replayed_upto,
        }
    }

    /// Whether the tables may hold parts of that entry.
    fn is_replay(&self, index: Index) -> bool {
        index <= self.replayed_upto
    }

    /// Whether it was told to go.
    pub fn is_leaving(&self) -> bool {
        self.mailbox().is_leaving
    }

    /// The node goes: who waits for the group on its way in gives up.
    pub fn start_leaving(&self) {
        self.mailbox().is_leaving = true;
        self.changed.notify_all();
    }

    fn mailbox(&self) -> MutexGuard<'_, Mailbox> {
        lock(&self.mailbox)
    }

    /// Another ticket, higher than all before.
    pub fn new_request_id(&self) -> u64 {
        self.next_request_id.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
    }

    /// A proposal will be made: who waits for it, and where its place will be told.
    pub fn register_proposal(
        &self,
        source: Uuid,
        request_id: u64,
        transaction: Option<&Arc<Transaction>>,
    ) -> Arc<AnswerSlot> {
        let answer = Arc::<AnswerSlot>::default();
        let transaction = transaction.map(Arc::clone);
        self.pending_proposals.add(request_id, PendingProposal { source, transaction, slot: Arc::clone(&answer) });
        answer
    }

    /// Asks the group's thread for something.
    pub fn send(&self, command: Command) {
        let is_first = {
            let mut mailbox = self.mailbox();
            mailbox.commands.push(command);
            mailbox.commands.len() == 1
        };
        // Whoever put the first one there woke it; it takes all.
        if is_first {
            self.waker.wake();
        }
    }

    /// To be looked at in the next round.
    fn send_and_wake(&self, command: Command) {
        self.mailbox().commands.push(command);
        self.waker.wake();
    }

    /// How the node stands.
    pub fn status(&self) -> ClusterStatus {
        self.mailbox().status
    }

    /// Waits until the contact is as wanted. None: the group's thread ended, or it took too long.
    pub fn wait_for(&self, limit: Option<Duration>, is_so: impl Fn(&ClusterStatus) -> bool) -> Option<ClusterStatus> {
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut mailbox = self.mailbox();
        while !is_so(&mailbox.status) {
            if mailbox.is_over || mailbox.is_leaving && limit.is_none() {
                return None;
            }
            mailbox = self.wait(mailbox, until)?;
        }
        Some(mailbox.status)
    }

    /// Up to where one must have applied to have seen everything that was committed anywhere by now. None: nobody can
    /// tell in time.
    pub fn read_index(&self, until: Option<Instant>) -> Option<i64> {
        let request_id = self.new_request_id();
        self.mailbox().open_read_requests.insert(request_id);
        self.send(Command::ReadIndex { request_id });
        let mut mailbox = self.mailbox();
        loop {
            if let Some(at) = mailbox.read_index_replies.iter().position(|(of, _)| *of == request_id) {
                return mailbox.read_index_replies.swap_remove(at).1;
            }
            if mailbox.is_over {
                return None;
            }
            let is_late = until.is_some_and(|until| until <= Instant::now());
            if is_late {
                mailbox.open_read_requests.remove(&request_id);
                return None;
            }
            let limit = until.unwrap_or_else(|| Instant::now() + Duration::from_secs(1));
            let rest = limit.saturating_duration_since(Instant::now());
            mailbox = self.changed.wait_timeout(mailbox, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn wait<'a>(&self, mailbox: MutexGuard<'a, Mailbox>, until: Option<Instant>) -> Option<MutexGuard<'a, Mailbox>> {
        let Some(until) = until else {
            return Some(self.changed.wait(mailbox).unwrap_or_else(PoisonError::into_inner));
        };
        let rest = until.checked_duration_since(Instant::now())?;
        Some(self.changed.wait_timeout(mailbox, rest).unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Goes in order, and ends the group's thread. The others need not answer for that.
    pub fn leave_and_stop(&self, limit: Duration) {
        self.send(Command::Leave);
        self.wait_for(Some(limit), |status| status.has_left);
        self.send(Command::Stop);
        let mut mailbox = self.mailbox();
        let until = Instant::now().checked_add(limit);
        while !mailbox.is_over {
            let Some(waited) = self.wait(mailbox, until) else { return };
            mailbox = waited;
        }
    }

    /// What is wanted of the group's thread by now.
    fn take_commands(&self) -> Vec<Command> {
        std::mem::take(&mut self.mailbox().commands)
    }

    fn set_status(&self, status: ClusterStatus) {
        let mut mailbox = self.mailbox();
        if mailbox.status != status {
            mailbox.status = status;
            self.changed.notify_all();
        }
    }

    fn answer_read_index(&self, request_id: u64, seqno: Option<i64>) {
        let mut mailbox = self.mailbox();
        // Whoever asked may have gone.
        if mailbox.open_read_requests.remove(&request_id) {
            mailbox.read_index_replies.push((request_id, seqno));
            self.changed.notify_all();
        }
    }

    /// Whoever was asked how far one must have applied may not answer any more: it is asked again.
    fn refuse_read_requests(&self) {
        let mut mailbox = self.mailbox();
        let asked = std::mem::take(&mut mailbox.open_read_requests);
        mailbox.read_index_replies.extend(asked.into_iter().map(|request_id| (request_id, None)));
        self.changed.notify_all();
    }

    /// Nothing comes from the group's thread any more.
    fn close(&self) {
        self.mailbox().is_over = true;
        self.changed.notify_all();
        self.pending_proposals.close();
    }
}
