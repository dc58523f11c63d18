/* What the parts of the program share. It plays mariadbd for a provider: loads it, answers its callbacks, and calls it
   from many threads. Whatever is not as the API has it ends the program with status 1 and a reason on standard error. */

#ifndef HARNESS_H
#define HARNESS_H

#include "wsrep.h"

#define CLIENTS 16
#define RECEIVERS 4
/* No call may take longer. */
#define LIMIT_SECONDS 20

/* watch.c: what each thread is doing, and how long. */
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

/* random.c: numbers from the seed, each thread its own row of them; and bytes that tell whose they are. */
void random_seed(uint64_t seed, uint64_t stream);
uint64_t random_below(uint64_t bound);
bool one_in(uint64_t chances);
void nap(unsigned microseconds);
size_t payload_make(uint8_t *place, size_t room, uint64_t trx, uint64_t part);

/* journal.c: the tables. Every place of the order, written at its turn. A thread's writes survive the process. */
enum { PLACE_VIEW = 1, PLACE_WRITE_SET = 2 };
/* Of a part that was aborted: nobody tells whether certification had failed it before. */
#define ANY_FLAGS UINT32_MAX
typedef struct {
    int64_t seqno;
    uint32_t kind, flags;
    uint64_t trx, conn;
    uint64_t bytes;
} place_t;
int64_t journal_open(const char *dir);
void journal_begin(int64_t seqno);
void journal_take_turn(int64_t seqno);
void journal_write(const place_t *place, const void *data);
void journal_end_turn(int64_t seqno);
void journal_pass(const place_t *place, const void *data);
void journal_release(int64_t seqno);
int64_t journal_last(void);
int64_t journal_released(void);

/* server.c: the provider, loaded; its callbacks; its receiving threads. */
extern wsrep_t wsrep;
/* What a client's replay must be given. */
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
/* Whether the callbacks check what only a well-behaved server may expect. */
extern bool server_is_strict;

/* clients.c, controls.c: threads that do as a server's do. */
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
