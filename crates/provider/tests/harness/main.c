/* harness LIBRARY layout | legal DIR SEED MILLISECONDS | illegal DIR SEED STEPS

   `legal` continues where the folder's journal ends, or at any seqno before: so a second run recovers what a first one,
   killed or not, has left. */

#include "harness.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t seed;

static void *seeded_client(void *number) {
    random_seed(seed, (uint64_t)(uintptr_t)number);
    return client_main(number);
}

static void legal(const char *dir, double limit_seconds) {
    static const char *const options[] = {"", "log.segment=256K; log.sync=no", "log.segment=1M", "log.sync=no"};
    int64_t last = journal_open(dir);
    bool is_new = !server_has_history(dir);
    int64_t position = is_new ? -1 : (int64_t)random_below((uint64_t)last + 1);
    if (one_in(3) && !is_new)
        position = last;
    journal_begin(is_new ? 0 : position);
    printf("tables at %lld of %lld\n", (long long)position, (long long)last);
    CHECK(server_init(dir, position, options[random_below(4)]) == OK, "init");
    CHECK(server_connect(is_new) == OK, "connect");
    server_receive();
    CHECK(journal_last() > last, "the log ends at %lld, the tables had %lld", (long long)journal_last(),
          (long long)last);
    printf("in step at %lld\n", (long long)journal_last());
    fflush(stdout);
    pthread_t threads[CLIENTS + 2];
    double start = seconds();
    for (uintptr_t at = 0; at < CLIENTS; at++)
        pthread_create(&threads[at], NULL, seeded_client, (void *)at);
    pthread_create(&threads[CLIENTS], NULL, aborter_main, (void *)(uintptr_t)seed);
    pthread_create(&threads[CLIENTS + 1], NULL, control_main, (void *)(uintptr_t)seed);
    while (seconds() - start < limit_seconds) {
        nap(50000);
        if (one_in(8)) {
            server_disconnect();
            nap((unsigned)random_below(5000));
            CHECK(server_connect(one_in(2)) == OK, "connect again");
            server_receive();
            count(RECONNECTED);
        }
    }
    clients_stop();
    for (unsigned at = 0; at < CLIENTS + 2; at++)
        pthread_join(threads[at], NULL);
    server_disconnect();
    server_free();
    CHECK(journal_last() == journal_released(), "%lld is not released", (long long)journal_released() + 1);
    printf("seqnos %lld\n", (long long)journal_last());
    counts_print();
}

int main(int count, char **arguments) {
    if (count < 3) {
        fprintf(stderr, "harness LIBRARY layout | legal DIR SEED MILLISECONDS | illegal DIR SEED STEPS\n");
        return 2;
    }
    if (strcmp(arguments[2], "layout") == 0)
        return layout_main();
    CHECK(count == 6, "a mode needs a folder, a seed and how long");
    seed = strtoull(arguments[4], NULL, 10);
    unsigned length = (unsigned)strtoul(arguments[5], NULL, 10);
    random_seed(seed, 1000);
    watch_thread("main");
    server_load(arguments[1]);
    if (strcmp(arguments[2], "illegal") == 0)
        return illegal_main(arguments[3], seed, length);
    watch_start(LIMIT_SECONDS);
    legal(arguments[3], (double)length / 1000);
    return 0;
}
