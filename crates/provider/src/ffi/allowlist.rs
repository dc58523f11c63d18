//! The server's allowlist service: which addresses may join. It belongs to the process, not to a provider's table.
//!
//! The server answers at any time from the init of the service on: before its storage engines are up, from its option
//! `wsrep_allowlist`; later from the table `mysql.wsrep_allowlist`, where no row means that every address may join.

#![allow(unsafe_code)]

use std::ffi::{CString, c_int};
use std::sync::{Mutex, PoisonError};

use super::abi::{ALLOWLIST_KEY_IP, AllowlistService, RawBuffer, Status};

struct Service(AllowlistService);

// SAFETY: the API allows the call on any thread; the context is the server's own.
unsafe impl Send for Service {}

static SERVICE: Mutex<Option<Service>> = Mutex::new(None);

/// The service from now on.
pub fn set(service: Option<AllowlistService>) {
    *SERVICE.lock().unwrap_or_else(PoisonError::into_inner) = service.map(Service);
}

/// Whether the server lets a node at the address join. Without the service: yes.
pub fn allows(address: &str) -> bool {
    let service = SERVICE.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|service| service.0);
    let Some(AllowlistService { callback: Some(callback), context }) = service else { return true };
    // The server reads up to the zero.
    let Ok(address) = CString::new(address) else { return false };
    let value = RawBuffer { ptr: address.as_ptr().cast(), len: address.as_bytes().len() };
    // SAFETY: the server's own function and context; the value lives until it returns.
    let status = unsafe { callback(context, ALLOWLIST_KEY_IP, &raw const value) };
    status == Status::Ok as c_int
}
