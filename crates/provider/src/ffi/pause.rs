//! API functions to pause and desync the node.

#![allow(unsafe_code)]

use super::abi::{Status, Wsrep};
use super::provider::with;

pub unsafe extern "C" fn pause(wsrep: *mut Wsrep) -> i64 {
    // SAFETY: the server's own table.
    unsafe { with(wsrep, -1, |provider| provider.node.pause()) }
}

pub unsafe extern "C" fn resume(wsrep: *mut Wsrep) -> Status {
    // SAFETY: the server's own table.
    unsafe {
        with(wsrep, Status::NodeFail, |provider| {
            provider.node.resume();
            Status::Ok
        })
    }
}

pub unsafe extern "C" fn desync(wsrep: *mut Wsrep) -> Status {
    // SAFETY: the server's own table.
    unsafe {
        with(wsrep, Status::NodeFail, |provider| {
            provider.node.desync();
            Status::Ok
        })
    }
}

pub unsafe extern "C" fn resync(wsrep: *mut Wsrep) -> Status {
    // SAFETY: the server's own table.
    unsafe {
        with(wsrep, Status::NodeFail, |provider| {
            provider.node.resync();
            Status::Ok
        })
    }
}
