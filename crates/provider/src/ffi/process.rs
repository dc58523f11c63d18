//! The process that loaded the library: what can be seen of it, and its end.

#![allow(unsafe_code)]

use std::ffi::CStr;
use std::sync::{Mutex, Once, PoisonError};

use crate::node::Finished;

static FINISHED: Mutex<Option<Finished>> = Mutex::new(None);
static REGISTERED: Once = Once::new();

/// Saves how the node was stopped when the process ends by itself. The server frees its provider before it closes its
/// storage engines, and is killed in between like at any other time: then nothing must be saved.
pub fn when_the_process_ends(finished: Finished) {
    *FINISHED.lock().unwrap_or_else(PoisonError::into_inner) = Some(finished);
    // SAFETY: the library stays in memory to the end of the process (build.rs).
    REGISTERED.call_once(|| unsafe {
        libc::atexit(save);
    });
}

/// The provider was loaded again: what was saved for the end is not true any more.
pub fn goes_on() {
    *FINISHED.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

extern "C" fn save() {
    let finished = FINISHED.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(Err(error)) = finished.map(|finished| finished.save()) {
        eprintln!("Hortator: {error}");
    }
}

/// Whether the server writes a binary log, as far as its own variables can be seen. One that does not show them counts as
/// one that has none. `log_slave_updates` does not matter: what is applied bears the server's own id, and is written.
pub fn has_binary_log() -> bool {
    is_set(c"opt_bin_log")
}

/// Whether a variable of the server's, one byte that is 0 or 1, is there and set.
fn is_set(name: &CStr) -> bool {
    // SAFETY: dlsym looks up a name in what is loaded; null when nobody has it.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if address.is_null() {
        return false;
    }
    // SAFETY: variables of that name are `my_bool` in all servers that this provider is for, set before it is loaded.
    unsafe { address.cast::<u8>().read() == 1 }
}
