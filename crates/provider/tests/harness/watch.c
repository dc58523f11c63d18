/* The current call of each thread: printed when a call takes too long, or a check fails. */

#include "harness.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS_LIMIT 4096

typedef struct {
    char name[24];
    const char *volatile call;
    volatile int64_t about;
    volatile int64_t since;
} watched_t;

static watched_t threads[THREADS_LIMIT];
static volatile unsigned threads_count;
static __thread watched_t *own;
static unsigned limit;

static int64_t milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void tell_all(void) {
    int64_t now = milliseconds();
    for (unsigned at = 0; at < threads_count && at < THREADS_LIMIT; at++) {
        const char *call = threads[at].call;
        if (call != NULL)
            fprintf(stderr, "  %s: %lld ms in %s, about %lld\n", threads[at].name, (long long)(now - threads[at].since),
                    call, (long long)threads[at].about);
    }
}

void fail(const char *format, ...) {
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&once); /* Never unlocked: only the first failure is printed. */
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", own ? own->name : "main");
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\nthreads that are in a call:\n");
    tell_all();
    fflush(NULL);
    _exit(1);
}

static void *watch(void *unused) {
    (void)unused;
    for (;;) {
        usleep(100000);
        int64_t now = milliseconds();
        for (unsigned at = 0; at < threads_count && at < THREADS_LIMIT; at++)
            if (threads[at].call != NULL && strncmp(threads[at].call, "wsrep.recv", 10) != 0 &&
                now - threads[at].since > limit * 1000)
                fail("%s hangs", threads[at].name);
    }
    return NULL;
}

void watch_start(unsigned limit_seconds) {
    pthread_t thread;
    limit = limit_seconds;
    CHECK(pthread_create(&thread, NULL, watch, NULL) == 0, "no thread");
    pthread_detach(thread);
}

void watch_thread(const char *name) {
    unsigned entry = __sync_fetch_and_add(&threads_count, 1);
    CHECK(entry < THREADS_LIMIT, "too many threads");
    own = &threads[entry];
    snprintf(own->name, sizeof own->name, "%s", name);
}

/* Watched calls do not nest: a callback's call replaces the one around it. */
void doing(const char *call, int64_t about) {
    if (own == NULL)
        watch_thread("a thread");
    own->about = about;
    own->since = milliseconds();
    own->call = call;
}

void done(void) { own->call = NULL; }
