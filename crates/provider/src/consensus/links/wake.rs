//! Wakes the polling thread from any other thread.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::event::{EventfdFlags, eventfd};

/// The polling thread is awake; it checks the state before it sleeps.
const AWAKE: u8 = 0;
/// It sleeps, or is about to: only the descriptor wakes it.
const ASLEEP: u8 = 1;
/// A waker was used.
const WOKEN: u8 = 2;

/// Shared by the wakers and the polling thread. Waking an awake thread costs no system call.
#[derive(Debug)]
pub(super) struct Wake {
    state: AtomicU8,
    event_fd: std::fs::File,
}

impl Wake {
    pub fn new() -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { state: AtomicU8::new(AWAKE), event_fd: bell.into() })
    }

    /// Before sleeping. False: a waker was used.
    pub fn may_sleep(&self) -> bool {
        self.state.compare_exchange(AWAKE, ASLEEP, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// After sleeping. Whether a waker was used.
    pub fn is_woken(&self) -> bool {
        self.state.swap(AWAKE, Ordering::SeqCst) == WOKEN
    }

    /// The descriptor that becomes readable when a sleeper is woken.
    pub fn event_fd(&self) -> BorrowedFd<'_> {
        self.event_fd.as_fd()
    }

    /// Resets the descriptor. The signal may belong to a wake that was seen already: that costs one poll.
    pub fn drain(&self) {
        let _ = rustix::io::read(&self.event_fd, &mut [0; 8]);
    }

    pub fn wake(&self) {
        if self.state.swap(WOKEN, Ordering::SeqCst) == ASLEEP {
            // Fails only at 2^64 unseen wakes; the descriptor is readable then.
            let _ = (&self.event_fd).write(&1u64.to_ne_bytes());
        }
    }
}

/// Wakes the polling thread.
#[derive(Clone, Debug)]
pub struct Waker(Arc<Wake>);

#[cfg(test)]
impl Waker {
    /// A waker that wakes nobody.
    pub fn for_test() -> Self {
        Self(Arc::new(Wake::new().unwrap()))
    }
}

impl Waker {
    pub(super) fn new(wake: &Arc<Wake>) -> Self {
        Self(Arc::clone(wake))
    }

    /// Makes the running poll, or the next one, return with [`Event::Woken`](super::Event::Woken). Several wakes may be
    /// one event.
    pub fn wake(&self) {
        self.0.wake();
    }
}
