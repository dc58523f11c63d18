//! The layout of the packaged server.

use std::mem::{align_of, offset_of, size_of};

use super::*;

#[test]
fn structures_have_the_servers_layout() {
    assert_eq!(size_of::<RawUuid>(), 16);
    assert_eq!(align_of::<RawUuid>(), 8);
    assert_eq!(size_of::<RawGtid>(), 24);
    assert_eq!(size_of::<RawMeta>(), 64);
    assert_eq!(offset_of!(RawMeta, stid), 24);
    assert_eq!(offset_of!(RawMeta, depends_on), 56);
    assert_eq!(size_of::<RawMember>(), 304);
    assert_eq!(size_of::<RawBuffer>(), 16);
    assert_eq!(size_of::<RawHandle>(), 16);
    assert_eq!(size_of::<RawStatsVar>(), 24);
}

#[test]
fn members_follow_the_view() {
    assert_eq!(offset_of!(RawViewHead, state_id), 0);
    assert_eq!(offset_of!(RawViewHead, view), 24);
    assert_eq!(offset_of!(RawViewHead, status), 32);
    assert_eq!(offset_of!(RawViewHead, capabilities), 36);
    assert_eq!(offset_of!(RawViewHead, my_idx), 40);
    assert_eq!(offset_of!(RawViewHead, memb_num), 44);
    assert_eq!(offset_of!(RawViewHead, proto_ver), 48);
    assert_eq!(size_of::<RawViewHead>(), 56);
}

#[test]
fn init_arguments_and_function_table() {
    assert_eq!(offset_of!(InitArgs, proto_ver), 48);
    assert_eq!(offset_of!(InitArgs, state_id), 56);
    assert_eq!(offset_of!(InitArgs, logger_cb), 72);
    assert_eq!(offset_of!(InitArgs, apply_cb), 112);
    assert_eq!(offset_of!(InitArgs, synced_cb), 136);
    assert_eq!(size_of::<InitArgs>(), 144);
    assert_eq!(offset_of!(Wsrep, certify), 80);
    assert_eq!(offset_of!(Wsrep, to_execute_start), 176);
    assert_eq!(offset_of!(Wsrep, provider_name), 312);
    assert_eq!(offset_of!(Wsrep, ctx), 352);
    assert_eq!(size_of::<Wsrep>(), 360);
}
