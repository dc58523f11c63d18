//! The server's process: its variables, and its end.

#![allow(unsafe_code)]

use std::ffi::CStr;
use std::sync::{Mutex, Once, PoisonError};

use crate::node::Finished;

static FINISHED: Mutex<Option<Finished>> = Mutex::new(None);
static REGISTERED: Once = Once::new();

/// Saves the node's clean stop when the process exits. The server frees the provider before it closes its storage
/// engines, and may be killed in between: then nothing must be saved.
pub fn save_at_exit(finished: Finished) {
    *FINISHED.lock().unwrap_or_else(PoisonError::into_inner) = Some(finished);
    // SAFETY: the library stays in memory to the end of the process (build.rs).
    REGISTERED.call_once(|| unsafe {
        libc::atexit(save);
    });
}

/// The provider was loaded again: the pending state is void.
pub fn discard_saved() {
    *FINISHED.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

extern "C" fn save() {
    let finished = FINISHED.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(Err(error)) = finished.map(|finished| finished.save()) {
        eprintln!("Hortator: {error}");
    }
}

/// Ends the process by SIGABRT, like Galera's provider. Resets the signal's handler, so that the server writes no crash
/// report, and disables the core dump.
pub fn abort_process() -> ! {
    // SAFETY: plain calls into the system.
    unsafe {
        libc::signal(libc::SIGABRT, libc::SIG_DFL);
        libc::setrlimit(libc::RLIMIT_CORE, &libc::rlimit { rlim_cur: 0, rlim_max: 0 });
    }
    std::process::abort()
}

/// Whether the server writes a binary log, as far as its variables are visible; if not, no. `log_slave_updates` does
/// not matter: applied events have the server's own id, and are written.
pub fn has_binary_log() -> bool {
    flag(c"opt_bin_log") == Some(true)
}

/// Ends the process if the server is starting: it waits for a view as long as that takes, and cannot be told that none
/// will come. Nothing is lost: no client was connected, and the log holds what is committed. A server without the
/// variable continues.
pub fn exit_if_starting() {
    if flag(c"mysqld_server_started") == Some(false) {
        // SAFETY: takes no pointers, and does not return. The system releases what other threads hold.
        unsafe { libc::_exit(libc::EXIT_FAILURE) }
    }
}

/// A flag variable of the server, whose first byte is 0 or 1. None: there is no such variable.
fn flag(name: &CStr) -> Option<bool> {
    // SAFETY: dlsym looks up a symbol in the loaded libraries; null if there is none.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if address.is_null() {
        return None;
    }
    // SAFETY: these symbols are flags in all supported servers; the first byte holds the value, and writers change only
    // that byte. Volatile, since the server's threads write it.
    Some(unsafe { address.cast::<u8>().read_volatile() } == 1)
}
