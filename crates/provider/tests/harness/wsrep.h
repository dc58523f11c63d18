/* The part of the wsrep API, version 26, that this program needs. Written from the API's documentation; `layout.c`
   prints its layout. */

#ifndef HARNESS_WSREP_H
#define HARNESS_WSREP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    OK,
    WARNING,
    TRX_MISSING,
    TRX_FAIL,
    BF_ABORT,
    SIZE_EXCEEDED,
    CONN_FAIL,
    NODE_FAIL,
    FATAL,
    NOT_IMPLEMENTED,
    NOT_ALLOWED,
};

enum { TRX_END = 1, ROLLBACK = 2, ISOLATION = 4, PA_UNSAFE = 8, TRX_START = 64 };

enum { SHARED, REFERENCE, UPDATE, EXCLUSIVE };

enum { PRIMARY = 0, NON_PRIMARY = 1, DISCONNECTED = 2 };

typedef struct {
    uint8_t data[16];
} __attribute__((aligned(8))) uuid_t;

typedef struct {
    uuid_t uuid;
    int64_t seqno;
} gtid_t;

typedef struct {
    uuid_t node;
    uint64_t trx, conn;
} stid_t;

typedef struct {
    gtid_t gtid;
    stid_t stid;
    int64_t depends_on;
} meta_t;

typedef struct {
    const void *ptr;
    size_t len;
} buf_t;

typedef struct {
    uint64_t trx_id;
    void *opaque;
} handle_t;

typedef struct {
    const buf_t *parts;
    size_t parts_num;
} wskey_t;

typedef struct {
    uuid_t id;
    char name[32], incoming[256];
} member_t;

typedef struct {
    gtid_t state_id;
    int64_t view;
    int status;
    uint32_t capabilities;
    int my_idx, memb_num, proto_ver;
    member_t members[1];
} view_t;

typedef struct {
    void *app_ctx;
    const char *node_name, *node_address, *node_incoming, *data_dir, *options;
    int proto_ver;
    const gtid_t *state_id;
    const buf_t *state;
    void (*logger_cb)(int, const char *);
    int (*connected_cb)(void *, const view_t *);
    int (*view_cb)(void *, void *, const view_t *, const char *, size_t);
    int (*sst_request_cb)(void *, void **, size_t *);
    const void *encrypt_cb;
    int (*apply_cb)(void *, const handle_t *, uint32_t, const buf_t *, const meta_t *, bool *);
    const void *unordered_cb;
    int (*sst_donate_cb)(void *, void *, const buf_t *, const gtid_t *, const buf_t *, bool);
    int (*synced_cb)(void *);
} init_args_t;

typedef struct {
    const char *name;
    int kind;
    union {
        int64_t integer;
        double real;
        const char *text;
    } value;
} stats_t;

typedef struct wsrep wsrep_t;

struct wsrep {
    const char *version;
    int (*init)(wsrep_t *, const init_args_t *);
    uint32_t (*capabilities)(wsrep_t *);
    int (*options_set)(wsrep_t *, const char *);
    char *(*options_get)(wsrep_t *);
    int (*enc_set_key)(wsrep_t *, const buf_t *);
    int (*connect)(wsrep_t *, const char *, const char *, const char *, bool);
    int (*disconnect)(wsrep_t *);
    int (*recv)(wsrep_t *, void *);
    int (*assign_read_view)(wsrep_t *, handle_t *, const gtid_t *);
    int (*certify)(wsrep_t *, uint64_t, handle_t *, uint32_t, meta_t *);
    int (*commit_order_enter)(wsrep_t *, const handle_t *, const meta_t *);
    int (*commit_order_leave)(wsrep_t *, const handle_t *, const meta_t *, const buf_t *);
    int (*release)(wsrep_t *, handle_t *);
    int (*replay_trx)(wsrep_t *, const handle_t *, void *);
    int (*abort_certification)(wsrep_t *, int64_t, uint64_t, int64_t *);
    int (*rollback)(wsrep_t *, uint64_t, const buf_t *);
    int (*append_key)(wsrep_t *, handle_t *, const wskey_t *, size_t, int, bool);
    int (*append_data)(wsrep_t *, handle_t *, const buf_t *, size_t, int, bool);
    int (*sync_wait)(wsrep_t *, gtid_t *, int, gtid_t *);
    int (*last_committed_id)(wsrep_t *, gtid_t *);
    int (*free_connection)(wsrep_t *, uint64_t);
    int (*to_execute_start)(wsrep_t *, uint64_t, const wskey_t *, size_t, const buf_t *, size_t, uint32_t, meta_t *);
    int (*to_execute_end)(wsrep_t *, uint64_t, const buf_t *);
    int (*preordered_collect)(wsrep_t *, void *, const buf_t *, size_t, bool);
    int (*preordered_commit)(wsrep_t *, void *, const uuid_t *, uint32_t, int, bool);
    int (*sst_sent)(wsrep_t *, const gtid_t *, int);
    int (*sst_received)(wsrep_t *, const gtid_t *, const buf_t *, int);
    int (*snapshot)(wsrep_t *, const buf_t *, const char *);
    stats_t *(*stats_get)(wsrep_t *);
    void (*stats_free)(wsrep_t *, stats_t *);
    void (*stats_reset)(wsrep_t *);
    int64_t (*pause)(wsrep_t *);
    int (*resume)(wsrep_t *);
    int (*desync)(wsrep_t *);
    int (*resync)(wsrep_t *);
    int (*lock)(wsrep_t *, const char *, bool, uint64_t, int64_t);
    int (*unlock)(wsrep_t *, const char *, uint64_t);
    bool (*is_locked)(wsrep_t *, const char *, uint64_t *, uuid_t *);
    const char *provider_name, *provider_version, *provider_vendor;
    void (*free)(wsrep_t *);
    void *dlh, *ctx;
};

#endif
