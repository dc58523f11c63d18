//! The API functions: each converts the server's pointers, calls the node, and returns a status.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::time::Duration;

use hortator_core::Mode;

use super::abi::{INTERFACE_VERSION, InitArgs, RawBuffer, RawGtid, RawHandle, RawKey, RawMeta, RawStatsVar};
use super::abi::{Status, Wsrep};
use super::callbacks::{CAPABILITIES, UNDEFINED_META, gtid, meta, raw_gtid, raw_meta};
use super::provider::{Provider, guarded, with};
use super::stats::StatsBlock;
use super::text::{all_bytes, bytes, from_server, keys, to_malloc};
use super::transactions::{find, find_or_begin, forget};
use super::unsupported;
use super::{pause, state_transfer};
use crate::node::{EnterOutcome, Outcome};
use crate::server::{Flags, Handle, Level, Meta, Receiver};
use crate::transaction::AbortAnswer;
use crate::write_set::WriteSet;
use crate::{status, transaction::Transaction};

const NAME: &CStr = c"Hortator";
/// The servers' own tests require Galera 26.4.27 or later; the provider's name tells what it is.
const VERSION: &CStr = c"26.4.27(r0)";
const VENDOR: &CStr = c"Hortator (EXPERIMENTAL)";

/// The modes by the API's numbers.
const MODES: [Mode; 4] = [Mode::RowShared, Mode::RowReference, Mode::RowUpdate, Mode::RowExclusive];
const UNORDERED_DATA: c_int = 1;

/// Fills the server's function table.
pub fn fill(wsrep: &mut Wsrep) {
    let dlh = wsrep.dlh;
    *wsrep = Wsrep {
        version: INTERFACE_VERSION.as_ptr(),
        init: Some(init),
        capabilities: Some(capabilities),
        options_set: Some(options_set),
        options_get: Some(options_get),
        enc_set_key: Some(unsupported::enc_set_key),
        connect: Some(connect),
        disconnect: Some(disconnect),
        recv: Some(recv),
        assign_read_view: Some(unsupported::assign_read_view),
        certify: Some(certify),
        commit_order_enter: Some(commit_order_enter),
        commit_order_leave: Some(commit_order_leave),
        release: Some(release),
        replay_trx: Some(replay_trx),
        abort_certification: Some(abort_certification),
        rollback: Some(rollback),
        append_key: Some(append_key),
        append_data: Some(append_data),
        sync_wait: Some(sync_wait),
        last_committed_id: Some(last_committed_id),
        free_connection: Some(free_connection),
        to_execute_start: Some(to_execute_start),
        to_execute_end: Some(to_execute_end),
        preordered_collect: Some(unsupported::preordered_collect),
        preordered_commit: Some(unsupported::preordered_commit),
        sst_sent: Some(state_transfer::sst_sent),
        sst_received: Some(state_transfer::sst_received),
        snapshot: Some(unsupported::snapshot),
        stats_get: Some(stats_get),
        stats_free: Some(stats_free),
        stats_reset: Some(stats_reset),
        pause: Some(pause::pause),
        resume: Some(pause::resume),
        desync: Some(pause::desync),
        resync: Some(pause::resync),
        lock: Some(unsupported::lock),
        unlock: Some(unsupported::unlock),
        is_locked: Some(unsupported::is_locked),
        provider_name: NAME.as_ptr(),
        provider_version: VERSION.as_ptr(),
        provider_vendor: VENDOR.as_ptr(),
        free: Some(free),
        dlh,
        ctx: std::ptr::null_mut(),
    };
}

unsafe extern "C" fn init(wsrep: *mut Wsrep, args: *const InitArgs) -> Status {
    // SAFETY: the server's own arguments.
    guarded(Status::Fatal, || unsafe { Provider::init(wsrep, args) })
}

unsafe extern "C" fn free(wsrep: *mut Wsrep) {
    // SAFETY: the server calls nothing else by then.
    guarded((), || unsafe { Provider::free(wsrep) });
}

unsafe extern "C" fn capabilities(_wsrep: *mut Wsrep) -> u32 {
    CAPABILITIES
}

unsafe extern "C" fn options_set(wsrep: *mut Wsrep, options: *const c_char) -> Status {
    // SAFETY: the server's own table and text.
    unsafe {
        with(wsrep, Status::NodeFail, |provider| match provider.node.set_options(&from_server(options)) {
            Ok(()) => Status::Ok,
            Err(error) => {
                provider.log_error(&error);
                // The server logs this number, and scripts look for Galera's.
                Status::NodeFail
            }
        })
    }
}

unsafe extern "C" fn options_get(wsrep: *mut Wsrep) -> *mut c_char {
    // SAFETY: the server's own table.
    unsafe { with(wsrep, std::ptr::null_mut(), |provider| to_malloc(&provider.node.options())) }
}

unsafe extern "C" fn connect(
    wsrep: *mut Wsrep,
    cluster: *const c_char,
    address: *const c_char,
    donor: *const c_char,
    bootstrap: bool,
) -> Status {
    // SAFETY: the server's own table and texts.
    unsafe {
        with(wsrep, Status::NodeFail, |provider| {
            let (cluster, address, donor) = (from_server(cluster), from_server(address), from_server(donor));
            match provider.node.connect(&cluster, &address, &donor, bootstrap) {
                Ok(()) => Status::Ok,
                Err(error) => {
                    provider.log_error(&error);
                    Status::NodeFail
                }
            }
        })
    }
}

unsafe extern "C" fn disconnect(wsrep: *mut Wsrep) -> Status {
    // SAFETY: the server's own table.
    unsafe {
        with(wsrep, Status::NodeFail, |provider| {
            provider.node.disconnect();
            Status::Ok
        })
    }
}

unsafe extern "C" fn recv(wsrep: *mut Wsrep, receiver: *mut c_void) -> Status {
    // SAFETY: the server's own table. The thread exits in any case: an error would keep the server up, with error 1047
    // for all statements.
    unsafe {
        with(wsrep, Status::NodeFail, |provider| {
            provider.node.receive(Receiver(receiver as usize));
            Status::Ok
        })
    }
}

unsafe extern "C" fn certify(
    wsrep: *mut Wsrep,
    conn: u64,
    handle: *mut RawHandle,
    flags: u32,
    meta: *mut RawMeta,
) -> Status {
    // SAFETY: the server's own table, handle and pointer for the meta.
    unsafe {
        write_meta(meta, &UNDEFINED_META);
        with(wsrep, Status::NodeFail, |provider| {
            let Some(transaction) = find(handle) else { return Status::Ok };
            answer(provider.node.certify(conn, &transaction, Flags(flags)), meta)
        })
    }
}

/// # Safety
/// `target` is null or the server's.
unsafe fn write_meta(target: *mut RawMeta, meta: &Meta) {
    if !target.is_null() {
        // SAFETY: the caller's promise.
        unsafe { target.write(raw_meta(meta)) };
    }
}

/// # Safety
/// As for [`write_meta`].
unsafe fn answer(outcome: Outcome, target: *mut RawMeta) -> Status {
    let (status, meta) = match outcome {
        Outcome::Passed(meta) => (Status::Ok, meta),
        Outcome::Failed(meta) => (Status::TrxFail, meta),
        Outcome::Aborted(meta) => (Status::BfAbort, meta),
        Outcome::NotOrdered => (Status::ConnFail, UNDEFINED_META),
        Outcome::TooLarge => (Status::SizeExceeded, UNDEFINED_META),
        Outcome::Broken => (Status::NodeFail, UNDEFINED_META),
        Outcome::NotAllowed => (Status::NotAllowed, UNDEFINED_META),
    };
    // SAFETY: the caller's promise.
    unsafe { write_meta(target, &meta) };
    status
}

unsafe extern "C" fn commit_order_enter(wsrep: *mut Wsrep, handle: *const RawHandle, raw: *const RawMeta) -> Status {
    // SAFETY: the server's own table, handle and meta.
    unsafe {
        with(wsrep, Status::NodeFail, |provider| {
            let Some(raw) = raw.as_ref() else { return Status::Fatal };
            if raw.gtid.seqno < 0 {
                return Status::Ok;
            }
            match provider.node.enter_commit_order(find(handle).as_deref(), raw.gtid.seqno) {
                EnterOutcome::Granted => Status::Ok,
                EnterOutcome::Aborted => Status::BfAbort,
                EnterOutcome::NotAllowed => Status::NotAllowed,
                EnterOutcome::NodeFailed => Status::NodeFail,
            }
        })
    }
}

unsafe extern "C" fn commit_order_leave(
    wsrep: *mut Wsrep,
    _handle: *const RawHandle,
    raw: *const RawMeta,
    error: *const RawBuffer,
) -> Status {
    // SAFETY: the server's own table, meta and text.
    unsafe {
        with(wsrep, Status::NodeFail, |provider| {
            let Some(raw) = raw.as_ref() else { return Status::Fatal };
            if raw.gtid.seqno < 0 {
                return Status::Ok;
            }
            let is_well = provider.node.leave_commit_order(&meta(raw), bytes(error));
            if is_well { Status::Ok } else { Status::NodeFail }
        })
    }
}

unsafe extern "C" fn release(wsrep: *mut Wsrep, handle: *mut RawHandle) -> Status {
    // SAFETY: the server's own table and handle.
    unsafe {
        with(wsrep, Status::NodeFail, |provider| {
            if let Some(transaction) = find(handle)
                && provider.node.release(&transaction)
            {
                forget(handle);
            }
            Status::Ok
        })
    }
}

unsafe extern "C" fn replay_trx(wsrep: *mut Wsrep, handle: *const RawHandle, context: *mut c_void) -> Status {
    // SAFETY: the server's own table and handle.
    unsafe {
        with(wsrep, Status::NodeFail, |provider| {
            let (Some(raw), Some(transaction)) = (handle.as_ref(), find(handle)) else { return Status::TrxMissing };
            let name = Handle { id: raw.trx_id, address: raw.opaque as usize };
            let is_well = provider.node.replay(&transaction, Receiver(context as usize), name);
            if is_well { Status::Ok } else { Status::NodeFail }
        })
    }
}

unsafe extern "C" fn abort_certification(wsrep: *mut Wsrep, by: i64, victim: u64, victim_seqno: *mut i64) -> Status {
    // SAFETY: the server's own table and pointer for the seqno.
    unsafe {
        let tell = |seqno: i64| {
            if !victim_seqno.is_null() {
                victim_seqno.write(seqno);
            }
        };
        tell(-1);
        with(wsrep, Status::NodeFail, |provider| match provider.node.abort(by, victim) {
            None => Status::Ok,
            Some(AbortAnswer::Granted(seqno)) => {
                tell(seqno);
                Status::Ok
            }
            Some(AbortAnswer::Refused(seqno)) => {
                tell(seqno);
                Status::NotAllowed
            }
        })
    }
}

unsafe extern "C" fn rollback(wsrep: *mut Wsrep, trx: u64, data: *const RawBuffer) -> Status {
    // SAFETY: the server's own table and bytes.
    unsafe {
        with(wsrep, Status::NodeFail, |provider| {
            let is_sent = provider.node.roll_back(trx, bytes(data));
            if is_sent { Status::Ok } else { Status::ConnFail }
        })
    }
}

unsafe extern "C" fn append_key(
    wsrep: *mut Wsrep,
    handle: *mut RawHandle,
    raw: *const RawKey,
    count: usize,
    kind: c_int,
    _copy: bool,
) -> Status {
    // SAFETY: the server's own table, handle and keys.
    unsafe {
        with(wsrep, Status::NodeFail, |provider| {
            let Some(transaction) = find_or_begin(&provider.node, handle) else { return Status::Fatal };
            let mode = mode(kind);
            let mut collected = transaction.collected();
            for parts in keys(raw, count) {
                match collected.key(&parts) {
                    Ok(key) => collected.add(key, mode),
                    Err(error) => {
                        drop(collected);
                        provider.server.log(Level::Error, &error.to_string());
                        return Status::Fatal;
                    }
                }
            }
            Status::Ok
        })
    }
}

/// An unknown kind counts as the strongest mode.
fn mode(kind: c_int) -> Mode {
    usize::try_from(kind).ok().and_then(|kind| MODES.get(kind)).copied().unwrap_or(Mode::RowExclusive)
}

unsafe extern "C" fn append_data(
    wsrep: *mut Wsrep,
    handle: *mut RawHandle,
    data: *const RawBuffer,
    count: usize,
    kind: c_int,
    _copy: bool,
) -> Status {
    // SAFETY: the server's own table, handle and bytes.
    unsafe {
        with(wsrep, Status::NodeFail, |provider| {
            if kind >= UNORDERED_DATA {
                // Unordered actions, which nodes may ignore, and annotations.
                return Status::Ok;
            }
            let Some(transaction) = find_or_begin(&provider.node, handle) else { return Status::Fatal };
            append(&transaction, &all_bytes(data, count));
            Status::Ok
        })
    }
}

fn append(transaction: &Transaction, parts: &[&[u8]]) {
    let mut collected = transaction.collected();
    for part in parts {
        collected.append(part);
    }
}

unsafe extern "C" fn sync_wait(
    wsrep: *mut Wsrep,
    upto: *mut RawGtid,
    limit_seconds: c_int,
    reached: *mut RawGtid,
) -> Status {
    // SAFETY: the server's own table and pointers.
    unsafe {
        let upto = upto.as_ref().map(|raw| gtid(*raw));
        let limit = u64::try_from(limit_seconds).ok().map(Duration::from_secs);
        with(wsrep, Status::NodeFail, |provider| match provider.node.sync_wait(upto, limit) {
            Some(position) => {
                if !reached.is_null() {
                    reached.write(raw_gtid(position));
                }
                Status::Ok
            }
            None => Status::TrxFail,
        })
    }
}

unsafe extern "C" fn last_committed_id(wsrep: *mut Wsrep, target: *mut RawGtid) -> Status {
    // SAFETY: the server's own table and pointer.
    unsafe {
        with(wsrep, Status::NodeFail, |provider| {
            if !target.is_null() {
                target.write(raw_gtid(provider.node.last_committed()));
            }
            Status::Ok
        })
    }
}

unsafe extern "C" fn free_connection(_wsrep: *mut Wsrep, _conn: u64) -> Status {
    Status::Ok
}

unsafe extern "C" fn to_execute_start(
    wsrep: *mut Wsrep,
    conn: u64,
    raw: *const RawKey,
    count: usize,
    action: *const RawBuffer,
    action_parts: usize,
    flags: u32,
    target: *mut RawMeta,
) -> Status {
    // SAFETY: the server's own table, keys, bytes and pointer for the meta.
    unsafe {
        write_meta(target, &UNDEFINED_META);
        with(wsrep, Status::NodeFail, |provider| {
            let flags = Flags(flags);
            if !flags.has(Flags::TRX_START.with(Flags::TRX_END)) {
                return Status::NotImplemented;
            }
            let mut collected = WriteSet::default();
            for parts in keys(raw, count) {
                match collected.key(&parts) {
                    Ok(key) => collected.add(key, Mode::RowExclusive),
                    Err(_) => return Status::Fatal,
                }
            }
            let action = all_bytes(action, action_parts);
            answer(provider.node.begin_toi(conn, collected.keys(), &action, flags), target)
        })
    }
}

unsafe extern "C" fn to_execute_end(wsrep: *mut Wsrep, conn: u64, error: *const RawBuffer) -> Status {
    // SAFETY: the server's own table.
    unsafe {
        with(wsrep, Status::NodeFail, |provider| {
            // Another status would change nothing: the client gets the statement's error, and the node leaves in any
            // case. The server would only log a warning, which Galera's users do not see.
            provider.node.end_toi(conn, bytes(error));
            Status::Ok
        })
    }
}

unsafe extern "C" fn stats_get(wsrep: *mut Wsrep) -> *mut RawStatsVar {
    // SAFETY: the server's own table.
    unsafe {
        with(wsrep, std::ptr::null_mut(), |provider| {
            let mut block = StatsBlock::new(&status::variables(&provider.node));
            let address = block.address();
            provider.blocks().insert(address as usize, block);
            address
        })
    }
}

unsafe extern "C" fn stats_free(wsrep: *mut Wsrep, variables: *mut RawStatsVar) {
    // SAFETY: the server's own table.
    unsafe {
        with(wsrep, (), |provider| {
            provider.blocks().remove(&(variables as usize));
        });
    }
}

unsafe extern "C" fn stats_reset(wsrep: *mut Wsrep) {
    // SAFETY: the server's own table.
    unsafe { with(wsrep, (), |provider| provider.node.reset_status()) };
}
