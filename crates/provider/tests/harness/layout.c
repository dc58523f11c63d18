/* Sizes and offsets of this compiler, one per line: `layout.rs` compares them with the server's. */

#include "harness.h"

#include <stdio.h>

#define SIZE(type) printf("sizeof " #type " %zu\n", sizeof(type))
#define OFFSET(type, field) printf("offsetof " #type "." #field " %zu\n", offsetof(type, field))

int layout_main(void) {
    SIZE(uuid_t);
    printf("alignof uuid_t %zu\n", _Alignof(uuid_t));
    SIZE(gtid_t);
    SIZE(meta_t);
    OFFSET(meta_t, stid);
    OFFSET(meta_t, depends_on);
    SIZE(member_t);
    SIZE(buf_t);
    SIZE(handle_t);
    SIZE(stats_t);
    OFFSET(view_t, state_id);
    OFFSET(view_t, view);
    OFFSET(view_t, status);
    OFFSET(view_t, capabilities);
    OFFSET(view_t, my_idx);
    OFFSET(view_t, memb_num);
    OFFSET(view_t, proto_ver);
    OFFSET(view_t, members);
    OFFSET(init_args_t, proto_ver);
    OFFSET(init_args_t, state_id);
    OFFSET(init_args_t, logger_cb);
    OFFSET(init_args_t, apply_cb);
    OFFSET(init_args_t, synced_cb);
    SIZE(init_args_t);
    OFFSET(wsrep_t, certify);
    OFFSET(wsrep_t, to_execute_start);
    OFFSET(wsrep_t, provider_name);
    OFFSET(wsrep_t, ctx);
    SIZE(wsrep_t);
    return 0;
}
