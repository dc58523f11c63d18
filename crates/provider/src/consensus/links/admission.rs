//! Asks the server whether a node at an address may join (`mysql.wsrep_allowlist`).
//!
//! The server reads a table for the answer, and may wait for a lock. So a thread of its own asks, one question after the
//! other, and the driver's thread takes the answers: a connection without one times out like any handshake.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use super::UNIDENTIFIED_PEERS_LIMIT;
use super::wake::Wake;

/// At the end, a question under way is waited for: the server must not end during it.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// The server's list of addresses.
pub trait Allowlist: Send + Sync {
    /// Whether a node at the address may join. May take long.
    fn allows(&self, address: IpAddr) -> bool;
}

/// The questions of this node.
pub(super) struct Admission {
    allowlist: Arc<dyn Allowlist>,
    thread: Option<Thread>,
}

struct Thread {
    /// The answers are wanted no more.
    is_over: Arc<AtomicBool>,
    questions: SyncSender<(u64, IpAddr)>,
    answers: Receiver<(u64, bool)>,
}

impl std::fmt::Debug for Admission {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Admission").field("is_running", &self.thread.is_some()).finish_non_exhaustive()
    }
}

impl Admission {
    pub fn new(allowlist: Arc<dyn Allowlist>) -> Self {
        Self { allowlist, thread: None }
    }

    /// Asks for a connection. The answer comes with [`Self::take_answers`], after a wake.
    ///
    /// # Errors
    /// Why this cannot be asked now.
    pub fn ask(&mut self, stream: u64, address: IpAddr, wake: &Arc<Wake>) -> Result<(), String> {
        let thread = match &mut self.thread {
            Some(thread) => thread,
            none => none.insert(
                start(Arc::clone(&self.allowlist), Arc::clone(wake))
                    .map_err(|error| format!("mysql.wsrep_allowlist cannot be read: no thread: {error}"))?,
            ),
        };
        // The addresses of dual-stack sockets are listed in their own form.
        let question = (stream, address.to_canonical());
        let is_full = |_| "mysql.wsrep_allowlist does not answer, and too many nodes wait for it".to_owned();
        thread.questions.try_send(question).map_err(is_full)
    }

    /// The answers so far: connections, and whether their nodes may join.
    pub fn take_answers(&self) -> Vec<(u64, bool)> {
        self.thread.iter().flat_map(|thread| thread.answers.try_iter()).collect()
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        let Some(Thread { is_over, questions, answers }) = self.thread.take() else { return };
        is_over.store(true, Ordering::Relaxed);
        drop(questions);
        let end = Instant::now() + END_TIMEOUT;
        // The sender is dropped when the thread ends.
        while answers.recv_timeout(end.saturating_duration_since(Instant::now())) != Err(RecvTimeoutError::Disconnected)
        {
            if Instant::now() >= end {
                return;
            }
        }
    }
}

fn start(allowlist: Arc<dyn Allowlist>, wake: Arc<Wake>) -> std::io::Result<Thread> {
    let (questions, asked) = sync_channel::<(u64, IpAddr)>(UNIDENTIFIED_PEERS_LIMIT);
    let (answer, answers) = sync_channel(UNIDENTIFIED_PEERS_LIMIT);
    let is_over = Arc::new(AtomicBool::new(false));
    let has_ended = Arc::clone(&is_over);
    let work = move || {
        for (stream, address) in asked {
            if has_ended.load(Ordering::Relaxed) || answer.send((stream, allowlist.allows(address))).is_err() {
                return;
            }
            wake.wake();
        }
    };
    crate::log::spawn_without_signals("hortator-allow", work)?;
    Ok(Thread { is_over, questions, answers })
}
