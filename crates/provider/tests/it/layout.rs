//! The program's structures have the layout of the packaged server.

use crate::harness;

/// The Rust side is in `src/ffi/abi/tests.rs`.
const SEEN: &str = "\
sizeof uuid_t 16
alignof uuid_t 8
sizeof gtid_t 24
sizeof meta_t 64
offsetof meta_t.stid 24
offsetof meta_t.depends_on 56
sizeof member_t 304
sizeof buf_t 16
sizeof handle_t 16
sizeof stats_t 24
offsetof view_t.state_id 0
offsetof view_t.view 24
offsetof view_t.status 32
offsetof view_t.capabilities 36
offsetof view_t.my_idx 40
offsetof view_t.memb_num 44
offsetof view_t.proto_ver 48
offsetof view_t.members 56
offsetof init_args_t.proto_ver 48
offsetof init_args_t.state_id 56
offsetof init_args_t.logger_cb 72
offsetof init_args_t.apply_cb 112
offsetof init_args_t.synced_cb 136
sizeof init_args_t 144
offsetof wsrep_t.certify 80
offsetof wsrep_t.to_execute_start 176
offsetof wsrep_t.provider_name 312
offsetof wsrep_t.ctx 352
sizeof wsrep_t 360
";

#[test]
fn structures_have_the_servers_layout() {
    assert_eq!(harness::run(&["layout"]), SEEN);
}
