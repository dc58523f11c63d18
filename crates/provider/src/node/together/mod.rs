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
//! | `leading` | what a leader sees to: views, cuts |
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
use crate::group::links::Waker;
use crate::identity::{Gtid, Uuid};
use crate::log::Index;
use crate::transaction::Transaction;

mod agreed;
mod anew;
mod awaiting;
mod deciding;
mod donating;
mod flow;
mod hearing;
mod joining;
mod leading;
mod next_view;
mod next_voters;
mod proposing;
mod starting;
mod taking;
mod telling;
mod thread;
mod voting;
mod waiting;

pub(super) use donating::Donation;
use joining::Wants;
pub(super) use starting::{Beginning, start};
use waiting::{Answer, Proposed, Waiting};

/// What a server's thread wants of the group's.
#[derive(Debug)]
pub(super) enum Command {
    /// An entry without a place.
    Propose { ticket: u64, bytes: Vec<u8> },
    /// How far must one have applied who reads now?
    Confirm { ticket: u64 },
    /// Ask a leader for that.
    Want(Wants),
    /// Entries from there on are to take their places.
    GoOnFrom(Index),
    /// The node goes, in order.
    Leave,
    /// As if the cable were pulled.
    Isolate(bool),
    /// Go on without those who are away.
    Bootstrap,
    /// Look again: there is room, or it is not paused any more.
    Look,
    /// Stop.
    End,
}

/// How the node stands to its group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Contact {
    /// Somebody leads, and this node hears it.
    pub in_touch: bool,
    /// This node leads and is alone.
    pub is_alone: bool,
    /// Agreed on up to here, and in this node's log.
    pub agreed: Index,
    /// The history of the nodes that are linked.
    pub history: Uuid,
    /// Somebody is linked.
    pub is_linked: bool,
    /// The others' logs do not reach back to where this one ends.
    pub is_too_far_behind: bool,
    /// The server may prepare to be given the tables.
    pub may_prepare: bool,
    /// The log was begun anew for a joiner, whose tables will be behind this.
    pub joins_behind: Option<Index>,
    /// The donor has sent the tables, and this is up to where they heed what was decided; -1: nobody knows.
    pub donor_heeds: Option<i64>,
    /// It has left in order, or never will.
    pub has_left: bool,
}

/// What came of a state transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    /// The tables are there.
    Received(Gtid),
    /// The server says that it failed.
    Failed(i32),
    /// They will not come, and why.
    Hopeless(String),
}

#[derive(Debug, Default)]
struct Desk {
    commands: Vec<Command>,
    contact: Contact,
    transfer: Option<Transfer>,
    /// The tables of another node are to come.
    awaits_state: bool,
    /// Answers to [`Command::Confirm`]: the seqno, or that nobody knows.
    confirmed: Vec<(u64, Option<i64>)>,
    /// Of which somebody waits for the answer.
    asked: BTreeSet<u64>,
    is_over: bool,
    is_leaving: bool,
}

/// What the server's threads and the group's share.
#[derive(Debug)]
pub(super) struct Together {
    desk: Mutex<Desk>,
    changed: Condvar,
    waker: Waker,
    /// Proposals whose threads wait.
    pub waiting: Waiting,
    tickets: AtomicU64,
    /// The tables are where the order goes on from: what comes is applied.
    pub is_settled: AtomicBool,
    /// Of the log up to here the tables may hold parts.
    replayed_upto: Index,
}

impl Together {
    fn new(waker: Waker, replayed_upto: Index) -> Self {
        Self {
            desk: Mutex::default(),
            changed: Condvar::new(),
            waker,
            waiting: Waiting::default(),
            tickets: AtomicU64::new(1),
            is_settled: AtomicBool::new(false),
            replayed_upto,
        }
    }

    /// Whether the tables may hold parts of that entry.
    fn replays(&self, index: Index) -> bool {
        index <= self.replayed_upto
    }

    /// Whether it was told to go.
    pub fn is_leaving(&self) -> bool {
        self.desk().is_leaving
    }

    /// The node goes: who waits for the group on its way in gives up.
    pub fn leave_soon(&self) {
        self.desk().is_leaving = true;
        self.changed.notify_all();
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        lock(&self.desk)
    }

    /// Another ticket, higher than all before.
    pub fn ticket(&self) -> u64 {
        self.tickets.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
    }

    /// A proposal will be made: who waits for it, and where its place will be told.
    pub fn expect(&self, source: Uuid, ticket: u64, transaction: Option<&Arc<Transaction>>) -> Arc<Answer> {
        let answer = Arc::<Answer>::default();
        let transaction = transaction.map(Arc::clone);
        self.waiting.add(ticket, Proposed { source, transaction, answer: Arc::clone(&answer) });
        answer
    }

    /// Asks the group's thread for something.
    pub fn ask(&self, command: Command) {
        let is_first = {
            let mut desk = self.desk();
            desk.commands.push(command);
            desk.commands.len() == 1
        };
        // Whoever put the first one there woke it; it takes all.
        if is_first {
            self.waker.wake();
        }
    }

    /// To be looked at in the next round.
    fn ask_again(&self, command: Command) {
        self.desk().commands.push(command);
        self.waker.wake();
    }

    /// How the node stands.
    pub fn contact(&self) -> Contact {
        self.desk().contact
    }

    /// Waits until the contact is as wanted. None: the group's thread ended, or it took too long.
    pub fn wait_for(&self, limit: Option<Duration>, is_so: impl Fn(&Contact) -> bool) -> Option<Contact> {
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut desk = self.desk();
        while !is_so(&desk.contact) {
            if desk.is_over || desk.is_leaving && limit.is_none() {
                return None;
            }
            desk = self.wait(desk, until)?;
        }
        Some(desk.contact)
    }

    /// Up to where one must have applied to have seen everything that was committed anywhere by now. None: nobody can
    /// tell in time.
    pub fn confirm(&self, until: Option<Instant>) -> Option<i64> {
        let ticket = self.ticket();
        self.desk().asked.insert(ticket);
        self.ask(Command::Confirm { ticket });
        let mut desk = self.desk();
        loop {
            if let Some(at) = desk.confirmed.iter().position(|(of, _)| *of == ticket) {
                return desk.confirmed.swap_remove(at).1;
            }
            if desk.is_over {
                return None;
            }
            let is_late = until.is_some_and(|until| until <= Instant::now());
            if is_late {
                desk.asked.remove(&ticket);
                return None;
            }
            let limit = until.unwrap_or_else(|| Instant::now() + Duration::from_secs(1));
            let rest = limit.saturating_duration_since(Instant::now());
            desk = self.changed.wait_timeout(desk, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn wait<'a>(&self, desk: MutexGuard<'a, Desk>, until: Option<Instant>) -> Option<MutexGuard<'a, Desk>> {
        let Some(until) = until else {
            return Some(self.changed.wait(desk).unwrap_or_else(PoisonError::into_inner));
        };
        let rest = until.checked_duration_since(Instant::now())?;
        Some(self.changed.wait_timeout(desk, rest).unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Goes in order, and ends the group's thread. The others need not answer for that.
    pub fn go(&self, limit: Duration) {
        self.ask(Command::Leave);
        self.wait_for(Some(limit), |contact| contact.has_left);
        self.ask(Command::End);
        let mut desk = self.desk();
        let until = Instant::now().checked_add(limit);
        while !desk.is_over {
            let Some(waited) = self.wait(desk, until) else { return };
            desk = waited;
        }
    }

    /// What is wanted of the group's thread by now.
    fn commands(&self) -> Vec<Command> {
        std::mem::take(&mut self.desk().commands)
    }

    fn set_contact(&self, contact: Contact) {
        let mut desk = self.desk();
        if desk.contact != contact {
            desk.contact = contact;
            self.changed.notify_all();
        }
    }

    fn answer(&self, ticket: u64, seqno: Option<i64>) {
        let mut desk = self.desk();
        // Whoever asked may have gone.
        if desk.asked.remove(&ticket) {
            desk.confirmed.push((ticket, seqno));
            self.changed.notify_all();
        }
    }

    /// Whoever was asked how far one must have applied may not answer any more: it is asked again.
    fn refuse_asked(&self) {
        let mut desk = self.desk();
        let asked = std::mem::take(&mut desk.asked);
        desk.confirmed.extend(asked.into_iter().map(|ticket| (ticket, None)));
        self.changed.notify_all();
    }

    /// Nothing comes from the group's thread any more.
    fn end(&self) {
        self.desk().is_over = true;
        self.changed.notify_all();
        self.waiting.close();
    }
}
