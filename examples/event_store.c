/*
 * examples/event_store.c: many threads append events and wait until they are durable; then all events are read, and
 * make the state that they tell.
 *
 *     event_store events 8 1000          8 threads, 1000 transfers each
 *
 * Each transfer takes from one account and gives to another: two events, appended as one batch, so that after a crash
 * both are there or none, and the sum over all accounts is always 0. Threads that commit at the same time share one
 * write to the disk, without knowing of each other. Run it again, or kill it and run it again: the sum stays 0.
 *
 * Built with: cc -pthread event_store.c $(pkg-config --cflags --libs u9)
 * Exit status: 0 the books are even, 1 they are not, or something failed, which standard error tells.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <u9.h>

enum { ACCOUNTS = 100, THREADS_MAX = 64, EVENT_MAX = 64 };

typedef struct teller {
    u9_log *log;
    unsigned number;
    unsigned long transfers;
    u9_fault fault; /* err is U9_OK if it did all its work */
} teller;

static void say(const u9_fault *fault)
{
    char text[1024];
    fprintf(stderr, "event_store: %s\n", u9_fault_line(fault, text, sizeof text));
}

/* ("moved" account amount): values back to back. An event fits EVENT_MAX bytes, so the calls cannot fail. */
static u9_entry event(uint8_t bytes[EVENT_MAX], unsigned account, int64_t amount)
{
    u9_builder b;
    u9_builder_init(&b, bytes, EVENT_MAX);
    if (u9_build_utf8(&b, "moved", 5) != U9_OK || u9_build_uint(&b, account) != U9_OK ||
        u9_build_int(&b, amount) != U9_OK)
        abort();
    return (u9_entry){.values = bytes, .size = b.size};
}

static u9_err transfer(u9_log *log, unsigned from, unsigned to, int64_t amount)
{
    uint8_t out[EVENT_MAX], in[EVENT_MAX];
    u9_entry both[2] = {event(out, from, -amount), event(in, to, amount)};
    u9_place places[2];
    u9_err err = u9_log_append_batch(log, both, 2, places);
    return err == U9_OK ? u9_log_commit(log, places[1].ordinal)
                        : err; /* durable when it returns U9_OK */
}

static void *work(void *arg)
{
    teller *t = arg;
    for (unsigned long i = 0; i < t->transfers; i++) {
        unsigned from = (unsigned)((t->number + i * 7) % ACCOUNTS),
                 to = (unsigned)((from + 1 + i % 13) % ACCOUNTS);
        if (transfer(t->log, from, to, (int64_t)(i % 50 + 1)) == U9_OK) continue;
        u9_log_fault(t->log, &t->fault); /* this thread's own */
        break;
    }
    return NULL;
}

static int run_tellers(u9_log *log, unsigned count, unsigned long transfers)
{
    static teller tellers[THREADS_MAX];
    pthread_t threads[THREADS_MAX];
    unsigned began = 0;
    int failed = 0;
    for (; began < count; began++) {
        tellers[began] = (teller){.log = log, .number = began, .transfers = transfers};
        if (pthread_create(&threads[began], NULL, work, &tellers[began]) != 0) break;
    }
    for (unsigned i = 0; i < began; i++) {
        pthread_join(threads[i], NULL);
        if (tellers[i].fault.err != U9_OK) say(&tellers[i].fault), failed = 1;
    }
    return failed || began < count;
}

/* Returns whether `record` is an event, and which. */
static int take_apart(const u9_record *record, uint64_t *account, int64_t *amount)
{
    u9_value kind, who, how_much;
    u9_walk walk = u9_walk_bytes(record->values, (size_t)record->values_size);
    if (u9_walk_next(&walk, &kind) != U9_OK || kind.type != U9_UTF8) return 0;
    if (u9_walk_next(&walk, &who) != U9_OK || who.type != U9_UINT || who.u >= ACCOUNTS) return 0;
    if (u9_walk_next(&walk, &how_much) != U9_OK) return 0;
    *account = who.u;
    *amount = how_much.i; /* an integer that is not negative is a U9_UINT, in the same place */
    return how_much.type == U9_INT || how_much.type == U9_UINT;
}

static int balance(u9_log *log)
{
    int64_t accounts[ACCOUNTS] = {0}, sum = 0, amount;
    uint64_t events = 0, account;
    u9_cursor *cursor;
    u9_record record;
    u9_fault fault;
    u9_err err;
    if (u9_cursor_open(log, NULL, &cursor, &fault) != U9_OK) return say(&fault), 1;
    while ((err = u9_cursor_next(cursor, &record)) == U9_OK)
        if (take_apart(&record, &account, &amount)) accounts[account] += amount, events++;
    if (err != U9_END) u9_cursor_fault(cursor, &fault), say(&fault);
    u9_cursor_close(cursor);
    for (unsigned i = 0; i < ACCOUNTS; i++) sum += accounts[i];
    printf("%" PRIu64 " events, the sum of all accounts is %" PRId64 "\n", events, sum);
    return err != U9_END || sum != 0;
}

int main(int argc, char **argv)
{
    u9_options options = {.size = sizeof options, .mode = U9_CREATE};
    u9_log *log;
    u9_fault fault;
    unsigned long threads = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
    if (threads < 1 || threads > THREADS_MAX) {
        fprintf(stderr, "usage: event_store LOG THREADS TRANSFERS    (1 to %d threads)\n",
                THREADS_MAX);
        return 2;
    }
    if (u9_log_open(argv[1], &options, &log, &fault) != U9_OK) return say(&fault), 1;
    int failed = run_tellers(log, (unsigned)threads, strtoul(argv[3], NULL, 10));
    failed |= balance(log);
    if (u9_log_close(log, &fault) != U9_OK) say(&fault), failed = 1;
    return failed;
}
