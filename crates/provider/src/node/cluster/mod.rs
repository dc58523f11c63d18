//! The node in a cluster: proposes write sets, orders committed ones, and handles members, views and SSTs.
//!
//! ```text
//!   client's thread                    Raft driver                                 receiving thread
//!   propose ──► command ─────────────► append, or forward to the leader
//!      waits                             Raft, over the links
//!   result ◄──── own ◄── next entry ◄─── committed
//!                  others' ─────────────────────────────────────────────────────► queue: apply, views, donations
//! ```
//!
//! | file | content |
//! |---|---|
//! | `mod` | shared by the server's threads and the Raft driver |
//! | `driver_start`, `driver` | the Raft driver: start and main loop |
//! | `relay` | the two threads of the driver |
//! | `dispatch`, `status_report` | events of the links; the node's status |
//! | `pending_proposals` | proposals, and the threads that wait for them |
//! | `committed_entries` | orders committed entries |
//! | `flow_control` | flow control |
//! | `retention`, `purge` | what must stay in the log, and what is purged |
//! | `leader` | the leader's duties: view, commit cuts |
//! | `membership` | the voters |
//! | `inconsistency_vote` | votes on apply errors |
//! | `next_view` | the members of the next view |
//! | `bootstrap` | bootstrap, by this node or without it |
//! | `joiner`, `joiner_sst` | how a node joins, and receives an SST |
//! | `donor` | how a donor is chosen, and sends an SST |
//!
//! Lock order: the total order, the pending proposals, the mailbox. No call is made under the mailbox's lock.

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
mod purge;
mod relay;
mod retention;
mod status_report;

pub(super) use donor::Donation;
pub(super) use driver_start::{StartMode, start};
use joiner::JoinRequest;
use pending_proposals::{AnswerSlot, PendingProposal, PendingProposals};
pub(super) use retention::RetainTime;

/// A command of a server's thread to the Raft driver.
#[derive(Debug)]
pub(super) enum Command {
    /// Propose an entry.
    Propose { request_id: u64, bytes: Vec<u8> },
    /// Get the read index.
    ReadIndex { request_id: u64 },
    /// Send a request to the leader.
    SendJoinRequest(JoinRequest),
    /// Order entries from this index on.
    OrderFrom(Index),
    /// Leave the cluster.
    Leave,
    /// Drop all links, or restore them.
    Isolate(bool),
    /// Bootstrap a cluster without the unreachable nodes.
    Bootstrap,
    /// Check again: there is room, or a pause has ended.
    Recheck,
    /// Stop.
    Stop,
}

/// The node's state in its cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ClusterStatus {
    /// There is a leader, and this node is connected to it.
    pub has_quorum: bool,
    /// This node is the leader and alone.
    pub is_single_node: bool,
    /// Committed, and in this node's log, up to here.
    pub apply_bound: Index,
    /// The history UUID of the linked nodes.
    pub history_uuid: Uuid,
    /// Another node is linked.
    pub is_linked: bool,
    /// The leader's log no longer holds the entry after this node's last one.
    pub needs_snapshot: bool,
    /// The server may prepare an SST.
    pub can_prepare_sst: bool,
    /// The log of a joiner was reset; the position of its tables will be after the snapshot point, and needs entries up
    /// to here.
    pub snapshot_upto: Option<Index>,
    /// The donor has sent everything; its tables match the vote results up to this seqno; -1: unknown.
    pub donor_resolved_upto: Option<i64>,
    /// It has left, or never will.
    pub has_left: bool,
}

/// The result of an SST.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SstResult {
    /// The tables are there.
    Received(Gtid),
    /// The server reports a failure.
    Failed(i32),
    /// The donor is lost, with the reason.
    DonorLost(String),
}

#[derive(Debug, Default)]
struct Mailbox {
    commands: Vec<Command>,
    status: ClusterStatus,
    sst_result: Option<SstResult>,
    /// The node waits for an SST.
    is_waiting_for_sst: bool,
    /// Replies to [`Command::ReadIndex`]: the seqno, or None if unknown.
    read_index_replies: Vec<(u64, Option<i64>)>,
    /// Requests whose client waits for the reply.
    open_read_requests: BTreeSet<u64>,
    is_over: bool,
    is_leaving: bool,
}

/// Shared by the server's threads and the Raft driver.
#[derive(Debug)]
pub(super) struct ClusterHandle {
    mailbox: Mutex<Mailbox>,
    changed: Condvar,
    waker: Waker,
    /// Proposals whose threads wait.
    pub pending_proposals: PendingProposals,
    next_request_id: AtomicU64,
    /// The tables have reached the position from which entries are ordered.
    pub is_caught_up: AtomicBool,
    /// The tables may hold parts of entries up to here.
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

    /// Whether the node was told to leave.
    pub fn is_leaving(&self) -> bool {
        self.mailbox().is_leaving
    }

    /// The node leaves: threads that wait to join give up.
    pub fn start_leaving(&self) {
        self.mailbox().is_leaving = true;
        self.changed.notify_all();
    }

    fn mailbox(&self) -> MutexGuard<'_, Mailbox> {
        lock(&self.mailbox)
    }

    /// A new request id, higher than all before.
    pub fn new_request_id(&self) -> u64 {
        self.next_request_id.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
    }

    /// Registers a thread that waits for its proposal. Returns the slot of the result.
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

    /// Sends a command to the driver.
    pub fn send(&self, command: Command) {
        let is_first = {
            let mut mailbox = self.mailbox();
            mailbox.commands.push(command);
            mailbox.commands.len() == 1
        };
        // The sender of the first command has woken the driver, which takes all.
        if is_first {
            self.waker.wake();
        }
    }

    /// Queues a command for the next round.
    fn send_and_wake(&self, command: Command) {
        self.mailbox().commands.push(command);
        self.waker.wake();
    }

    /// The node's state in its cluster.
    pub fn status(&self) -> ClusterStatus {
        self.mailbox().status
    }

    /// Waits for a state. None: the driver has ended, or the timeout has passed.
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

    /// The seqno that a reader must have applied to see everything committed until now. None: no reply in time.
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

    /// Wakes the Raft driver's poll.
    pub fn waker(&self) -> &Waker {
        &self.waker
    }

    fn wait<'a>(&self, mailbox: MutexGuard<'a, Mailbox>, until: Option<Instant>) -> Option<MutexGuard<'a, Mailbox>> {
        let Some(until) = until else {
            return Some(self.changed.wait(mailbox).unwrap_or_else(PoisonError::into_inner));
        };
        let rest = until.checked_duration_since(Instant::now())?;
        Some(self.changed.wait_timeout(mailbox, rest).unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Leaves the cluster and stops the driver. The other nodes need not reply.
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

    /// The queued commands.
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
        // The asking thread may be gone.
        if mailbox.open_read_requests.remove(&request_id) {
            mailbox.read_index_replies.push((request_id, seqno));
            self.changed.notify_all();
        }
    }

    /// The asked leader may not reply any more: the threads ask again.
    fn refuse_read_requests(&self) {
        let mut mailbox = self.mailbox();
        let asked = std::mem::take(&mut mailbox.open_read_requests);
        mailbox.read_index_replies.extend(asked.into_iter().map(|request_id| (request_id, None)));
        self.changed.notify_all();
    }

    /// The driver has ended.
    fn close(&self) {
        self.mailbox().is_over = true;
        self.changed.notify_all();
        self.pending_proposals.close();
    }
}
