//! The boundary to mariadbd: the library's exported functions, and the callbacks. Contains all unsafe code of the
//! crate, except the log's system calls.
//!
//! Every function catches panics: none may reach the server. After a panic the node leaves its cluster.

#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};

pub mod abi;
mod allowlist;
mod callbacks;
mod calls;
mod parameters;
mod pause;
mod process;
mod provider;
mod sql;
mod state_transfer;
mod stats;
mod text;
mod transactions;
mod unsupported;

use abi::{AllowlistService, ConfigService, INTERFACE_VERSION, Status, Wsrep};

/// The server's loader compares it with its own version.
#[repr(transparent)]
pub struct VersionText(*const c_char);

// SAFETY: it points to a constant text.
unsafe impl Sync for VersionText {}

/// The interface version of this library.
#[unsafe(no_mangle)]
pub static wsrep_interface_version: VersionText = VersionText(INTERFACE_VERSION.as_ptr());

/// Fills the server's table with the provider's functions. Returns 0, or an errno.
///
/// # Safety
/// `wsrep` points to a `wsrep_t` of the server.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wsrep_loader(wsrep: *mut Wsrep) -> c_int {
    if wsrep.is_null() {
        return libc::EINVAL;
    }
    // SAFETY: the caller's table, which nobody else uses before this returns.
    calls::fill(unsafe { &mut *wsrep });
    0
}

/// The server offers its allowlist, before init.
///
/// # Safety
/// `service` points to the server's service, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wsrep_init_allowlist_service_v1(service: *const AllowlistService) -> c_int {
    // SAFETY: the caller's promise.
    allowlist::set(unsafe { service.as_ref() }.copied());
    Status::Ok as c_int
}

/// The offer ends.
#[unsafe(no_mangle)]
pub extern "C" fn wsrep_deinit_allowlist_service_v1() {
    allowlist::set(None);
}

/// The server offers to take events for its `wsrep_status_file`. None are sent; without this function, a server with its
/// plugin of options warns at each start.
#[unsafe(no_mangle)]
pub extern "C" fn wsrep_init_event_service_v1(_service: *const c_void) -> c_int {
    Status::Ok as c_int
}

/// The offer ends.
#[unsafe(no_mangle)]
pub extern "C" fn wsrep_deinit_event_service_v1() {}

/// Fills the server's table with the function that gives the options with their types. The server calls it after init.
///
/// # Safety
/// `service` points to a service of the server, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wsrep_init_config_service_v1(service: *mut ConfigService) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { service.as_mut() } {
        Some(service) => {
            service.get_parameters = Some(parameters::get_parameters);
            Status::Ok as c_int
        }
        None => Status::Fatal as c_int,
    }
}

/// The server asks no more.
#[unsafe(no_mangle)]
pub extern "C" fn wsrep_deinit_config_service_v1() {}

/// Isolates the node, from a signal handler. Not supported: only checks the mode.
#[unsafe(no_mangle)]
pub extern "C" fn wsrep_node_isolation_mode_set_v1(mode: c_int) -> c_int {
    c_int::from(!(0..=2).contains(&mode))
}
