/*
 * bench/engine_u9.c: u9, through its public interface.
 *
 * Keys are made by the log (NULL is given), which is what its users do and is counted as its work; but where they are
 * sought later all engines get the same.
 */
#include "bench/engine.h"
#include "bench/hostile.h"
#include "bench/pool.h"
#include "bench/scan_ranges.h"

#include <u9.h>

#include <stdio.h>
#include <stdlib.h>

enum { BATCH_MAX = 1 << 16, GETS_MAX = 64, TIERED_SEGMENT = 16 << 20 };

static u9_log *log_handle;
static char near[64]; /* a folder where a log is made that is to be in S3; "": none is */
static const job_spec *tiered;
static bool is_durable;
static _Thread_local u9_entry *entries; /* all zero but for what a call sets */
static _Thread_local u9_place *places;
static bool is_keyed;
static _Thread_local uint8_t (*keys)[KEY_SIZE]; /* of a batch, where they are given */

static const char *version_of_u9(void)
{
    return U9_VERSION_TEXT;
}

static const char *io_of_u9(void)
{
    return u9_log_io(log_handle);
}

static _Noreturn void die_of(const char *what)
{
    u9_fault fault;
    u9_log_fault(log_handle, &fault);
    die(what, &fault);
}

static u9_policy policy_of(const job_spec *job)
{
    if (job->policy >= 0) return (u9_policy)job->policy;
    return job->durable ? U9_POLICY_COMMIT : U9_POLICY_NONE;
}

static const char *make_near(const job_spec *job)
{
    snprintf(near, sizeof near, "/tmp/u9bench.XXXXXX");
    if (mkdtemp(near) == NULL) die(near, NULL);
    tiered = job;
    return near;
}

/* All of it goes to S3: one record more, in a segment of its own, and what is before it is complete. */
static bool move_near(u9_fault *fault)
{
    const u9_options writing = {.size = sizeof writing, .mode = U9_WRITE, .segment_size = 1 << 16};
    const u9_tier_options what = {.size = sizeof what, .to = tiered->dir};
    const datum *v = value_of(0);
    uint8_t key[KEY_SIZE];
    u9_tiered done = {.size = sizeof done};
    u9_key last = {.data = key, .size = KEY_SIZE};
    key_of(tiered->records, key);
    if (u9_log_open(near, &writing, &log_handle, fault) != U9_OK) return false;
    if (u9_log_append(log_handle, is_keyed ? &last : NULL, v->text - v->head, v->head + v->size, NULL) != U9_OK) die_of("append");
    return u9_log_close(log_handle, fault) == U9_OK && u9_tier(near, &what, &done, fault) == U9_OK;
}

static void open_u9(const job_spec *job)
{
    u9_options o = {.size = sizeof o,
                    .mode = U9_CREATE,
                    .policy = policy_of(job),
                    .lz4 = job->compressed,
                    .segment_size = job->segment_size,
                    .io = job->io};
    u9_fault fault;
    const char *path = job->dir;
    if (!job->usual && u9_guard_install() != U9_OK) die("guard", NULL);
    if (is_place(place_of(path), BUCKET)) {
        if (!job->fills) o.mode = U9_READ;
        else path = make_near(job), o.segment_size = TIERED_SEGMENT;
    }
    if (u9_log_open(path, &o, &log_handle, &fault) != U9_OK) die("open", &fault);
    is_durable = job->durable;
    is_keyed = job->keyed;
}

static void append_one(uint64_t i, u9_place *place)
{
    const datum *v = value_of(i);
    if (u9_log_append(log_handle, NULL, v->text - v->head, v->head + v->size, place) != U9_OK)
        die_of("append");
}

static void append_many(uint64_t first, size_t count, u9_place *to)
{
    for (size_t k = 0; k < count; k++) {
        const datum *v = value_of(first + k);
        if (is_keyed) {
            key_of(first + k, keys[k]);
            entries[k].key = (u9_key){.data = keys[k], .size = KEY_SIZE};
        }
        entries[k].values = v->text - v->head;
        entries[k].size = v->head + v->size;
    }
    if (u9_log_append_batch(log_handle, entries, count, to) != U9_OK) die_of("append a batch");
}

static void append_u9(uint64_t first, size_t count)
{
    if (entries == NULL && ((entries = calloc(BATCH_MAX, sizeof entries[0])) == NULL ||
                            (places = calloc(BATCH_MAX, sizeof places[0])) == NULL ||
                            (keys = calloc(BATCH_MAX, sizeof keys[0])) == NULL))
        die("memory for a batch", NULL);
    u9_place *to = is_durable ? places : NULL;
    if (count == 1 && !is_keyed) append_one(first, to);
    else append_many(first, count, to);
    if (!is_durable) return;
    u9_err err = u9_log_commit(log_handle, places[count - 1].ordinal);
    if (err != U9_OK && err != U9_AGAIN)
        die_of("commit"); /* AGAIN: a policy that does not wait was asked for */
}

static void sync_u9(void)
{
    if (u9_log_sync(log_handle) != U9_OK) die_of("sync");
}

static void close_u9(void)
{
    u9_fault fault;
    if (u9_log_close(log_handle, &fault) != U9_OK) die("close", &fault);
    if (near[0] == 0) return;
    bool moved = move_near(&fault);
    remove_store(near);
    if (!moved) die("to S3", &fault);
}

static uint64_t scan_u9(void)
{
    u9_fault fault;
    u9_cursor *cursor;
    u9_record r;
    u9_err err;
    uint64_t records = 0;
    if (u9_cursor_open(log_handle, NULL, &cursor, &fault) != U9_OK) die("cursor", &fault);
    while ((err = u9_cursor_next(cursor, &r)) == U9_OK) {
        see_bytes(r.values, r.values_size);
        records++;
    }
    u9_cursor_fault(cursor, &fault);
    if (err != U9_END) die("scan", &fault);
    u9_cursor_close(cursor);
    return records;
}

static uint64_t scan_shared_u9(unsigned threads)
{
    return scan_ranges(log_handle, threads);
}

static bool get_u9(uint64_t i)
{
    static uint8_t *room;
    uint8_t bytes[KEY_SIZE];
    u9_record r;
    if (room == NULL && (room = malloc(U9_RECORD_MAX)) == NULL) die("memory for a record", NULL);
    key_of(i, bytes);
    u9_key key = {.data = bytes, .size = KEY_SIZE};
    u9_err err = u9_log_get(log_handle, &key, room, U9_RECORD_MAX, &r, NULL);
    if (err != U9_OK && err != U9_ABSENT) die_of("get");
    return err == U9_OK;
}

/* Of the largest record: its tuple, key and value. */
static size_t room_for_record(void)
{
    size_t most = 0;
    for (uint64_t i = 0; i <= the_data.mask; i++)
        if (most < value_of(i)->size + value_of(i)->head) most = value_of(i)->size + value_of(i)->head;
    return (most + KEY_SIZE + 20 + 63) / 64 * 64;
}

static size_t get_many_u9(const uint64_t *i, size_t count)
{
    static uint8_t *rooms, bytes[GETS_MAX][KEY_SIZE]; /* side by side: of so many bytes as a page has all would be in few lines of the cache */
    static u9_lookup lookups[GETS_MAX];
    static size_t room;
    size_t found = 0;
    if (count > GETS_MAX) die("get_many: too many", NULL);
    if (room == 0) room = room_for_record();
    if (rooms == NULL && (rooms = malloc(GETS_MAX * room)) == NULL) die("memory for records", NULL);
    for (size_t k = 0; k < count; k++) {
        key_of(i[k], bytes[k]);
        lookups[k] = (u9_lookup){.key = {.data = bytes[k], .size = KEY_SIZE}, .buf = rooms + k * room, .cap = room};
    }
    check(u9_log_get_many(log_handle, lookups, count, NULL));
    for (size_t k = 0; k < count; k++) found += lookups[k].err == U9_OK;
    return found;
}

/* Pages of 16 + 8 or 8 + 8 bytes an entry; what they are made of is told by the specification, C-7 and C-10. */
static void add_index(void *ctx, const u9_index_info *info)
{
    *(uint64_t *)ctx += info->index_bytes;
}

static uint64_t index_bytes_u9(const job_spec *job)
{
    uint64_t bytes = 0;
    u9_index_options o = {.size = sizeof o, .io = job->io, .on_segment = add_index, .ctx = &bytes};
    u9_index_report report = {.size = sizeof report};
    check(u9_indexes_look(job->dir, &o, &report, NULL));
    return bytes;
}

static void verify_u9(const job_spec *job)
{
    u9_check_options o = {.size = sizeof o, .io = job->io, .threads = job->threads};
    u9_report report = {.size = sizeof report};
    u9_fault fault;
    if (!job->usual && u9_guard_install() != U9_OK) die("guard", NULL);
    if (u9_check(job->dir, &o, &report, &fault) != U9_OK) die("check", &fault);
    if ((report.verdict == U9_V_CLEAN) == (job->spoil != NULL)) die("check: not what was expected of the log", NULL);
}

/* What is not there, or refused, is found as well. */
static void look_u9(const job_spec *job)
{
    u9_options reading = {.size = sizeof reading, .mode = U9_READ, .io = job->io};
    u9_check_options o = {.size = sizeof o, .io = job->io};
    u9_report report = {.size = sizeof report};
    u9_log *log;
    check(u9_log_open(job->dir, &reading, &log, NULL));
    check(u9_log_close(log, NULL));
    check(u9_check(job->dir, &o, &report, NULL));
}

static void carve_u9(const job_spec *job)
{
    u9_carve_options o = {.size = sizeof o, .io = job->io};
    u9_carve_report report = {.size = sizeof report};
    char image[PATH_ROOM + 16], to[PATH_ROOM + 16];
    u9_fault fault;
    image_of(job, image);
    snprintf(to, sizeof to, "%s/carved", job->dir);
    u9_err err = u9_carve(image, to, &o, &report, &fault);
    if (err != (job->spoil ? U9_OK : U9_ABSENT)) die("carve", &fault);
}

/* A segment begins with its first frame, whose time is told with its records. */
static size_t rolls_of_u9(const job_spec *job, double *times, size_t cap)
{
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = job->io};
    u9_log *log;
    u9_record r;
    size_t n = 0;
    check(u9_log_open(job->dir, &o, &log, NULL));
    for (uint64_t s = 2; n < cap; s++) {
        u9_range range = {.size = sizeof range, .segment = s};
        u9_cursor *cursor;
        if (u9_cursor_open(log, &range, &cursor, NULL) != U9_OK) break;
        if (u9_cursor_next(cursor, &r) == U9_OK) times[n++] = (double)r.time_us / 1e6;
        u9_cursor_close(cursor);
    }
    check(u9_log_close(log, NULL));
    return n;
}

const engine engine_u9 = {
    .name = "u9",
    .label = "u9",
    .side = SIDE_U9,
    .config = "makes its keys itself (muids); policy commit where calls are durable, else none; "
              "LZ4 where the workload compresses; the guard is on; everything else as it comes",
    .usual_config = "as u9, without the guard: every read is a call",
    .version = version_of_u9,
    .open = open_u9,
    .append = append_u9,
    .sync = sync_u9,
    .close = close_u9,
    .detail = io_of_u9,
    .scan = scan_u9,
    .scan_shared = scan_shared_u9,
    .get = get_u9,
    .get_many = get_many_u9,
    .index_bytes = index_bytes_u9,
    .verify = verify_u9,
    .carve = carve_u9,
    .look = look_u9,
    .rolls = rolls_of_u9,
};
