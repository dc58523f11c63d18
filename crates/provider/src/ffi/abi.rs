//! The wsrep API, version 26, declared by hand.
//!
//! Source: the API's documentation (wsrep-API, branch v26). The tests of this module check sizes and offsets against
//! Debian 12's mariadbd (10.11); `tests/harness` compiles the same from C.

#![allow(unsafe_code)]
#![allow(missing_docs, reason = "names and order are the API's, which documents them")]

use std::ffi::{c_char, c_int, c_void};

#[cfg(test)]
mod tests;

/// The interface version that the loader compares.
pub const INTERFACE_VERSION: &std::ffi::CStr = c"26";

/// Capabilities of a provider: `wsrep_cap_t`.
pub mod capability {
    pub const MULTI_MASTER: u32 = 1 << 0;
    pub const CERTIFICATION: u32 = 1 << 1;
    pub const PARALLEL_APPLYING: u32 = 1 << 2;
    pub const TRX_REPLAY: u32 = 1 << 3;
    pub const ISOLATION: u32 = 1 << 4;
    pub const PAUSE: u32 = 1 << 5;
    pub const CAUSAL_READS: u32 = 1 << 6;
    pub const INCREMENTAL_WRITE_SET: u32 = 1 << 8;
    pub const STREAMING: u32 = 1 << 15;
}

/// Result of a call: `wsrep_status_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Ok = 0,
    TrxMissing = 2,
    TrxFail = 3,
    BfAbort = 4,
    SizeExceeded = 5,
    ConnFail = 6,
    NodeFail = 7,
    Fatal = 8,
    NotImplemented = 9,
    NotAllowed = 10,
}

/// `wsrep_uuid_t`, aligned to a machine word.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub struct RawUuid {
    pub data: [u8; 16],
}

/// `wsrep_gtid_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawGtid {
    pub uuid: RawUuid,
    pub seqno: i64,
}

/// `wsrep_stid_t`: the source of a transaction.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawStid {
    pub node: RawUuid,
    pub trx: u64,
    pub conn: u64,
}

/// `wsrep_trx_meta_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawMeta {
    pub gtid: RawGtid,
    pub stid: RawStid,
    pub depends_on: i64,
}

/// `wsrep_buf_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawBuffer {
    pub ptr: *const c_void,
    pub len: usize,
}

/// `wsrep_ws_handle_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawHandle {
    pub trx_id: u64,
    pub opaque: *mut c_void,
}

/// `wsrep_key_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawKey {
    pub parts: *const RawBuffer,
    pub parts_num: usize,
}

/// Bytes of a member's name, with its terminating zero.
pub const MEMBER_NAME_BYTES: usize = 32;
/// Bytes of a member's address for clients, with its terminating zero.
pub const INCOMING_BYTES: usize = 256;

/// `wsrep_member_info_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawMember {
    pub id: RawUuid,
    pub name: [c_char; MEMBER_NAME_BYTES],
    pub incoming: [c_char; INCOMING_BYTES],
}

/// `wsrep_view_info_t` without the members, which follow it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawViewHead {
    pub state_id: RawGtid,
    pub view: i64,
    pub status: c_int,
    pub capabilities: u32,
    pub my_idx: c_int,
    pub memb_num: c_int,
    pub proto_ver: c_int,
}

pub type LogCallback = unsafe extern "C" fn(c_int, *const c_char);
pub type ConnectedCallback = unsafe extern "C" fn(*mut c_void, *const RawViewHead) -> c_int;
pub type ViewCallback =
    unsafe extern "C" fn(*mut c_void, *mut c_void, *const RawViewHead, *const c_char, usize) -> c_int;
pub type SstRequestCallback = unsafe extern "C" fn(*mut c_void, *mut *mut c_void, *mut usize) -> c_int;
pub type ApplyCallback =
    unsafe extern "C" fn(*mut c_void, *const RawHandle, u32, *const RawBuffer, *const RawMeta, *mut bool) -> c_int;
pub type SstDonateCallback =
    unsafe extern "C" fn(*mut c_void, *mut c_void, *const RawBuffer, *const RawGtid, *const RawBuffer, bool) -> c_int;
pub type SyncedCallback = unsafe extern "C" fn(*mut c_void) -> c_int;

/// `struct wsrep_init_args`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct InitArgs {
    pub app_ctx: *mut c_void,
    pub node_name: *const c_char,
    pub node_address: *const c_char,
    pub node_incoming: *const c_char,
    pub data_dir: *const c_char,
    pub options: *const c_char,
    pub proto_ver: c_int,
    pub state_id: *const RawGtid,
    pub state: *const RawBuffer,
    pub logger_cb: Option<LogCallback>,
    pub connected_cb: Option<ConnectedCallback>,
    pub view_cb: Option<ViewCallback>,
    pub sst_request_cb: Option<SstRequestCallback>,
    pub encrypt_cb: *const c_void,
    pub apply_cb: Option<ApplyCallback>,
    pub unordered_cb: *const c_void,
    pub sst_donate_cb: Option<SstDonateCallback>,
    pub synced_cb: Option<SyncedCallback>,
}

/// The kinds of `wsrep_stats_var`.
pub const STATS_STRING: c_int = 0;
pub const STATS_INT64: c_int = 1;
pub const STATS_DOUBLE: c_int = 2;

/// `struct wsrep_stats_var`; the value is a pointer, an i64 or the bits of a double.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawStatsVar {
    pub name: *const c_char,
    pub kind: c_int,
    pub value: u64,
}

/// `wsrep_allowlist_key_t`: the value is an IP address.
pub const ALLOWLIST_KEY_IP: c_int = 0;

pub type AllowlistCallback = unsafe extern "C" fn(*mut c_void, c_int, *const RawBuffer) -> c_int;

/// `wsrep_allowlist_service_v1_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AllowlistService {
    pub callback: Option<AllowlistCallback>,
    pub context: *mut c_void,
}

/// The flags of a parameter; without one of the types it is a text.
pub const PARAMETER_READ_ONLY: c_int = 1 << 1;
pub const PARAMETER_BOOLEAN: c_int = 1 << 2;
pub const PARAMETER_INTEGER: c_int = 1 << 3;
pub const PARAMETER_DOUBLE: c_int = 1 << 4;

/// The value of a `wsrep_parameter_t`: a bool, an integer, a double or a text.
#[repr(C)]
#[derive(Clone, Copy)]
pub union RawParameterValue {
    pub as_integer: i64,
    pub as_double: f64,
    pub as_string: *const c_char,
}

/// `wsrep_parameter_t`.
#[repr(C)]
pub struct RawParameter {
    pub flags: c_int,
    pub name: *const c_char,
    pub value: RawParameterValue,
}

pub type ParameterCallback = unsafe extern "C" fn(*const RawParameter, *mut c_void);

/// `wsrep_config_service_v1_t`: filled by the provider.
#[repr(C)]
pub struct ConfigService {
    pub get_parameters: Option<unsafe extern "C" fn(*mut Wsrep, Option<ParameterCallback>, *mut c_void) -> Status>,
}

/// `wsrep_t`: the provider's function table. Complete, except for what the loader leaves empty.
#[repr(C)]
pub struct Wsrep {
    pub version: *const c_char,
    pub init: Option<unsafe extern "C" fn(*mut Wsrep, *const InitArgs) -> Status>,
    pub capabilities: Option<unsafe extern "C" fn(*mut Wsrep) -> u32>,
    pub options_set: Option<unsafe extern "C" fn(*mut Wsrep, *const c_char) -> Status>,
    pub options_get: Option<unsafe extern "C" fn(*mut Wsrep) -> *mut c_char>,
    pub enc_set_key: Option<unsafe extern "C" fn(*mut Wsrep, *const RawBuffer) -> Status>,
    pub connect: Option<unsafe extern "C" fn(*mut Wsrep, *const c_char, *const c_char, *const c_char, bool) -> Status>,
    pub disconnect: Option<unsafe extern "C" fn(*mut Wsrep) -> Status>,
    pub recv: Option<unsafe extern "C" fn(*mut Wsrep, *mut c_void) -> Status>,
    pub assign_read_view: Option<unsafe extern "C" fn(*mut Wsrep, *mut RawHandle, *const RawGtid) -> Status>,
    pub certify: Option<unsafe extern "C" fn(*mut Wsrep, u64, *mut RawHandle, u32, *mut RawMeta) -> Status>,
    pub commit_order_enter: Option<unsafe extern "C" fn(*mut Wsrep, *const RawHandle, *const RawMeta) -> Status>,
    pub commit_order_leave:
        Option<unsafe extern "C" fn(*mut Wsrep, *const RawHandle, *const RawMeta, *const RawBuffer) -> Status>,
    pub release: Option<unsafe extern "C" fn(*mut Wsrep, *mut RawHandle) -> Status>,
    pub replay_trx: Option<unsafe extern "C" fn(*mut Wsrep, *const RawHandle, *mut c_void) -> Status>,
    pub abort_certification: Option<unsafe extern "C" fn(*mut Wsrep, i64, u64, *mut i64) -> Status>,
    pub rollback: Option<unsafe extern "C" fn(*mut Wsrep, u64, *const RawBuffer) -> Status>,
    pub append_key:
        Option<unsafe extern "C" fn(*mut Wsrep, *mut RawHandle, *const RawKey, usize, c_int, bool) -> Status>,
    pub append_data:
        Option<unsafe extern "C" fn(*mut Wsrep, *mut RawHandle, *const RawBuffer, usize, c_int, bool) -> Status>,
    pub sync_wait: Option<unsafe extern "C" fn(*mut Wsrep, *mut RawGtid, c_int, *mut RawGtid) -> Status>,
    pub last_committed_id: Option<unsafe extern "C" fn(*mut Wsrep, *mut RawGtid) -> Status>,
    pub free_connection: Option<unsafe extern "C" fn(*mut Wsrep, u64) -> Status>,
    pub to_execute_start: Option<
        unsafe extern "C" fn(
            *mut Wsrep,
            u64,
            *const RawKey,
            usize,
            *const RawBuffer,
            usize,
            u32,
            *mut RawMeta,
        ) -> Status,
    >,
    pub to_execute_end: Option<unsafe extern "C" fn(*mut Wsrep, u64, *const RawBuffer) -> Status>,
    pub preordered_collect:
        Option<unsafe extern "C" fn(*mut Wsrep, *mut c_void, *const RawBuffer, usize, bool) -> Status>,
    pub preordered_commit:
        Option<unsafe extern "C" fn(*mut Wsrep, *mut c_void, *const RawUuid, u32, c_int, bool) -> Status>,
    pub sst_sent: Option<unsafe extern "C" fn(*mut Wsrep, *const RawGtid, c_int) -> Status>,
    pub sst_received: Option<unsafe extern "C" fn(*mut Wsrep, *const RawGtid, *const RawBuffer, c_int) -> Status>,
    pub snapshot: Option<unsafe extern "C" fn(*mut Wsrep, *const RawBuffer, *const c_char) -> Status>,
    pub stats_get: Option<unsafe extern "C" fn(*mut Wsrep) -> *mut RawStatsVar>,
    pub stats_free: Option<unsafe extern "C" fn(*mut Wsrep, *mut RawStatsVar)>,
    pub stats_reset: Option<unsafe extern "C" fn(*mut Wsrep)>,
    pub pause: Option<unsafe extern "C" fn(*mut Wsrep) -> i64>,
    pub resume: Option<unsafe extern "C" fn(*mut Wsrep) -> Status>,
    pub desync: Option<unsafe extern "C" fn(*mut Wsrep) -> Status>,
    pub resync: Option<unsafe extern "C" fn(*mut Wsrep) -> Status>,
    pub lock: Option<unsafe extern "C" fn(*mut Wsrep, *const c_char, bool, u64, i64) -> Status>,
    pub unlock: Option<unsafe extern "C" fn(*mut Wsrep, *const c_char, u64) -> Status>,
    pub is_locked: Option<unsafe extern "C" fn(*mut Wsrep, *const c_char, *mut u64, *mut RawUuid) -> bool>,
    pub provider_name: *const c_char,
    pub provider_version: *const c_char,
    pub provider_vendor: *const c_char,
    pub free: Option<unsafe extern "C" fn(*mut Wsrep)>,
    pub dlh: *mut c_void,
    pub ctx: *mut c_void,
}
