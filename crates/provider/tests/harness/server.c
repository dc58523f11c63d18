/* The server around the provider: loading, the callbacks with their checks, and the receiving threads. */

#include "harness.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NODE_NAME "node one"
#define INCOMING "192.0.2.1:3306"
#define PROTOCOL 4

wsrep_t wsrep;
bool server_is_strict = true;

/* The node's state on its way into the cluster. */
enum { OUT, CONNECTED, VIEWED, SYNCED };

static int standing = OUT;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t outages = 1;
static uuid_t history;
static int64_t log_end;
static const char *data_dir;

typedef struct {
    pthread_t thread;
    bool runs, may_go;
} receiver_t;
static receiver_t receivers[RECEIVERS];
static __thread receiver_t *own;

/* A list of transactions. */
typedef struct {
    uint64_t *trx;
    size_t count, room;
} list_t;

/* Those whose rollback a client has asked for, and which is not delivered yet; those that somebody has tried to abort. */
static list_t rollbacks, victims;

static void (*allowlist_deinit)(void);

static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    CHECK(found != NULL, "%s is not there", name);
    return found;
}

static void *dlh;
static int (*loader)(wsrep_t *);
static int (*allowlist_init)(void *);

void server_load(const char *library) {
    dlh = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    CHECK(dlh != NULL, "%s", dlerror());
    CHECK(strcmp(*(char **)symbol(dlh, "wsrep_interface_version"), "26") == 0, "the interface's version");
    *(void **)&loader = symbol(dlh, "wsrep_loader");
    *(void **)&allowlist_init = symbol(dlh, "wsrep_init_allowlist_service_v1");
    *(void **)&allowlist_deinit = symbol(dlh, "wsrep_deinit_allowlist_service_v1");
}

static void log_line(int level, const char *text) {
    CHECK(level >= 0 && level <= 4, "level %d", level);
    CHECK(strlen(text) > 0, "an empty line");
    if (getenv("HARNESS_VERBOSE"))
        fprintf(stderr, "log %d: %s\n", level, text);
}

static void check_place(const gtid_t *entry) {
    if (server_is_strict)
        CHECK(memcmp(&entry->uuid, &history, sizeof history) == 0, "a entry of another history");
}

static void move_on(int from, int to) {
    pthread_mutex_lock(&mutex);
    CHECK(!server_is_strict || standing == from, "from %d to %d, and not from %d", standing, to, from);
    standing = to;
    if (to == SYNCED && outages % 2 == 1)
        outages++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static int on_connected(void *context, const view_t *view) {
    CHECK(context == &wsrep, "the server's context");
    CHECK(own != NULL, "connected comes on a receiving thread");
    CHECK(view->status == PRIMARY && view->my_idx == 0 && view->memb_num == 1 && view->proto_ver == PROTOCOL,
          "the view");
    history = view->state_id.uuid;
    log_end = view->state_id.seqno;
    if (server_is_strict) {
        CHECK(log_end >= journal_last(), "the log ends at %lld", (long long)log_end);
        /* All of it or what was there before, whenever the program is killed. */
        char path[4096], new_path[4096];
        snprintf(path, sizeof path, "%s/history", data_dir);
        snprintf(new_path, sizeof new_path, "%s/history.new", data_dir);
        FILE *file = fopen(new_path, "w");
        CHECK(file != NULL && fwrite(&history, sizeof history, 1, file) == 1 && fclose(file) == 0, "%s", new_path);
        CHECK(rename(new_path, path) == 0, "%s: %s", path, strerror(errno));
    }
    move_on(OUT, CONNECTED);
    return 0;
}

static void deliver_entry(const entry_t *entry, const void *data) {
    journal_take_turn(entry->seqno);
    journal_write(entry, data);
    journal_end_turn(entry->seqno);
    journal_release(entry->seqno);
}

static int on_view(void *context, void *receiver, const view_t *view, const char *state, size_t state_bytes) {
    CHECK(context == &wsrep && receiver == own && own != NULL, "a view with another thread's context");
    CHECK(state == NULL && state_bytes == 0, "a view with a state");
    check_place(&view->state_id);
    int64_t seqno = view->state_id.seqno;
    if (view->status == DISCONNECTED) {
        CHECK(view->my_idx == -1 && view->memb_num == 0, "the last view");
        pthread_mutex_lock(&mutex);
        standing = OUT;
        pthread_mutex_unlock(&mutex);
        if (server_is_strict)
            CHECK(seqno == journal_last() && seqno == journal_released(), "left at %lld, of %lld", (long long)seqno,
                  (long long)journal_last());
        return 0;
    }
    CHECK(view->status == PRIMARY && view->proto_ver == PROTOCOL, "status %d", view->status);
    CHECK(view->my_idx >= 0 && view->my_idx < view->memb_num && view->memb_num < 1000, "member %d of %d", view->my_idx,
          view->memb_num);
    const member_t *member = &view->members[view->my_idx];
    for (int at = 0; at < view->memb_num; at++)
        CHECK(memchr(view->members[at].name, 0, 32) && memchr(view->members[at].incoming, 0, 256), "a name without end");
    if (server_is_strict) {
        CHECK(strcmp(member->name, NODE_NAME) == 0 && strcmp(member->incoming, INCOMING) == 0, "member %s at %s",
              member->name, member->incoming);
        if (standing == CONNECTED && seqno == journal_last()) {
            move_on(CONNECTED, VIEWED);
            return 0;
        }
        entry_t entry = {seqno, ENTRY_VIEW, 0, (uint64_t)view->view, 0, 0};
        deliver_entry(&entry, "");
    }
    if (standing == CONNECTED)
        move_on(CONNECTED, VIEWED);
    return 0;
}

static int on_synced(void *context) {
    CHECK(context == &wsrep && own != NULL, "the server's context");
    if (server_is_strict)
        /* The view, and calls of clients that saw the node open a moment before: they retry while it is away. */
        CHECK(journal_last() >= log_end + 1, "synced at %lld, the log ended at %lld", (long long)journal_last(),
              (long long)log_end);
    move_on(VIEWED, SYNCED);
    return 0;
}

static void commit(const handle_t *handle, const meta_t *meta, const entry_t *entry, const buf_t *data) {
    int64_t seqno = meta->gtid.seqno;
    CHECK(CALL(seqno, wsrep.commit_order_enter(&wsrep, handle, meta)) == OK, "enter of %lld", (long long)seqno);
    journal_take_turn(seqno);
    journal_write(entry, data->ptr);
    journal_end_turn(seqno);
    CHECK(CALL(seqno, wsrep.commit_order_leave(&wsrep, handle, meta, NULL)) == OK, "leave of %lld", (long long)seqno);
}

static void replay(replay_t *wanted, const handle_t *handle, uint32_t flags, const buf_t *data, const meta_t *meta) {
    int64_t seqno = meta->gtid.seqno;
    CHECK(seqno == wanted->seqno && wanted->applied++ == 0, "replay of %lld, not of %lld", (long long)seqno,
          (long long)wanted->seqno);
    CHECK(handle->trx_id == wanted->handle->trx_id && handle->opaque == wanted->handle->opaque, "replay's handle");
    CHECK(flags == wanted->flags && data->len == wanted->bytes && memcmp(data->ptr, wanted->data, data->len) == 0,
          "replay of %lld with flags %#x and %zu bytes", (long long)seqno, flags, data->len);
    entry_t entry = {seqno, ENTRY_WRITE_SET, flags, meta->stid.trx, wanted->conn, data->len};
    commit(handle, meta, &entry, data);
}

static void add(list_t *list, uint64_t trx) {
    pthread_mutex_lock(&mutex);
    if (list->count == list->room) {
        list->room = list->room * 2 + 16;
        list->trx = realloc(list->trx, list->room * sizeof *list->trx);
        CHECK(list->trx != NULL, "no memory");
    }
    list->trx[list->count++] = trx;
    pthread_mutex_unlock(&mutex);
}

static size_t find(const list_t *list, uint64_t trx) {
    size_t at = 0;
    while (at < list->count && list->trx[at] != trx)
        at++;
    return at;
}

/* A client has asked for it, or the provider itself rolls a victim back. */
static void end_rollback(uint64_t trx) {
    pthread_mutex_lock(&mutex);
    size_t at = find(&rollbacks, trx);
    if (at < rollbacks.count)
        rollbacks.trx[at] = rollbacks.trx[--rollbacks.count];
    else
        CHECK(find(&victims, trx) < victims.count, "nobody rolled %llu back", (unsigned long long)trx);
    pthread_mutex_unlock(&mutex);
}

static int on_apply(void *context, const handle_t *handle, uint32_t flags, const buf_t *data, const meta_t *meta,
                    bool *exit_loop) {
    CHECK(!*exit_loop, "exit_loop is set");
    check_place(&meta->gtid);
    CHECK(meta->depends_on < meta->gtid.seqno, "depends on %lld", (long long)meta->depends_on);
    if (!server_is_strict) {
        wsrep.commit_order_enter(&wsrep, handle, meta);
        wsrep.commit_order_leave(&wsrep, handle, meta, NULL);
        return 0;
    }
    if (context != own || own == NULL) {
        replay(context, handle, flags, data, meta);
        return 0;
    }
    CHECK(handle->trx_id == meta->stid.trx && handle->opaque == NULL, "the handle");
    if (standing == SYNCED) {
        CHECK(flags == ROLLBACK, "flags %#x on a receiving thread", flags);
        end_rollback(meta->stid.trx);
    } else {
        CHECK(standing == VIEWED, "applied before a view");
    }
    entry_t entry = {meta->gtid.seqno, ENTRY_WRITE_SET, flags, meta->stid.trx, meta->stid.conn, data->len};
    commit(handle, meta, &entry, data);
    if (one_in(2)) {
        handle_t nothing = {handle->trx_id, NULL};
        CHECK(CALL(meta->gtid.seqno, wsrep.release(&wsrep, &nothing)) == OK, "release of nothing");
    }
    journal_release(entry.seqno);
    *exit_loop = own->may_go = one_in(8);
    return 0;
}

void server_expect_rollback(uint64_t trx) { add(&rollbacks, trx); }

void server_add_victim(uint64_t trx) { add(&victims, trx); }

gtid_t server_place(int64_t seqno) { return (gtid_t){history, seqno}; }

uint64_t server_outages(void) {
    pthread_mutex_lock(&mutex);
    uint64_t value = outages;
    pthread_mutex_unlock(&mutex);
    return value;
}

bool server_has_history(const char *dir) {
    char path[4096];
    snprintf(path, sizeof path, "%s/history", dir);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    bool is_there = fread(&history, sizeof history, 1, file) == 1;
    fclose(file);
    return is_there;
}

/* Options with their types, as servers from MariaDB 11.8 on ask for them. */
typedef struct {
    int flags;
    const char *name;
    union {
        int64_t as_integer;
        double as_double;
        const char *as_string;
    } value;
} parameter_t;

enum { IS_READ_ONLY = 1 << 1, IS_BOOLEAN = 1 << 2, IS_INTEGER = 1 << 3, IS_DOUBLE = 1 << 4 };

static unsigned known_parameters;

static int on_parameter(const parameter_t *parameter, void *context) {
    CHECK(context == &known_parameters, "the context of a parameter");
    if (strcmp(parameter->name, "gcs.fc_limit") == 0) {
        CHECK(parameter->flags == IS_INTEGER && parameter->value.as_integer == 256, "gcs.fc_limit");
        known_parameters++;
    } else if (strcmp(parameter->name, "gcs.fc_factor") == 0) {
        CHECK(parameter->flags == IS_DOUBLE && parameter->value.as_double == 1.0, "gcs.fc_factor");
        known_parameters++;
    } else if (strcmp(parameter->name, "socket.ssl") == 0) {
        CHECK(parameter->flags == (IS_BOOLEAN | IS_READ_ONLY) && parameter->value.as_integer == 0, "socket.ssl");
        known_parameters++;
    } else if (strcmp(parameter->name, "gcache.name") == 0) {
        CHECK(parameter->flags == IS_READ_ONLY && strcmp(parameter->value.as_string, "galera.cache") == 0, "gcache.name");
        known_parameters++;
    }
    return OK;
}

static void ask_for_parameters(void) {
    struct {
        int (*get)(wsrep_t *, int (*)(const parameter_t *, void *), void *);
    } service = {NULL};
    int (*begin)(void *);
    void (*end)(void);
    *(void **)&begin = symbol(dlh, "wsrep_init_config_service_v1");
    *(void **)&end = symbol(dlh, "wsrep_deinit_config_service_v1");
    CHECK(begin(NULL) != OK, "no service");
    CHECK(begin(&service) == OK && service.get != NULL, "the service of parameters");
    known_parameters = 0;
    CHECK(service.get(&wsrep, on_parameter, &known_parameters) == OK, "the parameters");
    CHECK(known_parameters == 4, "%u known parameters", known_parameters);
    CHECK(service.get(&wsrep, NULL, NULL) != OK, "nobody takes the parameters");
    end();
}

int server_init(const char *dir, int64_t position, const char *options) {
    CHECK(loader(&wsrep) == 0, "the loader");
    CHECK(strcmp(wsrep.version, "26") == 0, "the version");
    CHECK(allowlist_init(NULL) == OK, "the allowlist");
    data_dir = dir;
    gtid_t state = server_place(position);
    /* Any free port: tests run in parallel. */
    static char all_options[4096];
    snprintf(all_options, sizeof all_options, "gmcast.listen_addr=tcp://127.0.0.1:0;%s", options == NULL ? "" : options);
    init_args_t args = {
        .app_ctx = &wsrep,
        .node_name = NODE_NAME,
        .node_address = "192.0.2.1",
        .node_incoming = INCOMING,
        .data_dir = dir,
        .options = all_options,
        .proto_ver = PROTOCOL,
        .state_id = position >= 0 ? &state : NULL,
        .logger_cb = log_line,
        .connected_cb = on_connected,
        .view_cb = on_view,
        .apply_cb = on_apply,
        .synced_cb = on_synced,
    };
    int status = CALL(position, wsrep.init(&wsrep, &args));
    for (int times = 0; times < 2; times++)
        CHECK(wsrep.capabilities(&wsrep) & 1, "capabilities");
    if (status == OK)
        ask_for_parameters();
    return status;
}

/* Like the server: frees twice, with the end of the allowlist in between. */
void server_free(void) {
    doing("free", 0);
    wsrep.free(&wsrep);
    allowlist_deinit();
    wsrep.free(&wsrep);
    done();
}

int server_connect(bool is_new) {
    int status = CALL(is_new, wsrep.connect(&wsrep, "cluster", "gcomm://", "", is_new));
    char *options = CALL(0, wsrep.options_get(&wsrep));
    CHECK(options != NULL && strstr(options, "repl.max_ws_size = ") != NULL, "the options");
    free(options);
    return status;
}

static void *receive(void *context) {
    own = context;
    watch_thread("receiver");
    random_seed((uint64_t)(own - receivers), 77);
    do {
        own->may_go = false;
        CHECK(CALL(0, wsrep.recv(&wsrep, own)) == OK, "recv");
    } while (own->may_go);
    CHECK(server_outages() % 2 == 1 || !server_is_strict, "recv returned on its own accord");
    return NULL;
}

static void start(receiver_t *receiver) {
    receiver->runs = true;
    CHECK(pthread_create(&receiver->thread, NULL, receive, receiver) == 0, "no thread");
}

/* One thread first; the others when the node is in the cluster. */
void server_receive(void) {
    start(&receivers[0]);
    if (server_is_strict) {
        doing("the way into the cluster", log_end);
        pthread_mutex_lock(&mutex);
        while (standing != SYNCED)
            pthread_cond_wait(&changed, &mutex);
        pthread_mutex_unlock(&mutex);
        done();
    }
    for (unsigned at = 1; at < RECEIVERS; at++)
        start(&receivers[at]);
}

void server_disconnect(void) {
    pthread_mutex_lock(&mutex);
    outages += 1 - outages % 2;
    pthread_mutex_unlock(&mutex);
    CHECK(CALL(0, wsrep.disconnect(&wsrep)) == OK, "disconnect");
    doing("the receivers' end", 0);
    for (unsigned at = 0; at < RECEIVERS; at++)
        if (receivers[at].runs) {
            pthread_join(receivers[at].thread, NULL);
            receivers[at].runs = false;
        }
    done();
    CHECK(!server_is_strict || standing == OUT, "no last view");
}
