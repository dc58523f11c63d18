/* Calls beside the transactions: brute-force aborts, pauses, waits, status variables, options. */

#include "harness.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

void *aborter_main(void *seed) {
    watch_thread("aborter");
    random_seed((uint64_t)(uintptr_t)seed, 1001);
    while (!clients_are_over()) {
        int64_t isolated = isolated_at;
        int64_t by = one_in(3) ? -1 : isolated > 0 ? isolated : journal_last() + (int64_t)random_below(40) - 10;
        slot_abort((unsigned)random_below(CLIENTS), by < -1 ? -1 : by);
        nap((unsigned)random_below(1500));
    }
    return NULL;
}

/* Nothing commits between the two calls. */
static void stand_still(void) {
    uint64_t outages = server_outages();
    bool is_desynced = one_in(2);
    if (is_desynced)
        CHECK(CALL(0, wsrep.desync(&wsrep)) == OK, "desync");
    int64_t seqno = CALL(0, wsrep.pause(&wsrep));
    int64_t last = journal_last(), released = journal_released();
    bool is_undisturbed = outages % 2 == 0 && outages == server_outages();
    CHECK(seqno >= 0 || !is_undisturbed, "cannot be paused");
    if (seqno >= 0 && is_undisturbed) {
        CHECK(last == seqno && released == seqno, "paused at %lld, of %lld and %lld", (long long)seqno, (long long)last,
              (long long)released);
        nap((unsigned)random_below(3000));
        last = journal_last();
        CHECK(last == seqno || outages != server_outages(), "%lld while paused at %lld", (long long)last,
              (long long)seqno);
        count(PAUSED);
    }
    CHECK(CALL(seqno, wsrep.resume(&wsrep)) == OK, "resume");
    if (is_desynced)
        CHECK(CALL(0, wsrep.resync(&wsrep)) == OK, "resync");
}

static void wait_for_what_was(void) {
    int64_t before = journal_released();
    gtid_t upto = server_place(before), reached = {.seqno = -1};
    bool is_causal = one_in(2);
    int status = CALL(before, wsrep.sync_wait(&wsrep, is_causal ? NULL : &upto, -1, &reached));
    CHECK(status == OK && reached.seqno >= before, "waited for %lld, and got %d at %lld", (long long)before, status,
          (long long)reached.seqno);
}

static void look(void) {
    static int64_t last;
    gtid_t committed = {.seqno = -1};
    CHECK(CALL(0, wsrep.last_committed_id(&wsrep, &committed)) == OK, "last_committed_id");
    CHECK(committed.seqno >= last && committed.seqno <= journal_last(), "committed up to %lld",
          (long long)committed.seqno);
    last = committed.seqno;
    stats_t *stats = CALL(0, wsrep.stats_get(&wsrep));
    CHECK(stats != NULL, "no status variables");
    const stats_t *variable = stats;
    while (variable->name != NULL && strcmp(variable->name, "last_committed") != 0)
        variable++;
    CHECK(variable->name != NULL && variable->value.integer >= last, "last_committed among the status variables");
    doing("stats_free", 0);
    wsrep.stats_free(&wsrep, stats);
    if (one_in(4))
        wsrep.stats_reset(&wsrep);
    done();
}

static void configure(void) {
    const char *sync = one_in(2) ? "log.sync=no" : "log.sync=yes; evs.version=1";
    CHECK(CALL(0, wsrep.options_set(&wsrep, sync)) == OK, "options");
    CHECK(CALL(0, wsrep.options_set(&wsrep, "no.such=1")) == NODE_FAIL, "an unknown option");
    char *options = CALL(0, wsrep.options_get(&wsrep));
    CHECK(options != NULL && strstr(options, "log.sync = ") != NULL, "the options");
    free(options);
}

void *control_main(void *seed) {
    watch_thread("control");
    random_seed((uint64_t)(uintptr_t)seed, 1002);
    while (!clients_are_over()) {
        switch (random_below(8)) {
        case 0:
            stand_still();
            break;
        case 1:
        case 2:
            wait_for_what_was();
            break;
        case 3:
            configure();
            break;
        default:
            look();
        }
        nap((unsigned)random_below(4000));
    }
    return NULL;
}
