/* Numbers from a seed (xorshift64*), and bytes that identify their transaction. */

#include "harness.h"

#include <string.h>
#include <unistd.h>

static __thread uint64_t state = 88172645463325252u;

static uint64_t next(uint64_t *from) {
    *from ^= *from >> 12;
    *from ^= *from << 25;
    *from ^= *from >> 27;
    return *from * 2685821657736338717u;
}

void random_seed(uint64_t seed, uint64_t stream) {
    state = (seed + 1) * 11400714819323198485u ^ (stream + 1) * 14029467366897019727u;
    state |= 1;
    next(&state);
}

uint64_t random_below(uint64_t bound) { return (next(&state) >> 11) % bound; }

bool one_in(uint64_t chances) { return random_below(chances) == 0; }

void nap(unsigned microseconds) { usleep(microseconds); }

/* The same transaction and fragment give the same bytes, so that a replay can be compared with them. */
size_t payload_make(uint8_t *entry, size_t room, uint64_t trx, uint64_t part) {
    uint64_t row = (trx * 2654435761u + part * 40503u + 1) | 1;
    uint64_t kind = next(&row) % 64;
    size_t bytes = next(&row) % (kind == 0 ? room : kind < 8 ? 4096 : 300);
    if (bytes > room)
        bytes = room;
    for (size_t at = 0; at < bytes; at += 8) {
        uint64_t word = next(&row);
        memcpy(entry + at, &word, bytes - at < 8 ? bytes - at : 8);
    }
    return bytes;
}
