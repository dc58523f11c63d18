//! The node in a cluster: the threads, the log and the links around its replica.
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
//! | `driver_start`, `driver`, `relay` | the Raft driver: its start, its loop, and its two threads |
//! | `process_host` | what the replica uses of this process, with a server and without (`node/witness`) |
//! | `node_host` | what it uses of the node with its server |
//! | `pending_proposals` | the threads that wait for their proposals |
//! | `committed_entries` | gives committed entries their seqno and verdict, and passes them on |
//! | `joiner`, `joiner_sst` | the receiving thread of a node that joins, and of one that receives an SST |
//! | `donor` | the SSTs that this node sends |
//! | `node_lineage` | the lineage that the node saves |
//!
//! All decisions are those of the replica (`node/replica`).
//!
//! Lock order: the total order, the pending proposals, the mailbox. No call is made under the mailbox's lock.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::lock;
use crate::consensus::links::Waker;
use crate::entry::WriteSetHead;
use crate::log::Index;
use crate::server::Flags;
use crate::transaction::Transaction;

mod committed_entries;
mod donor;
mod driver;
mod driver_start;
mod joiner;
mod joiner_sst;
mod node_host;
mod node_lineage;
mod pending_proposals;
mod process_host;
mod relay;
mod start_path;

pub(super) use super::replica::{ClusterStatus, Command, RaftStatus, RetainTime};
use super::replica::{JoinRequest, SstResult};
pub(super) use donor::Donation;
pub(super) use driver::spawn;
pub(super) use driver_start::{StartMode, recovering_warning, start};
use pending_proposals::{AnswerSlot, PendingProposal, PendingProposals};
pub(super) use process_host::{ProcessHost, ProcessIo};
pub(super) use relay::Relay;
use start_path::StartPath;

#[derive(Debug, Default)]
struct Mailbox {
    commands: Vec<Command>,
    status: ClusterStatus,
    start: StartPath,
    raft_status: Arc<RaftStatus>,
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
    /// When the node connected.
    opened: Instant,
}

impl ClusterHandle {
    pub fn new(waker: Waker, replayed_upto: Index) -> Self {
        Self {
            mailbox: Mutex::default(),
            changed: Condvar::new(),
            waker,
            pending_proposals: PendingProposals::default(),
            next_request_id: AtomicU64::new(1),
            is_caught_up: AtomicBool::new(false),
            replayed_upto,
            opened: Instant::now(),
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
    pub fn register_proposal(&self, head: &WriteSetHead, transaction: Option<&Arc<Transaction>>) -> Arc<AnswerSlot> {
        let slot = Arc::<AnswerSlot>::default();
        let WriteSetHead { source, last_seen, request_id, .. } = *head;
        let transaction = transaction.map(Arc::clone);
        let is_streaming = transaction.as_ref().is_some_and(|transaction| transaction.state().is_streaming());
        let is_last_fragment = is_streaming && head.flags.has(Flags::TRX_END);
        let since = Instant::now();
        let pending =
            PendingProposal { source, last_seen, since, transaction, is_last_fragment, slot: Arc::clone(&slot) };
        self.pending_proposals.add(request_id, pending);
        slot
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

    /// Whether the node, whose start is not complete, is a single node from now on.
    fn starts_alone(&self) -> bool {
        self.mailbox().start.take_alone()
    }

    /// Whether the driver has not taken a proposal yet. Under the order's lock: no thread sends one meanwhile.
    pub fn has_unread_proposals(&self) -> bool {
        self.mailbox().commands.iter().any(|command| matches!(command, Command::Propose { .. }))
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

    /// Raft's state when it was published last.
    pub fn raft_status(&self) -> Arc<RaftStatus> {
        Arc::clone(&self.mailbox().raft_status)
    }

    fn set_raft_status(&self, status: RaftStatus) {
        self.mailbox().raft_status = Arc::new(status);
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
        self.stop(limit);
    }

    /// Stops the driver, and waits until it has ended.
    pub fn stop(&self, limit: Duration) {
        self.send(Command::Stop);
        let mut mailbox = self.mailbox();
        let until = Instant::now().checked_add(limit);
        while !mailbox.is_over {
            let Some(waited) = self.wait(mailbox, until) else { return };
            mailbox = waited;
        }
    }

    /// Whether the driver has ended.
    pub fn is_over(&self) -> bool {
        self.mailbox().is_over
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
