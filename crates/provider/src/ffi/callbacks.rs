//! The server's callbacks, as [`Server`].

#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};

use super::abi::{
    ApplyCallback, ConnectedCallback, INCOMING_BYTES, InitArgs, LogCallback, MEMBER_NAME_BYTES, RawBuffer, RawGtid,
    RawHandle, RawMember, RawMeta, RawStid, RawUuid, RawViewHead, SstDonateCallback, SstRequestCallback,
    SyncedCallback, ViewCallback, capability,
};
use super::text::to_server;
use super::{allowlist, process, sql};
use crate::identity::{Gtid, Uuid};
use crate::server::{CallbackError, Flags, Handle, Level, Member, Meta, Receiver, Server, StopMark, View, ViewStatus};

/// The provider's capabilities, also sent with each view.
pub const CAPABILITIES: u32 = capability::MULTI_MASTER
    | capability::CERTIFICATION
    | capability::PARALLEL_APPLYING
    | capability::TRX_REPLAY
    | capability::ISOLATION
    | capability::PAUSE
    | capability::CAUSAL_READS
    | capability::INCREMENTAL_WRITE_SET
    | capability::STREAMING;

/// The callbacks given to init.
pub struct Callbacks {
    context: *mut c_void,
    protocol: c_int,
    log: Option<LogCallback>,
    connected: ConnectedCallback,
    view: ViewCallback,
    apply: ApplyCallback,
    sst_request: Option<SstRequestCallback>,
    sst_donate: Option<SstDonateCallback>,
    synced: SyncedCallback,
}

// SAFETY: the API allows all of them on any thread; the context is the server's own.
unsafe impl Send for Callbacks {}
// SAFETY: as above.
unsafe impl Sync for Callbacks {}

impl Callbacks {
    /// None: a required callback is missing.
    pub fn new(args: &InitArgs) -> Option<Self> {
        Some(Self {
            context: args.app_ctx,
            protocol: args.proto_ver,
            log: args.logger_cb,
            connected: args.connected_cb?,
            view: args.view_cb?,
            apply: args.apply_cb?,
            sst_request: args.sst_request_cb,
            sst_donate: args.sst_donate_cb,
            synced: args.synced_cb?,
        })
    }

    fn raw_view(&self, view: &View) -> RawView {
        let head = RawViewHead {
            state_id: raw_gtid(view.state),
            view: view.number,
            status: match view.status {
                ViewStatus::Primary => 0,
                ViewStatus::NonPrimary => 1,
                ViewStatus::Disconnected => 2,
            },
            capabilities: CAPABILITIES,
            my_idx: view.own_index,
            memb_num: view.members.len() as c_int,
            proto_ver: self.protocol,
        };
        RawView::new(head, &view.members)
    }
}

impl Server for Callbacks {
    fn log_as_galera(&self, level: Level, text: &str) {
        let level = match level {
            Level::Error => 1,
            Level::Warning => 2,
            Level::Note => 3,
        };
        let text = to_server(text);
        match self.log {
            // SAFETY: the API's own function, with a text that ends with a zero.
            Some(log) => unsafe { log(level, text.as_ptr()) },
            None => eprintln!("{}", text.to_string_lossy()),
        }
    }

    fn connected(&self, view: &View) -> Result<(), CallbackError> {
        let view = self.raw_view(view);
        // SAFETY: the server's own context, and a view that lives until it returns.
        succeeded(unsafe { (self.connected)(self.context, view.head()) })
    }

    fn view(&self, receiver: Receiver, view: &View) -> Result<(), CallbackError> {
        let view = self.raw_view(view);
        let receiver = receiver.0 as *mut c_void;
        // SAFETY: as above; the receiver's context is the one that this thread came with.
        succeeded(unsafe { (self.view)(self.context, receiver, view.head(), std::ptr::null(), 0) })
    }

    fn apply(
        &self,
        receiver: Receiver,
        handle: Handle,
        flags: Flags,
        data: &[u8],
        meta: &Meta,
    ) -> Result<bool, CallbackError> {
        let handle = RawHandle { trx_id: handle.id, opaque: handle.address as *mut c_void };
        let data = RawBuffer { ptr: data.as_ptr().cast(), len: data.len() };
        let meta = raw_meta(meta);
        let mut exit = false;
        // SAFETY: everything it points to lives until it returns.
        let status = unsafe {
            (self.apply)(
                receiver.0 as *mut c_void,
                &raw const handle,
                flags.0,
                &raw const data,
                &raw const meta,
                &raw mut exit,
            )
        };
        succeeded(status).map(|()| exit)
    }

    fn sst_request(&self) -> Result<Vec<u8>, CallbackError> {
        let sst_request = self.sst_request.ok_or(CallbackError)?;
        let (mut bytes, mut length) = (std::ptr::null_mut(), 0);
        // SAFETY: the server's own context; it writes a piece of memory that it got from malloc, and its length.
        succeeded(unsafe { sst_request(self.context, &raw mut bytes, &raw mut length) })?;
        if bytes.is_null() {
            return Ok(Vec::new());
        }
        // SAFETY: as above.
        let request = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), length) }.to_vec();
        // SAFETY: it is ours by now.
        unsafe { libc::free(bytes) };
        Ok(request)
    }

    fn sst_donate(&self, receiver: Receiver, request: &[u8], state: Gtid) -> Result<(), CallbackError> {
        let sst_donate = self.sst_donate.ok_or(CallbackError)?;
        let request = RawBuffer { ptr: request.as_ptr().cast(), len: request.len() };
        let nothing = RawBuffer { ptr: std::ptr::null(), len: 0 };
        let state = raw_gtid(state);
        let receiver = receiver.0 as *mut c_void;
        // SAFETY: the server's own contexts; everything else lives until it returns.
        succeeded(unsafe {
            sst_donate(self.context, receiver, &raw const request, &raw const state, &raw const nothing, false)
        })
    }

    fn end_process(&self) {
        process::abort_process();
    }

    fn synced(&self) -> Result<(), CallbackError> {
        // SAFETY: the server's own context.
        succeeded(unsafe { (self.synced)(self.context) })
    }

    fn allows_address(&self, address: &str) -> bool {
        allowlist::allows(address)
    }

    fn write_binary_log(&self, writes: bool) {
        process::write_binary_log(writes);
    }

    fn fragments_of(&self, source: Uuid) -> Option<u64> {
        sql::number(&format!("SELECT COUNT(*) FROM mysql.wsrep_streaming_log WHERE node_uuid = '{source}'"))
    }

    fn stop_mark(&self) -> StopMark {
        process::stop_mark()
    }

    fn end_start(&self) {
        process::exit_if_starting();
    }
}

fn succeeded(status: c_int) -> Result<(), CallbackError> {
    if status == 0 { Ok(()) } else { Err(CallbackError) }
}

/// A view with its members right after it, in one block of memory aligned for both.
struct RawView {
    words: Vec<u64>,
}

impl RawView {
    fn new(head: RawViewHead, members: &[Member]) -> Self {
        let head_words = size_of::<RawViewHead>() / 8;
        let member_words = size_of::<RawMember>() / 8;
        // At least one member, as in the server's declaration.
        let mut words = vec![0; head_words + member_words * members.len().max(1)];
        // SAFETY: the words are enough, and aligned as the head is.
        unsafe { words.as_mut_ptr().cast::<RawViewHead>().write(head) };
        for (at, member) in members.iter().enumerate() {
            let target = head_words + member_words * at;
            // SAFETY: the words from there on are enough for the members that follow.
            unsafe { words[target..].as_mut_ptr().cast::<RawMember>().write(raw_member(member)) };
        }
        Self { words }
    }

    fn head(&self) -> *const RawViewHead {
        self.words.as_ptr().cast()
    }
}

const _: () = assert!(size_of::<RawViewHead>().is_multiple_of(8) && size_of::<RawMember>().is_multiple_of(8));

fn raw_member(member: &Member) -> RawMember {
    let mut raw = RawMember { id: raw_uuid(member.id), name: [0; MEMBER_NAME_BYTES], incoming: [0; INCOMING_BYTES] };
    copy_text(&member.name, &mut raw.name);
    copy_text(&member.incoming, &mut raw.incoming);
    raw
}

/// Cut if it is too long; the last byte stays zero.
fn copy_text(text: &str, target: &mut [c_char]) {
    let room = target.len() - 1;
    for (slot, byte) in target[..room].iter_mut().zip(text.bytes().take_while(|byte| *byte != 0)) {
        *slot = byte as c_char;
    }
}

/// To the API's type.
pub fn raw_uuid(uuid: Uuid) -> RawUuid {
    RawUuid { data: uuid.0 }
}

/// To the API's type.
pub fn raw_gtid(gtid: Gtid) -> RawGtid {
    RawGtid { uuid: raw_uuid(gtid.history_uuid), seqno: gtid.seqno }
}

/// From the API's type.
pub fn gtid(raw: RawGtid) -> Gtid {
    Gtid { history_uuid: Uuid(raw.uuid.data), seqno: raw.seqno }
}

/// To the API's type.
pub fn raw_meta(meta: &Meta) -> RawMeta {
    RawMeta {
        gtid: raw_gtid(meta.gtid),
        stid: RawStid { node: raw_uuid(meta.source), trx: meta.trx, conn: meta.conn },
        depends_on: meta.depends_on,
    }
}

/// From the API's type.
pub fn meta(raw: &RawMeta) -> Meta {
    Meta {
        gtid: gtid(raw.gtid),
        source: Uuid(raw.stid.node.data),
        trx: raw.stid.trx,
        conn: raw.stid.conn,
        depends_on: raw.depends_on,
    }
}

/// The meta of a write set that was not ordered.
pub const UNDEFINED_META: Meta =
    Meta { gtid: Gtid::UNDEFINED, source: Uuid::UNDEFINED, trx: u64::MAX, conn: u64::MAX, depends_on: -1 };
