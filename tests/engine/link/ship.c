/*
 * tests/engine/link/ship.c: see ship.h.
 */
#include "tests/engine/link/ship.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

u9_options quick_options(void)
{
    u9_options o = small_options();
    o.segment_size = 1 << 20;
    return o;
}

u9_log *open_quick(const char *path)
{
    u9_options o = quick_options();
    return open_writer(path, &o);
}

static void mix(content *c, const void *bytes, size_t size)
{
    uint8_t both[2 * U9I_HASH_SIZE];
    memcpy(both, c->hash, U9I_HASH_SIZE);
    u9i_hash(bytes, size, both + U9I_HASH_SIZE);
    u9i_hash(both, sizeof both, c->hash);
}

/* The bytes of a record that comes without them. */
static void mix_large(content *c, u9_log *log, const u9_record *r)
{
    static uint8_t piece[1 << 20];
    u9_reading *reading;
    size_t got;
    ck_assert_int_eq(u9_record_open(log, r, &reading, NULL), U9_OK);
    for (uint64_t at = 0; at < r->size; at += got) {
        ck_assert_int_eq(u9_record_read(reading, at, piece, sizeof piece, &got, NULL), U9_OK);
        mix(c, piece, got);
    }
    u9_record_close(reading);
}

content content_of(const char *path)
{
    content c = {0};
    u9_log *log = open_reader(path);
    u9_cursor *cursor;
    u9_record r;
    u9_err err;
    uint64_t frame = 0, segment = 0;
    ck_assert_int_eq(u9_cursor_open(log, NULL, &cursor, NULL), U9_OK);
    while ((err = u9_cursor_next(cursor, &r)) == U9_OK || err == U9_LIMIT) {
        c.batches += r.frame != frame || r.segment != segment;
        frame = r.frame;
        segment = r.segment;
        ck_assert_uint_eq(r.ordinal, c.records);
        c.records++;
        mix(&c, &c.batches, sizeof c.batches);
        if (err == U9_OK) mix(&c, r.bytes, r.size);
        else mix_large(&c, log, &r);
    }
    ck_assert_int_eq(err, U9_END);
    u9_cursor_close(cursor);
    close_log(log);
    return c;
}

void expect_same(const char *a, const char *b)
{
    content left = content_of(a), right = content_of(b);
    ck_assert_uint_eq(left.records, right.records);
    ck_assert_uint_eq(left.batches, right.batches);
    ck_assert_mem_eq(left.hash, right.hash, sizeof left.hash);
    u9_report report = {.size = sizeof report};
    u9_check_options o = {.size = sizeof o, .io = io_of(b)};
    ck_assert_int_eq(u9_check(b, &o, &report, NULL), U9_OK);
    ck_assert_int_eq(report.verdict, U9_V_CLEAN);
    ck_assert_uint_eq(report.records, left.records);
}

void put_batch(u9_log *log, const char *prefix, size_t count, size_t pad)
{
    u9_entry *entries = calloc(count, sizeof *entries);
    for (size_t i = 0; i < count; i++) {
        uint8_t *value = malloc(64 + pad);
        char *text = calloc(1, 32 + pad);
        u9_builder b;
        memset(text, '.', 31 + pad);
        int n = snprintf(text, 32, "%s%zu", prefix, i);
        u9_builder_init(&b, value, 64 + pad);
        ck_assert_int_eq(u9_build_utf8(&b, text, (size_t)n + pad), U9_OK);
        entries[i] = (u9_entry){.values = value, .size = b.size};
        free(text);
    }
    ck_assert_int_eq(u9_log_append_batch(log, entries, count, NULL), U9_OK);
    ck_assert_int_eq(u9_log_sync(log), U9_OK);
    for (size_t i = 0; i < count; i++) free((void *)(uintptr_t)entries[i].values);
    free(entries);
}

void small_log(const char *path)
{
    u9_log *log = open_quick(path);
    for (size_t i = 0; i < 3; i++) {
        put_batch(log, "batch", 1 + i, 0);
        put_batch(log, "one", 1, i * 20);
    }
    close_log(log);
}

void more(const char *path)
{
    u9_log *log = open_quick(path);
    put_batch(log, "more", 2, 0);
    put_batch(log, "and more", 1, 0);
    close_log(log);
}

void large_log(const char *path, unsigned count)
{
    u9_log *log = open_quick(path);
    for (unsigned i = 0; i < count; i++) put_batch(log, "large", 60, 1000);
    close_log(log);
}

void *send_main(void *arg)
{
    side *s = arg;
    u9_log *log = open_reader(s->path);
    u9_send_options o = {.size = sizeof o, .out = s->out, .in = s->in, .from = s->from,
                         .on_progress = s->on_progress, .ctx = s->ctx, .follow = s->follows};
    s->report = (u9_ship_report){.size = sizeof s->report};
    s->err = u9_log_send(log, &o, &s->report, &s->fault);
    close_log(log);
    return NULL;
}

void *recv_main(void *arg)
{
    side *s = arg;
    u9_options quick = quick_options();
    u9_recv_options o = {.size = sizeof o, .in = s->in, .out = s->out, .log = &quick,
                         .on_progress = s->on_progress, .ctx = s->ctx};
    s->report = (u9_ship_report){.size = sizeof s->report};
    s->err = u9_log_recv(s->path, &o, &s->report, &s->fault);
    return NULL;
}

void start(side *s, void *(*main)(void *))
{
    ck_assert_int_eq(pthread_create(&s->thread, NULL, main, s), 0);
}

void join(side *s)
{
    ck_assert_int_eq(pthread_join(s->thread, NULL), 0);
}

void expect_fine(const side *s)
{
    ck_assert_msg(s->err == U9_OK, "%s: %s: %s", s->path, u9_err_name(s->err), s->fault.text);
}

uint8_t *record(const char *log, uint64_t from, size_t *size, side *sender)
{
    int fd = memfd_create("recorded", MFD_CLOEXEC);
    *sender = (side){.path = log, .in = -1, .out = fd, .from = from};
    send_main(sender);
    off_t end = lseek(fd, 0, SEEK_END);
    ck_assert_int_ge(end, 0);
    uint8_t *bytes = malloc((size_t)end + 1);
    ck_assert_int_eq(pread(fd, bytes, (size_t)end, 0), end);
    close(fd);
    *size = (size_t)end;
    return bytes;
}

uint8_t *stream_of(const char *log, uint64_t from, size_t *size)
{
    side sender;
    uint8_t *stream = record(log, from, size, &sender);
    expect_fine(&sender);
    return stream;
}

side receive(const char *log, const uint8_t *bytes, size_t size)
{
    side s = {.path = log, .in = memfd_create("stream", MFD_CLOEXEC), .out = -1};
    ck_assert_int_eq(pwrite(s.in, bytes, size, 0), (ssize_t)size);
    recv_main(&s);
    close(s.in);
    return s;
}

static void *relay_main(void *arg)
{
    relay *r = arg;
    uint8_t buffer[65536];
    for (;;) {
        ssize_t n = read(r->from, buffer, r->most);
        if (n <= 0) break;
        if (write(r->to, buffer, (size_t)n) != n) break;
        if (r->nap_us) usleep(r->nap_us);
    }
    close(r->from);
    close(r->to);
    return NULL;
}

void relay_start(relay *r)
{
    ck_assert_int_eq(pthread_create(&r->thread, NULL, relay_main, r), 0);
}

/* A way there and a way back: one socket, or two pipes. */
static void open_two_way(bool sockets, int here[2], int there[2])
{
    int a[2], b[2];
    if (sockets) {
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, a), 0);
        here[0] = here[1] = a[0];
        there[0] = there[1] = a[1];
        return;
    }
    ck_assert_int_eq(pipe(a), 0);
    ck_assert_int_eq(pipe(b), 0);
    here[0] = b[0];
    here[1] = a[1];
    there[0] = a[0];
    there[1] = b[1];
}

static void close_way(const int way[2])
{
    close(way[0]);
    if (way[1] != way[0]) close(way[1]);
}

void move_both_ways(bool sockets, const char *from, const char *to, side *sender, side *receiver)
{
    int here[2], there[2];
    open_two_way(sockets, here, there);
    *sender = (side){.path = from, .in = here[0], .out = here[1]};
    *receiver = (side){.path = to, .in = there[0], .out = there[1]};
    start(sender, send_main);
    recv_main(receiver);
    close_way(there);
    join(sender);
    close_way(here);
}
