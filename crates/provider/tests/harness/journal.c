/* The tables: one file with every seqno, in order, each written in its turn. Writes of a killed process stay.

   A recovering process may start before the end of the file, like a storage engine at its checkpoint. The entries that
   it then receives must equal the file, byte for byte; after the end of the file they are appended. */

#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define ENTRIES_LIMIT (4 << 20)

static int file;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* The offset of each seqno in the file; the end after the last one. */
static off_t *offsets;
static int64_t written; /* The last seqno in the file. */
static int64_t last;    /* The last seqno that had its turn. */
static int64_t in_turn; /* The seqno whose turn it is; 0: none. */
static int64_t released;
/* Seqnos that take no turn and are not reached yet, each with its data after it. */
static entry_t *passed[256];
static uint8_t *is_released;

/* Returns the last seqno in the file. Truncates a record that a kill cut in two. */
int64_t journal_open(const char *dir) {
    char path[4096];
    snprintf(path, sizeof path, "%s/journal", dir);
    file = open(path, O_RDWR | O_CREAT, 0600);
    CHECK(file >= 0, "%s: %s", path, strerror(errno));
    offsets = calloc(ENTRIES_LIMIT, sizeof *offsets);
    is_released = calloc(ENTRIES_LIMIT, 1);
    CHECK(offsets != NULL && is_released != NULL, "no memory");
    struct stat about;
    CHECK(fstat(file, &about) == 0, "fstat");
    entry_t entry;
    off_t at = 0;
    while (at + (off_t)sizeof entry <= about.st_size) {
        CHECK(pread(file, &entry, sizeof entry, at) == sizeof entry, "pread");
        off_t end = at + (off_t)sizeof entry + (off_t)entry.bytes;
        if (end > about.st_size)
            break;
        CHECK(entry.seqno == written + 1, "the journal has %lld after %lld", (long long)entry.seqno,
              (long long)written);
        written = entry.seqno;
        offsets[written + 1] = at = end;
    }
    CHECK(ftruncate(file, at) == 0, "ftruncate");
    return written;
}

/* The tables are applied up to `seqno`. */
void journal_begin(int64_t seqno) {
    last = released = seqno;
}

static void compare(const entry_t *entry, const void *data) {
    entry_t known;
    off_t at = offsets[entry->seqno];
    CHECK(pread(file, &known, sizeof known, at) == sizeof known, "pread");
    bool is_flagged = known.flags == entry->flags || known.flags == ANY_FLAGS;
    CHECK(known.kind == entry->kind && is_flagged && known.trx == entry->trx && known.conn == entry->conn &&
              known.bytes == entry->bytes,
          "at %lld kind %u flags %#x trx %llu conn %llu, %llu bytes; the tables had %u %#x %llu %llu, %llu bytes",
          (long long)entry->seqno, entry->kind, entry->flags, (unsigned long long)entry->trx,
          (unsigned long long)entry->conn, (unsigned long long)entry->bytes, known.kind, known.flags,
          (unsigned long long)known.trx, (unsigned long long)known.conn, (unsigned long long)known.bytes);
    uint8_t *bytes = malloc(known.bytes + 1);
    CHECK(pread(file, bytes, known.bytes, at + (off_t)sizeof known) == (ssize_t)known.bytes, "pread");
    CHECK(memcmp(bytes, data, known.bytes) == 0, "other bytes at %lld", (long long)entry->seqno);
    free(bytes);
}

/* The turn of the caller has come. */
void journal_take_turn(int64_t seqno) {
    pthread_mutex_lock(&mutex);
    CHECK(in_turn == 0, "%lld has its turn while %lld has", (long long)seqno, (long long)in_turn);
    CHECK(seqno == last + 1, "%lld has its turn after %lld", (long long)seqno, (long long)last);
    in_turn = seqno;
    pthread_mutex_unlock(&mutex);
}

static void keep(const entry_t *entry, const void *data) {
    CHECK(entry->seqno + 2 < ENTRIES_LIMIT, "too many seqnos");
    if (entry->seqno <= written) {
        compare(entry, data);
    } else {
        struct iovec parts[2] = {{(void *)entry, sizeof *entry}, {(void *)data, entry->bytes}};
        ssize_t bytes = (ssize_t)(sizeof *entry + entry->bytes);
        CHECK(pwritev(file, parts, 2, offsets[entry->seqno]) == bytes, "the journal: %s", strerror(errno));
        written = entry->seqno;
        offsets[written + 1] = offsets[written] + bytes;
    }
}

void journal_write(const entry_t *entry, const void *data) {
    pthread_mutex_lock(&mutex);
    CHECK(in_turn == entry->seqno, "%lld is written in the turn of %lld", (long long)entry->seqno, (long long)in_turn);
    keep(entry, data);
    pthread_mutex_unlock(&mutex);
}

static void go_over_passed(void) {
    for (size_t at = 0; at < sizeof passed / sizeof *passed; at++)
        if (passed[at] != NULL && passed[at]->seqno == last + 1) {
            keep(passed[at], passed[at] + 1);
            free(passed[at]);
            passed[at] = NULL;
            last++;
            at = (size_t)-1;
        }
}

/* The seqno takes no turn. Called before the provider's function. */
void journal_pass(const entry_t *entry, const void *data) {
    pthread_mutex_lock(&mutex);
    size_t at = 0;
    while (passed[at] != NULL)
        at++;
    passed[at] = malloc(sizeof *entry + entry->bytes);
    *passed[at] = *entry;
    memcpy(passed[at] + 1, data, entry->bytes);
    if (in_turn == 0)
        go_over_passed();
    pthread_mutex_unlock(&mutex);
}

/* Called before the provider's function. */
void journal_end_turn(int64_t seqno) {
    pthread_mutex_lock(&mutex);
    CHECK(in_turn == seqno, "%lld ends the turn of %lld", (long long)seqno, (long long)in_turn);
    in_turn = 0;
    last = seqno;
    go_over_passed();
    pthread_mutex_unlock(&mutex);
}

/* Called before the provider's function. */
void journal_release(int64_t seqno) {
    pthread_mutex_lock(&mutex);
    CHECK(!is_released[seqno], "%lld is released twice", (long long)seqno);
    is_released[seqno] = 1;
    while (is_released[released + 1])
        released++;
    pthread_mutex_unlock(&mutex);
}

static int64_t look(const int64_t *number) {
    pthread_mutex_lock(&mutex);
    int64_t value = *number;
    pthread_mutex_unlock(&mutex);
    return value;
}

int64_t journal_last(void) { return look(&last); }

int64_t journal_released(void) { return look(&released); }
