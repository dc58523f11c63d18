//! The process that loaded the library: what can be seen of it, and its end.

#![allow(unsafe_code)]

use std::ffi::CStr;
use std::sync::{Mutex, Once, PoisonError};

use crate::node::Finished;

static FINISHED: Mutex<Option<Finished>> = Mutex::new(None);
static REGISTERED: Once = Once::new();

/// Saves how the node was stopped when the process ends by itself. The server frees its provider before it closes its
/// storage engines, and is killed in between like at any other time: then nothing must be saved.
pub fn save_at_exit(finished: Finished) {
    *FINISHED.lock().unwrap_or_else(PoisonError::into_inner) = Some(finished);
    // SAFETY: the library stays in memory to the end of the process (build.rs).
    REGISTERED.call_once(|| unsafe {
        libc::atexit(save);
    });
}

/// The provider was loaded again: what was saved for the end is not true any more.
pub fn discard_saved() {
    *FINISHED.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

extern "C" fn save() {
    let finished = FINISHED.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(Err(error)) = finished.map(|finished| finished.save()) {
        eprintln!("Hortator: {error}");
    }
}

/// Ends it by SIGABRT, as Galera's provider does. The signal's own effect is meant, not the server's report of a fault, and no
/// image of the memory.
pub fn abort_process() -> ! {
    // SAFETY: plain calls into the system.
    unsafe {
        libc::signal(libc::SIGABRT, libc::SIG_DFL);
        libc::setrlimit(libc::RLIMIT_CORE, &libc::rlimit { rlim_cur: 0, rlim_max: 0 });
    }
    std::process::abort()
}

/// Whether the server writes a binary log, as far as its own variables can be seen. One that does not show them counts as
/// one that has none. `log_slave_updates` does not matter: what is applied bears the server's own id, and is written.
pub fn has_binary_log() -> bool {
    flag(c"opt_bin_log") == Some(true)
}

/// Ends the process, if the server is only just starting: it waits for a place in the cluster then, as long as it takes, and
/// has no way to be told that none will come. Nothing is lost by it: no client was let in, and what was agreed on is in the log.
/// A server that does not show whether it has started goes on.
pub fn exit_if_starting() {
    if flag(c"mysqld_server_started") == Some(false) {
        // SAFETY: takes no pointers, and does not return. What other threads hold is let go of by the system.
        unsafe { libc::_exit(libc::EXIT_FAILURE) }
    }
}

/// A variable of the server's, of which one byte is 0 or 1. None: it is not there.
fn flag(name: &CStr) -> Option<bool> {
    // SAFETY: dlsym looks up a name in what is loaded; null when nobody has it.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if address.is_null() {
        return None;
    }
    // SAFETY: variables of those names are flags in all servers that this provider is for, the first byte the one that counts;
    // whoever changes them writes that byte alone. Volatile, since the server's threads do.
    Some(unsafe { address.cast::<u8>().read_volatile() } == 1)
}
