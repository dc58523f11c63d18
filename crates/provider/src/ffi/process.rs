//! The server's process: its variables, and its end.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char};
use std::sync::{Mutex, Once, PoisonError};

use crate::binary_log::BinaryLog;
use crate::node::Finished;
use crate::server::StopMark;

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

/// The server's binary log, as far as its variables are visible; if not, none. `log_slave_updates` does not matter:
/// applied events have the server's own id, and are written.
pub fn binary_log() -> Option<BinaryLog> {
    (flag(c"opt_bin_log") == Some(true)).then(|| BinaryLog {
        name: text(c"opt_bin_logname"),
        index_name: text(c"opt_binlog_index_name"),
        // The server has made it its working folder.
        data_dir: std::env::current_dir().unwrap_or_default(),
        can_pause: flag(NO_BINARY_LOG) == Some(false),
    })
}

/// The variable of servers without a binary log: all parts of a commit run, and nothing is written. A server reads it at
/// each commit. So the provider sets it for commits that the binary log holds already; `sql_log_bin` cannot be set in a
/// transaction, and streaming transactions run in sessions of their own.
const NO_BINARY_LOG: &CStr = c"wsrep_emulate_bin_log";

/// Whether the server writes what it commits to its binary log. Only for a server whose [`BinaryLog::can_pause`] is true,
/// and while nothing commits.
pub fn write_binary_log(writes: bool) {
    // SAFETY: dlsym looks up a symbol in the loaded libraries; null if there is none.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, NO_BINARY_LOG.as_ptr()) };
    if !address.is_null() {
        // SAFETY: the symbol is a flag of one byte in all supported servers, in writable memory. Volatile, since the
        // server's threads read it.
        unsafe { address.cast::<u8>().write_volatile(u8::from(!writes)) }
    }
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

/// See [`StopMark`]. Variables that the server does not have do not change.
pub fn stop_mark() -> StopMark {
    StopMark {
        is_stopping: flag(c"abort_loop") == Some(true),
        cluster_address_at: pointer(c"wsrep_cluster_address").unwrap_or(0),
    }
}

/// A text variable of the server, which it has set before it loads the provider. None: there is no such variable, or it
/// is not set.
fn text(name: &CStr) -> Option<String> {
    let address = pointer(name).filter(|address| *address != 0)?;
    // SAFETY: these variables are C strings in all supported servers, and do not change after the start.
    let text = unsafe { CStr::from_ptr(address as *const c_char) };
    Some(text.to_string_lossy().into_owned())
}

/// A pointer variable of the server. None: there is no such variable.
fn pointer(name: &CStr) -> Option<usize> {
    // SAFETY: dlsym looks up a symbol in the loaded libraries; null if there is none.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    // SAFETY: these symbols are pointers in all supported servers, and a pointer is written at once. Volatile, since the
    // server's threads write it.
    (!address.is_null()).then(|| unsafe { address.cast::<usize>().read_volatile() })
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
