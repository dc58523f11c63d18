//! The boundary: what mariadbd finds in the library, and how it is called back. All of the crate's unsafe code but the
//! log's calls into the system.
//!
//! Every function catches panics: none may reach the server. Whatever panicked, the node leaves its cluster then.

#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};

pub mod abi;
mod callbacks;
mod calls;
mod pause;
mod process;
mod provider;
mod state_transfer;
mod stats;
mod text;
mod transactions;
mod unsupported;

use abi::{INTERFACE_VERSION, Status, Wsrep};

/// Found by the server's loader, which compares it with its own.
#[repr(transparent)]
pub struct VersionText(*const c_char);

// SAFETY: it points to a constant text.
unsafe impl Sync for VersionText {}

/// The interface that this library has.
#[unsafe(no_mangle)]
pub static wsrep_interface_version: VersionText = VersionText(INTERFACE_VERSION.as_ptr());

/// Fills the server's table with the provider's functions. 0: all is well; else an errno.
///
/// # Safety
/// `wsrep` points to a `wsrep_t` of the server's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wsrep_loader(wsrep: *mut Wsrep) -> c_int {
    if wsrep.is_null() {
        return libc::EINVAL;
    }
    // SAFETY: the caller's table, which nobody else uses before this returns.
    calls::fill(unsafe { &mut *wsrep });
    0
}

/// The server offers to check who connects. One node alone has nobody to ask about.
#[unsafe(no_mangle)]
pub extern "C" fn wsrep_init_allowlist_service_v1(_service: *mut c_void) -> c_int {
    Status::Ok as c_int
}

/// The offer ends.
#[unsafe(no_mangle)]
pub extern "C" fn wsrep_deinit_allowlist_service_v1() {}

/// Cuts the node off from others, at once and from a signal handler. There are no others yet.
#[unsafe(no_mangle)]
pub extern "C" fn wsrep_node_isolation_mode_set_v1(mode: c_int) -> c_int {
    c_int::from(!(0..=2).contains(&mode))
}
