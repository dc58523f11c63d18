//! Waking the thread that polls, from any other.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::event::{EventfdFlags, eventfd};

/// The polling thread does something; it looks here before it sleeps.
const AWAKE: u8 = 0;
/// It sleeps, or is about to: only the descriptor wakes it.
const ASLEEP: u8 = 1;
/// Somebody has something for it.
const WOKEN: u8 = 2;

/// What wakers and the polling thread share. A thread that is awake is woken without a call to the system.
#[derive(Debug)]
pub(super) struct Wake {
    state: AtomicU8,
    bell: std::fs::File,
}

impl Wake {
    pub fn new() -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { state: AtomicU8::new(AWAKE), bell: bell.into() })
    }

    /// Before sleeping. False: there is something already.
    pub fn may_sleep(&self) -> bool {
        self.state.compare_exchange(AWAKE, ASLEEP, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// After sleeping. Whether somebody has something.
    pub fn is_woken(&self) -> bool {
        self.state.swap(AWAKE, Ordering::SeqCst) == WOKEN
    }

    /// What becomes readable when a sleeper is woken.
    pub fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// Takes back the ringing. It may come late, of a wake that was seen already: then it only costs a turn.
    pub fn silence(&self) {
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
    }

    pub fn wake(&self) {
        if self.state.swap(WOKEN, Ordering::SeqCst) == ASLEEP {
            // It can only fail when 2^64 wakes have not been seen; the descriptor is readable then.
            let _ = (&self.bell).write(&1u64.to_ne_bytes());
        }
    }
}

/// Wakes the thread that polls.
#[derive(Clone, Debug)]
pub struct Waker(Arc<Wake>);

impl Waker {
    pub(super) fn new(wake: &Arc<Wake>) -> Self {
        Self(Arc::clone(wake))
    }

    /// The running poll, or the next one, returns with [`Event::Woken`](super::Event::Woken). Many wakes may be one event.
    pub fn wake(&self) {
        self.0.wake();
    }
}
