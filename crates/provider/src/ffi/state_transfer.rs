//! API functions by which the server reports the result of an SST.

#![allow(unsafe_code)]

use std::ffi::c_int;

use super::abi::{RawBuffer, RawGtid, Status, Wsrep};
use super::callbacks::gtid;
use super::provider::with;
use crate::identity::Gtid;

pub unsafe extern "C" fn sst_sent(wsrep: *mut Wsrep, _state: *const RawGtid, code: c_int) -> Status {
    // SAFETY: the server's own table.
    unsafe {
        with(wsrep, Status::NodeFail, |provider| {
            provider.node.state_sent(code);
            Status::Ok
        })
    }
}

pub unsafe extern "C" fn sst_received(
    wsrep: *mut Wsrep,
    state: *const RawGtid,
    _buffer: *const RawBuffer,
    code: c_int,
) -> Status {
    // SAFETY: the server's own table and pointer.
    unsafe {
        with(wsrep, Status::NodeFail, |provider| {
            let state = state.as_ref().map_or(Gtid::UNDEFINED, |raw| gtid(*raw));
            if provider.node.state_received(state, code) { Status::Ok } else { Status::NotAllowed }
        })
    }
}
