/* Shared declarations. The program plays mariadbd for a provider: it loads the provider, implements the callbacks, and
   calls it from many threads. A violation of the API ends the program with status 1 and a message on standard error. */

#ifndef HARNESS_H
#define HARNESS_H

#include "wsrep.h"

#define CLIENTS 16
#define RECEIVERS 4
/* Limit of a call: a disk that others keep busy may take seconds for a sync. */
#define LIMIT_SECONDS 120

/* watch.c: the current call of each thread, and its duration. */
void watch_start(unsigned limit_seconds);
void watch_thread(const char *name);
void doing(const char *call, int64_t about);
void done(void);
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
#define CHECK(is_so, ...) ((is_so) ? (void)0 : fail(__VA_ARGS__))
/* A call into the provider, watched. */
#define CALL(about, call) \
    ({ \
        doing(#call, (int64_t)(about)); \
        __typeof__(call) answer_ = (call); \
        done(); \
        answer_; \
    })

/* random.c: numbers from the seed, a sequence for each thread; and bytes that identify their transaction. */
void random_seed(uint64_t seed, uint64_t stream);
uint64_t random_below(uint64_t bound);
bool one_in(uint64_t chances);
void nap(unsigned microseconds);
size_t payload_make(uint8_t *entry, size_t room, uint64_t trx, uint64_t part);

/* journal.c: the tables. Every seqno, written in its turn. A thread's writes survive the process. */
enum { ENTRY_VIEW = 1, ENTRY_WRITE_SET = 2 };
/* An aborted fragment: the result of its certification is unknown. */
#define ANY_FLAGS UINT32_MAX
typedef struct {
    int64_t seqno;
    uint32_t kind, flags;
    uint64_t trx, conn;
    uint64_t bytes;
} entry_t;
int64_t journal_open(const char *dir);
void journal_begin(int64_t seqno);
void journal_take_turn(int64_t seqno);
void journal_write(const entry_t *entry, const void *data);
void journal_end_turn(int64_t seqno);
void journal_pass(const entry_t *entry, const void *data);
void journal_release(int64_t seqno);
int64_t journal_last(void);
int64_t journal_released(void);

/* server.c: the provider, loaded; its callbacks; its receiving threads. */
extern wsrep_t wsrep;
/* The expected data of a client's replay. */
typedef struct {
    int64_t seqno;
    const handle_t *handle;
    const uint8_t *data;
    size_t bytes;
    uint64_t conn;
    uint32_t flags;
    unsigned applied;
} replay_t;
void server_load(const char *library);
int server_init(const char *dir, int64_t position, const char *options);
void server_free(void);
int server_connect(bool is_new);
void server_receive(void);
void server_disconnect(void);
gtid_t server_place(int64_t seqno);
bool server_has_history(const char *dir);
/* Odd: not connected. A call may be refused if this changed meanwhile or is odd. */
uint64_t server_outages(void);
void server_expect_rollback(uint64_t trx);
/* The provider may roll it back itself. */
void server_add_victim(uint64_t trx);
/* Whether the callbacks check what only a correct server may expect. */
extern bool server_is_strict;

/* clients.c, controls.c: threads that act like a server's. */
enum {
    COMMITTED,
    ROLLED_BACK,
    REPLAYED,
    CERTIFICATION_FAILED,
    ABORTED,
    ISOLATED,
    STREAMED,
    REFUSED,
    PAUSED,
    RECONNECTED,
    COUNTS,
};
void count(unsigned what);
void counts_print(void);
void *client_main(void *number);
void *aborter_main(void *unused);
void *control_main(void *unused);
void clients_stop(void);
bool clients_are_over(void);
void slot_abort(unsigned slot, int64_t by);
void isolated_statement(uint64_t conn, uint64_t id);
extern volatile int64_t isolated_at;
void random_key(buf_t parts[3], uint8_t names[3][8], wskey_t *key);

/* The modes. */
int layout_main(void);
int illegal_main(const char *dir, uint64_t seed, unsigned steps);

#endif
