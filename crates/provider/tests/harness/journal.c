/* The tables: one file with every place of the order, in order, written at its turn. What a killed process wrote stays.

   A recovering process may begin before the file's end, as a storage engine's checkpoint does. What it is given then
   must be what the file says, byte for byte; behind the file's end it is added. */

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

#define PLACES_LIMIT (4 << 20)

static int file;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* Where each place stands in the file; the end behind the last. */
static off_t *offsets;
static int64_t written; /* The last in the file. */
static int64_t last;    /* The last that had its turn. */
static int64_t in_turn; /* Whose turn it is; 0: nobody's. */
static int64_t released;
/* Places that are passed by, and not yet reached: each with its data behind it. */
static place_t *passed[256];
static uint8_t *is_released;

/* Answers the last place in the file. What a kill cut in two is cut off. */
int64_t journal_open(const char *dir) {
    char path[4096];
    snprintf(path, sizeof path, "%s/journal", dir);
    file = open(path, O_RDWR | O_CREAT, 0600);
    CHECK(file >= 0, "%s: %s", path, strerror(errno));
    offsets = calloc(PLACES_LIMIT, sizeof *offsets);
    is_released = calloc(PLACES_LIMIT, 1);
    CHECK(offsets != NULL && is_released != NULL, "no memory");
    struct stat about;
    CHECK(fstat(file, &about) == 0, "fstat");
    place_t place;
    off_t at = 0;
    while (at + (off_t)sizeof place <= about.st_size) {
        CHECK(pread(file, &place, sizeof place, at) == sizeof place, "pread");
        off_t end = at + (off_t)sizeof place + (off_t)place.bytes;
        if (end > about.st_size)
            break;
        CHECK(place.seqno == written + 1, "the journal has %lld behind %lld", (long long)place.seqno,
              (long long)written);
        written = place.seqno;
        offsets[written + 1] = at = end;
    }
    CHECK(ftruncate(file, at) == 0, "ftruncate");
    return written;
}

/* The tables hold everything up to `seqno`. */
void journal_begin(int64_t seqno) {
    last = released = seqno;
}

static void compare(const place_t *place, const void *data) {
    place_t known;
    off_t at = offsets[place->seqno];
    CHECK(pread(file, &known, sizeof known, at) == sizeof known, "pread");
    bool is_flagged = known.flags == place->flags || known.flags == ANY_FLAGS;
    CHECK(known.kind == place->kind && is_flagged && known.trx == place->trx && known.conn == place->conn &&
              known.bytes == place->bytes,
          "at %lld kind %u flags %#x trx %llu conn %llu, %llu bytes; the tables had %u %#x %llu %llu, %llu bytes",
          (long long)place->seqno, place->kind, place->flags, (unsigned long long)place->trx,
          (unsigned long long)place->conn, (unsigned long long)place->bytes, known.kind, known.flags,
          (unsigned long long)known.trx, (unsigned long long)known.conn, (unsigned long long)known.bytes);
    uint8_t *bytes = malloc(known.bytes + 1);
    CHECK(pread(file, bytes, known.bytes, at + (off_t)sizeof known) == (ssize_t)known.bytes, "pread");
    CHECK(memcmp(bytes, data, known.bytes) == 0, "other bytes at %lld", (long long)place->seqno);
    free(bytes);
}

/* The caller was told that its turn has come. */
void journal_take_turn(int64_t seqno) {
    pthread_mutex_lock(&mutex);
    CHECK(in_turn == 0, "%lld has its turn while %lld has", (long long)seqno, (long long)in_turn);
    CHECK(seqno == last + 1, "%lld has its turn behind %lld", (long long)seqno, (long long)last);
    in_turn = seqno;
    pthread_mutex_unlock(&mutex);
}

static void keep(const place_t *place, const void *data) {
    CHECK(place->seqno + 2 < PLACES_LIMIT, "too many places");
    if (place->seqno <= written) {
        compare(place, data);
    } else {
        struct iovec parts[2] = {{(void *)place, sizeof *place}, {(void *)data, place->bytes}};
        ssize_t bytes = (ssize_t)(sizeof *place + place->bytes);
        CHECK(pwritev(file, parts, 2, offsets[place->seqno]) == bytes, "the journal: %s", strerror(errno));
        written = place->seqno;
        offsets[written + 1] = offsets[written] + bytes;
    }
}

void journal_write(const place_t *place, const void *data) {
    pthread_mutex_lock(&mutex);
    CHECK(in_turn == place->seqno, "%lld is written in the turn of %lld", (long long)place->seqno, (long long)in_turn);
    keep(place, data);
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

/* What has that place will not take its turn. Before the provider is told. */
void journal_pass(const place_t *place, const void *data) {
    pthread_mutex_lock(&mutex);
    size_t at = 0;
    while (passed[at] != NULL)
        at++;
    passed[at] = malloc(sizeof *place + place->bytes);
    *passed[at] = *place;
    memcpy(passed[at] + 1, data, place->bytes);
    if (in_turn == 0)
        go_over_passed();
    pthread_mutex_unlock(&mutex);
}

/* Before the provider is told. */
void journal_end_turn(int64_t seqno) {
    pthread_mutex_lock(&mutex);
    CHECK(in_turn == seqno, "%lld ends the turn of %lld", (long long)seqno, (long long)in_turn);
    in_turn = 0;
    last = seqno;
    go_over_passed();
    pthread_mutex_unlock(&mutex);
}

/* Before the provider is told. */
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
