//! API functions that this provider does not support: no server calls them.

#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};

use super::abi::{RawBuffer, RawGtid, RawHandle, RawUuid, Status, Wsrep};

pub unsafe extern "C" fn enc_set_key(_wsrep: *mut Wsrep, _key: *const RawBuffer) -> Status {
    Status::NotImplemented
}

pub unsafe extern "C" fn assign_read_view(
    _wsrep: *mut Wsrep,
    _handle: *mut RawHandle,
    _view: *const RawGtid,
) -> Status {
    Status::NotImplemented
}

pub unsafe extern "C" fn preordered_collect(
    _wsrep: *mut Wsrep,
    _handle: *mut c_void,
    _data: *const RawBuffer,
    _count: usize,
    _copy: bool,
) -> Status {
    Status::NotImplemented
}

pub unsafe extern "C" fn preordered_commit(
    _wsrep: *mut Wsrep,
    _handle: *mut c_void,
    _source: *const RawUuid,
    _flags: u32,
    _range: c_int,
    _commit: bool,
) -> Status {
    Status::NotImplemented
}

pub unsafe extern "C" fn snapshot(_wsrep: *mut Wsrep, _message: *const RawBuffer, _donor: *const c_char) -> Status {
    Status::NotImplemented
}

pub unsafe extern "C" fn lock(
    _wsrep: *mut Wsrep,
    _name: *const c_char,
    _shared: bool,
    _owner: u64,
    _limit: i64,
) -> Status {
    Status::NotImplemented
}

pub unsafe extern "C" fn unlock(_wsrep: *mut Wsrep, _name: *const c_char, _owner: u64) -> Status {
    Status::NotImplemented
}

pub unsafe extern "C" fn is_locked(
    _wsrep: *mut Wsrep,
    _name: *const c_char,
    _owner: *mut u64,
    _node: *mut RawUuid,
) -> bool {
    false
}
