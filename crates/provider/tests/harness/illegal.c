/* Calls of a broken server, in random order: NULL pointers, calls out of order, unknown seqnos, invalid counts and
   kinds. Three clients make correct calls meanwhile.

   Any result is fine, except a crash or a call that does not return. The provider still serves correct callers. */

#include "harness.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYSTANDERS 3

static volatile bool bystanders_stop;
/* The node has left its cluster because of these calls: it serves no client any more. */
static bool is_down;
static uint64_t next_id = 1;
static bool is_in;

#define TRY(call) ((void)CALL(0, call))

static uint64_t new_id(void) { return __sync_fetch_and_add(&next_id, 1); }

static int64_t any_seqno(void) {
    static const int64_t odd[] = {INT64_MIN, -2, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
    gtid_t last = {.seqno = 0};
    TRY(wsrep.last_committed_id(&wsrep, &last));
    return one_in(3) ? odd[random_below(7)] : last.seqno + (int64_t)random_below(2000) - 20;
}

static meta_t any_meta(void) {
    meta_t meta = {.gtid = server_place(any_seqno()), .stid = {.trx = new_id(), .conn = 1}, .depends_on = any_seqno()};
    return meta;
}

static void append_something(handle_t *handle) {
    buf_t parts[3], data = {"events", 6};
    uint8_t names[3][8];
    wskey_t key;
    random_key(parts, names, &key);
    TRY(wsrep.append_key(&wsrep, handle, &key, 1, EXCLUSIVE, true));
    TRY(wsrep.append_data(&wsrep, handle, &data, 1, 0, true));
}

/* One correct transaction. Returns the status of certify. */
static int one_that_does_it_right(bool must_pass) {
    handle_t handle = {new_id(), NULL};
    meta_t meta;
    append_something(&handle);
    int status = CALL(handle.trx_id, wsrep.certify(&wsrep, 9, &handle, TRX_START | TRX_END, &meta));
    if (status == OK || (status == TRX_FAIL && meta.gtid.seqno > 0)) {
        int entered = CALL(meta.gtid.seqno, wsrep.commit_order_enter(&wsrep, &handle, &meta));
        CHECK(entered == OK || !must_pass, "enter returns %d to a correct caller", entered);
        TRY(wsrep.commit_order_leave(&wsrep, &handle, &meta, NULL));
    }
    TRY(wsrep.release(&wsrep, &handle));
    return status;
}

static void *bystander(void *unused) {
    (void)unused;
    watch_thread("bystander");
    random_seed(new_id(), 5);
    while (!bystanders_stop) {
        one_that_does_it_right(false);
        nap((unsigned)random_below(3000));
    }
    return NULL;
}

/* Every function with NULL for every pointer, also for the table itself. */
static void nothing_at_all(void) {
    wsrep_t *table = one_in(2) ? NULL : &wsrep;
    handle_t handle = {new_id(), NULL};
    switch (random_below(14)) {
    case 0:
        TRY(wsrep.certify(table, 0, NULL, 0, NULL));
        TRY(wsrep.certify(table, 0, &handle, 0, NULL));
        break;
    case 1:
        TRY(wsrep.commit_order_enter(table, NULL, NULL));
        TRY(wsrep.commit_order_leave(table, NULL, NULL, NULL));
        break;
    case 2:
        TRY(wsrep.release(table, NULL));
        TRY(wsrep.replay_trx(table, NULL, NULL));
        TRY(wsrep.replay_trx(table, &handle, NULL));
        break;
    case 3:
        TRY(wsrep.abort_certification(table, any_seqno(), new_id() + random_below(3), NULL));
        break;
    case 4:
        TRY(wsrep.rollback(table, new_id(), NULL));
        break;
    case 5:
        TRY(wsrep.append_key(table, NULL, NULL, 1, 0, true));
        TRY(wsrep.append_data(table, NULL, NULL, 1, 0, true));
        break;
    case 6:
        TRY(wsrep.sync_wait(table, NULL, 0, NULL));
        TRY(wsrep.last_committed_id(table, NULL));
        TRY(wsrep.free_connection(table, any_seqno()));
        break;
    case 7:
        TRY(wsrep.to_execute_end(table, new_id(), NULL));
        if (table == NULL || !is_in)
            TRY(wsrep.to_execute_start(table, 5, NULL, 3, NULL, 3, TRX_START | TRX_END, NULL));
        break;
    case 8:
        TRY(wsrep.options_set(table, NULL));
        if (table == NULL)
            TRY(wsrep.options_get(table));
        break;
    case 9: {
        stats_t unknown;
        doing("stats_free", 0);
        wsrep.stats_free(table, NULL);
        wsrep.stats_free(table, &unknown);
        wsrep.stats_reset(table);
        done();
        break;
    }
    case 10:
        TRY(wsrep.sst_sent(table, NULL, 0));
        TRY(wsrep.sst_received(table, NULL, NULL, 0));
        TRY(wsrep.snapshot(table, NULL, NULL));
        break;
    case 11:
        TRY(wsrep.preordered_collect(table, NULL, NULL, 1, true));
        TRY(wsrep.preordered_commit(table, NULL, NULL, 0, 0, true));
        TRY(wsrep.assign_read_view(table, NULL, NULL));
        TRY(wsrep.enc_set_key(table, NULL));
        break;
    case 12:
        TRY(wsrep.lock(table, NULL, true, 0, 0));
        TRY(wsrep.unlock(table, NULL, 0));
        TRY(wsrep.is_locked(table, NULL, NULL, NULL));
        break;
    default:
        TRY(wsrep.init(table, NULL));
        TRY(wsrep.connect(NULL, NULL, NULL, NULL, true));
        TRY(wsrep.recv(NULL, NULL));
        TRY(wsrep.disconnect(NULL));
        TRY(wsrep.capabilities(NULL));
    }
}

/* A transaction whose calls come in any order; then its open parts are finished. */
static void out_of_order(void) {
    handle_t handle = {new_id(), NULL};
    meta_t own = {.gtid = {.seqno = -1}};
    bool is_open = false;
    int64_t seqno;
    for (uint64_t calls = random_below(14) + 2; calls > 0; calls--) {
        meta_t other = any_meta();
        switch (random_below(12)) {
        case 0:
        case 1:
            append_something(&handle);
            break;
        case 2:
        case 3: {
            meta_t meta;
            static const uint32_t flags[] = {TRX_START | TRX_END,  TRX_START, 0,
                                             TRX_END | PA_UNSAFE, ROLLBACK,  UINT32_MAX};
            int status = CALL(handle.trx_id, wsrep.certify(&wsrep, 1, &handle, flags[random_below(6)], &meta));
            if (meta.gtid.seqno > 0) {
                CHECK(!is_open, "two seqnos at once: certify returns %d", status);
                own = meta;
                is_open = true;
            }
            break;
        }
        case 4:
            TRY(wsrep.commit_order_enter(&wsrep, &handle, &own));
            break;
        case 5:
            TRY(wsrep.commit_order_leave(&wsrep, &handle, &own, NULL));
            break;
        case 6:
            TRY(wsrep.commit_order_enter(&wsrep, one_in(2) ? &handle : NULL, &other));
            break;
        case 7:
            TRY(wsrep.commit_order_leave(&wsrep, one_in(2) ? &handle : NULL, &other, NULL));
            break;
        case 8:
            TRY(wsrep.replay_trx(&wsrep, &handle, NULL));
            break;
        case 9:
            TRY(wsrep.abort_certification(&wsrep, any_seqno(), handle.trx_id, &seqno));
            break;
        case 10:
            TRY(wsrep.rollback(&wsrep, one_in(2) ? handle.trx_id : new_id(), &(buf_t){NULL, SIZE_MAX}));
            break;
        default:
            if (!is_open || one_in(30)) {
                is_down |= is_open;
                is_open = false;
                TRY(wsrep.release(&wsrep, &handle));
            }
        }
    }
    if (is_open) {
        TRY(wsrep.commit_order_enter(&wsrep, &handle, &own));
        TRY(wsrep.commit_order_enter(&wsrep, &handle, &own));
        TRY(wsrep.commit_order_leave(&wsrep, &handle, &own, NULL));
        TRY(wsrep.commit_order_leave(&wsrep, &handle, &own, NULL));
    }
    TRY(wsrep.release(&wsrep, &handle));
    if (handle.opaque != NULL)
        TRY(wsrep.release(&wsrep, &handle));
    TRY(wsrep.release(&wsrep, &handle));
}

static void odd_keys(void) {
    handle_t handle = {new_id(), NULL};
    buf_t parts[9], none = {NULL, SIZE_MAX};
    for (size_t at = 0; at < 9; at++)
        parts[at] = one_in(3) ? none : (buf_t){"part", 4};
    wskey_t keys[2] = {{parts, random_below(10)}, {NULL, SIZE_MAX}};
    static const int kinds[] = {-1, 0, 3, 4, 1000, INT32_MAX, INT32_MIN};
    for (uint64_t calls = random_below(6) + 1; calls > 0; calls--) {
        TRY(wsrep.append_key(&wsrep, &handle, keys, random_below(3), kinds[random_below(7)], one_in(2)));
        TRY(wsrep.append_data(&wsrep, &handle, &none, 1, kinds[random_below(7)], one_in(2)));
        TRY(wsrep.append_key(&wsrep, &handle, NULL, SIZE_MAX, 0, true));
        TRY(wsrep.append_data(&wsrep, &handle, NULL, SIZE_MAX, 0, true));
    }
    if (one_in(2)) {
        meta_t meta;
        TRY(wsrep.certify(&wsrep, 1, &handle, TRX_START | TRX_END, &meta));
        TRY(wsrep.commit_order_enter(&wsrep, &handle, &meta));
        TRY(wsrep.commit_order_leave(&wsrep, &handle, &meta, NULL));
    }
    TRY(wsrep.release(&wsrep, &handle));
}

static void odd_isolation(void) {
    buf_t parts[9] = {{NULL, 0}}, action = {"DROP", 4};
    wskey_t keys[2] = {{parts, random_below(10)}, {NULL, 9}};
    meta_t meta;
    TRY(wsrep.to_execute_end(&wsrep, 3, NULL));
    static const uint32_t flags[] = {0, TRX_START, TRX_START | TRX_END, UINT32_MAX};
    for (uint64_t times = random_below(3); times <= 2; times++)
        TRY(wsrep.to_execute_start(&wsrep, 3, keys, random_below(3), &action, random_below(2), flags[random_below(4)],
                                   one_in(2) ? &meta : NULL));
    for (uint64_t times = random_below(2); times <= 2; times++)
        TRY(wsrep.to_execute_end(&wsrep, 3, one_in(2) ? &action : NULL));
}

static void odd_options(void) {
    static const char *const texts[] = {
        "=", ";;;=;", "pc.weight", "pc.weight=1.5", "pc.weight=0xFF", "pc.weight=-1e300", "pc.weight=nan",
        "log.retain=99999999T",
        "log.retain=18446744073709551615T", "repl.max_ws_size=0", "repl.causal_read_timeout=PT1E300S",
        "repl.causal_read_timeout=P99999999999999D", "repl.causal_read_timeout=PT0S", "\xff\xfe=\x80", "log.segment=1",
        "log.sync=maybe", "evs.suspect_timeout=P", "repl.max_ws_size=\xc3\xa4",
    };
    TRY(wsrep.options_set(&wsrep, texts[random_below(sizeof texts / sizeof *texts)]));
    free(CALL(0, wsrep.options_get(&wsrep)));
    stats_t *stats = CALL(0, wsrep.stats_get(&wsrep));
    CHECK(stats != NULL, "no status variables");
    for (int times = 0; times < 2; times++) {
        doing("stats_free", 0);
        wsrep.stats_free(&wsrep, stats);
        done();
    }
    TRY(wsrep.options_set(
        &wsrep, "repl.max_ws_size=2147483647; repl.causal_read_timeout=PT1S; pc.weight=1"));
}

static void odd_waits(void) {
    gtid_t entry = server_place(any_seqno()), reached;
    if (one_in(2))
        memset(&entry.uuid, 0xAB, sizeof entry.uuid);
    TRY(wsrep.sync_wait(&wsrep, &entry, one_in(10) ? 1 : 0, one_in(2) ? &reached : NULL));
}

static void odd_pauses(void) {
    for (uint64_t calls = random_below(8); calls > 0; calls--)
        switch (random_below(4)) {
        case 0:
            TRY(wsrep.pause(&wsrep));
            break;
        case 1:
            TRY(wsrep.resume(&wsrep));
            break;
        case 2:
            TRY(wsrep.desync(&wsrep));
            break;
        default:
            TRY(wsrep.resync(&wsrep));
        }
    TRY(wsrep.resume(&wsrep));
}

static void odd_connections(void) {
    if (!is_in) {
        TRY(wsrep.recv(&wsrep, NULL));
        TRY(wsrep.disconnect(&wsrep));
        return;
    }
    TRY(wsrep.connect(&wsrep, NULL, NULL, NULL, false));
    TRY(wsrep.connect(&wsrep, "other", "gcomm://192.0.2.1,192.0.2.2", "donor", one_in(2)));
    if (one_in(4)) {
        /* Disconnects while the connect may still be running. */
        server_disconnect();
        CHECK(server_connect(false) == OK || is_down, "connect again");
        server_receive();
    }
}

static void step(void) {
    /* Without a cluster no call waits for a turn. */
    static void (*const any_time[])(void) = {nothing_at_all, out_of_order, odd_keys,
                                             odd_isolation,  odd_waits,    odd_pauses};
    uint64_t which = random_below(9);
    if (which < 6)
        any_time[which]();
    else if (which == 6 && wsrep.ctx != NULL)
        odd_options();
    else if (which == 7)
        odd_connections();
    else
        out_of_order();
}

/* From init to free, with calls before, during and after the time in a cluster. */
static unsigned life(const char *dir, unsigned number, unsigned steps) {
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/%u", dir, number);
    CHECK(mkdir(folder, 0700) == 0, "%s", folder);
    is_down = is_in = bystanders_stop = false;
    unsigned made = 0, limit = 20 + (unsigned)random_below(100);
    CHECK(server_init(folder, -1, "log.segment=64K; repl.causal_read_timeout=PT1S") == OK, "init");
    for (unsigned early = (unsigned)random_below(8); early > 0; early--, made++)
        step();
    CHECK(server_connect(true) == OK, "connect");
    is_in = true;
    server_receive();
    pthread_t threads[BYSTANDERS];
    for (unsigned at = 0; at < BYSTANDERS; at++)
        CHECK(pthread_create(&threads[at], NULL, bystander, NULL) == 0, "no thread");
    while (made < steps && made < limit && !is_down) {
        step();
        made++;
        /* Until the node is in the cluster again, if it had to leave. */
        for (unsigned tries = 0; !is_down; tries++) {
            int status = one_that_does_it_right(true);
            if (status == OK || status == TRX_FAIL)
                break;
            CHECK(status == CONN_FAIL && tries < LIMIT_SECONDS * 1000, "the node serves no client: %d", status);
            nap(1000);
        }
    }
    for (unsigned late = (unsigned)random_below(8); late > 0 && is_down; late--)
        step();
    bystanders_stop = true;
    for (unsigned at = 0; at < BYSTANDERS; at++)
        pthread_join(threads[at], NULL);
    server_disconnect();
    is_in = false;
    for (unsigned late = (unsigned)random_below(8); late > 0; late--, made++)
        step();
    server_free();
    for (unsigned late = (unsigned)random_below(8); late > 0; late--, made++)
        step();
    return made;
}

int illegal_main(const char *dir, uint64_t seed, unsigned steps) {
    watch_start(LIMIT_SECONDS);
    server_is_strict = false;
    (void)seed;
    CHECK(chdir(dir) == 0, "%s", dir);
    unsigned lives = 0;
    for (unsigned made = 0; made < steps; lives++)
        made += life(dir, lives, steps - made);
    printf("lives %u\n", lives);
    return 0;
}
