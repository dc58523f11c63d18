/* Clients' transactions: whole ones, streaming ones, and TOI statements; each checks the provider's results. */

#include "harness.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATA_ROOM (200 << 10)

/* A client as a brute-force abort sees it. The mutex is the victim's, as in the server. */
typedef struct {
    pthread_mutex_t mutex;
    uint64_t trx; /* 0: the provider knows none. */
    uint32_t flags;
    unsigned granted, told;
} slot_t;

static slot_t slots[CLIENTS];
static volatile bool over;
static unsigned counts[COUNTS];
static uint64_t transactions;
volatile int64_t isolated_at;

void count(unsigned what) { __sync_fetch_and_add(&counts[what], 1); }

void counts_print(void) {
    static const char *const names[COUNTS] = {"committed", "rolled back", "replayed", "certification failed",
                                              "aborted",   "isolated",    "streamed", "refused",
                                              "paused",    "reconnected"};
    for (unsigned at = 0; at < COUNTS; at++)
        printf("%s %u\n", names[at], counts[at]);
}

void clients_stop(void) { over = true; }

bool clients_are_over(void) { return over; }

/* One client and its transaction. */
typedef struct {
    slot_t *slot;
    uint64_t conn;
    handle_t handle;
    meta_t meta;
    uint8_t *data;
    size_t bytes;
    uint64_t outages;
} client_t;

void slot_abort(unsigned at, int64_t by) {
    slot_t *slot = &slots[at];
    int64_t seqno = -2;
    pthread_mutex_lock(&slot->mutex);
    if (slot->trx != 0) {
        server_add_victim(slot->trx);
        int status = CALL(slot->trx, wsrep.abort_certification(&wsrep, by, slot->trx, &seqno));
        CHECK(seqno >= -1, "the victim's seqno %lld", (long long)seqno);
        CHECK(status == OK || status == NOT_ALLOWED, "an abort returned %d", status);
        if (status == OK) {
            slot->granted++;
            CHECK(seqno < 0 || by < 0 || !(slot->flags & TRX_END) || by <= seqno, "%lld aborts %lld", (long long)by,
                  (long long)seqno);
        }
    }
    pthread_mutex_unlock(&slot->mutex);
}

static void known(client_t *client, uint64_t trx, uint32_t flags) {
    pthread_mutex_lock(&client->slot->mutex);
    if (client->slot->trx != trx)
        client->slot->granted = client->slot->told = 0;
    client->slot->trx = trx;
    client->slot->flags = flags;
    pthread_mutex_unlock(&client->slot->mutex);
}

/* Number of granted aborts that the client does not know; it knows them from here on. */
static unsigned untold(client_t *client, bool is_told_now) {
    pthread_mutex_lock(&client->slot->mutex);
    unsigned aborts = client->slot->granted - client->slot->told;
    if (is_told_now)
        client->slot->told = client->slot->granted;
    pthread_mutex_unlock(&client->slot->mutex);
    return aborts;
}

void random_key(buf_t parts[3], uint8_t names[3][8], wskey_t *key) {
    size_t count = one_in(8) ? random_below(3) : 3;
    memcpy(names[0], "schema", 6);
    memcpy(names[1], "table", 5);
    names[1][5] = (uint8_t)random_below(3);
    names[2][0] = (uint8_t)random_below(2);
    names[2][1] = (uint8_t)random_below(200);
    static const size_t lengths[3] = {6, 6, 2};
    for (size_t at = 0; at < count; at++)
        parts[at] = (buf_t){names[at], lengths[at]};
    *key = (wskey_t){parts, count};
}

/* The caller may reuse its buffers: overwrites them, to check that the provider has copied them. */
static void append(client_t *client, uint64_t part) {
    static __thread uint8_t scratch[DATA_ROOM];
    for (uint64_t keys = random_below(10) + 1; keys > 0; keys--) {
        buf_t parts[3];
        uint8_t names[3][8];
        wskey_t key;
        random_key(parts, names, &key);
        int kind = key.parts_num < 3 ? SHARED : (int)random_below(4);
        CHECK(CALL(key.parts_num, wsrep.append_key(&wsrep, &client->handle, &key, 1, kind, true)) == OK, "append_key");
        memset(names, 0xEE, sizeof names);
    }
    client->bytes = payload_make(client->data, DATA_ROOM, client->handle.trx_id, part);
    for (size_t at = 0; at < client->bytes;) {
        size_t left = client->bytes - at, length = one_in(3) ? random_below(left) + 1 : left;
        memcpy(scratch, client->data + at, length);
        buf_t piece = {scratch, length};
        CHECK(CALL(length, wsrep.append_data(&wsrep, &client->handle, &piece, 1, 0, true)) == OK, "append_data");
        memset(scratch, 0xEE, length < 64 ? length : 64);
        at += length;
    }
}

static int certify(client_t *client, uint32_t flags) {
    uint64_t trx = client->handle.trx_id;
    known(client, trx, flags);
    bool was_aborted = untold(client, false) > 0;
    uint64_t outages = server_outages();
    int status = CALL(trx, wsrep.certify(&wsrep, client->conn, &client->handle, flags, &client->meta));
    int64_t seqno = client->meta.gtid.seqno;
    CHECK((status == CONN_FAIL) == (seqno < 0), "certify returns %d and %lld", status, (long long)seqno);
    CHECK(status == CONN_FAIL || (client->meta.stid.trx == trx && client->meta.stid.conn == client->conn), "the meta");
    switch (status) {
    case OK:
        CHECK(!was_aborted, "%llu passed, and was aborted before", (unsigned long long)trx);
        break;
    case TRX_FAIL:
        if (flags & TRX_END)
            CHECK(untold(client, false) <= 1, "aborted twice");
        break;
    case BF_ABORT:
        CHECK(untold(client, true) == 1 && (flags & TRX_END), "aborted without a request");
        count(ABORTED);
        break;
    case CONN_FAIL:
        if (untold(client, true) > 0)
            count(ABORTED);
        else
            CHECK(outages % 2 == 1 || outages != server_outages(), "refused while connected");
        count(REFUSED);
        break;
    default:
        fail("certify returns %d", status);
    }
    return status;
}

static entry_t entry_of(const client_t *client, uint32_t flags) {
    int64_t seqno = client->meta.gtid.seqno;
    return (entry_t){seqno, ENTRY_WRITE_SET, flags, client->handle.trx_id, client->conn, client->bytes};
}

/* Through the commit order, in its turn. */
static void commit(client_t *client, uint32_t flags) {
    int64_t seqno = client->meta.gtid.seqno;
    journal_take_turn(seqno);
    entry_t entry = entry_of(client, flags);
    journal_write(&entry, client->data);
    journal_end_turn(seqno);
    CHECK(CALL(seqno, wsrep.commit_order_leave(&wsrep, &client->handle, &client->meta, NULL)) == OK, "leave");
}

static int enter(client_t *client) {
    int64_t seqno = client->meta.gtid.seqno;
    int status = CALL(seqno, wsrep.commit_order_enter(&wsrep, &client->handle, &client->meta));
    CHECK(status == OK || status == BF_ABORT, "enter returns %d", status);
    return status;
}

static void release(client_t *client, bool is_over) {
    if (client->meta.gtid.seqno > 0)
        journal_release(client->meta.gtid.seqno);
    if (is_over)
        known(client, 0, 0);
    CHECK(CALL(client->handle.trx_id, wsrep.release(&wsrep, &client->handle)) == OK, "release");
    CHECK(!is_over || client->handle.opaque == NULL, "the handle is still taken");
    client->meta.gtid.seqno = -1;
}

static void replay(client_t *client, uint32_t flags) {
    replay_t wanted = {client->meta.gtid.seqno, &client->handle, client->data, client->bytes, client->conn, flags, 0};
    CHECK(CALL(wanted.seqno, wsrep.replay_trx(&wsrep, &client->handle, &wanted)) == OK, "replay");
    CHECK(wanted.applied == 1, "%lld was replayed %u times", (long long)wanted.seqno, wanted.applied);
    count(REPLAYED);
}

/* The only, or the last, fragment. */
static int finish(client_t *client, uint32_t flags) {
    int status = certify(client, flags);
    if (status == OK) {
        if (one_in(8))
            nap((unsigned)random_below(2000));
        status = enter(client);
        unsigned aborts = untold(client, true);
        CHECK(aborts == (status == OK ? 0 : 1), "enter returns %d with %u aborts", status, aborts);
        if (status == OK) {
            commit(client, flags);
            count(COMMITTED);
        } else {
            count(ABORTED);
        }
    } else if (status == TRX_FAIL) {
        count(CERTIFICATION_FAILED);
        CHECK(enter(client) == OK, "one that failed is aborted");
        commit(client, ROLLBACK | TRX_START);
    }
    if (status == BF_ABORT)
        replay(client, flags);
    release(client, true);
    return status;
}

static void transaction(client_t *client) {
    append(client, 0);
    known(client, client->handle.trx_id, TRX_START | TRX_END);
    if (one_in(4))
        nap((unsigned)random_below(1000));
    if (one_in(16)) {
        release(client, true);
        count(ROLLED_BACK);
    } else {
        finish(client, TRX_START | TRX_END);
    }
}

static void roll_back(client_t *client) {
    uint64_t outages = server_outages();
    uint8_t bytes[64];
    buf_t data = {bytes, payload_make(bytes, sizeof bytes, client->handle.trx_id, 99)};
    server_expect_rollback(client->handle.trx_id);
    int status = CALL(client->handle.trx_id, wsrep.rollback(&wsrep, client->handle.trx_id, &data));
    CHECK(status == OK || (status == CONN_FAIL && (outages % 2 == 1 || outages != server_outages())),
          "a rollback is answered with %d", status);
    release(client, true);
    count(ROLLED_BACK);
}

/* One fragment. False: it must be rolled back. */
static bool fragment(client_t *client, uint32_t flags, uint64_t part) {
    append(client, part);
    int status = certify(client, flags);
    bool goes_on = status == OK;
    if (status == OK && enter(client) == BF_ABORT) {
        CHECK(untold(client, true) == 1, "aborted without a request");
        count(ABORTED);
        goes_on = false;
        CHECK(enter(client) == OK, "aborted twice");
    }
    if (status == TRX_FAIL) {
        /* The server releases it without a turn. */
        entry_t entry = entry_of(client, untold(client, true) > 0 ? ANY_FLAGS : ROLLBACK | TRX_START);
        journal_pass(&entry, client->data);
    } else if (status != CONN_FAIL) {
        commit(client, flags);
    }
    release(client, status == CONN_FAIL);
    /* An abort while the fragment was committed: the server rolls the transaction back behind it. */
    if (goes_on && untold(client, true) > 0) {
        count(ABORTED);
        goes_on = false;
    }
    return goes_on;
}

static void streamed(client_t *client) {
    uint64_t parts = random_below(4) + 1;
    for (uint64_t part = 0; part < parts; part++)
        if (!fragment(client, part == 0 ? TRX_START : 0, part)) {
            roll_back(client);
            return;
        }
    client->bytes = 0;
    if (one_in(4))
        roll_back(client);
    else if (finish(client, TRX_END | PA_UNSAFE) == CONN_FAIL)
        roll_back(client);
    else
        count(STREAMED);
}

void isolated_statement(uint64_t conn, uint64_t id) {
    buf_t parts[3];
    uint8_t names[3][8], bytes[4096];
    wskey_t key;
    meta_t meta;
    random_key(parts, names, &key);
    buf_t action[2] = {{bytes, payload_make(bytes, sizeof bytes, id, 0)}, {NULL, 0}};
    uint64_t outages = server_outages();
    int status = CALL(id, wsrep.to_execute_start(&wsrep, conn, &key, 1, action, 2, TRX_START | TRX_END, &meta));
    if (status == CONN_FAIL) {
        CHECK(outages % 2 == 1 || outages != server_outages(), "a TOI statement is refused while connected");
        return;
    }
    int64_t seqno = meta.gtid.seqno;
    CHECK(status == OK && seqno > 0, "a TOI statement gets %d and %lld", status, (long long)seqno);
    journal_take_turn(seqno);
    CHECK(journal_released() == seqno - 1, "runs alone beside %lld", (long long)journal_released() + 1);
    isolated_at = seqno;
    for (uint64_t victims = random_below(6); victims > 0; victims--)
        slot_abort((unsigned)random_below(CLIENTS), one_in(2) ? -1 : seqno);
    isolated_at = 0;
    entry_t entry = {seqno, ENTRY_WRITE_SET, TRX_START | TRX_END | ISOLATION, UINT64_MAX, conn, action[0].len};
    journal_write(&entry, bytes);
    journal_end_turn(seqno);
    journal_release(seqno);
    CHECK(CALL(seqno, wsrep.to_execute_end(&wsrep, conn, NULL)) == OK, "the end of a TOI statement");
    count(ISOLATED);
}

void *client_main(void *number) {
    unsigned at = (unsigned)(uintptr_t)number;
    char name[16];
    snprintf(name, sizeof name, "client %u", at);
    watch_thread(name);
    client_t client = {.slot = &slots[at], .conn = at + 1, .data = malloc(DATA_ROOM)};
    CHECK(client.data != NULL, "no memory");
    while (!over) {
        uint64_t kind = random_below(100);
        uint64_t trx = __sync_add_and_fetch(&transactions, 1);
        client.handle = (handle_t){trx, NULL};
        client.meta = (meta_t){.gtid = {.seqno = -1}};
        if (kind < 8)
            isolated_statement(client.conn, trx);
        else if (kind < 20)
            streamed(&client);
        else
            transaction(&client);
        if (server_outages() % 2 == 1)
            nap(2000);
    }
    free(client.data);
    return NULL;
}
