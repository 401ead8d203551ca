/*
 * tests/engine/link/ship.h: logs to be moved, both ends of a transfer, and what came of it.
 */
#ifndef TESTS_ENGINE_SHIP_H
#define TESTS_ENGINE_SHIP_H

#include "format/base/hash.h"
#include "tests/engine/fixture.h"

#include <pthread.h>
#include <sys/types.h>
#include <u9/transit.h>

u9_options quick_options(void);
u9_log *open_quick(const char *path);

/* What a log holds: a hash over all records, their ordinals and which of them share a frame. */
typedef struct content {
    uint64_t records, batches;
    uint8_t hash[U9I_HASH_SIZE];
} content;

content content_of(const char *path);

/* The two logs hold the same, and the second one is clean. */
void expect_same(const char *a, const char *b);

/* Appends a batch of records "<prefix><i>", each `pad` bytes longer, in a frame of its own. */
void put_batch(u9_log *log, const char *prefix, size_t count, size_t pad);
/* A log of six batches, nine records, a few hundred bytes; and what comes to it later. */
void small_log(const char *path);
void more(const char *path);
/* A log of `count` batches of about 60 KB. */
void large_log(const char *path, unsigned count);

/* One end of a transfer, which may be a thread. */
typedef struct side {
    const char *path;
    int in, out;
    uint64_t from;
    bool follows; /* a sender: waits for more */
    u9_progress_fn *on_progress;
    void *ctx;
    u9_err err;
    u9_fault fault;
    u9_ship_report report;
    pthread_t thread;
} side;

void *send_main(void *side);
void *recv_main(void *side);
void start(side *s, void *(*main)(void *));
void join(side *s);
void expect_fine(const side *s);

/* The stream that a log is sent as, to be freed; and what became of the sender. */
uint8_t *record(const char *log, uint64_t from, size_t *size, side *sender);
/* The same where nothing goes wrong. */
uint8_t *stream_of(const char *log, uint64_t from, size_t *size);
/* Receives these bytes and then the end. */
side receive(const char *log, const uint8_t *bytes, size_t size);

/* Moves bytes from one descriptor to another, at most `most` at a time, until the end; closes both. */
typedef struct relay {
    int from, to;
    size_t most;
    useconds_t nap_us; /* after each */
    pthread_t thread;
} relay;

void relay_start(relay *r);

/* Both ends over a two-way link: one socket, or two pipes. */
void move_both_ways(bool sockets, const char *from, const char *to, side *sender, side *receiver);

#endif
